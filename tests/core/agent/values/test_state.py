"""Sequences that share what they have in common, against plain tuples."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.core.agent.values.state import PersistentList

TURNS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 40), st.lists(st.integers(), max_size=4)),
    max_size=30,
)


@given(st.lists(st.integers(), max_size=5), TURNS)
def test_any_growing_and_branching_gives_what_tuples_give(
    first: list[int], turns: list[tuple[int, int, list[int]]]
) -> None:
    made = [
        (PersistentList.over(tuple(first)), tuple(first)),
        (PersistentList(first), tuple(first)),
    ]
    for which, length, more in turns:
        items, plain = made[which % len(made)]
        made.append((items.upto(length).plus(more), plain[:length] + tuple(more)))
    for items, plain in made:
        assert tuple(items) == plain
        assert [items[at] for at in range(len(items))] == list(plain)
        assert items == plain
        assert tuple(items[-3:]) == plain[-3:]
        assert tuple(items[1:4]) == plain[1:4]
    for items, plain in made:
        for other, same in made:
            shared = items.shares(other)
            assert plain[:shared] == same[:shared]
            assert (items == other) == (plain == same)


def test_what_is_added_to_a_beginning_changes_no_other() -> None:
    whole = PersistentList("abc")
    first, second = whole.upto(2).plus("x"), whole.upto(2).plus("y")
    assert ["".join(each) for each in (whole, first, second)] == ["abc", "abx", "aby"]
    assert first.shares(second) == 2
    assert whole.plus("d").shares(whole) == 3


def test_ten_thousand_branches_of_branches_are_no_deep_recursion() -> None:
    items = PersistentList([0])
    for number in range(1, sys.getrecursionlimit() * 3):
        items.plus([-1])
        items = items.plus([number])
    assert items[0] == 0
    assert items[-1] == len(items) - 1


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
    items = PersistentList.over(base).plus([5])
    assert len(items.plus([6]).upto(900)) == 900
    assert items.shares(items.plus([7])) == 1001
    assert items == items.plus(())
    assert base.seen == []
    assert items[7] == 7
    assert base.seen == [7]
    with pytest.raises(IndexError):
        items[1001]
