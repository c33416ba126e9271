"""Sequences that share what they have in common, against plain tuples."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.core.agent.values.trail import Trail

TURNS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 40), st.lists(st.integers(), max_size=4)),
    max_size=30,
)


@given(st.lists(st.integers(), max_size=5), TURNS)
def test_any_growing_and_branching_gives_what_tuples_give(
    first: list[int], turns: list[tuple[int, int, list[int]]]
) -> None:
    made = [(Trail.over(tuple(first)), tuple(first)), (Trail(first), tuple(first))]
    for which, length, more in turns:
        trail, plain = made[which % len(made)]
        made.append((trail.upto(length).plus(more), plain[:length] + tuple(more)))
    for trail, plain in made:
        assert tuple(trail) == plain
        assert [trail[at] for at in range(len(trail))] == list(plain)
        assert trail == plain
        assert tuple(trail[-3:]) == plain[-3:]
        assert tuple(trail[1:4]) == plain[1:4]
    for trail, plain in made:
        for other, same in made:
            shared = trail.shares(other)
            assert plain[:shared] == same[:shared]
            assert (trail == other) == (plain == same)


def test_what_is_added_to_a_beginning_changes_no_other() -> None:
    whole = Trail("abc")
    first, second = whole.upto(2).plus("x"), whole.upto(2).plus("y")
    assert ["".join(each) for each in (whole, first, second)] == ["abc", "abx", "aby"]
    assert first.shares(second) == 2
    assert whole.plus("d").shares(whole) == 3


def test_ten_thousand_branches_of_branches_are_no_deep_recursion() -> None:
    trail = Trail([0])
    for number in range(1, sys.getrecursionlimit() * 3):
        trail.plus([-1])
        trail = trail.plus([number])
    assert trail[0] == 0
    assert trail[-1] == len(trail) - 1


class _Asked(Sequence[int]):
    """Numbers, noting which were looked at."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def __len__(self) -> int:
        return 1000

    def __getitem__(self, at: int) -> int:  # type: ignore[override] - slices are the trail's own
        self.seen.append(at)
        return at


def test_items_from_elsewhere_are_asked_for_only_when_they_are_looked_at() -> None:
    base = _Asked()
    trail = Trail.over(base).plus([5])
    assert len(trail.plus([6]).upto(900)) == 900
    assert trail.shares(trail.plus([7])) == 1001
    assert trail == trail.plus(())
    assert base.seen == []
    assert trail[7] == 7
    assert base.seen == [7]
    with pytest.raises(IndexError):
        trail[1001]
