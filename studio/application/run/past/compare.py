"""Two branches of a run, or two runs, side by side with their first difference."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from operator import attrgetter
from typing import Literal, TypeAlias

from studio.application.comparison import LineKind, TextRow, compare_texts
from studio.application.run.cards.timeline import (
    StepCard,
    added_card_text,
    card_text,
    step_at,
    timeline_of,
)
from studio.application.run.inspector.tool import InspectionSources, body_text
from studio.application.run.text import Block, BlockKind, Blocks, Piece
from studio.application.run.words import sentence_of
from studio.application.words import tr
from studio.core.agent.loop.steps import models_of
from studio.core.agent.values.state import RunState, steps_of
from studio.core.text.amounts import duration, money, one_line
from studio.core.wire.wire_call import CallLookup, no_call

RowMatch: TypeAlias = Literal["same", "differs", "left", "right"]
"""Whether two cards are equal, or only one side has one."""


@dataclass(frozen=True, slots=True)
class RunSide:
    """One of two compared branches."""

    title: str
    """Its name."""

    state: RunState
    """The run at its end."""

    call_of: CallLookup = no_call
    """Function that returns the request and response of its model calls."""


@dataclass(frozen=True, slots=True)
class CompareRow:
    """One card of each side, if that side has one."""

    match: RowMatch
    """Result of comparing the two."""

    left: StepCard | None
    """The card of the first branch; None if it has none."""

    right: StepCard | None
    """The card of the second branch; None if it has none."""


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two branches side by side."""

    left: RunSide
    """The first branch."""

    right: RunSide
    """The second branch."""

    rows: tuple[CompareRow, ...]
    """Cards in order, step by step."""

    @property
    def first_difference(self) -> int | None:
        """The first row that differs; None if all are equal."""
        return next((at for at, row in enumerate(self.rows) if row.match != "same"), None)

    @property
    def differences(self) -> tuple[int, ...]:
        """All rows that differ."""
        return tuple(at for at, row in enumerate(self.rows) if row.match != "same")

    @property
    def summary(self) -> str:
        """The comparison as one sentence."""
        at = self.first_difference
        if at is None:
            return tr("Both are identical.")
        card = self.rows[at].left or self.rows[at].right
        where = (
            ""
            if card is None
            else tr(" in iteration {step}, at “{title}”").format(step=card.step, title=card.title)
        )
        words = tr("The first difference is{where}; {count} of {count2} rows differ.")
        if len(self.differences) == 1:
            words = tr("The first difference is{where}; 1 of {count2} rows differs.")
        return words.format(where=where, count=len(self.differences), count2=len(self.rows))

    def texts(self, row: int) -> Sides:
        """Return the whole texts of a row, with their differences marked."""
        one = self.rows[row]
        return sides_of(
            _without_ids(card_text(self.left.state, one.left)) if one.left is not None else "",
            _without_ids(card_text(self.right.state, one.right)) if one.right is not None else "",
        )

    def bodies(self, row: int) -> Sides:
        """Return the requests of a row's iterations, as sent, with differences marked."""
        one = self.rows[row]
        return sides_of(_body(self.left, one.left), _body(self.right, one.right))


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """One measure of both branches."""

    name: str
    """Name of the measure."""

    left: str
    """Value of the first branch."""

    right: str
    """Value of the second branch."""

    difference: str
    """Difference of the second from the first; empty if equal or not a number."""

    is_less: bool = False
    """Whether the second value is lower."""


def figures_of(comparison: RunComparison) -> tuple[ComparedFigure, ...]:
    """Return the measures of both branches: outcome, time, tokens, cost, iterations and errors."""
    one, two = comparison.left.state, comparison.right.state
    pairs: tuple[tuple[str, float, float, Callable[[float], str]], ...] = (
        (tr("Time"), one.seconds, two.seconds, duration),
        (tr("Tokens"), one.usage.total_tokens, two.usage.total_tokens, "{:,.0f}".format),
        (tr("Iterations"), one.iteration, two.iteration, "{:,.0f}".format),
        (tr("Tool errors"), _errors(one), _errors(two), "{:,.0f}".format),
    )
    figures = [ComparedFigure(tr("End"), _ending(one), _ending(two), "")]
    first, second = (", ".join(models_of(state)) for state in (one, two))
    figures.append(ComparedFigure(tr("Model"), first, second, ""))
    if one.usage.cost is None or two.usage.cost is None:
        left, right = _price(one.usage.cost), _price(two.usage.cost)
        figures.append(ComparedFigure(tr("Cost"), left, right, ""))
    else:
        pairs = (*pairs, (tr("Cost"), one.usage.cost, two.usage.cost, _price))
    for name, before, after, write in pairs:
        by = write(abs(after - before))
        is_same = write(before) == write(after)
        sign = "" if is_same else ("−" if after < before else "+") + by
        figures.append(ComparedFigure(name, write(before), write(after), sign, after < before))
    return tuple(figures)


def _price(cost: float | None) -> str:
    return money(cost) if cost is not None else tr("unknown")


def _errors(state: RunState) -> int:
    """Return the number of failed calls; for a very long run, those of its newest steps."""
    steps = steps_of(state)
    first = max(0, len(steps) - _MOST_COUNTED)
    calls = (call for step in steps[first:] for call in step.calls)
    return sum(call.is_error and call.status != "rejected" for call in calls)


def _ending(state: RunState) -> str:
    return sentence_of(state) if state.status != "done" else tr("answered")


def compare(left: RunSide, right: RunSide) -> RunComparison:
    """Compare two branches step by step, by their whole texts instead of those on the cards.

    The steps before the fork of two branches are equal, so they are not read in a long run.
    """
    shared = left.state.steps.shares(right.state.steps)
    by_step = [_cards_by_step(left.state), _cards_by_step(right.state)]
    rows: list[CompareRow] = []
    for step in sorted(by_step[0].keys() | by_step[1].keys()):
        for one, two in zip_longest(by_step[0].get(step, ()), by_step[1].get(step, ())):
            is_known = step <= shared and one is not None and two is not None
            match = "same" if is_known else _match(left.state, one, right.state, two)
            rows.append(CompareRow(match, one, two))
    return RunComparison(left, right, tuple(rows))


def _cards_by_step(state: RunState) -> dict[int, list[StepCard]]:
    found: dict[int, list[StepCard]] = {}
    for card in timeline_of(state).cards:
        found.setdefault(card.step, []).append(card)
    return found


def _match(left: RunState, one: StepCard | None, right: RunState, two: StepCard | None) -> RowMatch:
    if one is None:
        return "right"
    if two is None:
        return "left"
    if one.kind != two.kind:
        return "differs"
    texts = (_without_ids(added_card_text(*each)) for each in ((left, one), (right, two)))
    return "same" if next(texts) == next(texts) else "differs"


def _body(side: RunSide, card: StepCard | None) -> str:
    """Return the request of a card's step, as it was sent."""
    if card is None:
        return ""
    step = step_at(side.state, card.step)
    return body_text(InspectionSources(side.call_of).request(side.state, step))


_ID = re.compile(r"(?m)(?<=\))   \[[^\]\s]+\]$")
"""Matches the id of a call in a message as text: it is the server's own and differs in each run."""


def _without_ids(text: str) -> str:
    return _ID.sub("", text)


_MOST_COUNTED = 500
_MOST_LINES = 4_000
"""Above this many lines together, texts are shown whole: comparing them would take seconds."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Both columns of a comparison."""

    left: Blocks = ()
    """The first text; lines that the second does not have are marked as removed."""

    right: Blocks = ()
    """The second text; lines that the first does not have are marked as added."""


def sides_of(left: str, right: str) -> Sides:
    """Return two texts with their different lines marked, and the different words in them."""
    if left == right or left.count("\n") + right.count("\n") > _MOST_LINES:
        return Sides(_whole(left), _whole(right))
    rows = compare_texts(left, right, 2 * _MOST_LINES, whole=True)
    return Sides(_column(rows, "removed", "gone"), _column(rows, "added", "added"))


def _whole(text: str) -> Blocks:
    return (Block("body", (Piece(text),)),) if text else ()


def _column(rows: Sequence[TextRow], own: LineKind, kind: BlockKind) -> Blocks:
    """Return one side's lines; neighbors with the same look form one block."""
    shown = (row for row in rows if row.kind in ("same", own))
    return tuple(
        Block("body" if each == "same" else kind, tuple(_pieces(tuple(group))))
        for each, group in groupby(shown, attrgetter("kind"))
    )


def _pieces(rows: Sequence[TextRow]) -> Iterator[Piece]:
    """Yield lines as runs of characters; the words that changed are marked."""
    plain = ""
    for number, row in enumerate(rows):
        plain += "\n" if number else ""
        for piece in row.pieces:
            if piece.is_changed:
                yield Piece(plain)
                yield Piece(piece.text, "changed")
                plain = ""
            else:
                plain += piece.text
    yield Piece(plain)


# Several branches or runs side by side: the outcome of each, and its difference from the first.


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """One measure of all sides."""

    name: str
    """Name of the row."""

    cells: tuple[str, ...]
    """Value of each side."""

    differs: tuple[bool, ...]
    """Whether each value differs from that of the first side."""


@dataclass(frozen=True, slots=True)
class RunOverview:
    """Several branches or runs side by side; two of them can be compared step by step."""

    sides: tuple[RunSide, ...]
    """The sides in display order; the others are compared with the first."""

    rows: tuple[OverviewRow, ...]
    """The measures."""


def overview(sides: Sequence[RunSide]) -> RunOverview:
    """Compare several branches or runs.

    Args:
        sides: two or more.
    """
    first = sides[0]
    held = [compare(first, side) for side in sides[1:]]
    figures = [figures_of(each) for each in held]
    rows: list[OverviewRow] = []
    for at, figure in enumerate(figures[0]):
        rows.append(_row(figure.name, (figure.left, *(each[at].right for each in figures))))
    rows.append(_row(tr("Answer"), tuple(one_line(side.state.answer or "–") for side in sides)))
    parted = (tr("the first"), *(each.summary for each in held))
    rows.append(OverviewRow(tr("Against the first"), parted, (False,) * len(sides)))
    return RunOverview(tuple(sides), tuple(rows))


def _row(name: str, cells: tuple[str, ...]) -> OverviewRow:
    return OverviewRow(name, cells, tuple(cell != cells[0] for cell in cells))
