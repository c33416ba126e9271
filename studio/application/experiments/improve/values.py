"""Options and results of a search for a better prompt."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from studio.application.experiments.plan import ExperimentPlan
from studio.application.experiments.planned_variants import PlannedVariant
from studio.application.experiments.providers import unpriced
from studio.application.experiments.report import ExperimentReport
from studio.application.words import tr
from studio.core.experiments.results.cells import CellOutcome, CellState
from studio.core.experiments.values import ExperimentRow
from studio.core.models.choice import ModelChoice

CandidateState: TypeAlias = Literal["start", "kept", "dropped", "refused"]
"""State of a text: the prompt's own, kept on the choosing rows, dropped because it was no better
on some rows, or refused before it was sent."""


MOST_PROPOSALS = 1_000
"""Texts that are proposed in one search at most."""


class ImproveError(Exception):
    """The reason why a section cannot be improved; a sentence."""


@dataclass(frozen=True, slots=True)
class ImproveChoices:
    """Options of a search."""

    section: str
    """Which section is written anew: a role, `role#2`, or a heading."""

    cost: float | None = None
    """US dollars at most, for everything."""

    tokens: int | None = None
    """Tokens at most, for everything."""

    calls: int | None = None
    """Cells that are asked at most; requests of the proposer do not count."""

    proposals: int = 12
    """Texts at most that are proposed."""

    seed: int = 1
    """Of the draw of rows and of the search."""

    wish: str = ""
    """Wish of the user for the section, in words for the proposer."""

    @property
    def is_bounded(self) -> bool:
        """Whether the user has set a budget."""
        return any(each is not None for each in (self.cost, self.tokens, self.calls))


@dataclass(frozen=True, slots=True)
class Candidate:
    """One text of the section, with where it comes from."""

    number: int
    """From 0, which is the prompt's own."""

    parent: int | None
    """The one that it was made of; None for the prompt's own."""

    text: str
    """The section."""

    state: CandidateState
    """State of the text."""

    score: float | None = None
    """Mean score on the rows that choose; None where it was not scored there."""

    reason: str = ""
    """Reason why it was refused or dropped."""


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens, calls and money used so far."""

    calls: int = 0
    """Cells that were asked."""

    tokens: int = 0
    """Tokens of everything that is counted."""

    cost: float | None = 0.0
    """US dollars; None where a price is not known."""

    def with_cell(self, outcome: CellOutcome, *, is_remote: bool) -> Spending:
        """Return the spending with that of one more cell."""
        if outcome.is_cached:
            return self
        spent = outcome.cost if is_remote or outcome.cost else 0.0
        if outcome.state is CellState.ERROR:
            spent = spent or 0.0
        return Spending(
            self.calls + 1,
            self.tokens + outcome.input_tokens + outcome.output_tokens,
            self.cost + spent if self.cost is not None and spent is not None else None,
        )


@dataclass(frozen=True, slots=True)
class ImproveProgress:
    """The progress of a search."""

    proposals: int
    """Texts that were proposed."""

    most: int
    """Texts at most."""

    spent: Spending
    """Spending so far, the proposer's included."""

    best: float | None
    """The best score so far on the rows that choose."""

    is_deciding: bool = False
    """Whether the unseen rows are being asked."""


@dataclass(frozen=True)
class Improvement:
    """The outcome of a search."""

    section: str
    """Which section."""

    prompt: str
    """Path of the prompt's file."""

    before: str
    """Its text as it is."""

    after: str
    """The best text; the same where none was better."""

    candidates: tuple[Candidate, ...]
    """All texts in the order in which they were proposed, the prompt's own first."""

    rows: tuple[int, int, int]
    """Numbers of rows for proposing, choosing, and deciding."""

    result: int | None
    """The number of the result that holds the unseen rows; None where they were not asked."""

    report: ExperimentReport | None
    """That result, the prompt as it is as its baseline."""

    spent: Spending
    """Spending of everything."""

    ended: str
    """Reason why the search ended, a sentence."""

    @property
    def found(self) -> bool:
        """Whether there is another text to look at."""
        return self.after != self.before


# Whether a section can be improved, on which rows, and what is wrong with a wish.

FEWEST_ROWS = 6
"""Rows from which there is something for each third."""


def variant_to_improve(plan: ExperimentPlan, name: str = "") -> int:
    """Return the index of the variant to improve: the named one, else the first that can be.

    Raises:
        ImproveError: it is not there, or its prompt is not a file that can be written.
    """
    for at, each in enumerate(plan.variants):
        if each.name == name or (not name and is_improvable(each)):
            if not is_improvable(each):
                break
            return at
    names = ", ".join(each.name for each in plan.variants if is_improvable(each)) or tr("none")
    raise ImproveError(
        tr(
            "Choose a variant whose prompt is a .prompty file as it is, without `edit` or a "
            "revision: {names}."
        ).format(names=names)
    )


def is_improvable(variant: PlannedVariant) -> bool:
    """Return whether the prompt of a variant is a file that can be written, as it is."""
    entry, path = variant.entry.prompt, variant.document.source.path
    return (
        entry.text is None
        and not entry.revision
        and not entry.edit
        and path is not None
        and path.suffix == ".prompty"
    )


def split_rows(
    rows: Sequence[ExperimentRow], seed: int
) -> tuple[tuple[ExperimentRow, ...], tuple[ExperimentRow, ...], tuple[ExperimentRow, ...]]:
    """Return rows to learn from, to choose by, and the third that decides and is never seen before.

    Rows with equal values, and those of one `metadata.group`, stay on one side.

    Raises:
        ImproveError: there are too few.
    """
    groups: dict[str, list[ExperimentRow]] = {}
    for row in rows:
        group = row.case.metadata.get("group")
        of = dict(row.case.variables) if group is None else {"group": group}
        groups.setdefault(json.dumps(of, sort_keys=True, default=str), []).append(row)
    if len(groups) < FEWEST_ROWS:
        raise ImproveError(
            tr(
                "Different rows: {count}; improving needs at least {least}, and some dozens to "
                "prove anything."
            ).format(count=len(groups), least=FEWEST_ROWS)
        )
    order = sorted(groups)
    random.Random(seed).shuffle(order)
    parts: list[list[ExperimentRow]] = [[], [], []]
    unseen = max(2, round(len(order) / 3))
    half = (len(order) - unseen) // 2
    for at, key in enumerate(order):
        parts[2 if at < unseen else 1 if at < unseen + half else 0] += groups[key]
    learn, choose, decide = (tuple(sorted(each, key=lambda row: row.number)) for each in parts)
    return learn, choose, decide


def check_choices(
    plan: ExperimentPlan, at: int, choices: ImproveChoices, proposer: ModelChoice
) -> None:
    """Refuse options that cannot work before anything is sent.

    Raises:
        ImproveError: there is no budget, no assertion, or a price that nobody knows.
    """
    if not choices.is_bounded:
        raise ImproveError(tr("Set a budget: of money, of tokens, or of calls."))
    if not any(row.case.assertions for row in plan.rows):
        raise ImproveError(
            tr("The experiment has no assertions, so nothing says which text is better.")
        )
    if choices.cost is not None:
        choice = unpriced((plan.variants[at].choice, proposer))
        if choice is not None:
            raise ImproveError(
                tr(
                    "The price of {model!r} is not known, so a budget of money cannot hold. "
                    "Enter the price in its connection, or set a budget of tokens or calls."
                ).format(model=choice.declaration.id or choice.connection.name)
            )
