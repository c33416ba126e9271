from __future__ import annotations

from studio.bridge.run_cards import timeline_of
from studio.bridge.run_compare import branches_of, compare
from studio.core.agent.state import Checkpoint
from tests.bridge import run_examples as run


def test_the_same_way_has_no_difference() -> None:
    timeline = timeline_of(run.done())
    comparison = compare("A", timeline, "B", timeline)

    assert comparison.first_difference is None
    assert comparison.summary.startswith("Both say the same")


def test_two_ways_part_where_an_observation_differs() -> None:
    other = run.Fold()
    other.ask()
    other.whole_step(run.FIRST, "Lyon")
    other.ask(run.HISTORY)
    comparison = compare("A", timeline_of(run.done()), "B", timeline_of(other.pause()))
    first = comparison.first_difference

    assert first is not None
    row = comparison.rows[first]
    assert row.left is not None
    assert row.right is not None
    assert (row.left.gist, row.right.gist) == ("Paris", "Lyon")
    assert [row.match for row in comparison.rows[-2:]] == ["left", "left"]
    assert comparison.summary == "They part in iteration 1, at “Observation”; 3 of 7 rows differ."


def test_branches_are_named_by_how_far_they_go() -> None:
    places = (
        Checkpoint(2, None, "P1", 1, None, 0), Checkpoint(9, 2, "P6", 2, None, 0),
        Checkpoint(14, 2, "P4", 1, 0, 2),
    )  # fmt: skip
    first, second = branches_of(places, 14)

    assert (first.title, first.detail) == ("First way", "to iteration 2, with the answer")
    assert (second.title, second.last, second.is_current) == ("Branch 2", 14, True)
