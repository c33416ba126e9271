"""Ratings by hand are kept, and judges are held against them."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.core.experiments.assertions.result import AssertionResult, AssertionState
from studio.core.experiments.results.cells import CellKey, NewResult, ResultRow
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.results.ratings import Rating, judge_agreements


@pytest.mark.parametrize(
    ("rating", "verdict"),
    [
        (Rating(5), True),
        (Rating(4), True),
        (Rating(3), None),
        (Rating(2), False),
        (Rating(1, passed=True), True),
        (Rating(note="so so"), None),
        (Rating(), None),
    ],
)
def test_points_say_whether_it_passes(rating: Rating, verdict: bool | None) -> None:
    assert rating.verdict is verdict


def test_a_rating_is_kept_until_it_is_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    ledger = ExperimentLedger(path)
    rows = [ResultRow(1, "r", {})]
    key = CellKey(1, 1, 0)
    number = ledger.begin(NewResult("e", "e", {}, ["a"], rows, 1, [(key, b"1" * 32)]))
    ledger.ratings.rate(number, key, Rating(4, passed=False, note="zu kurz ä"))
    ledger.close()
    ledger = ExperimentLedger(path)
    assert ledger.ratings.of(number) == {key: Rating(4, passed=False, note="zu kurz ä")}
    ledger.ratings.rate(number, key, Rating())
    assert ledger.ratings.of(number) == {}
    ledger.close()


def judged(state: AssertionState) -> tuple[AssertionResult, ...]:
    return (
        AssertionResult("contains x", "passed", 1.0, ""),
        AssertionResult("tone (llm-rubric)", state, 1.0, "", metric="tone"),
    )


def test_a_judge_is_held_against_people() -> None:
    """Cohen's own example: 20 and 15 agreed of 50, kappa 0.4."""
    pairs = [(True, "passed")] * 20 + [(True, "failed")] * 5
    pairs += [(False, "passed")] * 10 + [(False, "failed")] * 15
    ratings = {CellKey(1, n, 0): Rating(passed=mine) for n, (mine, _) in enumerate(pairs, 1)}
    results = {CellKey(1, n, 0): judged(said) for n, (_, said) in enumerate(pairs, 1)}  # type: ignore[arg-type]
    ratings[CellKey(1, 51, 0)] = Rating(3)
    ratings[CellKey(1, 52, 0)] = Rating(5)
    results[CellKey(1, 52, 0)] = judged("error")
    (found,) = judge_agreements(ratings, results)
    assert (found.name, found.agreed, found.of) == ("tone", 35, 50)
    assert found.kappa == pytest.approx(0.4)
    always = {key: Rating(5) for key in ratings}
    assert judge_agreements(always, results)[0].kappa is None
