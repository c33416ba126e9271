"""Saved tool calls and rows of a file as calls: run in sequence, compared and saved.

Each row of the list shows the new answer beside the saved one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHeaderView, QLabel, QPushButton, QTreeView, QWidget

from studio.application.tools.saved_calls import (
    CallChange,
    CallsWritten,
    Comparison,
    SavedCall,
    difference,
    saved,
    with_own_names,
)
from studio.application.words import marked, tr
from studio.core.text.amounts import by_count, duration
from studio.core.text.invisible import reveal
from studio.core.tools.registry import ToolEntry
from studio.core.tools.source import ToolOutcome
from studio.ui.parts import kit
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.text_views import JsonView
from studio.ui.preview.cards.text_body import pretty_json
from studio.ui.style.theme import paint_text, theme_in_use
from studio.ui.tools.try_panel import status_words
from studio.viewmodels.app.row_table import DISPLAY, TIP, Index, RowTable

NAME, TOOL, ARGUMENTS, RESULT, TOOK = range(5)
_MOST_SHOWN = 200
_EDIT = int(Qt.ItemDataRole.EditRole)
_COLOR = int(Qt.ItemDataRole.ForegroundRole)


@dataclass(frozen=True)
class CallRow:
    """A call of the list: a test if it is in the file of saved calls, otherwise a row."""

    call: SavedCall
    """The listed call."""

    filed: SavedCall | None = None
    """The call in the file; None if it is not in the file."""

    outcome: ToolOutcome | None = None
    """The new answer."""

    is_running: bool = False
    """Whether the call is running."""

    @cached_property
    def differs(self) -> str:
        """Describe in a sentence how the answer differs from the file."""
        if self.filed is None or self.outcome is None:
            return ""
        return difference(self.call, self.outcome)

    @property
    def is_wrong(self) -> bool:
        """Whether the test or the call failed."""
        failed = self.filed is None and self.outcome is not None and self.outcome.is_error
        return failed or bool(self.differs)

    def as_filed(self, filed: SavedCall | None) -> CallRow:
        """Return the row for the file's current call; keep the answer to equal arguments."""
        call = filed or self.call
        is_same = (call.tool, call.arguments) == (self.call.tool, self.call.arguments)
        return replace(self, call=call, filed=filed) if is_same else CallRow(call, filed)


class CallsTable(RowTable[CallRow]):
    """Lists calls and shows those that run; their names can be edited."""

    request_change = Signal(int, SavedCall)  # row of a call of the file, its new value

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(5, parent)
        self._asked: tuple[tuple[int, SavedCall], ...] = ()
        """The requested calls in order, with their rows, which are not removed meanwhile."""

    @property
    def is_running(self) -> bool:
        """Whether calls are running."""
        return bool(self._asked)

    def add(self, rows: Iterable[CallRow]) -> None:
        """Append rows."""
        fresh, first = tuple(rows), len(self._rows)
        if fresh:
            self.beginInsertRows(QModelIndex(), first, first + len(fresh) - 1)
            self._rows += fresh
            self.endInsertRows()

    def put(self, row: int, fresh: CallRow) -> None:
        """Replace a row."""
        self._rows = (*self._rows[:row], fresh, *self._rows[row + 1 :])
        self.dataChanged.emit(self.index(row, 0), self.index(row, TOOK))

    def show_file(self, calls: Sequence[SavedCall]) -> None:
        """Show the calls of the changed file; a removed call stays as an unsaved row."""
        left = [*calls]
        others: list[tuple[int, SavedCall]] = []
        for number, row in enumerate(self._rows):
            if row.filed in left:
                left.remove(row.filed)
            elif row.filed is not None:
                others.append((number, row.filed))
        for number, old in others:
            renamed = (each for each in left if replace(each, name=old.name) == old)
            changed = (each for each in left if each.name == old.name)
            fresh = next(renamed, None) or next(changed, None)
            if fresh is not None:
                left.remove(fresh)
            self.put(number, self._rows[number].as_filed(fresh))
        self.add(CallRow(call, call) for call in left)

    def remove(self, rows: Iterable[int]) -> None:
        """Remove rows from the list."""
        for row in sorted(rows, reverse=True):
            self.beginRemoveRows(QModelIndex(), row, row)
            self._rows = (*self._rows[:row], *self._rows[row + 1 :])
            self.endRemoveRows()

    # Progress ------------------------------------------------------------------------------------

    def begin(self, rows: Sequence[int]) -> None:
        """Mark the calls that are requested."""
        self._asked = tuple((row, self._rows[row].call) for row in rows)
        for row in rows:
            self.put(row, replace(self._rows[row], outcome=None))

    def show_call(self, number: int, outcome: ToolOutcome | None) -> int:
        """Show that a requested call has started or ended.

        Returns:
            its row; -1 if the row now has another call.
        """
        if number >= len(self._asked):
            return -1
        row, asked = self._asked[number]
        now = self._rows[row]
        if (now.call.tool, now.call.arguments) != (asked.tool, asked.arguments):
            return -1
        self.put(row, replace(now, outcome=outcome, is_running=outcome is None))
        return row

    def show_all_ended(self) -> None:
        """Show that all requested calls have ended or were stopped."""
        for row, _ in self._asked:
            self.put(row, replace(self._rows[row], is_running=False))
        self._asked = ()

    # Display --------------------------------------------------------------------------------------

    def head(self, column: int, role: int) -> object:
        """Return a column's title."""
        titles = (tr("Name"), tr("Tool"), tr("Arguments"), tr("Result"), tr("Took"))
        return titles[column] if role == DISPLAY else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return the item flags: names can be edited."""
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() == NAME else flags

    def cell(self, row: CallRow, column: int, role: int) -> object:
        """Return the text of a call's cell."""
        if role == _EDIT and column == NAME:
            return row.call.name
        if role == TIP and column == TOOL:
            return reveal(row.call.tool.source, lines=False)
        if role == DISPLAY or (role == TIP and column == RESULT):
            return reveal(self._text(row, column), lines=False)
        if role == _COLOR and column == RESULT and row.outcome is not None:
            return QColor(theme_in_use().error if row.is_wrong else theme_in_use().success)
        return None

    def _text(self, row: CallRow, column: int) -> str:
        if column == NAME:
            return row.call.name
        if column == TOOL:
            return row.call.tool.name
        if column == ARGUMENTS:
            return json.dumps(row.call.arguments, ensure_ascii=False)[:_MOST_SHOWN]
        if row.outcome is None:
            return tr("Running") if row.is_running and column == RESULT else ""
        if column == TOOK:
            return duration(row.outcome.duration)
        return row.differs or (tr("Unchanged") if row.filed else status_words(row.outcome))

    def setData(self, index: Index, value: object, role: int = _EDIT) -> bool:
        """Give a call a unique name."""
        row, name = self._rows[index.row()], str(value).strip()
        others = {each.call.name for each in self._rows if each is not row}
        if role != _EDIT or not name or name in others:
            return False
        renamed = replace(row.call, name=name)
        if row.filed is not None:
            self.request_change.emit(index.row(), renamed)
        else:
            self.put(index.row(), replace(row, call=renamed))
        return True


_WIDTH, _HEIGHT = 860, 600
_COMPARISONS: Mapping[Comparison, str] = {
    "answer": marked("The whole answer"),
    "shape": marked("Names and types of values"),
    "status": marked("How the call ends"),
}


class CallsDialog(kit.ClosingDialog):
    """Non-modal dialog that requests calls and changes of the file.

    A repeated saved call is a test: its answer must be the same. A row is a call without an answer
    until its answer is saved.
    """

    request_make = Signal(tuple)  # tuple[SavedCall, ...]
    request_cancel = Signal()
    request_rows = Signal(ToolEntry)  # tool for which a file of rows is opened
    request_export = Signal(tuple)  # tuple[(SavedCall, ToolOutcome), ...]: answers to export

    def __init__(
        self,
        tool: ToolEntry,
        calls: Sequence[SavedCall],
        changing: Callable[[SavedCall], bool],
        write: Callable[[Sequence[CallChange]], CallsWritten | None],
        parent: QWidget,
    ) -> None:
        """Create the dialog.

        Args:
            tool: tool of the rows.
            calls: calls in the file.
            changing: returns whether a call may have side effects.
            write: changes calls of the file; returns None after a reported failure.
            parent: the window.
        """
        super().__init__(parent, tr("Saved calls and rows"), (_WIDTH, _HEIGHT))
        self._tool, self._changing, self._write_calls = tool, changing, write
        self._met: tuple[str, ...] = ()
        """Calls that another program had changed before the last change."""
        self._is_warned = False
        self.rows = CallsTable(self)
        self.rows.request_change.connect(lambda row, call: self._write({row: call}))
        self._make_views()
        self._make_buttons()
        self._arrange()
        self.rows.add(CallRow(call, call) for call in calls)
        self._show_all()

    def _make_views(self) -> None:
        self.table = QTreeView(self, rootIsDecorated=False, uniformRowHeights=True)
        self.table.setAccessibleName(tr("Calls"))
        self.table.setSelectionMode(QTreeView.SelectionMode.ExtendedSelection)
        self.table.setModel(self.rows)
        self.table.header().setStretchLastSection(False)
        self.table.header().setSectionResizeMode(ARGUMENTS, QHeaderView.ResizeMode.Stretch)
        for column, width in ((NAME, 170), (TOOL, 130), (RESULT, 220), (TOOK, 70)):
            self.table.setColumnWidth(column, width)
        self.table.selectionModel().currentChanged.connect(self._show_call)
        self.table.selectionModel().selectionChanged.connect(self._allow)
        self.before, self.now = JsonView(self), JsonView(self)
        self.before.setAccessibleName(tr("The saved answer"))
        self.now.setAccessibleName(tr("The answer now"))
        self.compare = kit.named(ComboBox(self), tr("Part of the answer that must match"))
        for key, words in _COMPARISONS.items():
            self.compare.addItem(tr(words), key)
        self.compare.activated.connect(self._compare_by)
        self.status = QLabel(self, wordWrap=True)

    def _make_buttons(self) -> None:
        self._buttons = kit.FlowLayout(spacing=8)
        self.run_button = self._button(tr("Call all"), self._run)
        self.run_button.setProperty("primary", True)
        self.cancel_button = self._button(tr("Cancel"), self.request_cancel.emit)
        self.cancel_button.hide()
        tip = tr("A call of {tool} for each row; its columns are the arguments")
        self.rows_button = self._button(
            tr("Rows of a file…"),
            partial(self.request_rows.emit, self._tool),
            tip.format(tool=reveal(self._tool.name, lines=False)),
        )
        self.keep_button = self._button(
            tr("Save the answers"), self._keep, tr("Save the new answers as the expected ones")
        )
        self.remove_button = self._button(tr("Remove"), self._remove)
        self.export_button = self._button(tr("Export the answers…"), self._export)

    def _button(self, words: str, act: Callable[[], object], tip: str = "") -> QPushButton:
        button = kit.push_button(words, lambda _: act(), parent=self, tip=tip, takes_enter=False)
        self._buttons.addWidget(button)
        return button

    def _arrange(self) -> None:
        before, now = QWidget(), QWidget()
        kit.column_of(QLabel(tr("Saved")), (self.before, 1), on=before, margins=0)
        kit.column_of(QLabel(tr("Now")), (self.now, 1), on=now, margins=0)
        answers = kit.split_of(before, now)
        splitter = kit.split_of(self.table, answers, sizes=(330, 210), is_column=True, parent=self)
        compare = kit.row_of(QLabel(tr("Must match:"), self), self.compare, 1)
        kit.column_of((splitter, 1), compare, self.status, self._buttons, on=self, margins=12)

    @property
    def calls(self) -> tuple[SavedCall, ...]:
        """All listed calls, saved or not."""
        return tuple(row.call for row in self.rows.rows)

    def add_rows(self, calls: Sequence[SavedCall]) -> None:
        """Append the rows of a file."""
        listed = self.calls
        self.rows.add(map(CallRow, with_own_names((*listed, *calls))[len(listed) :]))
        self._show_all()

    def show_file(self, calls: Sequence[SavedCall]) -> None:
        """Show the calls of the changed file; a removed call stays as an unsaved row."""
        self.rows.show_file(calls)
        self._show_all()

    def show_began(self, number: int) -> None:
        """Show that a requested call has started."""
        self.rows.show_call(number, None)

    def show_ended(self, number: int, outcome: ToolOutcome) -> None:
        """Show that a requested call has ended."""
        row = self.rows.show_call(number, outcome)
        if row >= 0:
            self._sum_up()
            if row == self._row:
                self._show_call()

    def show_all_ended(self) -> None:
        """Show that all requested calls have ended or were stopped."""
        self.rows.show_all_ended()
        self._sum_up()

    @property
    def _row(self) -> int:
        """The current row; -1 for none."""
        return self.table.currentIndex().row()

    @property
    def _selected(self) -> list[int]:
        """The selected rows from top to bottom."""
        return sorted(index.row() for index in self.table.selectionModel().selectedRows())

    @property
    def _chosen(self) -> list[int]:
        """The selected rows; if at most one is selected, all rows."""
        selected = self._selected
        return selected if len(selected) > 1 else [*range(self.rows.rowCount())]

    # State of the calls ---------------------------------------------------------------------------

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
        words = [tr("Calls: {count}").format(count=self.rows.rowCount())]
        if tests:
            words.append(tr("unchanged: {count}").format(count=tests.count(False)))
        if any(tests):
            words.append(tr("changed: {count}").format(count=sum(tests)))
        if rows:
            called = tr("rows called: {count}, failed: {failed}")
            words.append(called.format(count=len(rows), failed=sum(rows)))
        if not self.rows.rows:
            words = [tr("No call is saved. Save one in the panel of a tool, or load rows.")]
        statement, tone = ", ".join(words), "error" if any((*tests, *rows)) else "muted"
        if self._met:
            names = reveal(", ".join(self._met), lines=False)
            met = tr("Another program changed {names}: its version stays in the file.")
            statement, tone = f"{met.format(names=names)} {statement}", "warning"
        self._say(statement, tone)
        self._allow()

    def _say(self, statement: str, tone: str) -> None:
        paint_text(self.status, tone)
        self.status.setText(statement)

    def _allow(self) -> None:
        rows, running, chosen = self.rows.rows, self.rows.is_running, self._chosen
        is_part = 1 < len(chosen) < len(rows)
        words = tr("Call the {count} selected") if is_part else tr("Call all")
        self.run_button.setText(words.format(count=len(chosen)))
        self._is_warned = False
        self.run_button.setEnabled(bool(rows) and not running)
        self.cancel_button.setVisible(running)
        for button in (self.rows_button, self.remove_button):
            button.setEnabled(not running)
        is_ended = [row.outcome is not None for row in rows]
        self.keep_button.setEnabled(not running and any(is_ended[row] for row in chosen))
        self.export_button.setEnabled(not running and any(is_ended))

    # Requests -------------------------------------------------------------------------------------

    def _run(self) -> None:
        calls = [self.calls[row] for row in self._chosen]
        changing = sum(map(self._changing, calls))
        if changing and not self._is_warned:
            one = tr("1 of these calls may have side effects.")
            many = tr("{count} of these calls may have side effects.")
            self._say(by_count(changing, one, many), "warning")
            self.run_button.setText(tr("Call anyway"))
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
        """Write calls to the file and update the list; return whether this succeeded.

        Args:
            wanted: new value by row; None removes the call.
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
