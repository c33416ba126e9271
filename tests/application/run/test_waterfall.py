from __future__ import annotations

from studio.application.run.waterfall import Waterfall, waterfall_of
from studio.core.agent.values.events import ModelCalled, ModelFailed, Stopped
from tests.application.run import examples as run


def test_a_turn_with_four_calls_on_its_time_axis() -> None:
    fold = run.four_calls()
    made = waterfall_of(fold.state, fold.state.step)

    bars = {
        row.title: [(round(bar.begin, 3), bar.end, bar.tone) for bar in row.bars]
        for row in made.rows
    }
    assert bars == {
        "Model": [(0.0, 0.4, "wait"), (0.4, 2.0, "model")],
        "weather": [(2.0, 2.4, "tool")],
        "trains": [(2.0, None, "tool")],
        "room": [(2.0, None, "tool")],
        "museum": [(2.0, 3.0, "failed")],
    }
    assert made.words == "4 calls · 1 done · 2 running · 1 failed"
    assert made.is_moving
    assert made.span(1007.5) == 7.5


def test_nothing_goes_on_in_a_run_that_is_over() -> None:
    fold = run.four_calls()
    fold.take(Stopped())
    made = waterfall_of(fold.state, fold.state.step)

    assert not made.is_moving
    assert made.span(9999.0) == 3.0


def test_a_try_that_failed_and_the_wait_behind_it_are_seen() -> None:
    fold = run.TimedFold()
    fold.ask()
    fold.take(ModelCalled(attempt=1))
    fold.wait(1.0)
    fold.take(ModelFailed(kind="server", message="503", retryable=True, retry_in=2.0))
    fold.wait(2.0)
    fold.take(ModelCalled(attempt=2))
    row = waterfall_of(fold.state, fold.state.step).rows[0]

    assert [(bar.begin, bar.end, bar.tone) for bar in row.bars] == [
        (0.0, 1.0, "failed"),
        (1.0, 3.0, "wait"),
        (3.0, None, "model"),
    ]


def test_a_run_without_times_has_none() -> None:
    state = run.at_call()

    assert waterfall_of(state, state.step) == Waterfall()
