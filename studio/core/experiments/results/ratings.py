"""Ratings of answers by users, and the agreement of judges with them."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from studio.core.experiments.assertions.marking import JUDGED
from studio.core.experiments.assertions.result import AssertionResult
from studio.core.experiments.results.cells import CellKey
from studio.core.experiments.results.database import LedgerDatabase

_GOOD, _BAD = 4, 2
"""Points from which an answer counts as passed, and up to which it counts as failed."""


@dataclass(frozen=True, slots=True)
class Rating:
    """The user's rating of an answer."""

    points: int | None = None
    """Points from 1 to 5; None if not given."""

    passed: bool | None = None
    """Pass or fail, which overrides the points; None if not given."""

    note: str = ""
    """Comment of the user."""

    @property
    def is_empty(self) -> bool:
        """Whether it contains nothing."""
        return self == Rating()

    @property
    def verdict(self) -> bool | None:
        """Whether the answer passes; None for a middle rating and for none."""
        if self.passed is not None or self.points is None:
            return self.passed
        return True if self.points >= _GOOD else False if self.points <= _BAD else None


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """The agreement of one judged assertion with the users' ratings."""

    name: str
    """The assertion's metric, or its label."""

    agreed: int
    """Number of answers with the same verdict from both."""

    of: int
    """Number of answers with a verdict from both."""

    kappa: float | None
    """Cohen's kappa: 1 is full agreement, 0 is chance; None if one of them always gives the same
    verdict.
    """


def judge_agreements(
    ratings: Mapping[CellKey, Rating], results: Mapping[CellKey, Iterable[AssertionResult]]
) -> tuple[JudgeAgreement, ...]:
    """Return the agreement of each judge with the users, on the rated answers.

    Args:
        ratings: the users' ratings, by cell.
        results: results of all assertions, by cell.
    """
    pairs: dict[str, list[tuple[bool, bool]]] = {}
    for key, rating in ratings.items():
        verdict = rating.verdict
        if verdict is None:
            continue
        for each in _judged(results.get(key, ())):
            if each.state in ("passed", "failed"):
                name = each.metric or each.label
                pairs.setdefault(name, []).append((verdict, each.state == "passed"))
    return tuple(
        JudgeAgreement(name, sum(a == b for a, b in found), len(found), _kappa(found))
        for name, found in pairs.items()
    )


def _judged(results: Iterable[AssertionResult]) -> Iterable[AssertionResult]:
    for each in results:
        yield from _judged(each.nested)
        if any(kind in each.label for kind in JUDGED):
            yield each


def _kappa(pairs: list[tuple[bool, bool]]) -> float | None:
    count = len(pairs)
    observed = sum(a == b for a, b in pairs) / count
    people = sum(a for a, _ in pairs) / count
    judge = sum(b for _, b in pairs) / count
    chance = people * judge + (1 - people) * (1 - judge)
    return (
        None
        if chance == 1 or judge in (0, 1) or people in (0, 1)
        else ((observed - chance) / (1 - chance))
    )


class RatingStore:
    """The users' ratings of answers, and their preferences between two variants."""

    def __init__(self, database: LedgerDatabase) -> None:
        self._transaction, self._read = database.transaction, database.read

    def rate(self, experiment: int, key: CellKey, rating: Rating) -> None:
        """Store the rating of an answer; an empty rating deletes it."""
        where = (experiment, key.repeat, key.row, key.variant)
        with self._transaction() as run:
            run.execute(
                "DELETE FROM rating WHERE experiment = ? AND repeat = ? AND row = ?"
                " AND variant = ?",
                where,
            )
            if not rating.is_empty:
                run.execute(
                    "INSERT INTO rating VALUES (?,?,?,?,?,?,?,?)",
                    (*where, rating.points, rating.passed, rating.note, time.time()),
                )

    def of(self, experiment: int) -> dict[CellKey, Rating]:
        """Return the ratings of a result's answers."""
        return {
            CellKey(repeat, row, variant): Rating(
                points, None if passed is None else bool(passed), note
            )
            for repeat, row, variant, points, passed, note in self._read(
                "SELECT repeat, row, variant, points, passed, note FROM rating"
                " WHERE experiment = ? ORDER BY repeat, row, variant",
                experiment,
            )
        }

    def prefer(self, experiment: int, row: int, pair: tuple[int, int], winner: int | None) -> None:
        """Store which of two variants the user preferred in a blind comparison, or None."""
        with self._transaction() as run:
            run.execute(
                "INSERT OR REPLACE INTO preference VALUES (?,?,?,?,?,?)",
                (experiment, row, min(pair), max(pair), winner, time.time()),
            )

    def preferences(self, experiment: int) -> list[tuple[int, int, int, int | None]]:
        """Return each row with both variants and the preferred one."""
        return self._read(
            "SELECT row, one, other, winner FROM preference WHERE experiment = ?"
            " ORDER BY row, one, other",
            experiment,
        )
