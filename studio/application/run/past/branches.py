"""The branches of a run by name, and as a tree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from studio.application.run.breakpoints import place_name
from studio.application.words import tr
from studio.core.agent.past.replay import RunTree
from studio.core.agent.values.state import Checkpoint
from studio.core.agent.values.step import PausePoint

# The forks between the branches of a run, for a pager on the card: `2/3`.

ForkKey: TypeAlias = tuple[int, PausePoint, int | None]
"""Step, pause point, and row of the call."""

_MOST = 100_000
"""Maximum product of places and branches up to which the tree is walked for each view."""


@dataclass(frozen=True, slots=True)
class ForkView:
    """The branches that continue from one place."""

    at: int
    """Index of the shown branch, from 0."""

    ends: tuple[int, ...]
    """The last checkpoint of each branch, in order of creation."""

    @property
    def words(self) -> str:
        """Label of the pager: `2/3`."""
        return f"{self.at + 1}/{len(self.ends)}"

    def beside(self, by: int) -> int | None:
        """Return the last checkpoint of the branch `by` positions after the shown one."""
        wanted = self.at + by
        return self.ends[wanted] if 0 <= wanted < len(self.ends) else None


def forks_of(tree: RunTree, current: int | None) -> Mapping[ForkKey, ForkView]:
    """Return the places on the shown branch from which other branches fork.

    Args:
        tree: the places that the run reached.
        current: id of the run's current place.
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
    """Return the ends of the branches by number, and the number of the shown branch.

    Returning to the end of a branch begins a branch without events of its own: it still counts as
    that branch.
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
    """Return the fork at which each branch begins, by its number; the first one has none."""
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
    """Return the places that lead to a checkpoint, the newest first."""
    way: list[Checkpoint] = []
    at: Checkpoint | None = end
    while at is not None:
        way.append(at)
        at = tree.get(at.parent) if at.parent is not None else None
    return way


def _fork(ways: Mapping[int, int], branch: int) -> ForkView:
    numbers = sorted(ways)
    return ForkView(numbers.index(branch), tuple(ways[number] for number in numbers))


@dataclass(frozen=True, slots=True)
class BranchView:
    """One branch of a run."""

    title: str
    """Its name: the user's own, or "Branch 2"."""

    detail: str
    """Length of the branch."""

    last: int
    """Id of its last checkpoint."""

    number: int = 0
    """Number of the branch, from 0."""

    is_current: bool = False
    """Whether the run is on this branch."""

    depth: int = 0
    """Number of forks between this branch and the first; 0 for the first."""

    parent: int | None = None
    """Number of the branch from which it forked; None for the first."""

    parted: str = ""
    """Place of the fork: `from iteration 2, before the tool runs`."""


def branches_of(
    tree: RunTree, current: int | None, names: Mapping[int, str] | None = None
) -> tuple[BranchView, ...]:
    """Return the branches of a run that reached any place, in order of creation.

    Args:
        tree: the places that it reached.
        current: id of the run's current place.
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
    """Count the forks between a branch and the first one."""
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
    """Return the branches in tree order: each after the one from which it forked."""
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
    """Return the name of a branch that the user has not named: its position in the pager."""
    return tr("Branch {number}").format(number=number + 1)
