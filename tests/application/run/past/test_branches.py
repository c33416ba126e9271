from __future__ import annotations

from studio.application.run.past.branches import branches_of
from studio.core.agent.past.replay import RunTree
from studio.core.agent.values.step import PausePoint


def test_branches_are_named_by_how_far_they_go() -> None:
    places = RunTree()
    places.reach(2, PausePoint.BEFORE_REQUEST, 1, None)
    places.reach(9, PausePoint.ANSWER, 2, None)
    places.fork(10, 2)  # went nowhere
    places.fork(13, 2)
    places.reach(14, PausePoint.OBSERVATION, 1, 0)
    first, second = branches_of(places, 14)

    assert (first.title, first.detail) == ("Branch 1", "to iteration 2, with the answer")
    assert (second.title, second.last, second.is_current) == ("Branch 3", 14, True)


def test_branches_bear_the_names_that_they_were_given() -> None:
    places = RunTree()
    places.reach(2, PausePoint.BEFORE_REQUEST, 1, None)
    places.fork(8, 2)
    places.reach(9, PausePoint.ANSWER, 2, None)
    first, second = branches_of(places, 2, {1: "with Lyon", 0: ""})

    assert (first.title, second.title) == ("Branch 1", "with Lyon")
    assert (first.is_current, second.is_current) == (True, False)
