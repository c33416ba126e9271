"""The list of runs as a table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from studio.application.history.rows import HEADS, HistoryRow, column_head, row_of
from studio.core.runs.summary import RunSummary

SUMMARY_ROLE = int(Qt.ItemDataRole.UserRole)
"""Role that gives the whole `RunSummary`."""

TONE_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""Role that gives the tone of a run's end."""


_NUMBERS = frozenset({5, 6, 7, 8})


class HistoryModel(QAbstractTableModel):
    """The list of runs, for a table view."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[HistoryRow, ...] = ()

    @property
    def rows(self) -> tuple[HistoryRow, ...]:
        """The rows, in order."""
        return self._rows

    def show_runs(self, runs: Sequence[RunSummary]) -> None:
        """Show these runs."""
        now = datetime.now().astimezone()
        rows = tuple(row_of(run, now) for run in runs)
        if rows == self._rows:
            return
        if [row.run.id for row in rows] == [row.run.id for row in self._rows]:
            # The same runs, further on: a reset would lose the place that is looked at.
            self._rows = rows
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, len(HEADS) - 1))
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        """How many runs there are."""
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        """How many columns there are."""
        return 0 if parent is not None and parent.isValid() else len(HEADS)

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = int(Qt.ItemDataRole.DisplayRole),
    ) -> Any:  # noqa: ANN401 - Qt's signature
        """A column's head."""
        if orientation == Qt.Orientation.Horizontal and role == int(Qt.ItemDataRole.DisplayRole):
            return column_head(section)
        if role == int(Qt.ItemDataRole.TextAlignmentRole):
            return _alignment(section)
        return None

    def data(
        self,
        index: QModelIndex | QPersistentModelIndex,
        role: int = int(Qt.ItemDataRole.DisplayRole),
    ) -> Any:  # noqa: ANN401 - Qt's signature
        """A cell's text, or the whole run."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == int(Qt.ItemDataRole.DisplayRole):
            return row.cells[index.column()]
        if role == SUMMARY_ROLE:
            return row.run
        if role == TONE_ROLE:
            return row.tone
        if role == int(Qt.ItemDataRole.TextAlignmentRole):
            return _alignment(index.column())
        if role == int(Qt.ItemDataRole.ToolTipRole):
            return row.run.note or row.run.question or row.run.path or None
        return None


def _alignment(column: int) -> int:
    side = Qt.AlignmentFlag.AlignRight if column in _NUMBERS else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)
