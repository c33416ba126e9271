"""Saved calls of tools, and the rows of a file as calls: made at once, compared, kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QLabel,
    QPushButton,
    QSplitter,
    QTreeView,
    QWidget,
)

from studio.application.tools.saved_calls import (
    CallChange,
    CallsWritten,
    Comparison,
    SavedCall,
    saved,
    with_own_names,
)
from studio.core.text.invisible import reveal
from studio.core.tools.registry import ToolEntry
from studio.core.tools.source import ToolOutcome
from studio.ui.base.marked_text import QT_TRANSLATE_NOOP
from studio.ui.parts.boxes import ComboBox
from studio.ui.parts.flow_layout import FlowLayout
from studio.ui.parts.json_view import JsonView
from studio.ui.parts.layouts import column_of, row_of
from studio.ui.preview.cards.part_views import pretty_json
from studio.ui.style.colors import paint_text
from studio.ui.tools.calls_table import ARGUMENTS, NAME, RESULT, TOOK, TOOL, CallRow, CallsTable

_WIDTH, _HEIGHT = 860, 600
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

    request_make = Signal(tuple)  # tuple[SavedCall, ...]
    request_cancel = Signal()
    request_rows = Signal(ToolEntry)  # tool that a file of rows is wanted for
    request_export = Signal(tuple)  # tuple[(SavedCall, ToolOutcome), ...]: answers, to be written

    def __init__(
        self,
        tool: ToolEntry,
        calls: Sequence[SavedCall],
        changing: Callable[[SavedCall], bool],
        write: Callable[[Sequence[CallChange]], CallsWritten | None],
        parent: QWidget,
    ) -> None:
        """Make the dialog.

        Args:
            tool: the tool that rows are for.
            calls: what the file holds.
            changing: whether a call may change something outside.
            write: changes calls of the file; None where that failed, which the user was told.
            parent: the window.
        """
        super().__init__(parent)
        self._tool, self._changing, self._write_calls = tool, changing, write
        self._met: tuple[str, ...] = ()
        """Calls that another program had changed before the last change."""
        self._is_warned = False
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Saved calls and rows"))
        self.resize(_WIDTH, _HEIGHT)
        self.rows = CallsTable(self)
        self.rows.request_change.connect(lambda row, call: self._write({row: call}))
        self._make_views()
        self._make_buttons()
        self._arrange()
        self.rows.add(CallRow(call, call) for call in calls)
        self._show_all()

    def _make_views(self) -> None:
        self.table = QTreeView(self, rootIsDecorated=False, uniformRowHeights=True)
        self.table.setAccessibleName(QCoreApplication.translate("CallsTable", "Calls"))
        self.table.setSelectionMode(QTreeView.SelectionMode.ExtendedSelection)
        self.table.setModel(self.rows)
        self.table.header().setStretchLastSection(False)
        self.table.header().setSectionResizeMode(ARGUMENTS, QHeaderView.ResizeMode.Stretch)
        for column, width in ((NAME, 170), (TOOL, 130), (RESULT, 220), (TOOK, 70)):
            self.table.setColumnWidth(column, width)
        self.table.selectionModel().currentChanged.connect(self._show_call)
        self.table.selectionModel().selectionChanged.connect(self._allow)
        self.before, self.now = JsonView(self), JsonView(self)
        self.before.setAccessibleName(self.tr("The answer that was saved"))
        self.now.setAccessibleName(self.tr("The answer now"))
        self.compare = ComboBox(self)
        self.compare.setAccessibleName(self.tr("What of the answer must be as it was"))
        for key, words in _COMPARISONS.items():
            self.compare.addItem(self.tr(words), key)
        self.compare.activated.connect(self._compare_by)
        self.status = QLabel(self, wordWrap=True)

    def _make_buttons(self) -> None:
        self._buttons = FlowLayout(spacing=8)
        self.run_button = self._button(self.tr("Call all"), self._run)
        self.run_button.setProperty("primary", True)
        self.cancel_button = self._button(self.tr("Cancel"), self.request_cancel.emit)
        self.cancel_button.hide()
        tip = self.tr("A call of {tool} for each row; its columns are the arguments")
        self.rows_button = self._button(
            self.tr("Rows of a file…"),
            partial(self.request_rows.emit, self._tool),
            tip.format(tool=reveal(self._tool.name, lines=False)),
        )
        self.keep_button = self._button(
            self.tr("Keep the answers"),
            self._keep,
            self.tr("What was answered now is what must be answered"),
        )
        self.remove_button = self._button(self.tr("Remove"), self._remove)
        self.export_button = self._button(self.tr("Write the answers…"), self._export)

    def _button(self, words: str, act: Callable[[], object], tip: str = "") -> QPushButton:
        button = QPushButton(words, self, autoDefault=False)
        button.setToolTip(tip)
        button.clicked.connect(lambda _: act())
        self._buttons.addWidget(button)
        return button

    def _arrange(self) -> None:
        answers = QSplitter(Qt.Orientation.Horizontal, self)
        for title, view in ((self.tr("Saved"), self.before), (self.tr("Now"), self.now)):
            page = QWidget()
            column_of(QLabel(title), (view, 1), on=page, margins=0)
            answers.addWidget(page)
        splitter = QSplitter(Qt.Orientation.Vertical, self)
        splitter.addWidget(self.table)
        splitter.addWidget(answers)
        splitter.setSizes([330, 210])
        compare = row_of(QLabel(self.tr("As it was must be"), self), self.compare, 1)
        column_of((splitter, 1), compare, self.status, self._buttons, on=self, margins=12)

    @property
    def calls(self) -> tuple[SavedCall, ...]:
        """All that are listed, saved or not."""
        return tuple(row.call for row in self.rows.rows)

    def add_rows(self, calls: Sequence[SavedCall]) -> None:
        """List the rows of a file after what is there."""
        listed = self.calls
        self.rows.add(map(CallRow, with_own_names((*listed, *calls))[len(listed) :]))
        self._show_all()

    def show_file(self, calls: Sequence[SavedCall]) -> None:
        """Show what the file holds by now; a call that it lost stays listed, as one not saved."""
        self.rows.show_file(calls)
        self._show_all()

    def show_began(self, number: int) -> None:
        """A call of those asked for is under way."""
        self.rows.show_call(number, None)

    def show_ended(self, number: int, outcome: ToolOutcome) -> None:
        """A call of those asked for has ended."""
        row = self.rows.show_call(number, outcome)
        if row >= 0:
            self._sum_up()
            if row == self._row:
                self._show_call()

    def show_all_ended(self) -> None:
        """The calls asked for are made, or were stopped."""
        self.rows.show_all_ended()
        self._sum_up()

    @property
    def _row(self) -> int:
        """The row that is looked at; -1 for none."""
        return self.table.currentIndex().row()

    @property
    def _selected(self) -> list[int]:
        """The selected rows, from the top."""
        return sorted(index.row() for index in self.table.selectionModel().selectedRows())

    @property
    def _chosen(self) -> list[int]:
        """The rows that are selected; with one or none of them, all."""
        selected = self._selected
        return selected if len(selected) > 1 else [*range(self.rows.rowCount())]

    # What is said of them -------------------------------------------------------------------------

    def _show_all(self) -> None:
        if self._row < 0:
            self.table.setCurrentIndex(self.rows.index(0, NAME))
        self._show_call()
        self._sum_up()

    def _show_call(self) -> None:
        row = self.rows.rows[self._row] if self._row >= 0 else None
        filed = row.filed if row is not None else None
        outcome = row.outcome if row is not None else None
        self.before.show_answer(reveal(pretty_json(filed.text)) if filed is not None else "")
        now = outcome.whole or outcome.text if outcome is not None else ""
        self.now.show_answer(reveal(pretty_json(now)))
        self.compare.setEnabled(filed is not None)
        if row is not None:
            self.compare.setCurrentIndex(self.compare.findData(row.call.compare))
        self._allow()

    def _sum_up(self) -> None:
        ended = [row for row in self.rows.rows if row.outcome is not None]
        tests = [row.is_wrong for row in ended if row.filed is not None]
        rows = [row.is_wrong for row in ended if row.filed is None]
        words = [self.tr("Calls: {count}").format(count=self.rows.rowCount())]
        if tests:
            words.append(self.tr("as they were: {count}").format(count=tests.count(False)))
        if any(tests):
            words.append(self.tr("not as they were: {count}").format(count=sum(tests)))
        if rows:
            called = self.tr("rows called: {count}, failed: {failed}")
            words.append(called.format(count=len(rows), failed=sum(rows)))
        if not self.rows.rows:
            words = [self.tr("No call is saved. Save one where a tool is tried, or take rows.")]
        statement, tone = ", ".join(words), "error" if any((*tests, *rows)) else "muted"
        if self._met:
            names = reveal(", ".join(self._met), lines=False)
            met = self.tr("Another program had changed {names}: its version stays in the file.")
            statement, tone = f"{met.format(names=names)} {statement}", "warning"
        self._say(statement, tone)
        self._allow()

    def _say(self, statement: str, tone: str) -> None:
        paint_text(self.status, tone)
        self.status.setText(statement)

    def _allow(self) -> None:
        rows, running, chosen = self.rows.rows, self.rows.is_running, self._chosen
        is_part = 1 < len(chosen) < len(rows)
        words = self.tr("Call the {count} selected") if is_part else self.tr("Call all")
        self.run_button.setText(words.format(count=len(chosen)))
        self._is_warned = False
        self.run_button.setEnabled(bool(rows) and not running)
        self.cancel_button.setVisible(running)
        for button in (self.rows_button, self.remove_button):
            button.setEnabled(not running)
        is_ended = [row.outcome is not None for row in rows]
        self.keep_button.setEnabled(not running and any(is_ended[row] for row in chosen))
        self.export_button.setEnabled(not running and any(is_ended))

    # What is asked for ---------------------------------------------------------------------------

    def _run(self) -> None:
        calls = [self.calls[row] for row in self._chosen]
        changing = sum(map(self._changing, calls))
        if changing and not self._is_warned:
            words = self.tr("{count} of these calls may change something outside.")
            if changing == 1:
                words = self.tr("1 of these calls may change something outside.")
            self._say(words.format(count=changing), "warning")
            self.run_button.setText(self.tr("Call all the same"))
            self._is_warned = True
            return
        self.rows.begin(self._chosen)
        self.request_make.emit(tuple(calls))
        self._sum_up()

    def _compare_by(self, index: int) -> None:
        if self._row >= 0:
            compare: Comparison = self.compare.itemData(index)
            self._write({self._row: replace(self.calls[self._row], compare=compare)})

    def _keep(self) -> None:
        chosen = [(number, self.rows.rows[number]) for number in self._chosen]
        self._write({number: saved(row.call, row.outcome) for number, row in chosen if row.outcome})

    def _remove(self) -> None:
        rows = self._selected
        if self._write(dict.fromkeys(rows)):
            self.rows.remove(row for row in rows if self.rows.rows[row].filed is None)
            self._show_all()

    def _write(self, wanted: Mapping[int, SavedCall | None]) -> bool:
        """Write calls; return whether that was done, and is shown.

        Args:
            wanted: what they are to be, by row; None for one that is to go.
        """
        filed = {number: self.rows.rows[number].filed for number in wanted}
        changes = {number: call for number, call in wanted.items() if call != filed[number]}
        if not changes:
            return True
        written = self._write_calls([(filed[number], call) for number, call in changes.items()])
        if written is None:
            return False
        for number, call in changes.items():
            self.rows.put(number, self.rows.rows[number].as_filed(call))
        self._met = written.met
        self.show_file(written.calls)
        return True

    def _export(self) -> None:
        ended = ((row.call, row.outcome) for row in self.rows.rows if row.outcome is not None)
        self.request_export.emit(tuple(ended))
