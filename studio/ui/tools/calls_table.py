"""The list of saved calls and rows: each with how it ended now, beside what the file has of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QColor

from studio.application.tools.saved_calls import SavedCall, difference
from studio.core.text.amounts import duration
from studio.core.text.invisible import reveal
from studio.core.tools.source import ToolOutcome
from studio.ui.style.in_use import theme_in_use
from studio.ui.tools.tool_answer import status_words
from studio.viewmodels.app.row_table import DISPLAY, TIP, Index, RowTable

NAME, TOOL, ARGUMENTS, RESULT, TOOK = range(5)
_MOST_SHOWN = 200
_EDIT = int(Qt.ItemDataRole.EditRole)
_COLOR = int(Qt.ItemDataRole.ForegroundRole)


@dataclass(frozen=True)
class CallRow:
    """A call of the list. One that the file has is a test; another one is a row, until kept."""

    call: SavedCall
    """The call as it is listed."""

    filed: SavedCall | None = None
    """The call as the file has it; None where it does not have it."""

    outcome: ToolOutcome | None = None
    """The answer of now."""

    is_running: bool = False
    """Whether it is being called."""

    @cached_property
    def differs(self) -> str:
        """What of the answer is not as the file has it, in a sentence."""
        if self.filed is None or self.outcome is None:
            return ""
        return difference(self.call, self.outcome)

    @property
    def is_wrong(self) -> bool:
        """Whether the test, or the call of a row, failed."""
        failed = self.filed is None and self.outcome is not None and self.outcome.is_error
        return failed or bool(self.differs)

    def as_filed(self, filed: SavedCall | None) -> CallRow:
        """Return the row of the call that the file has by now; answers are of their arguments."""
        call = filed or self.call
        is_same = (call.tool, call.arguments) == (self.call.tool, self.call.arguments)
        return replace(self, call=call, filed=filed) if is_same else CallRow(call, filed)


class CallsTable(RowTable[CallRow]):
    """Lists calls, and follows those that are made; their names can be edited."""

    request_change = Signal(int, SavedCall)  # row of a call of the file, what that is to be

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(5, parent)
        self._asked: tuple[tuple[int, SavedCall], ...] = ()
        """The calls asked for, in order, and their rows: none is removed meanwhile."""

    @property
    def is_running(self) -> bool:
        """Whether calls are being made."""
        return bool(self._asked)

    def add(self, rows: Iterable[CallRow]) -> None:
        """List rows after what is there."""
        fresh, first = tuple(rows), len(self._rows)
        if fresh:
            self.beginInsertRows(QModelIndex(), first, first + len(fresh) - 1)
            self._rows += fresh
            self.endInsertRows()

    def put(self, row: int, fresh: CallRow) -> None:
        """Show another value of a row."""
        self._rows = (*self._rows[:row], fresh, *self._rows[row + 1 :])
        self.dataChanged.emit(self.index(row, 0), self.index(row, TOOK))

    def show_file(self, calls: Sequence[SavedCall]) -> None:
        """Show what the file holds by now; a call that it lost stays listed, as one not saved."""
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
        """Take rows out of the list."""
        for row in sorted(rows, reverse=True):
            self.beginRemoveRows(QModelIndex(), row, row)
            self._rows = (*self._rows[:row], *self._rows[row + 1 :])
            self.endRemoveRows()

    # What is answered ----------------------------------------------------------------------------

    def begin(self, rows: Sequence[int]) -> None:
        """Calls are asked for."""
        self._asked = tuple((row, self._rows[row].call) for row in rows)
        for row in rows:
            self.put(row, replace(self._rows[row], outcome=None))

    def show_call(self, number: int, outcome: ToolOutcome | None) -> int:
        """Show that a call of those asked for is under way, or has ended.

        Returns:
            its row; -1 where that is another call by now.
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
        """The calls asked for are made, or were stopped."""
        for row, _ in self._asked:
            self.put(row, replace(self._rows[row], is_running=False))
        self._asked = ()

    # What is shown -------------------------------------------------------------------------------

    def head(self, column: int, role: int) -> object:
        """A column's title."""
        titles = (
            self.tr("Name"),
            self.tr("Tool"),
            self.tr("Arguments"),
            self.tr("Result"),
            self.tr("Took"),
        )
        return titles[column] if role == DISPLAY else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Names can be edited."""
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() == NAME else flags

    def cell(self, row: CallRow, column: int, role: int) -> object:
        """What a cell shows of a call."""
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
            return self.tr("Running") if row.is_running and column == RESULT else ""
        if column == TOOK:
            return duration(row.outcome.duration)
        return row.differs or (self.tr("As it was") if row.filed else status_words(row.outcome))

    def setData(self, index: Index, value: object, role: int = _EDIT) -> bool:
        """Give a call a name that no other has."""
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
