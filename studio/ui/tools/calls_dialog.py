"""Saved calls of tools, and the rows of a file as calls: made at once, compared, kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSplitter,
    QVBoxLayout,
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
from studio.core.tools.source import ToolOutcome
from studio.ui.base.marked_text import QT_TRANSLATE_NOOP
from studio.ui.parts.boxes import ComboBox
from studio.ui.parts.flow_layout import FlowLayout
from studio.ui.parts.json_view import JsonView
from studio.ui.preview.cards.part_views import pretty_json
from studio.ui.style.colors import paint_text
from studio.ui.tools.calls_table import CallsTable

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
        self._written: CallsWritten | None = None
        self._met: tuple[str, ...] = ()
        """Calls that another program had changed before the last change."""
        self._is_warned = False
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Saved calls and rows"))
        self.resize(_WIDTH, _HEIGHT)
        self.table = CallsTable(self)
        self.table.currentItemChanged.connect(lambda *_: self._show_call())
        self.table.itemSelectionChanged.connect(self._allow)
        self.table.request_change.connect(lambda row, call: self._write({row: call}))
        self._make_views()
        self._make_buttons()
        self._arrange()
        self.table.add(calls, filed=True)
        self._show_call()
        self._sum_up()

    def _make_views(self) -> None:
        self.before, self.now = JsonView(self), JsonView(self)
        self.before.setAccessibleName(self.tr("The answer that was saved"))
        self.now.setAccessibleName(self.tr("The answer now"))
        self.compare = ComboBox(self)
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
        return self.table.calls

    def add_rows(self, calls: Sequence[SavedCall]) -> None:
        """List the rows of a file after what is there."""
        listed = self.table.calls
        self.table.add(with_own_names((*listed, *calls))[len(listed) :], filed=False)
        self._sum_up()

    def show_file(self, calls: Sequence[SavedCall]) -> None:
        """Show what the file holds by now; a call that it lost stays listed, as one not saved."""
        self.table.show_file(calls)
        self._show_call()
        self._sum_up()

    def show_written(self, written: CallsWritten) -> None:
        """The changes that were asked for stand in the file."""
        self._written = written

    def show_began(self, number: int) -> None:
        """A call of those asked for is under way."""
        self.table.show_began(number)

    def show_ended(self, number: int, outcome: ToolOutcome) -> None:
        """A call of those asked for has ended."""
        row = self.table.show_ended(number, outcome)
        if row >= 0:
            self._sum_up()
            if row == self.table.row:
                self._show_call()

    def show_all_ended(self) -> None:
        """The calls asked for are made, or were stopped."""
        self.table.show_all_ended()
        self._sum_up()

    # What is said of them -------------------------------------------------------------------------

    def _show_call(self) -> None:
        row = self.table.row
        call = self.table.calls[row] if row >= 0 else None
        outcome = self.table.outcomes.get(row)
        has_answer = call is not None and self.table.filed(row) is not None
        self.before.show_answer(reveal(pretty_json(call.text)) if call and has_answer else "")
        now = outcome.whole or outcome.text if outcome is not None else ""
        self.now.show_answer(reveal(pretty_json(now)))
        self.compare.setEnabled(has_answer)
        if call is not None:
            self.compare.setCurrentIndex(self.compare.findData(call.compare))
        self._allow()

    def _sum_up(self) -> None:
        calls, counts = self.table.calls, self.table.counts()
        words = [self.tr("Calls: {count}").format(count=len(calls))]
        if counts.tests:
            right = counts.tests - counts.wrong
            words.append(self.tr("as they were: {count}").format(count=right))
        if counts.wrong:
            words.append(self.tr("not as they were: {count}").format(count=counts.wrong))
        if counts.rows:
            words.append(
                self.tr("rows called: {count}, failed: {failed}").format(
                    count=counts.rows, failed=counts.failed
                )
            )
        if not calls:
            words = [self.tr("No call is saved. Save one where a tool is tried, or take rows.")]
        statement, tone = ", ".join(words), "error" if counts.wrong or counts.failed else "muted"
        if self._met:
            names = reveal(", ".join(self._met), lines=False)
            met = self.tr("Another program had changed {names}: its version stays in the file.")
            statement, tone = f"{met.format(names=names)} {statement}", "warning"
        paint_text(self.status, tone)
        self.status.setText(statement)
        self._allow()

    def _allow(self) -> None:
        running, chosen, count = self.table.is_running, self.table.chosen, len(self.table.calls)
        is_part = 1 < len(chosen) < count
        words = self.tr("Call the {count} selected") if is_part else self.tr("Call all")
        self.run_button.setText(words.format(count=len(chosen)))
        self._is_warned = False
        self.run_button.setEnabled(bool(count) and not running)
        self.cancel_button.setVisible(running)
        for button in (self.rows_button, self.remove_button):
            button.setEnabled(not running)
        self.keep_button.setEnabled(not running and bool(self.table.outcomes.keys() & set(chosen)))
        self.export_button.setEnabled(not running and bool(self.table.outcomes))

    # What is asked for ---------------------------------------------------------------------------

    def _run(self) -> None:
        chosen, listed = self.table.chosen, self.table.calls
        calls = [listed[row] for row in chosen]
        changing = sum(call.tool in self._changing for call in calls)
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
        self.table.begin(chosen)
        self.request_make.emit(tuple((call.tool, call.arguments) for call in calls))
        self._sum_up()

    def _compare_by(self, index: int) -> None:
        row = self.table.row
        if row >= 0:
            compare: Comparison = self.compare.itemData(index)
            self._write({row: replace(self.table.calls[row], compare=compare)})

    def _keep(self) -> None:
        calls, outcomes = self.table.calls, self.table.outcomes
        chosen = [row for row in self.table.chosen if row in outcomes]
        self._write({row: saved(calls[row], outcomes[row]) for row in chosen})

    def _remove(self) -> None:
        rows = self.table.selected
        filed = [row for row in rows if self.table.filed(row) is not None]
        if self._write(dict.fromkeys(filed)):
            self.table.remove(rows)
            self._show_call()
            self._sum_up()

    def _write(self, wanted: Mapping[int, SavedCall | None]) -> bool:
        """Ask for calls to be written; whether that was done, and is shown.

        Args:
            wanted: what they are to be, by row; None for one that is to go.
        """
        rows = [row for row, call in wanted.items() if call != self.table.filed(row)]
        if rows:
            self._written = None
            changes = (CallChange(self.table.filed(row), wanted[row]) for row in rows)
            self.request_write.emit(tuple(changes))
            written = self._written
            if written is None:
                return False
            self.table.show_written(dict(zip(rows, written.made, strict=True)), written.calls)
            self._show_call()
            self._met = written.met
            self._sum_up()
        return True

    def _export(self) -> None:
        calls, ended = self.table.calls, sorted(self.table.outcomes.items())
        self.request_export.emit(tuple((calls[row], outcome) for row, outcome in ended))
