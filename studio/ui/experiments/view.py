"""An experiment in a tab: summary of its newest result, grid, and one cell in detail."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from pathlib import Path

from PySide6 import QtWidgets
from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent

from studio.application.experiments.exports.forms import FORMS
from studio.application.experiments.report import ExperimentReport
from studio.application.experiments.run.spending import ExperimentProgress, progress_line
from studio.application.words import tr
from studio.core.experiments.results.cells import CellKey
from studio.ui.experiments.detail import CellDetail
from studio.ui.experiments.grid_view import ExperimentTable
from studio.ui.experiments.head import CasesBar, ExperimentHead, row_kinds
from studio.ui.experiments.rating import MOST, BlindDialog
from studio.ui.experiments.row_filters import RowFilters
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.kit import FlowLayout, OwnKeys, column_of, push_button, row_of, split_of
from studio.ui.style.theme import icon
from studio.viewmodels.experiments.controller import ExperimentController

_BESIDE = 900
"""Minimum width in pixels to show a cell beside the grid."""

_BELOW = 760
"""Minimum height in pixels to show a cell below the grid."""

_ONLY_GRID = 560
"""Width in pixels up to which a cell has no room beside the grid, such as beside a run."""

_CHART, _CHART_HEIGHT = 760, 480
"""Minimum width and height in pixels to show the chart."""

_ENDINGS = {
    "junit": "xml",
    "json": "jsonl",
    "csv": "csv",
    "html": "html",
    "github": "md",
    "otel": "otlp.json",
    "inspect": "inspect.json",
}


class ExperimentView(QtWidgets.QWidget):
    """Shows an experiment; the controller executes all commands."""

    request_step = Signal(CellKey)
    request_run = Signal(CellKey)
    request_edit = Signal(CellKey)
    request_file = Signal(Path)  # open the text of the experiment
    request_workers = Signal()  # choose where cells run
    request_rows = Signal(tuple)  # tuple[str, ...]: kinds of rows to generate
    request_improvement = Signal()  # search for a better text of a section
    request_experiment = Signal()  # save the cases and their columns as an experiment

    def __init__(self, controller: ExperimentController) -> None:
        super().__init__()
        self.controller = controller
        self._problems = ""
        self._adds_row = False
        """Whether a row was added that is not read from the file yet."""
        self.title = controller.path.name
        self.bar = CasesBar(controller.cases) if controller.cases is not None else None
        self.head = ExperimentHead(controller)
        self.run_button = push_button(tr("Run", "verb"), self._on_run)
        self.batch_box = QtWidgets.QCheckBox(tr("In batches"))
        self.again_button = QtWidgets.QPushButton(tr("Run failed cells again"))
        self.file_button = QtWidgets.QPushButton(tr("Edit file"))
        self.more_button = QtWidgets.QPushButton(tr("More"))
        self.export_button = QtWidgets.QPushButton(tr("Export"))
        self.results = ComboBox()
        self.filters = RowFilters(controller.model)
        self.blind_button = push_button(tr("Compare without names"), self._compare_blind)
        self.more_actions: dict[str, QAction] = {}
        self.table = ExperimentTable(controller.model)
        self.detail = CellDetail(is_low=controller.cases is not None)
        self.row_button = QtWidgets.QPushButton(
            tr("New row, or paste rows from a spreadsheet, CSV or JSON")
        )
        self.split = split_of(self._left(), self.detail, stretch=(3, 2))
        self._lay_out()
        self._connect()
        self._show_state(running=False)

    # -- display --------------------------------------------------------------------------------

    def _show_report(self, report: ExperimentReport | None) -> None:
        self.head.show_report(report)
        self._fit()

    def _show_loaded(self) -> None:
        controller = self.controller
        self.results.blockSignals(True)
        self.results.clear()
        for head in controller.heads:
            self.results.addItem(_result_name(head.id, head.started, head.state), head.id)
        at = self.results.findData(controller.result)
        self.results.setCurrentIndex(at)
        self.results.blockSignals(False)
        self.results.setVisible(self.results.count() > 1)
        grid = controller.model.grid
        focused = QtWidgets.QApplication.focusWidget()
        is_first = grid is not None and self.split.isHidden()
        self.split.setVisible(grid is not None)
        if is_first and focused is not None and self.isAncestorOf(focused):
            self.table.setFocus()  # it could not be focused before
        if self.bar is not None and controller.cases is not None:
            self.bar.show_table(controller.cases, len(grid.rows) if grid is not None else None)
        self.filters.show_columns()
        key = self.detail.key
        is_there = grid is not None and key is not None and key.row <= len(grid.rows)
        if key is not None and is_there:
            index = controller.model.index_of(key.row, key.variant)
            if self.table.currentIndex().row() != index.row():
                self.table.setCurrentIndex(index)
            controller.answers.update(key)
        elif grid is not None and controller.model.rowCount():
            first = controller.model.index(0, controller.model.first_variant)
            self.table.setCurrentIndex(first)
            self._on_current(first, first)  # also if it was already the current one
        if self._adds_row:
            self._adds_row = False
            new = controller.model.index(controller.model.rowCount() - 1, 1)
            self.table.setFocus()
            self.table.setCurrentIndex(new)
            self.table.edit(new)

    def _keep_current(self) -> None:
        """Select the shown cell if other rows are listed and it is among them."""
        key = self.detail.key
        index = self.controller.model.index_of(key.row, key.variant) if key else QModelIndex()
        if index.isValid() and not self.table.currentIndex().isValid():
            self.table.setCurrentIndex(index)

    def _show_plan(self, problems: str) -> None:
        if problems or self._problems:  # the text of the last run's end stays
            self.head.complain(problems)
        cases, grid = self.controller.cases, self.controller.model.grid
        if problems and grid is None and self.bar is not None and cases is not None:
            self.bar.show_table(cases, 0)  # reading has ended
        self._problems = problems
        self._show_state(running=self.controller.is_running)

    def _show_state(self, *, running: bool) -> None:
        self.head.show_running(running)
        all_of_them = tr("Run all") if self.bar is not None else tr("Run", "verb")
        self.run_button.setText(tr("Stop") if running else all_of_them)
        self.run_button.setIcon(icon("square" if running else "play"))
        self.run_button.setEnabled(running or not self._problems)
        self.batch_box.setEnabled(not running)
        for each in (self.batch_box, self.file_button, self.again_button, self.export_button):
            each.setVisible(self.bar is None)
        self.again_button.setEnabled(not running and self.controller.report is not None)
        has_result = not running and self.controller.report is not None
        self.export_button.setEnabled(has_result)
        grid = self.controller.model.grid
        self.blind_button.setEnabled(has_result)
        self.blind_button.setVisible(grid is not None and len(grid.variants) > 1)
        for action in self.more_actions.values():
            action.setEnabled(not running and not self._problems)

    def _show_progress(self, found: ExperimentProgress) -> None:
        if self.bar is not None:
            self.bar.say(progress_line(found))
        else:
            self.head.show_progress(found)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the cell below the grid if there is little room beside it."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        is_below = self.bar is not None or (self.width() < _BESIDE and self.height() >= _BELOW)
        wanted = Qt.Orientation.Vertical if is_below else Qt.Orientation.Horizontal
        if self.split.orientation() != wanted:
            self.split.setOrientation(wanted)
        self.detail.setVisible(is_below or self.width() > _ONLY_GRID)
        self.head.allow_chart(self.width() >= _CHART and self.height() >= _CHART_HEIGHT)

    # -- actions --------------------------------------------------------------------------------

    def _on_run(self) -> None:
        if self.controller.is_running:
            self.controller.stop()
        else:
            self.controller.run()

    def run_all(self) -> None:
        """Run all cells without an answer."""
        if not self.controller.is_running:
            self.controller.run()

    def _run_cell(self) -> None:
        """Run the selected cell, or all cells of the row for a column of values."""
        model, index = self.controller.model, self.table.currentIndex()
        row, grid = model.row_at(index), model.grid
        if row is None or grid is None:
            return
        variant = index.column() - model.first_variant
        self._ask([row], [variant] if variant >= 0 else range(len(grid.variants)), grid.repeats)

    def _run_column(self, variant: int) -> None:
        """Run the cells of one column."""
        grid = self.controller.model.grid
        if grid is not None:
            self._ask(range(1, len(grid.rows) + 1), [variant], grid.repeats)

    def _ask(self, rows: Iterable[int], columns: Sequence[int], repeats: int) -> None:
        places = product(range(1, repeats + 1), rows, columns)
        self.controller.run(keys=frozenset(CellKey(*place) for place in places))

    def _enter(self) -> None:
        """Collapse or expand a group, or focus the answer."""
        if not self.controller.model.fold(self.table.currentIndex()):
            self.detail.answer.setFocus()

    def _paste(self) -> None:
        """Paste one value into the selected cell, or add rows."""
        text = QtWidgets.QApplication.clipboard().text()
        index = self.table.currentIndex()
        is_value = bool(self.controller.model.flags(index) & Qt.ItemFlag.ItemIsEditable)
        if is_value and not {"\t", "\n"} & set(text.strip()) and text[:1] not in ("[", "{"):
            self.controller.model.setData(index, text)
        else:
            self.controller.editor.paste(text)

    def _clear(self) -> None:
        index = self.table.currentIndex()
        if self.controller.model.flags(index) & Qt.ItemFlag.ItemIsEditable:
            self.controller.model.setData(index, "")

    def _add_row(self) -> None:
        """Add a row, and edit it as soon as it exists."""
        self._adds_row = True
        self.controller.editor.add_empty()

    def _remove_row(self) -> None:
        row = self.controller.model.row_at(self.table.currentIndex())
        if row is not None:
            self.controller.editor.remove_rows([row])

    def _on_batches(self, wanted: bool) -> None:
        self.controller.in_batches = wanted

    def _on_current(self, index: QModelIndex, _before: QModelIndex) -> None:
        row = self.controller.model.row_at(index)
        if row is None:
            return
        variant = max(0, index.column() - self.controller.model.first_variant)
        self.controller.answers.look_at(CellKey(1, row, variant))
        self.filters.show_variant(variant)

    def _compare_blind(self) -> None:
        """Compare two anonymous answers: the baseline's or first column's, and the selected one."""
        grid, key = self.controller.model.grid, self.detail.key
        if grid is None or len(grid.variants) < 2:
            return
        one = grid.baseline if grid.baseline is not None else 0
        other = key.variant if key is not None and key.variant != one else (1 if one == 0 else 0)
        pairs = self.controller.answers.pairs(one, other, self.controller.model.shown_rows)
        if not pairs:
            self.head.say(tr("No answers differ in the shown rows."))
            return
        titles = {row.number: row.title for row in grid.rows}
        dialog = BlindDialog(pairs, grid.variants, titles, self)
        dialog.chosen.connect(self.controller.answers.prefer)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _on_result(self, at: int) -> None:
        number = self.results.itemData(at)
        if isinstance(number, int) and number != self.controller.result:
            self.controller.load(number)

    def _export(self, form: str) -> None:
        name = f"{self.controller.path.stem.removesuffix('.experiment')}.{_ENDINGS[form]}"
        start = str(self.controller.path.with_name(name))
        dialog = QtWidgets.QFileDialog(self, tr("Export the result"), start)
        dialog.setAcceptMode(QtWidgets.QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(name)
        dialog.fileSelected.connect(lambda path: self.controller.export(form, Path(path)))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _step(self) -> None:
        if self.detail.key is not None:
            self.request_step.emit(self.detail.key)

    def _rate(self, points: int) -> None:
        if self.detail.rating.isVisible():
            self.detail.rating.rate(points)

    def _next_failed(self, by: int = 1) -> None:
        """Go to the next cell that fails."""
        model, grid = self.controller.model, self.controller.model.grid
        if grid is None or not model.rowCount():
            return
        columns = len(grid.variants)
        count = model.rowCount() * columns
        index = self.table.currentIndex()
        first = model.first_variant
        at = index.row() * columns + max(0, index.column() - first)
        for step in range(1, count + 1):
            place = (at + by * step) % count
            here = model.index(place // columns, first + place % columns)
            row = model.row_at(here)
            if row is not None and grid.is_failed(row, place % columns):
                self.table.setCurrentIndex(here)
                return

    # -- internals ------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self.setAccessibleName(tr("Experiment {name}").format(name=self.title))
        self.batch_box.setToolTip(
            tr("Answers within a day at half the price, if the connection supports batches")
        )
        self.results.setAccessibleName(tr("Results"))
        self.results.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToContents)
        self.blind_button.setToolTip(
            tr("Which of two answers is better? The variants are named at the end.")
        )
        menu = QtWidgets.QMenu(self)
        for form in FORMS:
            menu.addAction(form.upper()).triggered.connect(lambda *_, form=form: self._export(form))
        self.export_button.setMenu(menu)
        self.more_button.setMenu(self._more_menu())
        buttons = QtWidgets.QWidget()
        buttons.setLayout(self._buttons())
        parts = (self.head, buttons, (self.split, 1))
        if self.bar is None:
            column_of(*parts, on=self, margins=(16, 12, 16, 12), spacing=12)
            return
        buttons.hide()
        self.head.fold()
        column_of(self.bar, *parts, on=self, margins=(12, 4, 12, 8), spacing=4)

    def _more_menu(self) -> QtWidgets.QMenu:
        """Build the menu of less common commands."""
        menu = QtWidgets.QMenu(self)
        for name, text, act in (
            ("workers", tr("Workers…"), self.request_workers.emit),
            ("improve", tr("Improve a section…"), self.request_improvement.emit),
        ):
            action = self.more_actions[name] = menu.addAction(text)
            action.triggered.connect(lambda _on=False, act=act: act())
        rows = self.bar.rows_menu if self.bar is not None else menu.addMenu(tr("Generate rows"))
        for kinds, text in row_kinds():
            action = self.more_actions[" ".join(kinds)] = rows.addAction(text)
            action.triggered.connect(lambda *_, kinds=kinds: self.request_rows.emit(kinds))
        return menu

    def _buttons(self) -> FlowLayout:
        buttons = FlowLayout()
        for each in (
            *([self.run_button] if self.bar is None else []),
            self.batch_box,
            self.again_button,
            self.blind_button,
            self.file_button,
            self.export_button,
            self.more_button,
            self.results,
        ):
            buttons.addWidget(each)
        return buttons

    def _left(self) -> QtWidgets.QWidget:
        """Create the part with the filters above the grid."""
        left = QtWidgets.QWidget()
        if self.bar is None:
            column_of(self.filters, (self.table, 1), on=left, margins=0)
            return left
        filters = row_of((self.filters, 1), self.run_button)
        self.row_button.setFlat(True)
        self.row_button.setIcon(icon("plus"))
        column_of(filters, (self.table, 1), self.row_button, on=left, margins=0, spacing=4)
        return left

    def _connect(self) -> None:
        controller, detail = self.controller, self.detail
        controller.report_changed.connect(self._show_report)
        controller.loaded.connect(self._show_loaded)
        controller.model.modelReset.connect(self._keep_current)
        controller.planned.connect(self._show_plan)
        controller.reported.connect(self.bar.say if self.bar is not None else self.head.say)
        controller.failed.connect(self.head.complain)
        controller.progress_changed.connect(self._show_progress)
        controller.running_changed.connect(lambda on: self._show_state(running=on))
        controller.loaded.connect(lambda: self._show_state(running=controller.is_running))
        controller.answers.cell_changed.connect(self.detail.show_cell)
        controller.workers_changed.connect(self.head.show_workers)
        self.batch_box.toggled.connect(self._on_batches)
        self.again_button.clicked.connect(lambda: controller.run("failed"))
        self.file_button.clicked.connect(lambda: self.request_file.emit(controller.path))
        self.results.activated.connect(self._on_result)
        controller.facets_changed.connect(self.filters.show_facets)
        self.table.selectionModel().currentChanged.connect(self._on_current)
        detail.request_step.connect(self.request_step)
        detail.request_run.connect(self.request_run)
        detail.request_edit.connect(self.request_edit)
        detail.request_accept.connect(controller.answers.accept)
        detail.request_repeat.connect(controller.answers.look_at)
        detail.rated.connect(controller.answers.rate)
        self.setFocusProxy(self.table)
        if self.bar is not None:
            self.bar.request_table.connect(controller.show_cases)
            self.bar.request_experiment.connect(self.request_experiment)
            self.bar.request_column.connect(self._run_column)
            controller.request_agreement.connect(self.bar.ask_cost)
        self.row_button.clicked.connect(self._add_row)
        # Also while a filter or a button has the focus: the window's shortcut would run a prompt.
        OwnKeys(self, {"F10": self._step, "F5": self._on_run})
        keys = self._own_keys() if self.bar is None else self._keys_of_cases()
        OwnKeys(self.table, {**keys, "Return": self._enter, "Enter": self._enter})

    def _own_keys(self) -> dict[str, Callable[[], object]]:
        """Return the functions of the grid's keys, which therefore do not start editing."""
        controller, detail = self.controller, self.detail
        return {
            "N": self._next_failed,
            "Shift+N": lambda: self._next_failed(-1),
            "D": detail.compare_button.toggle,
            "/": self.filters.search.setFocus,
            "Ctrl+Z": controller.answers.undo_accept,
            "A": detail.accept_button.click,
            "G": self.filters.by.showPopup,
            "Space": detail.rating.turn,
            "R": self.again_button.click,
            **{str(at): partial(controller.model.sort_by, at - 1) for at in range(1, 10)},
            **{f"Alt+{points}": partial(self._rate, points) for points in range(1, MOST + 1)},
        }

    def _keys_of_cases(self) -> dict[str, Callable[[], object]]:
        """Return the keys of cases: those of a spreadsheet, and keys that cannot start a value."""
        return {
            "]": self._next_failed,
            "[": lambda: self._next_failed(-1),
            "Ctrl+F": self.filters.search.setFocus,
            "F2": lambda: self.table.edit(self.table.currentIndex()),
            "Ctrl+F5": self._run_cell,
            "Ctrl+V": self._paste,
            "Ctrl+Z": self.controller.answers.undo_accept,
            "Ctrl+Return": self._add_row,
            "Ctrl+Enter": self._add_row,
            "Delete": self._clear,
            "Shift+Delete": self._remove_row,
        }


def _result_name(number: int, started: float, state: str) -> str:
    from datetime import datetime

    when = datetime.fromtimestamp(started).strftime("%d %b %H:%M")
    return f"#{number} · {when} · {state}"
