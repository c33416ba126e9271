"""Branches of a run by name, and two ways through side by side with the first divergence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, TypeAlias

from studio.bridge.run_breakpoints import PLACE_NAMES
from studio.bridge.run_cards import StepCard, Timeline
from studio.core.agent.state import Checkpoint

Match: TypeAlias = Literal["same", "differs", "left", "right"]
"""Whether two cards say the same, or only one side has one."""


@dataclass(frozen=True, slots=True)
class BranchView:
    """One way through a run."""

    title: str
    """Its name: "First way", "Branch 2"."""

    detail: str
    """How far it goes."""

    last: int
    """Id of its last checkpoint."""

    is_current: bool = False
    """Whether the run stands on it."""


def branches_of(checkpoints: Sequence[Checkpoint], current: int | None) -> tuple[BranchView, ...]:
    """The ways through a run that reached any place, in the order they were begun.

    Args:
        checkpoints: all places reached.
        current: id of the place where the run stands.
    """
    last: dict[int, Checkpoint] = {}
    for checkpoint in checkpoints:
        last[checkpoint.branch] = checkpoint
    return tuple(
        BranchView(
            "First way" if number == 0 else f"Branch {number}",
            f"to iteration {end.iteration}, {PLACE_NAMES[end.place].lower()}",
            end.id,
            end.id == current,
        )
        for number, end in sorted(last.items())
    )


@dataclass(frozen=True, slots=True)
class CompareRow:
    """One card of each side, as far as they have one."""

    match: Match
    """What is to be said of the two."""

    left: StepCard | None
    """The card of the first way."""

    right: StepCard | None
    """The card of the second way."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two ways through, side by side."""

    left: str
    """Name of the first."""

    right: str
    """Name of the second."""

    rows: tuple[CompareRow, ...]
    """Cards in order, step by step."""

    @property
    def first_difference(self) -> int | None:
        """The row where they part; None where they say the same."""
        return next((at for at, row in enumerate(self.rows) if row.match != "same"), None)

    @property
    def summary(self) -> str:
        """The comparison in one sentence."""
        at = self.first_difference
        if at is None:
            return "Both say the same, from the first message to the last."
        card = self.rows[at].left or self.rows[at].right
        where = "" if card is None else f" in iteration {card.step}, at “{card.title}”"
        count = sum(row.match != "same" for row in self.rows)
        return f"They part{where}; {count} of {len(self.rows)} rows differ."


def compare(left: str, first: Timeline, right: str, second: Timeline) -> Comparison:
    """Put two timelines side by side, step by step.

    Args:
        left: name of the first.
        first: its cards.
        right: name of the second.
        second: its cards.
    """
    steps = sorted({card.step for card in first.cards} | {card.step for card in second.cards})
    by_step = [_cards_by_step(first), _cards_by_step(second)]
    rows: list[CompareRow] = []
    for step in steps:
        for one, two in zip_longest(by_step[0].get(step, ()), by_step[1].get(step, ())):
            rows.append(CompareRow(_match(one, two), one, two))
    return Comparison(left, right, tuple(rows))


def _cards_by_step(timeline: Timeline) -> dict[int, list[StepCard]]:
    found: dict[int, list[StepCard]] = {}
    for card in timeline.cards:
        found.setdefault(card.step, []).append(card)
    return found


def _match(one: StepCard | None, two: StepCard | None) -> Match:
    if one is None:
        return "right"
    if two is None:
        return "left"
    return "same" if (one.kind, one.gist) == (two.kind, two.gist) else "differs"
