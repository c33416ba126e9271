from __future__ import annotations

from dataclasses import replace

from studio.application.run.displayed_run import facts_of
from studio.application.run.words import sentence_of
from tests.application.run import examples as run


def test_an_exact_replay_says_its_own_time_and_the_recorded_one() -> None:
    state = run.done()
    replayed = replace(state, setup=replace(state.setup, recorded_seconds=75.0))

    assert sentence_of(state) == "Done in 2 iterations, 2.6 s"
    assert sentence_of(replayed) == "Done in 2 iterations, 2.6 s (recorded: 1 min 15 s)"
    assert facts_of(replayed).endswith("2.6 s (recorded: 1 min 15 s)")
