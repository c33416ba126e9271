"""The list of saved calls and rows: each with how it ended now, beside what the file has of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from studio.application.tools.saved_calls import SavedCall, difference
from studio.core.text.amounts import duration
from studio.core.text.invisible import reveal
from studio.core.tools.source import ToolOutcome
from studio.ui.style.in_use import theme_in_use
from studio.ui.tools.tool_answer import status_words

_NAME, _TOOL, _ARGUMENTS, _RESULT, _TOOK = range(5)
_MOST_SHOWN = 200


@dataclass(frozen=True)
class CallCounts:
    """What came of the calls that were made."""

    tests: int
    """Calls of the file, whose answers must be as they were."""

    wrong: int
    """Those of them whose answers are not."""

    rows: int
    """Calls that the file does not have."""

    failed: int
    """Those of them that failed."""


class CallsTable(QTreeWidget):
    """A saved call is a test; one without an answer in the file is a row, until it is kept."""

    request_change = Signal(int, SavedCall)  # row of a call of the file, what that is to be

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._calls: list[SavedCall] = []
        self._filed: list[SavedCall | None] = []
        """Each call as the file has it; None for one that it does not have."""
        self._outcomes: dict[int, ToolOutcome] = {}
        self._made: list[int] = []
        """Rows of the calls asked for, in order; -1 for one that is another call by now."""
        self.setAccessibleName(self.tr("Calls"))
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setSelectionMode(QTreeWidget.SelectionMode.ExtendedSelection)
        self.setHeaderLabels(
            [
                self.tr("Name"), self.tr("Tool"), self.tr("Arguments"), self.tr("Result"),
                self.tr("Took"),
            ]
        )  # fmt: skip
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(_ARGUMENTS, QHeaderView.ResizeMode.Stretch)
        for column, width in ((_NAME, 170), (_TOOL, 130), (_RESULT, 220), (_TOOK, 70)):
            self.setColumnWidth(column, width)
        self.itemChanged.connect(self._rename)

    # What is listed ------------------------------------------------------------------------------

    @property
    def calls(self) -> tuple[SavedCall, ...]:
        """All that are listed, saved or not."""
        return tuple(self._calls)

    @property
    def outcomes(self) -> Mapping[int, ToolOutcome]:
        """What was answered now, by row."""
        return self._outcomes

    @property
    def is_running(self) -> bool:
        """Whether calls are being made."""
        return bool(self._made)

    @property
    def row(self) -> int:
        """The row that is looked at; -1 for none."""
        item = self.currentItem()
        return self.indexOfTopLevelItem(item) if item is not None else -1

    @property
    def selected(self) -> list[int]:
        """The selected rows, from the top."""
        return sorted(self.indexOfTopLevelItem(item) for item in self.selectedItems())

    @property
    def chosen(self) -> list[int]:
        """The rows that are selected; with one or none of them, all."""
        rows = self.selected
        return rows if len(rows) > 1 else [*range(len(self._calls))]

    def filed(self, row: int) -> SavedCall | None:
        """A call as the file has it; None where it does not have it."""
        return self._filed[row]

    def counts(self) -> CallCounts:
        """Count what came of the calls."""
        tests = [row for row in self._outcomes if self._filed[row] is not None]
        rows = [row for row in self._outcomes if self._filed[row] is None]
        return CallCounts(
            tests=len(tests),
            wrong=sum(bool(difference(self._calls[row], self._outcomes[row])) for row in tests),
            rows=len(rows),
            failed=sum(self._outcomes[row].is_error for row in rows),
        )

    def add(self, calls: Sequence[SavedCall], *, filed: bool) -> None:
        """List calls after what is there; `filed` where they come from the file."""
        first = len(self._calls)
        self._calls += calls
        self._filed += [call if filed else None for call in calls]
        self.blockSignals(True)
        for call in self._calls[first:]:
            item = QTreeWidgetItem(_texts(call))
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
            self.addTopLevelItem(item)
        self.blockSignals(False)
        if first == 0 and self._calls:
            self.setCurrentItem(self._item(0))

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
        self.add(left, filed=True)

    def show_written(
        self, written: Mapping[int, SavedCall | None], calls: Sequence[SavedCall]
    ) -> None:
        """Show rows as they were written, and what else the file holds by now."""
        for row, call in written.items():
            self._filed[row] = call
            self._calls[row] = call or self._calls[row]
        self.show_file(calls)
        for row in written:
            self._show_row(row)

    def remove(self, rows: Iterable[int]) -> None:
        """Take rows out of the list; one that the file has stays."""
        for row in sorted(rows, reverse=True):
            if self._filed[row] is not None:
                continue  # another program had changed it
            self.takeTopLevelItem(row)
            del self._calls[row], self._filed[row]
            later = {number - (number > row): each
                     for number, each in self._outcomes.items() if number != row}  # fmt: skip
            self._outcomes = later

    # What is answered ----------------------------------------------------------------------------

    def begin(self, rows: Sequence[int]) -> None:
        """Calls are asked for."""
        for row in rows:
            self._outcomes.pop(row, None)
            self._item(row).setText(_RESULT, "")
        self._made = [*rows]

    def show_began(self, number: int) -> None:
        """A call of those asked for is under way."""
        if number < len(self._made) and self._made[number] >= 0:
            self._item(self._made[number]).setText(_RESULT, self.tr("Running"))

    def show_ended(self, number: int, outcome: ToolOutcome) -> int:
        """A call of those asked for has ended; its row, -1 where it is another call by now."""
        row = self._made[number] if number < len(self._made) else -1
        if row >= 0:
            self._outcomes[row] = outcome
            self._show_result(row)
        return row

    def show_all_ended(self) -> None:
        """The calls asked for are made, or were stopped."""
        for row in self._made:
            if row >= 0 and row not in self._outcomes:
                self._item(row).setText(_RESULT, "")
        self._made = []

    # Inside ---------------------------------------------------------------------------------------

    def _item(self, row: int) -> QTreeWidgetItem:
        item = self.topLevelItem(row)
        assert item is not None
        return item

    def _forget_outcome(self, row: int) -> None:
        """What was answered, or is being asked, is of other arguments than the call has now."""
        self._outcomes.pop(row, None)
        self._made = [-1 if each == row else each for each in self._made]
        for column in (_RESULT, _TOOK):
            self._item(row).setText(column, "")

    def _rename(self, item: QTreeWidgetItem, column: int) -> None:
        row = self.indexOfTopLevelItem(item)
        name = item.text(_NAME).strip()
        others = {call.name for number, call in enumerate(self._calls) if number != row}
        if column == _NAME and name and name not in others:
            renamed = replace(self._calls[row], name=name)
            if self._filed[row] is not None:
                self.request_change.emit(row, renamed)
            else:
                self._calls[row] = renamed
        self._show_row(row)  # what is not renamed stays what it is, and so do the other cells

    def _show_row(self, row: int) -> None:
        """Show a call's words, and its answer where it was called."""
        self.blockSignals(True)
        for place, text in enumerate(_texts(self._calls[row])):
            self._item(row).setText(place, text)
        self.blockSignals(False)
        if row in self._outcomes:
            self._show_result(row)

    def _show_result(self, row: int) -> None:
        theme = theme_in_use()
        outcome, item = self._outcomes[row], self._item(row)
        color = theme.error if outcome.is_error else theme.success
        words = status_words(outcome)
        if self._filed[row] is not None:
            differs = difference(self._calls[row], outcome)
            words = differs or self.tr("As it was")
            color = theme.error if differs else theme.success
        self.blockSignals(True)
        item.setText(_RESULT, reveal(words, lines=False))
        item.setToolTip(_RESULT, reveal(words, lines=False))
        item.setForeground(_RESULT, QColor(color))
        item.setText(_TOOK, duration(outcome.duration))
        self.blockSignals(False)


def _texts(call: SavedCall) -> list[str]:
    """A call's name, tool and arguments, as the first cells of its row show them."""
    given = json.dumps(call.arguments, ensure_ascii=False)[:_MOST_SHOWN]
    return [reveal(text, lines=False) for text in (call.name, call.tool, given)]
