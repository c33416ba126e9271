"""The rate of a run, and what it says of the end."""

from __future__ import annotations

import pytest

from studio.application.experiments.run.spending import (
    ExperimentProgress,
    ExperimentSpending,
    Pace,
    progress_line,
    short_number,
)
from studio.core.experiments.results.cells import CellOutcome, CellState
from studio.core.experiments.values import EvaluateOptions, ExperimentBudget


def test_the_rate_is_of_the_last_minute() -> None:
    now = 0.0
    pace = Pace(lambda: now)
    assert pace.rate == 0.0
    pace.note(0)
    now = 1.0
    pace.note(1000)  # they were known
    for second in range(2, 100):
        now = float(second)
        pace.note(1000 + 2 * second)
    assert round(pace.rate, 1) == 2.0
    now = 160.0  # nothing comes any more
    assert pace.rate < 1.3


def test_the_cost_at_the_end_counts_what_will_be_asked() -> None:
    spending = ExperimentSpending(10, ExperimentBudget(), EvaluateOptions())
    spending.expect(100, 0.5, 4)
    assert spending.progress.cost_at_end == 2.0
    spending.start([])
    for cost, cached in ((0.0, True), (0.0, True), (1.0, False), (2.0, False)):
        spending.count(CellOutcome(CellState.DONE, cost=cost, is_cached=cached))
    assert (spending.progress.over, spending.progress.cost) == (4, 3.0)
    assert spending.progress.cost_at_end == 6.0  # two more of 1.50 each


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (2.0, "2"),
        (0.25, "0.25"),
        (9.97, "10"),
        (20.0, "20"),
        (99.7, "100"),
        (160.4, "160"),
        (12_345.0, "12,345"),
        (0.000051, "0.000051"),
    ],
)
def test_a_number_is_short_and_no_power_of_ten(value: float, text: str) -> None:
    assert short_number(value) == text


def test_progress_in_words() -> None:
    found = ExperimentProgress(400, 100, 3, 0, 0.5, 1000, 50.0, 2.0, 2.0)
    assert progress_line(found) == (
        "100 of 400 cells · 3 without an answer · 2 a second · $0.5000 of about $2.00 · "
        "2 min 30 s left"
    )
    assert progress_line(ExperimentProgress(4, 4, 0, 0, 0.5, 1, 2.0, 2.0, 0.5)) == (
        "4 of 4 cells · 2 a second · $0.5000"
    )
