"""A run as a tree: the places it reached, and the way to each.

The journal is one list. An event follows the one before it, except `Forked`, which follows the
checkpoint that it names; what lies between is another branch and is kept.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Protocol

from studio.core.agent.loop.calls import call_key
from studio.core.agent.loop.machine import advance, fold
from studio.core.agent.loop.steps import new_state
from studio.core.agent.values.events import (
    Event,
    Forked,
    LimitRaised,
    Logged,
    ModelChosen,
    Paused,
    Resumed,
    Started,
    Steered,
    ToolCalled,
)
from studio.core.agent.values.state import Checkpoint, RunState
from studio.core.agent.values.step import PausePoint

_NOT_A_MOVE = (Logged, Paused, Resumed, Steered, LimitRaised, ModelChosen)
_KEEP_EVERY = 32


def branch_path(events: Sequence[Event], seq: int) -> list[Event]:
    """Return the events that lead to event `seq`, in order, without those of other branches.

    Args:
        events: The whole journal; event n (from 1) stands at index n - 1.
        seq: The last event wanted.
    """
    path: list[Event] = []
    at = seq
    while at > 0:
        event = events[at - 1]
        path.append(event)
        at = event.checkpoint if isinstance(event, Forked) else at - 1
    path.reverse()
    return path


def state_at(events: Sequence[Event], seq: int) -> RunState:
    """Return the state right after event `seq`."""
    return fold(branch_path(events, seq))


def is_checkpoint(event: Event, state: RunState) -> bool:
    """Return whether an event brought a run to a place; `state` is the one after it."""
    return not isinstance(event, _NOT_A_MOVE) and state.place is not None and not state.is_over


class Past(Protocol):
    """A run that was, read from its journal."""

    @property
    def events(self) -> Sequence[Event]:
        """The journal."""
        ...

    @property
    def state(self) -> RunState | None:
        """The last state; None of an empty journal."""
        ...

    @property
    def tree(self) -> RunTree:
        """The places reached."""
        ...

    @property
    def ran(self) -> AbstractSet[tuple[str, str]]:
        """(tool, arguments) of the calls that were made, on any branch."""
        ...

    def state_at(self, seq: int) -> RunState:
        """Return the state right after event `seq`."""
        ...


class PastStates:
    """Some states of a run on its way; any other is folded from the nearest before it.

    They share what they have in common (`PersistentList`), so that many of them cost little.
    """

    def __init__(self, before: Past | None = None) -> None:
        """Begin with nothing.

        Args:
            before: the run as it was read, where it was taken up again.
        """
        self._before = before
        self._offset = len(before.events) if before is not None else 0
        self._events: list[Event] = []
        self._kept: dict[int, RunState] = {}

    def note(self, event: Event, state: RunState) -> None:
        """Take the next event, and the state after it."""
        self._events.append(event)
        if event.seq % _KEEP_EVERY == 0:
            self._kept[event.seq] = state

    def at(self, seq: int) -> RunState:
        """Return the state right after event `seq`.

        Raises:
            ValueError: the way there does not begin with `Started`.
        """
        missing: list[Event] = []
        at = seq
        while at > self._offset and at not in self._kept:
            event = self._events[at - self._offset - 1]
            missing.append(event)
            at = event.checkpoint if isinstance(event, Forked) else at - 1
        if at == 0:
            return fold(reversed(missing))
        held = self._kept.get(at)
        state = held if held is not None or self._before is None else self._before.state_at(at)
        if state is None:
            raise ValueError(f"there is no event {at}")
        for event in reversed(missing):
            state, _ = advance(state, event)
        return state


@dataclass
class RunTree:
    """The checkpoints of a run, kept up to date event by event."""

    checkpoints: list[Checkpoint] = field(default_factory=list)
    """In the order they were reached."""

    cursor: int | None = None
    """Id of the checkpoint that the run went through last."""

    branch: int = 0
    """Number of the branch that the run is on."""

    ends: dict[int, Checkpoint] = field(default_factory=dict)
    """The last checkpoint of each branch that reached one."""

    forks: list[int] = field(default_factory=list)
    """The events with which branches began, in order."""

    _by_id: dict[int, Checkpoint] = field(default_factory=dict)
    _branches: int = 0

    def copy(self) -> RunTree:
        """Return a tree of its own, for a run that goes on from here."""
        return replace(
            self,
            checkpoints=list(self.checkpoints),
            ends=dict(self.ends),
            forks=list(self.forks),
            _by_id=dict(self._by_id),
        )

    def add(self, event: Event, state: RunState) -> Checkpoint | None:
        """Note an event and the state after it; gives the checkpoint where it reached one."""
        if isinstance(event, Forked):
            self.fork(event.seq, event.checkpoint)
        if state.place is None or not is_checkpoint(event, state):
            return None
        return self.reach(event.seq, state.place, state.iteration, state.call)

    def fork(self, seq: int, checkpoint: int) -> None:
        """Note that the run goes on from a checkpoint as a new branch, from event `seq` on."""
        self.forks.append(seq)
        self._branches += 1
        self.branch = self._branches
        self.cursor = checkpoint

    def reach(self, seq: int, place: PausePoint, iteration: int, call: int | None) -> Checkpoint:
        """Note a place that event `seq` came to."""
        made = Checkpoint(seq, self.cursor, place, iteration, call, self.branch)
        self.checkpoints.append(made)
        self._by_id[seq] = made
        self.ends[self.branch] = made
        self.cursor = seq
        return made

    def branch_end(self, seq: int, last: int) -> int:
        """Return the last event of the branch that event `seq` is on: the one before it was left.

        Args:
            seq: an event.
            last: the last event of the journal.
        """
        at = bisect_right(self.forks, seq)
        return self.forks[at] - 1 if at < len(self.forks) else last

    def get(self, checkpoint: int) -> Checkpoint | None:
        """Return the checkpoint of that id."""
        return self._by_id.get(checkpoint)

    def find(
        self, iteration: int, place: PausePoint = PausePoint.BEFORE_REQUEST
    ) -> Checkpoint | None:
        """Find the newest checkpoint at a place of a step, for `RUN@STEP` of the command line."""
        fitting = (
            item
            for item in reversed(self.checkpoints)
            if (item.iteration, item.place) == (iteration, place)
        )
        return next(fitting, None)

    def children(self, checkpoint: int | None) -> tuple[Checkpoint, ...]:
        """Return the checkpoints that follow one; of None, the first."""
        return tuple(item for item in self.checkpoints if item.parent == checkpoint)


class RanCalls(AbstractSet[tuple[str, str]]):
    """(tool, arguments) of the calls that a run made; those of its past are read when asked for."""

    def __init__(self, past: Past) -> None:
        self._past = past
        self._new: set[tuple[str, str]] = set()

    def add(self, key: tuple[str, str]) -> None:
        """Note one more."""
        self._new.add(key)

    def __contains__(self, key: object) -> bool:
        return key in self._new or key in self._past.ran

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._new | self._past.ran)

    def __len__(self) -> int:
        return len(self._new | self._past.ran)


@dataclass(frozen=True)
class Walk:
    """The fold of a journal, from its first event to its last."""

    events: Sequence[Event]
    """The journal, in order."""

    state: RunState | None
    """The last state; None of an empty journal."""

    tree: RunTree
    """The places reached."""

    ran: frozenset[tuple[str, str]]
    """(tool, arguments) of the calls that were made, on any branch."""

    past: PastStates
    """States on the way."""

    def state_at(self, seq: int) -> RunState:
        """Return the state right after event `seq`."""
        return self.past.at(seq)


def walk(events: Iterable[Event]) -> Walk:
    """Read a journal in one pass; forks go back to the states they name.

    Raises:
        ValueError: it does not begin with `Started`.
    """
    kept: list[Event] = []
    past = PastStates()
    tree = RunTree()
    ran: set[tuple[str, str]] = set()
    state: RunState | None = None
    for event in events:
        if isinstance(event, Started):
            state = new_state(event.setup)
        elif isinstance(event, Forked):
            state = past.at(event.checkpoint)
        if state is None:
            raise ValueError("a journal begins with Started")
        if isinstance(event, ToolCalled):
            ran.add(call_key(state.step.calls[event.call]))
        state, _ = advance(state, event)
        kept.append(event)
        tree.add(event, state)
        past.note(event, state)
    return Walk(tuple(kept), state, tree, frozenset(ran), past)
