"""Rows of the history as values: what the list says of each run."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from studio.application.words import marked, tr
from studio.core.agent.values.state import Status
from studio.core.models.base import PROTOCOLS
from studio.core.runs.rows import WAITING, RunSummary
from studio.core.text.amounts import by_count, duration, money, one_line

HEADS: tuple[str, ...] = (
    marked("Prompt"),
    marked("End"),
    marked("Started"),
    marked("Question"),
    marked("Answer"),
    marked("Duration"),
    marked("Model"),
    marked("Tokens"),
    marked("Cost"),
    marked("Model calls"),
    marked("Tool calls"),
    marked("Branches"),
    marked("Protocol"),
    marked("Tags"),
    marked("Note"),
)
"""Column heads, in the order of the columns until they are dragged."""


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
    """Tone of the outcome, for a color beside the words."""

    keys: tuple[SortKey, ...] = ()
    """Sort key of each column."""

    group: str | None = None
    """For the head of a group: what its runs have in common. `run` is the first of them then."""


def column_head(column: int) -> str:
    """Return a column's title."""
    return tr(HEADS[column])


def status_name(status: Status) -> str:
    """Return the name of a run's outcome, in the language of the window."""
    return tr(STATUS_NAMES[status])


_WAITS: dict[str, str] = {
    "approval": marked("needs you: approval"),
    "limit": marked("needs you: limit"),
    "outcome": marked("needs you: outcome"),
    "exception": marked("needs you: problem"),
}


def end_of(run: RunSummary) -> str:
    """Return how a run ended; of a waiting run, what it needs."""
    if not run.waits:
        return status_name(run.status)
    return tr(_WAITS[run.waits]) if run.waits in _WAITS else waiting_name()


def waiting_name() -> str:
    """Return the label of runs that wait for the user."""
    return tr("needs you")


def row_of(run: RunSummary, now: datetime) -> HistoryRow:
    """Return the row of a run; a time of today has no date."""
    spent = max(0.0, run.updated - run.started)
    protocols: dict[str, str] = {name: facts.name for name, facts in PROTOCOLS.items()}
    cells = (
        ("★ " if run.pinned else "") + (run.prompt or "(unnamed)"),
        end_of(run),
        when(run.started, now),
        one_line(run.question, 120),
        one_line(run.answer, 120),
        duration(spent) if spent else "–",
        run.model,
        f"{run.tokens:,}" if run.tokens else "–",
        money(run.cost) or "–",
        f"{run.calls_model:,}",
        f"{run.calls_tool:,}",
        f"{run.branches + 1:,}" if run.branches else "–",
        protocols.get(run.protocol, run.protocol),
        ", ".join(run.tags),
        one_line(run.note, 120),
    )
    keys: tuple[SortKey, ...] = (
        run.prompt.casefold(),
        (run.waits and WAITING) or run.status,
        run.started,
        run.question.casefold(),
        run.answer.casefold(),
        spent,
        run.model.casefold(),
        run.tokens,
        run.cost or 0.0,
        run.calls_model,
        run.calls_tool,
        run.branches,
        run.protocol,
        " ".join(run.tags).casefold(),
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
    """Return a moment as people say it."""
    if not moment:
        return ""
    at = datetime.fromtimestamp(moment, now.tzinfo)
    if at.date() == now.date():
        return f"today {at:%H:%M:%S}"
    if at.year == now.year:
        return f"{at.day} {at:%b %H:%M}"
    return f"{at.day} {at:%b %Y}"


# Runs of the history in groups: by prompt, by model, or by day, each with a head that adds up.

GroupBy: TypeAlias = Literal["", "prompt", "model", "day"]
"""Common property of the runs of a group; empty for no groups."""

GROUP_NAMES: dict[GroupBy, str] = {
    "": marked("No groups"),
    "prompt": marked("By prompt"),
    "model": marked("By model"),
    "day": marked("By day"),
}


@dataclass(frozen=True, slots=True)
class GroupHead:
    """The heading above the runs of a group."""

    key: str
    """Common value of the group."""

    count: int
    """Number of runs."""

    is_open: bool = True
    """Whether they are listed below."""


def group_name(by: GroupBy) -> str:
    """Return a way of grouping, for people."""
    return tr(GROUP_NAMES[by])


def grouped(
    rows: Sequence[HistoryRow], by: GroupBy, closed: Collection[str], now: datetime
) -> tuple[HistoryRow, ...]:
    """Return the rows with a heading above each group, groups in the order of their first rows.

    Args:
        rows: the runs, sorted.
        by: what the runs of one group have in common.
        closed: keys of the groups whose runs are not listed.
        now: the time; its zone decides which day it was.
    """
    if not by:
        return tuple(rows)
    groups: dict[str, list[HistoryRow]] = {}
    for row in rows:
        groups.setdefault(_key(row, by, now), []).append(row)
    made: list[HistoryRow] = []
    for key, held in groups.items():
        head = GroupHead(key, len(held), key not in closed)
        made.append(_head_row(head, held))
        made += held if head.is_open else []
    return tuple(made)


def _key(row: HistoryRow, by: GroupBy, now: datetime) -> str:
    match by:
        case "model":
            return row.run.model or tr("(no model)")
        case "day":
            if not row.run.started:
                return tr("(no day)")
            day = datetime.fromtimestamp(row.run.started, now.tzinfo).date()
            return tr("today") if day == now.date() else f"{day:%d %b %Y}".lstrip("0")
        case _:
            return row.run.prompt or tr("(unnamed)")


def _head_row(head: GroupHead, rows: Sequence[HistoryRow]) -> HistoryRow:
    """Return the head: its name, how many runs there are and how many are done, and their sums."""
    runs = [row.run for row in rows]
    done = sum(run.status == "done" for run in runs)
    words = by_count(head.count, tr("1 run"), tr("{count:,} runs"))
    costs = [run.cost for run in runs if run.cost is not None]
    sums = {
        "Prompt": f"{'▾' if head.is_open else '▸'} {head.key}",
        "Question": words,
        "End": tr("{count:,} done").format(count=done),
        "Tokens": f"{sum(run.tokens for run in runs):,}",
        "Cost": money(sum(costs)) if costs else "–",
        "Duration": duration(sum(max(0.0, run.updated - run.started) for run in runs)),
        "Model calls": f"{sum(run.calls_model for run in runs):,}",
        "Tool calls": f"{sum(run.calls_tool for run in runs):,}",
    }
    cells = tuple(sums.get(name, "") for name in HEADS)
    return HistoryRow(runs[0], cells, "plain", group=head.key)
