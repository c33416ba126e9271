"""Runs of the history in groups: by prompt, by model, or by day, each with a head that adds up."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from studio.application.history.rows import HEADS, HistoryRow
from studio.application.words import marked, tr
from studio.core.text.amounts import duration, money

GroupBy: TypeAlias = Literal["", "prompt", "model", "day"]
"""What runs of one group have in common; empty for no groups."""

GROUP_NAMES: dict[GroupBy, str] = {
    "": marked("No groups"),
    "prompt": marked("By prompt"),
    "model": marked("By model"),
    "day": marked("By day"),
}


@dataclass(frozen=True, slots=True)
class GroupHead:
    """What stands above the runs of a group."""

    key: str
    """What they have in common."""

    count: int
    """How many runs there are."""

    is_open: bool = True
    """Whether they are listed below."""


def group_name(by: GroupBy) -> str:
    """A way of grouping, for people."""
    return tr(GROUP_NAMES[by])


def grouped(
    rows: Sequence[HistoryRow], by: GroupBy, closed: Collection[str], now: datetime
) -> tuple[HistoryRow, ...]:
    """The rows with a head above each group; groups stand in the order of their first rows.

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
    """The head: its name, how many runs there are and how many are done, and their sums."""
    runs = [row.run for row in rows]
    done = sum(run.status == "done" for run in runs)
    words = tr("1 run") if head.count == 1 else tr("{count:,} runs").format(count=head.count)
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
