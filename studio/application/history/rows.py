"""Rows of the history as values: what the list says of each run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from studio.application.run.words import PROTOCOL_NAMES
from studio.application.words import marked, tr
from studio.core.agent.values.state import Status
from studio.core.runs.summary import WAITING, RunSummary
from studio.core.text.amounts import duration, money
from studio.core.text.shortened import one_line

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
    marked("Answer"),
    marked("Duration"),
    marked("Branches"),
    marked("Note"),
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


SortKey: TypeAlias = str | float
"""A number, or a text in small letters."""

RowTone: TypeAlias = Literal["good", "warning", "bad", "plain"]


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One run as the list shows it."""

    run: RunSummary
    """The run."""

    cells: tuple[str, ...]
    """Texts, one for each column."""

    tone: RowTone
    """How it ended, for a color beside the words."""

    keys: tuple[SortKey, ...] = ()
    """What each column is sorted by."""

    group: str | None = None
    """For the head of a group: what its runs have in common. `run` is the first of them then."""


def column_head(column: int) -> str:
    """A column's title."""
    return tr(HEADS[column])


def status_name(status: Status) -> str:
    """How a run ended, in the language of the window."""
    return tr(STATUS_NAMES[status])


_WAITS: dict[str, str] = {
    "approval": marked("needs you: approval"),
    "limit": marked("needs you: limit"),
    "outcome": marked("needs you: outcome"),
    "exception": marked("needs you: problem"),
}


def end_of(run: RunSummary) -> str:
    """How a run ended; of one that is under way and waits for the user what it needs."""
    if not run.waits:
        return status_name(run.status)
    return tr(_WAITS[run.waits]) if run.waits in _WAITS else waiting_name()


def waiting_name() -> str:
    """What runs are called that wait for the user."""
    return tr("needs you")


def row_of(run: RunSummary, now: datetime) -> HistoryRow:
    """The row of a run; times of today are told without their date."""
    spent = max(0.0, run.updated - run.started)
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
        end_of(run),
        ", ".join(run.tags),
        one_line(run.answer, 120),
        duration(spent) if spent else "–",
        f"{run.branches + 1:,}" if run.branches else "–",
        one_line(run.note, 120),
    )
    keys: tuple[SortKey, ...] = (
        run.prompt.casefold(),
        run.question.casefold(),
        run.started,
        run.model.casefold(),
        run.protocol,
        run.calls_model,
        run.calls_tool,
        run.tokens,
        run.cost or 0.0,
        (run.waits and WAITING) or run.status,
        " ".join(run.tags).casefold(),
        run.answer.casefold(),
        spent,
        run.branches,
        run.note.casefold(),
    )
    tones: dict[Status, RowTone] = {
        "done": "good",
        "failed": "bad",
        "refused": "warning",
        "incomplete": "warning",
    }
    tone = "warning" if run.waits else tones.get(run.status, "plain")
    return HistoryRow(run, cells, tone, keys)


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
