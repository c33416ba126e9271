"""The statistics against values that others published, and against their own definitions."""

from __future__ import annotations

import random
from itertools import product
from math import comb

import pytest

from studio.core.experiments.results.comparison import (
    holm,
    mcnemar,
    pass_hat,
    quantile,
    rows_needed,
    wilson,
)


@pytest.mark.parametrize(
    ("passed", "count", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_is_as_published(passed: int, count: int, low: float, high: float) -> None:
    assert wilson(passed, count) == pytest.approx((low, high), abs=5e-5)


def test_wilson_of_nothing_is_everything() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("lost", "won"), [(0, 0), (0, 1), (1, 5), (6, 21), (9, 7), (30, 30)])
def test_mcnemar_is_the_exact_binomial_test(lost: int, won: int) -> None:
    count = lost + won
    tail = sum(comb(count, each) for each in range(min(lost, won) + 1)) / 2**count
    assert mcnemar(lost, won) == pytest.approx(min(1.0, 2 * tail) if count else 1.0, abs=1e-12)


def test_mcnemar_of_a_published_table() -> None:
    # R: binom.test(6, 27)$p.value
    assert mcnemar(6, 21) == pytest.approx(0.005924612283706665, abs=1e-12)


@pytest.mark.parametrize(("count", "passed", "k"), [(4, 2, 2), (6, 5, 3), (5, 0, 2), (5, 5, 5)])
def test_pass_hat_counts_the_draws(count: int, passed: int, k: int) -> None:
    repeats = [True] * passed + [False] * (count - passed)
    draws = [
        [repeats[at] for at in ats] for ats in product(range(count), repeat=k) if len(set(ats)) == k
    ]
    assert pass_hat(count, passed, k) == pytest.approx(sum(map(all, draws)) / len(draws))


def test_more_repeats_than_there_are_is_an_error() -> None:
    with pytest.raises(ValueError, match="fewer"):
        pass_hat(3, 1, 4)


def test_holm_is_as_published() -> None:
    # R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def test_rows_needed_have_the_power_that_they_promise() -> None:
    assert [rows_needed(0.05, flips) for flips in (0.1, 0.2, 0.3)] == [332, 646, 960]
    chance = random.Random(3)
    seen = 0
    for _ in range(300):
        draws = [chance.random() for _ in range(646)]
        won = sum(each < 0.125 for each in draws)
        lost = sum(0.125 <= each < 0.2 for each in draws)
        seen += mcnemar(lost, won) < 0.05
    assert 0.72 < seen / 300 < 0.87


def test_quantiles_lie_between_two_values() -> None:
    assert quantile([1, 2, 3, 4], 0.5) == 2.5
    assert quantile([5], 0.95) == 5
    assert quantile([], 0.5) == 0
