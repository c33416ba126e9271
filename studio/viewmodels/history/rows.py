"""Rows of the history as values: what the list says of each run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Literal, TypeAlias

from PySide6.QtCore import (
    QAbstractTableModel,
    QCoreApplication,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

from studio.application.run.words import PROTOCOL_NAMES, money
from studio.application.words import marked
from studio.core.agent.values.state import Status
from studio.core.runs.step_summary import one_line
from studio.core.runs.summary import RunSummary

_tr = partial(QCoreApplication.translate, "HistoryRows")

HEADS: tuple[str, ...] = (
    marked("Prompt"),
    marked("Question"),
    marked("Started"),
    marked("Model"),
    marked("Protocol"),
    marked("Model calls"),
    marked("Tool calls"),
    marked("Tokens"),
    marked("Cost"),
    marked("End"),
    marked("Tags"),
)
"""Column heads."""

SUMMARY_ROLE = int(Qt.ItemDataRole.UserRole)
"""Role that gives the whole `RunSummary`."""

TONE_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""Role that gives the tone of a run's end."""

STATUS_NAMES: dict[Status, str] = {
    "running": marked("running"),
    "done": marked("done"),
    "incomplete": marked("incomplete"),
    "refused": marked("refused"),
    "stopped": marked("stopped"),
    "failed": marked("failed"),
    "limit": marked("limit reached"),
    "interrupted": marked("interrupted"),
}
"""Ends of a run in words."""

RowTone: TypeAlias = Literal["good", "warning", "bad", "plain"]

_NUMBERS = frozenset({5, 6, 7, 8})


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One run as the list shows it."""

    run: RunSummary
    """The run."""

    cells: tuple[str, ...]
    """Texts, one for each column."""

    tone: RowTone
    """How it ended, for a colour beside the words."""


def status_name(status: Status) -> str:
    """How a run ended, in the language of the window."""
    return _tr(STATUS_NAMES[status])


def row_of(run: RunSummary, now: datetime) -> HistoryRow:
    """The row of a run; times of today are told without their date."""
    cells = (
        ("★ " if run.pinned else "") + (run.prompt or "(unnamed)"),
        one_line(run.question, 120),
        when(run.started, now),
        run.model,
        PROTOCOL_NAMES.get(run.protocol, run.protocol),  # type: ignore[call-overload]
        f"{run.calls_model:,}",
        f"{run.calls_tool:,}",
        f"{run.tokens:,}" if run.tokens else "–",
        money(run.cost) or "–",
        status_name(run.status),
        ", ".join(run.tags),
    )
    tones: dict[Status, RowTone] = {
        "done": "good", "failed": "bad", "refused": "warning", "incomplete": "warning",
    }  # fmt: skip
    return HistoryRow(run, cells, tones.get(run.status, "plain"))


def when(moment: float, now: datetime) -> str:
    """A moment as people say it."""
    if not moment:
        return ""
    at = datetime.fromtimestamp(moment, now.tzinfo)
    if at.date() == now.date():
        return f"today {at:%H:%M:%S}"
    if at.year == now.year:
        return f"{at.day} {at:%b %H:%M}"
    return f"{at.day} {at:%b %Y}"


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
            return _tr(HEADS[section])
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
