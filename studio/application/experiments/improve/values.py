"""What improving is asked for, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from studio.application.experiments.experiment_report import ExperimentReport

CandidateState: TypeAlias = Literal["start", "kept", "dropped", "refused"]
"""What became of a text: it is the prompt's own, was scored on the rows that choose, was no better
on some rows, or was refused before it was sent."""


MOST_PROPOSALS = 1_000
"""Texts that are proposed in one search at most."""


class ImproveError(Exception):
    """Why a section cannot be improved; a sentence."""


@dataclass(frozen=True, slots=True)
class ImproveChoices:
    """What the user asks for."""

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
    """What the user wants of the section, in words for the proposer."""

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
    """What became of it."""

    score: float | None = None
    """Mean score on the rows that choose; None where it was not scored there."""

    reason: str = ""
    """Why it was refused or dropped."""


@dataclass(frozen=True, slots=True)
class ImproveProgress:
    """How far a search is."""

    proposals: int
    """Texts that were proposed."""

    most: int
    """Texts at most."""

    calls: int
    """Cells that were asked."""

    tokens: int
    """Tokens so far, the proposer's included."""

    cost: float | None
    """US dollars so far; None where a price is not known."""

    best: float | None
    """The best score so far on the rows that choose."""

    is_deciding: bool = False
    """Whether the unseen rows are being asked."""


@dataclass(frozen=True)
class Improvement:
    """What came of a search."""

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
    """How many rows proposals were made of, chosen by, and decided by."""

    result: int | None
    """The number of the result that holds the unseen rows; None where they were not asked."""

    report: ExperimentReport | None
    """That result, the prompt as it is as its baseline."""

    calls: int
    """Cells that were asked."""

    tokens: int
    """Tokens of everything."""

    cost: float | None
    """US dollars of everything; None where a price is not known."""

    ended: str
    """Why the search ended, a sentence."""

    @property
    def found(self) -> bool:
        """Whether there is another text to look at."""
        return self.after != self.before
