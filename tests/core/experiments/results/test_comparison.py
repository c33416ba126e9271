"""Won and lost rows, and the gates that decide."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studio.core.experiments.results.cells import RowTotal, VariantTotal
from studio.core.experiments.results.comparison import (
    GateSubject,
    RowVerdict,
    check_gates,
    compare,
    corrected,
    row_passes,
    row_verdicts,
)
from studio.core.experiments.values import Gates, PassRule


@pytest.mark.parametrize(
    ("rule", "passed", "score", "threshold", "passes"),
    [
        ("all", 4, 1.0, None, True),
        ("all", 3, 0.9, None, False),
        ("any", 1, 0.2, None, True),
        ("any", 0, 0.9, None, False),
        ("mean", 2, 0.7, 0.7, True),
        ("mean", 2, 0.69, 0.7, False),
        ("mean", 3, 0.1, None, True),
        ("mean", 2, 1.0, None, False),
        (0.75, 3, 0.1, None, True),
        (0.75, 2, 1.0, None, False),
    ],
)
def test_repeats_make_a_row_pass_by_the_rule(
    rule: PassRule, passed: int, score: float, threshold: float | None, passes: bool
) -> None:
    assert row_passes(RowTotal(1, 0, 4, passed, score, 0), rule, threshold) is passes


def _verdicts(passed: str) -> dict[str, RowVerdict]:
    return {
        str(at): RowVerdict(str(at), each == "+", is_flaky=each == "~")
        for at, each in enumerate(passed)
        if each != " "
    }


def test_rows_are_won_and_lost_and_gaps_are_no_losses() -> None:
    found = compare(_verdicts("++-+~ +"), _verdicts("+-+ ~+-"))
    assert (found.won, found.lost, found.rows, found.missing) == (("1", "6"), ("2",), 5, 2)
    assert (found.passed, found.baseline_passed, found.flaky_in_both) == (3, 2, 1)
    assert not found.is_clear


def test_a_clear_difference_stays_clear_beside_another() -> None:
    good = compare(_verdicts("+" * 21 + "-" * 6), _verdicts("-" * 21 + "+" * 6))
    other = compare(_verdicts("+-" * 10), _verdicts("-+" * 10))
    first, second = corrected([good, other])
    assert first.is_clear
    assert first.corrected == pytest.approx(2 * good.p_value)
    assert not second.is_clear


def test_rows_without_an_answer_are_no_verdict() -> None:
    totals = [
        RowTotal(1, 0, 0, 0, 0.0, 4),
        RowTotal(2, 0, 2, 2, 1.0, 0, undecided=0),
        RowTotal(3, 0, 2, 0, 0.0, 0, undecided=2),
    ]
    assert list(row_verdicts(totals, {1: "a", 2: "b", 3: "c"}, "all", {})[0]) == ["b"]


def _subject() -> GateSubject:
    verdicts = _verdicts("+++-")
    return GateSubject(
        "edit",
        VariantTotal(1, 16, 16, 12, 0, 0, 0, 0.5, 1000),
        [RowTotal(row, 1, 4, passed, passed / 4, 0) for row, passed in enumerate((4, 4, 3, 1))],
        verdicts,
        [100.0] * 19 + [900.0],
        compare(verdicts, _verdicts("-+++")),
        {"language": {"de": frozenset(("0", "1")), "en": frozenset(("2", "3"))}},
    )


@pytest.mark.parametrize(
    ("gates", "held"),
    [
        (Gates(pass_rate=0.75), [True]),
        (Gates(pass_rate=0.76), [False]),
        (Gates(row_pass_rate=0.75), [True]),
        (Gates(pass_hat=(4, 0.5)), [True]),
        (Gates(pass_hat=(4, 0.6)), [False]),
        (Gates(lost_rows=1), [True]),
        (Gates(lost_rows=0), [False]),
        (Gates(p_value=0.05), [True]),
        (Gates(cost=0.4), [False]),
        (Gates(p95_ms=150), [True]),
        (Gates(p95_ms=90), [False]),
        (Gates(slices={"language": Gates(pass_rate=0.6)}), [True, False]),
        (Gates(), []),
    ],
)
def test_gates_decide(gates: Gates, held: list[bool]) -> None:
    assert [each.held for each in check_gates(gates, _subject())] == held


@pytest.mark.parametrize(
    "gates",
    [
        Gates(pass_rate=0.0),
        Gates(row_pass_rate=0.0),
        Gates(pass_hat=(4, 0.0)),
        Gates(lost_rows=9),
        Gates(p_value=0.0),
        Gates(cost=9.0),
        Gates(p95_ms=9.0),
        Gates(slices={"tone": Gates(pass_rate=0.0)}),
        Gates(slices={"language": Gates(row_pass_rate=0.0)}),
    ],
)
def test_a_gate_that_could_not_be_checked_does_not_hold(gates: Gates) -> None:
    total = replace(_subject().total, unpriced=1)
    slices = {"language": {"de": frozenset(("of no row",))}}
    subject = replace(
        _subject(), total=total, rows=(), verdicts={}, times=(), comparison=None, slices=slices
    )
    (found,) = check_gates(gates, subject)
    assert not found.held
    assert found.words.startswith("could not be checked (at ")
