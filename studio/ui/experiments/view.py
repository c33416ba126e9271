"""An experiment in a tab: what its newest result says, the grid, and one cell in full."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QFileDialog,
    QMenu,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QWidget,
)

from studio.application.experiments.exports.forms import FORMS
from studio.application.experiments.report import ExperimentReport
from studio.application.words import tr
from studio.core.experiments.results.cells import CellKey
from studio.ui.experiments.detail import CellDetail
from studio.ui.experiments.grid_view import ExperimentTable, NotRunPage
from studio.ui.experiments.head import ExperimentHead
from studio.ui.experiments.rating import MOST, BlindDialog
from studio.ui.experiments.row_filters import RowFilters
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.layouts import FlowLayout, column_of
from studio.ui.parts.own_keys import OwnKeys
from studio.ui.style.icons import icon
from studio.viewmodels.experiments.controller import ExperimentController
from studio.viewmodels.experiments.grid_model import FIRST_VARIANT, ShownCell

_BESIDE = 900
"""Pixels of width from which a cell is shown beside the grid."""

_BELOW = 760
"""Pixels of height from which a cell may be shown below it."""

_CHART, _CHART_HEIGHT = 760, 480
"""Width and height from which the chart is shown."""

_ENDINGS = {
    "junit": "xml",
    "json": "jsonl",
    "csv": "csv",
    "html": "html",
    "github": "md",
    "otel": "otlp.json",
    "inspect": "inspect.json",
}


class ExperimentView(QWidget):
    """Shows an experiment; everything that is done to it is the controller's."""

    request_step = Signal(CellKey)
    request_run = Signal(CellKey)
    request_edit = Signal(CellKey)
    request_file = Signal(Path)  # open the experiment's text
    request_workers = Signal()  # choose where cells are asked
    request_rows = Signal()  # have a model invent rows
    request_improvement = Signal()  # search another text for a section

    def __init__(self, controller: ExperimentController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.controller = controller
        self._problems = ""
        self.title = controller.path.name
        self.head = ExperimentHead(controller)
        self.run_button = QPushButton(tr("Run", "verb"))
        self.batch_box = QCheckBox(tr("In batches"))
        self.again_button = QPushButton(tr("Run the failed again"))
        self.file_button = QPushButton(tr("Edit file"))
        self.more_button = QPushButton(tr("More"))
        self.export_button = QPushButton(tr("Export"))
        self.results = ComboBox()
        self.filters = RowFilters(controller.model)
        self.blind_button = QPushButton(tr("Compare without names"))
        self.more_actions: dict[str, QAction] = {}
        self.table = ExperimentTable(controller.model)
        self.detail = CellDetail()
        self.split = QSplitter(Qt.Orientation.Horizontal)
        self.not_run = NotRunPage()
        self.pages = QStackedWidget()
        self._lay_out()
        self._connect()
        self._show_state(running=False)

    # -- showing --------------------------------------------------------------------------------

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
        self._show_page()
        self.filters.show_tags(grid.tags if grid is not None else ())
        key = self.detail.key
        if key is not None:
            self.table.setCurrentIndex(controller.model.index_of(key.row, key.variant))
        elif grid is not None and controller.model.rowCount():
            self.table.setCurrentIndex(controller.model.index(0, FIRST_VARIANT))

    def _show_page(self) -> None:
        """The grid, or what can be done while there is none."""
        page = self.split if self.controller.model.grid is not None else self.not_run
        if page is self.pages.currentWidget():
            return
        focused = QApplication.focusWidget()
        had_keys = focused is not None and self.isAncestorOf(focused)
        self.pages.setCurrentWidget(page)
        self.setFocusProxy(self.table if page is self.split else self.run_button)
        if had_keys:
            self.setFocus()

    def _show_plan(self, problems: str) -> None:
        self.not_run.show_plan(self.controller.plan)
        if problems or self._problems:  # else it stays: how the last run ended, among others
            self.head.complain(problems)
        self._problems = problems
        self._show_state(running=self.controller.is_running)

    def _show_state(self, *, running: bool) -> None:
        self.head.show_running(running)
        self.run_button.setText(tr("Stop") if running else tr("Run", "verb"))
        self.run_button.setIcon(icon("square" if running else "play", "on_accent"))
        self.run_button.setEnabled(running or not self._problems)
        self.batch_box.setEnabled(not running)
        self.again_button.setEnabled(not running and self.controller.report is not None)
        has_result = not running and self.controller.report is not None
        self.export_button.setEnabled(has_result)
        grid = self.controller.model.grid
        self.blind_button.setEnabled(has_result)
        self.blind_button.setVisible(grid is not None and len(grid.variants) > 1)
        for action in self.more_actions.values():
            action.setEnabled(not running and not self._problems)

    def _show_cell(self, cell: ShownCell) -> None:
        self.detail.show_cell(cell)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the cell below the grid where there is little room beside it."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        is_below = self.width() < _BESIDE and self.height() >= _BELOW
        wanted = Qt.Orientation.Vertical if is_below else Qt.Orientation.Horizontal
        if self.split.orientation() != wanted:
            self.split.setOrientation(wanted)
        self.head.allow_chart(self.width() >= _CHART and self.height() >= _CHART_HEIGHT)

    # -- doing ----------------------------------------------------------------------------------

    def _on_run(self) -> None:
        if self.controller.is_running:
            self.controller.stop()
        else:
            self.controller.run()

    def _on_batches(self, wanted: bool) -> None:
        self.controller.in_batches = wanted

    def _on_current(self, index: QModelIndex, _before: QModelIndex) -> None:
        row = self.controller.model.row_at(index)
        if row is None:
            return
        variant = max(0, index.column() - FIRST_VARIANT)
        self.controller.answers.look_at(CellKey(1, row, variant))

    def _compare_blind(self) -> None:
        """Two answers side by side: the baseline's, or the first column's, and the chosen one's."""
        grid, key = self.controller.model.grid, self.detail.key
        if grid is None or len(grid.variants) < 2:
            return
        one = grid.baseline if grid.baseline is not None else 0
        other = key.variant if key is not None and key.variant != one else (1 if one == 0 else 0)
        pairs = self.controller.answers.pairs(one, other, self.controller.model.shown_rows)
        if not pairs:
            self.head.say(tr("No two answers differ in the rows that are shown."))
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
        dialog = QFileDialog(self, tr("Export the result"), start)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
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
        """Go to the next cell that does not pass."""
        model, grid = self.controller.model, self.controller.model.grid
        if grid is None or not model.rowCount():
            return
        columns = len(grid.variants)
        count = model.rowCount() * columns
        index = self.table.currentIndex()
        at = index.row() * columns + max(0, index.column() - FIRST_VARIANT)
        for step in range(1, count + 1):
            place = (at + by * step) % count
            here = model.index(place // columns, FIRST_VARIANT + place % columns)
            row = model.row_at(here)
            if row is not None and grid.passes(row, place % columns) is False:
                self.table.setCurrentIndex(here)
                return

    # -- inside ---------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self.setAccessibleName(tr("Experiment {name}").format(name=self.title))
        self.run_button.setProperty("primary", True)
        self.batch_box.setToolTip(
            tr("Answered within a day, at half the price, where the connection has batches")
        )
        self.results.setAccessibleName(tr("Results"))
        self.results.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToContents)
        self.blind_button.setToolTip(
            tr("Which of two answers is better? The variants are named at the end.")
        )
        menu = QMenu(self)
        for form in FORMS:
            menu.addAction(form.upper()).triggered.connect(partial(self._on_export, form))
        self.export_button.setMenu(menu)
        self.more_button.setMenu(self._more_menu())
        split = self.split
        split.setChildrenCollapsible(False)
        split.addWidget(self._left())
        split.addWidget(self.detail)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        layout = column_of(
            self.head, self._buttons(), on=self, margins=(16, 12, 16, 12), spacing=12
        )
        self.pages.addWidget(split)
        self.pages.addWidget(self.not_run)
        layout.addWidget(self.pages, 1)

    def _more_menu(self) -> QMenu:
        """Build the menu of the rarer commands."""
        menu = QMenu(self)
        for name, text, act in (
            ("workers", tr("Workers…"), self.request_workers.emit),
            ("rows", tr("Generate rows…"), self.request_rows.emit),
            ("improve", tr("Improve a section…"), self.request_improvement.emit),
        ):
            action = self.more_actions[name] = menu.addAction(text)
            action.triggered.connect(lambda _on=False, act=act: act())
        return menu

    def _buttons(self) -> FlowLayout:
        buttons = FlowLayout()
        for each in (
            self.run_button,
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

    def _left(self) -> QWidget:
        """The filters above the grid."""
        left = QWidget()
        column_of(self.filters, (self.table, 1), on=left, margins=0)
        return left

    def _on_export(self, form: str, _checked: bool = False) -> None:
        self._export(form)

    def _connect(self) -> None:
        controller, detail = self.controller, self.detail
        controller.report_changed.connect(self._show_report)
        controller.loaded.connect(self._show_loaded)
        controller.planned.connect(self._show_plan)
        controller.reported.connect(self.head.say)
        controller.failed.connect(self.head.complain)
        controller.progress_changed.connect(self.head.show_progress)
        controller.running_changed.connect(lambda on: self._show_state(running=on))
        controller.loaded.connect(lambda: self._show_state(running=controller.is_running))
        controller.answers.cell_changed.connect(self._show_cell)
        controller.workers_changed.connect(self.head.show_workers)
        self.run_button.clicked.connect(self._on_run)
        self.batch_box.toggled.connect(self._on_batches)
        self.again_button.clicked.connect(lambda: controller.run("failed"))
        self.not_run.request_run.connect(controller.run)
        self.not_run.request_file.connect(lambda: self.request_file.emit(controller.path))
        self.file_button.clicked.connect(lambda: self.request_file.emit(controller.path))
        self.results.activated.connect(self._on_result)
        controller.facets_changed.connect(self.filters.show_facets)
        self.blind_button.clicked.connect(self._compare_blind)
        self.table.selectionModel().currentChanged.connect(self._on_current)
        detail.request_step.connect(self.request_step)
        detail.request_run.connect(self.request_run)
        detail.request_edit.connect(self.request_edit)
        detail.request_accept.connect(controller.answers.accept)
        detail.request_repeat.connect(controller.answers.look_at)
        detail.rated.connect(controller.answers.rate)
        self.setFocusProxy(self.table)
        # Also where a filter or a button has the keyboard: the window's own run a prompt.
        OwnKeys(self, {"F10": self._step, "F5": self._on_run})
        OwnKeys(
            self.table,
            {
                "N": self._next_failed,
                "Shift+N": lambda: self._next_failed(-1),
                "D": detail.compare_button.toggle,
                "/": self.filters.search.setFocus,
                "Ctrl+Z": controller.answers.undo_accept,
                "A": detail.accept_button.click,
                "Return": detail.answer.setFocus,
                "Enter": detail.answer.setFocus,
                "Space": detail.rating.turn,
                "R": self.again_button.click,
                **{str(at): partial(controller.model.sort_by, at - 1) for at in range(1, 10)},
                **{f"Alt+{points}": partial(self._rate, points) for points in range(1, MOST + 1)},
            },
        )


def _result_name(number: int, started: float, state: str) -> str:
    from datetime import datetime

    when = datetime.fromtimestamp(started).strftime("%d %b %H:%M")
    return f"#{number} · {when} · {state}"
