"""Where the ways through a run part, for a switch on the very card: `2/3`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from studio.core.agent.past.tree import RunTree
from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.state import Checkpoint

ForkKey: TypeAlias = tuple[int, PausePoint, int | None]
"""Step, place, and row of the call."""

_MOST = 100_000
"""Places times ways up to which the tree is walked for each view."""


@dataclass(frozen=True, slots=True)
class ForkView:
    """The ways that go on from one place."""

    at: int
    """Which of them is shown, from 0."""

    ends: tuple[int, ...]
    """The last checkpoint of each, in the order that they were begun."""

    @property
    def words(self) -> str:
        """`2/3`."""
        return f"{self.at + 1}/{len(self.ends)}"

    def beside(self, by: int) -> int | None:
        """The last checkpoint of the way before or after the one that is shown."""
        wanted = self.at + by
        return self.ends[wanted] if 0 <= wanted < len(self.ends) else None


def forks_of(tree: RunTree, current: int | None) -> Mapping[ForkKey, ForkView]:
    """The places on the way that is shown from which other ways go on, too.

    Args:
        tree: the places that the run reached.
        current: id of the place where it stands.
    """
    if current is None or len(tree.ends) * len(tree.checkpoints) > _MOST:
        return {}
    ends, branch = ways_of(tree, current)
    here = ends.get(branch)
    if here is None or len(ends) < 2:
        return {}
    on_way = {each.id for each in _way(tree, here)}
    found: dict[ForkKey, dict[int, int]] = {}
    for number, end in ends.items():
        parted = next((each for each in _way(tree, end) if each.id in on_way), None)
        if number != branch and parted is not None:
            key = (parted.iteration, parted.place, parted.call)
            found.setdefault(key, {})[number] = end.id
    return {key: _fork({**ways, branch: here.id}, branch) for key, ways in found.items()}


def ways_of(tree: RunTree, current: int | None) -> tuple[Mapping[int, Checkpoint], int]:
    """The ends of the ways by the number of their branch, and the number of the one shown.

    Standing at the end of a way again begins a branch that has nothing of its own yet: it is that
    way still.
    """
    numbers = {end.id: number for number, end in tree.ends.items()}
    forked = set(tree.forks)
    same: dict[int, int] = {}
    for number, end in sorted(tree.ends.items()):
        before = numbers.get(end.parent) if end.parent is not None else None
        if end.id in forked and before is not None:
            same[number] = same.get(before, before)
    here = tree.get(current) if current is not None else None
    standing = here.branch if here is not None else 0
    ends = {number: end for number, end in sorted(tree.ends.items()) if number not in same}
    return ends, same.get(standing, standing)


def origins_of(tree: RunTree, current: int | None) -> Mapping[int, Checkpoint]:
    """The place of another way at which each way begins, by its number; a first way has none."""
    if len(tree.ends) < 2 or len(tree.ends) * len(tree.checkpoints) > _MOST:
        return {}
    ends, _ = ways_of(tree, current)
    found: dict[int, Checkpoint] = {}
    for number, end in ends.items():
        origin = next((each for each in _way(tree, end) if each.branch != end.branch), None)
        if origin is not None and origin.branch != number:
            found[number] = origin
    return found


def _way(tree: RunTree, end: Checkpoint) -> list[Checkpoint]:
    """The places that lead to one, it and the newest first."""
    way: list[Checkpoint] = []
    at: Checkpoint | None = end
    while at is not None:
        way.append(at)
        at = tree.get(at.parent) if at.parent is not None else None
    return way


def _fork(ways: Mapping[int, int], branch: int) -> ForkView:
    numbers = sorted(ways)
    return ForkView(numbers.index(branch), tuple(ways[number] for number in numbers))
