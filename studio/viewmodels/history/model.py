"""The list of runs as a table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import QObject, Qt

from studio.application.history.rows import HEADS, HistoryRow, column_head, row_of
from studio.core.runs.summary import RunSummary
from studio.viewmodels.app.row_table import ALIGNMENT, DISPLAY, TIP, RowTable

SUMMARY_ROLE = int(Qt.ItemDataRole.UserRole)
"""Role that gives the whole `RunSummary`."""

TONE_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""Role that gives the tone of a run's end."""


_NUMBERS = frozenset({5, 6, 7, 8})


class HistoryModel(RowTable[HistoryRow]):
    """The list of runs, for a table view."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(len(HEADS), parent)

    def show_runs(self, runs: Sequence[RunSummary]) -> None:
        """Show these runs."""
        now = datetime.now().astimezone()
        self.show_rows(tuple(row_of(run, now) for run in runs), lambda row: row.run.id)

    def head(self, column: int, role: int) -> object:
        """A column's title, and on which side it stands."""
        if role == DISPLAY:
            return column_head(column)
        return _alignment(column) if role == ALIGNMENT else None

    def cell(self, row: HistoryRow, column: int, role: int) -> object:
        """A cell's text, or the whole run."""
        if role == DISPLAY:
            return row.cells[column]
        if role == SUMMARY_ROLE:
            return row.run
        if role == TONE_ROLE:
            return row.tone
        if role == ALIGNMENT:
            return _alignment(column)
        return row.run.note or row.run.question or row.run.path or None if role == TIP else None


def _alignment(column: int) -> int:
    side = Qt.AlignmentFlag.AlignRight if column in _NUMBERS else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)
