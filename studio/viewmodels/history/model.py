"""The list of runs as a table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QFont

from studio.application.history.groups import GroupBy, grouped
from studio.application.history.rows import HEADS, HistoryRow, column_head, row_of
from studio.core.runs.summary import RunSummary
from studio.viewmodels.app.row_table import ALIGNMENT, DISPLAY, TIP, RowTable

SUMMARY_ROLE = int(Qt.ItemDataRole.UserRole)
"""Role that gives the whole `RunSummary`."""

GROUP_ROLE = int(Qt.ItemDataRole.UserRole) + 2
"""Role that gives, for the head of a group, what its runs have in common."""

TONE_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""Role that gives the tone of a run's end."""


_NUMBERS = frozenset(
    HEADS.index(each)
    for each in ("Model calls", "Tool calls", "Tokens", "Cost", "Duration", "Branches")
)


class HistoryModel(RowTable[HistoryRow]):
    """The list of runs, for a table view."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(len(HEADS), parent)
        self._column, self._downward = -1, False
        self._listed: tuple[HistoryRow, ...] = ()
        self._by: GroupBy = ""
        self._closed: set[str] = set()

    def show_runs(self, runs: Sequence[RunSummary]) -> None:
        """Show these runs."""
        now = datetime.now().astimezone()
        self._listed = tuple(row_of(run, now) for run in runs)
        self._show_sorted()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; below 0 the newest first, the pinned ones above them."""
        self._column, self._downward = column, order == Qt.SortOrder.DescendingOrder
        self._show_sorted()

    def group(self, by: GroupBy) -> None:
        """Put runs together that have something in common."""
        if by != self._by:
            self._by, self._closed = by, set()
            self._show_sorted()

    def fold(self, group: str) -> None:
        """List only the head of a group, or its runs again."""
        self._closed ^= {group}
        self._show_sorted()

    def _show_sorted(self) -> None:
        rows = self._listed
        if 0 <= self._column < len(HEADS):
            column = self._column
            rows = tuple(sorted(rows, key=lambda row: row.keys[column], reverse=self._downward))
        rows = grouped(rows, self._by, self._closed, datetime.now().astimezone())
        self.show_rows(rows, lambda row: (row.run.id, row.group))

    def head(self, column: int, role: int) -> object:
        """A column's title, and on which side it stands."""
        if role == DISPLAY:
            return column_head(column)
        return _alignment(column) if role == ALIGNMENT else None

    def cell(self, row: HistoryRow, column: int, role: int) -> object:
        """A cell's text, or the whole run."""
        if role == DISPLAY:
            return row.cells[column]
        if role == GROUP_ROLE:
            return row.group
        if row.group is not None and role != ALIGNMENT:
            return _bold() if role == int(Qt.ItemDataRole.FontRole) else None
        if role == SUMMARY_ROLE:
            return row.run
        if role == TONE_ROLE:
            return row.tone
        if role == ALIGNMENT:
            return _alignment(column)
        return row.run.note or row.run.question or row.run.path or None if role == TIP else None


def _bold() -> QFont:
    font = QFont()
    font.setWeight(QFont.Weight.DemiBold)
    return font


def _alignment(column: int) -> int:
    side = Qt.AlignmentFlag.AlignRight if column in _NUMBERS else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)
