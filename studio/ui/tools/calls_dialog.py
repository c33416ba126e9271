"""Saved calls of tools, and the rows of a file as calls: made at once, compared, kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from studio.application.tools.saved_calls import (
    CallChange,
    CallsWritten,
    Comparison,
    SavedCall,
    difference,
    saved,
    with_own_names,
)
from studio.core.text.invisible import reveal
from studio.core.tools.source import ToolOutcome
from studio.ui.base.marked_text import QT_TRANSLATE_NOOP
from studio.ui.parts.flow_layout import FlowLayout
from studio.ui.parts.json_view import JsonView
from studio.ui.preview.cards.part_views import pretty_json
from studio.ui.style.colors import paint_text
from studio.ui.style.in_use import theme_in_use
from studio.ui.tools.try_panel import duration_words, status_words

_WIDTH, _HEIGHT = 860, 600
_NAME, _TOOL, _ARGUMENTS, _RESULT, _TOOK = range(5)
_MOST_SHOWN = 200
_COMPARISONS: Mapping[Comparison, str] = {
    "answer": QT_TRANSLATE_NOOP("CallsDialog", "The whole answer"),
    "shape": QT_TRANSLATE_NOOP("CallsDialog", "Names and kinds of values"),
    "status": QT_TRANSLATE_NOOP("CallsDialog", "How the call ends"),
}


class CallsDialog(QDialog):
    """Beside the window, not before it. Asks for calls to be made, and for the file to be written.

    A saved call that is made again is a test: its answer must be as it was. A row is a call without
    an answer, until its answer is kept.
    """

    request_make = Signal(tuple)  # tuple[tuple[str, JsonObject], ...]: tool and arguments of each
    request_cancel = Signal()
    request_write = Signal(tuple)  # tuple[CallChange, ...]: what is to change in the file
    request_rows = Signal(str)  # tool that a file of rows is wanted for
    request_export = Signal(tuple)  # tuple[(SavedCall, ToolOutcome), ...]: answers, to be written

    def __init__(
        self, tool: str, calls: Sequence[SavedCall], changing: frozenset[str], parent: QWidget
    ) -> None:
        """Make the dialog.

        Args:
            tool: the tool that rows are for.
            calls: what the file holds.
            changing: tools that change something outside.
            parent: the window.
        """
        super().__init__(parent)
        self._tool, self._changing = tool, changing
        self._calls: list[SavedCall] = []
        self._filed: list[SavedCall | None] = []
        """Each call as the file has it; None for one that it does not have."""
        self._written: CallsWritten | None = None
        self._met: tuple[str, ...] = ()
        """Calls that another program had changed before the last change."""
        self._outcomes: dict[int, ToolOutcome] = {}
        self._made: list[int] = []
        self._is_warned = False
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Saved calls and rows"))
        self.resize(_WIDTH, _HEIGHT)
        self._make_table()
        self._make_views()
        self._make_buttons()
        self._arrange()
        self._add(calls, filed=True)
        self._show_call()
        self._sum_up()

    def _make_table(self) -> None:
        self.table = QTreeWidget(self)
        self.table.setAccessibleName(self.tr("Calls"))
        self.table.setRootIsDecorated(False)
        self.table.setUniformRowHeights(True)
        self.table.setSelectionMode(QTreeWidget.SelectionMode.ExtendedSelection)
        self.table.setHeaderLabels(
            [
                self.tr("Name"), self.tr("Tool"), self.tr("Arguments"), self.tr("Result"),
                self.tr("Took"),
            ]
        )  # fmt: skip
        header = self.table.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(_ARGUMENTS, QHeaderView.ResizeMode.Stretch)
        for column, width in ((_NAME, 170), (_TOOL, 130), (_RESULT, 220), (_TOOK, 70)):
            self.table.setColumnWidth(column, width)
        self.table.currentItemChanged.connect(lambda *_: self._show_call())
        self.table.itemSelectionChanged.connect(self._allow)
        self.table.itemChanged.connect(self._rename)

    def _make_views(self) -> None:
        self.before, self.now = JsonView(self), JsonView(self)
        self.before.setAccessibleName(self.tr("The answer that was saved"))
        self.now.setAccessibleName(self.tr("The answer now"))
        self.compare = QComboBox(self)
        self.compare.setAccessibleName(self.tr("What of the answer must be as it was"))
        for key, words in _COMPARISONS.items():
            self.compare.addItem(self.tr(words), key)
        self.compare.activated.connect(self._compare_by)
        self.status = QLabel(self)
        self.status.setWordWrap(True)

    def _make_buttons(self) -> None:
        self.run_button = QPushButton(self.tr("Call all"), self)
        self.run_button.setProperty("primary", True)
        self.cancel_button = QPushButton(self.tr("Cancel"), self)
        self.rows_button = QPushButton(self.tr("Rows of a file…"), self)
        self.rows_button.setToolTip(
            self.tr("A call of {tool} for each row; its columns are the arguments").format(
                tool=reveal(self._tool, lines=False)
            )
        )
        self.keep_button = QPushButton(self.tr("Keep the answers"), self)
        self.keep_button.setToolTip(self.tr("What was answered now is what must be answered"))
        self.remove_button = QPushButton(self.tr("Remove"), self)
        self.export_button = QPushButton(self.tr("Write the answers…"), self)
        for button, act in (
            (self.run_button, self._run),
            (self.cancel_button, self.request_cancel.emit),
            (self.rows_button, lambda: self.request_rows.emit(self._tool)),
            (self.keep_button, self._keep),
            (self.remove_button, self._remove),
            (self.export_button, self._export),
        ):
            button.setAutoDefault(False)
            button.clicked.connect(lambda _=False, act=act: act())
        self.cancel_button.hide()

    def _arrange(self) -> None:
        answers = QSplitter(Qt.Orientation.Horizontal, self)
        for title, view in ((self.tr("Saved"), self.before), (self.tr("Now"), self.now)):
            page = QWidget()
            column = QVBoxLayout(page)
            column.setContentsMargins(0, 0, 0, 0)
            column.addWidget(QLabel(title))
            column.addWidget(view, 1)
            answers.addWidget(page)
        splitter = QSplitter(Qt.Orientation.Vertical, self)
        splitter.addWidget(self.table)
        splitter.addWidget(answers)
        splitter.setSizes([330, 210])
        compare = QHBoxLayout()
        compare.addWidget(QLabel(self.tr("As it was must be"), self))
        compare.addWidget(self.compare)
        compare.addStretch(1)
        buttons = FlowLayout(spacing=8)
        for button in (
            self.run_button, self.cancel_button, self.rows_button, self.keep_button,
            self.remove_button, self.export_button,
        ):  # fmt: skip
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 12, 12, 12)
        layout.addWidget(splitter, 1)
        layout.addLayout(compare)
        layout.addWidget(self.status)
        layout.addLayout(buttons)

    @property
    def calls(self) -> tuple[SavedCall, ...]:
        """All that are listed, saved or not."""
        return tuple(self._calls)

    def add_rows(self, calls: Sequence[SavedCall]) -> None:
        """List the rows of a file after what is there."""
        self._add(with_own_names((*self._calls, *calls))[len(self._calls) :], filed=False)
        self._sum_up()

    def show_file(self, calls: Sequence[SavedCall]) -> None:
        """Show what the file holds by now; a call that it lost stays listed, as one not saved."""
        left = [*calls]
        others: list[int] = []
        for row, filed in enumerate(self._filed):
            if filed in left:
                left.remove(filed)
            elif filed is not None:
                others.append(row)
        for row in others:
            name = self._calls[row].name
            filed = next((each for each in left if each.name == name), None)
            self._filed[row] = filed
            if filed is not None:
                left.remove(filed)
                before, self._calls[row] = self._calls[row], filed
                if (before.tool, before.arguments) != (filed.tool, filed.arguments):
                    self._forget_outcome(row)
            self._show_row(row)
        self._add(left, filed=True)
        self._show_call()
        self._sum_up()

    def _forget_outcome(self, row: int) -> None:
        """What was answered, or is being asked, is of other arguments than the call has now."""
        self._outcomes.pop(row, None)
        self._made = [-1 if each == row else each for each in self._made]
        for column in (_RESULT, _TOOK):
            self._item(row).setText(column, "")

    def show_written(self, written: CallsWritten) -> None:
        """The changes that were asked for stand in the file."""
        self._written = written

    def show_began(self, number: int) -> None:
        """A call of those asked for is under way."""
        if number < len(self._made) and self._made[number] >= 0:
            self._item(self._made[number]).setText(_RESULT, self.tr("Running"))

    def show_ended(self, number: int, outcome: ToolOutcome) -> None:
        """A call of those asked for has ended."""
        if number < len(self._made) and self._made[number] >= 0:
            row = self._made[number]
            self._outcomes[row] = outcome
            self._show_result(row)
            self._sum_up()
            if self._row == row:
                self._show_call()

    def show_all_ended(self) -> None:
        """The calls asked for are made, or were stopped."""
        for row in self._made:
            if row >= 0 and row not in self._outcomes:
                self._item(row).setText(_RESULT, "")
        self._made = []
        self._sum_up()

    # What is listed ------------------------------------------------------------------------------

    @property
    def _row(self) -> int:
        item = self.table.currentItem()
        return self.table.indexOfTopLevelItem(item) if item is not None else -1

    def _item(self, row: int) -> QTreeWidgetItem:
        item = self.table.topLevelItem(row)
        assert item is not None
        return item

    def _add(self, calls: Sequence[SavedCall], *, filed: bool) -> None:
        first = len(self._calls)
        self._calls += calls
        self._filed += [call if filed else None for call in calls]
        self.table.blockSignals(True)
        for call in self._calls[first:]:
            given = json.dumps(call.arguments, ensure_ascii=False)[:_MOST_SHOWN]
            texts = [call.name, call.tool, given]
            item = QTreeWidgetItem([reveal(text, lines=False) for text in texts])
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
            self.table.addTopLevelItem(item)
        self.table.blockSignals(False)
        if first == 0 and self._calls:
            self.table.setCurrentItem(self._item(0))

    def _show_call(self) -> None:
        row = self._row
        call = self._calls[row] if row >= 0 else None
        outcome = self._outcomes.get(row)
        has_answer = call is not None and self._filed[row] is not None
        self.before.show_answer(reveal(pretty_json(call.text)) if call and has_answer else "")
        now = outcome.whole or outcome.text if outcome is not None else ""
        self.now.show_answer(reveal(pretty_json(now)))
        self.compare.setEnabled(has_answer)
        if call is not None:
            self.compare.setCurrentIndex(self.compare.findData(call.compare))
        self._allow()

    def _show_result(self, row: int) -> None:
        theme = theme_in_use()
        outcome, item = self._outcomes[row], self._item(row)
        color = theme.error if outcome.is_error else theme.success
        words = status_words(outcome)
        if self._filed[row] is not None:
            differs = difference(self._calls[row], outcome)
            words = differs or self.tr("As it was")
            color = theme.error if differs else theme.success
        self.table.blockSignals(True)
        item.setText(_RESULT, reveal(words, lines=False))
        item.setToolTip(_RESULT, reveal(words, lines=False))
        item.setForeground(_RESULT, QColor(color))
        item.setText(_TOOK, duration_words(outcome.duration))
        self.table.blockSignals(False)

    def _sum_up(self) -> None:
        ended = [(row, outcome) for row, outcome in self._outcomes.items()]
        tests = [(row, outcome) for row, outcome in ended if self._filed[row] is not None]
        wrong = sum(bool(difference(self._calls[row], outcome)) for row, outcome in tests)
        failed = sum(outcome.is_error for row, outcome in ended if self._filed[row] is None)
        words = [self.tr("Calls: {count}").format(count=len(self._calls))]
        if tests:
            words.append(self.tr("as they were: {count}").format(count=len(tests) - wrong))
        if wrong:
            words.append(self.tr("not as they were: {count}").format(count=wrong))
        if len(ended) > len(tests):
            words.append(
                self.tr("rows called: {count}, failed: {failed}").format(
                    count=len(ended) - len(tests), failed=failed
                )
            )
        if not self._calls:
            words = [self.tr("No call is saved. Save one where a tool is tried, or take rows.")]
        said, tone = ", ".join(words), "error" if wrong or failed else "muted"
        if self._met:
            names = reveal(", ".join(self._met), lines=False)
            met = self.tr("Another program had changed {names}: its version stays in the file.")
            said, tone = f"{met.format(names=names)} {said}", "warning"
        paint_text(self.status, tone)
        self.status.setText(said)
        self._allow()

    def _allow(self) -> None:
        running = bool(self._made)
        chosen = self._chosen()
        is_part = 1 < len(chosen) < len(self._calls)
        words = self.tr("Call the {count} selected") if is_part else self.tr("Call all")
        self.run_button.setText(words.format(count=len(chosen)))
        self._is_warned = False
        self.run_button.setEnabled(bool(self._calls) and not running)
        self.cancel_button.setVisible(running)
        for button in (self.rows_button, self.remove_button):
            button.setEnabled(not running)
        self.keep_button.setEnabled(not running and bool(self._outcomes.keys() & set(chosen)))
        self.export_button.setEnabled(not running and bool(self._outcomes))

    def _chosen(self) -> list[int]:
        """The rows that are selected; with one or none of them, all."""
        rows = sorted(self.table.indexOfTopLevelItem(item) for item in self.table.selectedItems())
        return rows if len(rows) > 1 else [*range(len(self._calls))]

    # What is asked for ---------------------------------------------------------------------------

    def _run(self) -> None:
        chosen = self._chosen()
        changing = sum(self._calls[row].tool in self._changing for row in chosen)
        if changing and not self._is_warned:
            paint_text(self.status, "warning")
            self.status.setText(
                self.tr("1 of these calls may change something outside.")
                if changing == 1
                else self.tr("{count} of these calls may change something outside.").format(
                    count=changing
                )
            )
            self.run_button.setText(self.tr("Call all the same"))
            self._is_warned = True
            return
        for row in chosen:
            self._outcomes.pop(row, None)
            self._item(row).setText(_RESULT, "")
        self._made = chosen
        self.request_make.emit(
            tuple((self._calls[row].tool, self._calls[row].arguments) for row in chosen)
        )
        self._sum_up()

    def _compare_by(self, index: int) -> None:
        row = self._row
        if row >= 0:
            compare: Comparison = self.compare.itemData(index)
            self._write({row: replace(self._calls[row], compare=compare)})

    def _rename(self, item: QTreeWidgetItem, column: int) -> None:
        row = self.table.indexOfTopLevelItem(item)
        name = item.text(_NAME).strip()
        others = {call.name for number, call in enumerate(self._calls) if number != row}
        if column == _NAME and name and name not in others:
            renamed = replace(self._calls[row], name=name)
            if self._filed[row] is not None:
                self._write({row: renamed})
            else:
                self._calls[row] = renamed
        self._show_row(row)  # what is not renamed stays what it is, and so do the other cells

    def _keep(self) -> None:
        chosen = [row for row in self._chosen() if row in self._outcomes]
        self._write({row: saved(self._calls[row], self._outcomes[row]) for row in chosen})

    def _remove(self) -> None:
        rows = [self.table.indexOfTopLevelItem(item) for item in self.table.selectedItems()]
        filed = [row for row in rows if self._filed[row] is not None]
        if not self._write(dict.fromkeys(filed)):
            return
        for row in sorted(rows, reverse=True):
            if self._filed[row] is not None:
                continue  # another program had changed it: it stays
            self.table.takeTopLevelItem(row)
            del self._calls[row], self._filed[row]
            later = {number - (number > row): each
                     for number, each in self._outcomes.items() if number != row}  # fmt: skip
            self._outcomes = later
        self._show_call()
        self._sum_up()

    def _write(self, wanted: Mapping[int, SavedCall | None]) -> bool:
        """Ask for calls to be written; whether that was done, and is shown.

        Args:
            wanted: what they are to be, by row; None for one that is to go.
        """
        rows = [row for row, call in wanted.items() if call != self._filed[row]]
        if rows:
            self._written = None
            changes = (CallChange(self._filed[row], wanted[row]) for row in rows)
            self.request_write.emit(tuple(changes))
            written = self._written
            if written is None:
                return False
            for row, call in zip(rows, written.made, strict=True):
                self._filed[row] = call
                self._calls[row] = call or self._calls[row]
            self.show_file(written.calls)
            for row in rows:
                self._show_row(row)
            self._met = written.met
            self._sum_up()
        return True

    def _show_row(self, row: int) -> None:
        """Show a call's words, and its answer where it was called."""
        call, item = self._calls[row], self._item(row)
        given = json.dumps(call.arguments, ensure_ascii=False)[:_MOST_SHOWN]
        self.table.blockSignals(True)
        for place, text in ((_NAME, call.name), (_TOOL, call.tool), (_ARGUMENTS, given)):
            item.setText(place, reveal(text, lines=False))
        self.table.blockSignals(False)
        if row in self._outcomes:
            self._show_result(row)

    def _export(self) -> None:
        ended = sorted(self._outcomes.items())
        self.request_export.emit(tuple((self._calls[row], outcome) for row, outcome in ended))
