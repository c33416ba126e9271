"""Branches of a run by name, and as the tree that they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from studio.application.run.breakpoints import place_name
from studio.application.run.past.forks import origins_of, ways_of
from studio.application.words import tr
from studio.core.agent.past.tree import RunTree
from studio.core.agent.values.state import Checkpoint


@dataclass(frozen=True, slots=True)
class BranchView:
    """One way through a run."""

    title: str
    """Its name: the user's own, or "Branch 2"."""

    detail: str
    """How far it goes."""

    last: int
    """Id of its last checkpoint."""

    number: int = 0
    """Which branch it is, from 0."""

    is_current: bool = False
    """Whether the run stands on it."""

    depth: int = 0
    """How many ways it parted from, one from the other; 0 for the first way."""

    parent: int | None = None
    """Number of the way that it parted from."""

    parted: str = ""
    """Where it parted: `from iteration 2, before the tool runs`."""


def branches_of(
    tree: RunTree,
    current: int | None,
    names: Mapping[int, str] | None = None,
) -> tuple[BranchView, ...]:
    """The ways through a run that reached any place, in the order they were begun.

    Args:
        tree: the places that it reached.
        current: id of the place where the run stands.
        names: the user's names, by number.
    """
    ends, standing = ways_of(tree, current)
    origins = origins_of(tree, current)
    return tuple(
        BranchView(
            (names or {}).get(number) or usual_name(number),
            tr("to iteration {iteration}, {place_names}").format(
                iteration=end.iteration, place_names=place_name(end.place).lower()
            ),
            end.id,
            number,
            number == standing,
            _depth(origins, number),
            origins[number].branch if number in origins else None,
            _parted(origins.get(number)),
        )
        for number, end in ends.items()
    )


def _depth(origins: Mapping[int, Checkpoint], number: int) -> int:
    """How many ways lie between one and the first."""
    depth = 0
    while number in origins and depth < len(origins):
        number, depth = origins[number].branch, depth + 1
    return depth


def _parted(origin: Checkpoint | None) -> str:
    if origin is None:
        return ""
    return tr("from iteration {iteration}, {place}").format(
        iteration=origin.iteration, place=place_name(origin.place).lower()
    )


def as_tree(branches: Sequence[BranchView]) -> tuple[BranchView, ...]:
    """The ways as a tree is read: each behind the one that it parted from."""
    below: dict[int | None, list[BranchView]] = {}
    known = {one.number for one in branches}
    for one in branches:
        below.setdefault(one.parent if one.parent in known else None, []).append(one)
    made: list[BranchView] = []

    def take(number: int | None) -> None:
        for one in below.get(number, ()):
            made.append(one)
            take(one.number)

    take(None)
    return tuple(made)


def usual_name(number: int) -> str:
    """Return the name of a branch that the user has not named: its place in the pager."""
    return tr("Branch {number}").format(number=number + 1)
