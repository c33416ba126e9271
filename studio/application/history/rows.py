"""Rows of the history as values: what the list says of each run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Literal, TypeAlias

from studio.application.run.words import PROTOCOL_NAMES, money
from studio.application.words import marked, translate
from studio.core.agent.values.state import Status
from studio.core.runs.step_summary import one_line
from studio.core.runs.summary import RunSummary

_tr = partial(translate, "HistoryRows")


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


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One run as the list shows it."""

    run: RunSummary
    """The run."""

    cells: tuple[str, ...]
    """Texts, one for each column."""

    tone: RowTone
    """How it ended, for a colour beside the words."""


def column_head(column: int) -> str:
    """A column's title."""
    return _tr(HEADS[column])


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
