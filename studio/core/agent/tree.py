"""A run as a tree: the places it reached, and the way to each.

The journal is one list. An event follows the one before it, except `Forked`, which follows the
checkpoint that it names; what lies between is another branch and is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from studio.core.agent.events import (
    Event,
    Forked,
    LimitRaised,
    Logged,
    Paused,
    Resumed,
    Started,
    Steered,
    ToolCalled,
)
from studio.core.agent.machine import advance, fold
from studio.core.agent.state import Checkpoint, Place, RunState
from studio.core.agent.steps import call_key, new_state

_NOT_A_MOVE = (Logged, Paused, Resumed, Steered, LimitRaised)


def branch_path(events: Sequence[Event], seq: int) -> list[Event]:
    """The events that lead to event `seq`, in order; those of other branches are left out.

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
    """The state right after event `seq`."""
    return fold(branch_path(events, seq))


@dataclass
class RunTree:
    """The checkpoints of a run, kept up to date event by event."""

    checkpoints: list[Checkpoint] = field(default_factory=list)
    """In the order they were reached."""

    cursor: int | None = None
    """Id of the checkpoint that the run went through last."""

    branch: int = 0
    """Number of the branch that the run is on."""

    _by_id: dict[int, Checkpoint] = field(default_factory=dict)
    _branches: int = 0

    def add(self, event: Event, state: RunState) -> Checkpoint | None:
        """Note an event and the state after it; gives the checkpoint where it reached one."""
        if isinstance(event, Forked):
            self._branches += 1
            self.branch = self._branches
            self.cursor = event.checkpoint
        if isinstance(event, _NOT_A_MOVE) or state.place is None or state.is_over:
            return None
        made = Checkpoint(
            event.seq, self.cursor, state.place, state.iteration, state.call, self.branch
        )
        self.checkpoints.append(made)
        self._by_id[made.id] = made
        self.cursor = made.id
        return made

    def get(self, checkpoint: int) -> Checkpoint | None:
        """The checkpoint of that id."""
        return self._by_id.get(checkpoint)

    def find(self, iteration: int, place: Place = "P1") -> Checkpoint | None:
        """The newest checkpoint at a place of a step, for `RUN@STEP` of the command line."""
        fitting = (
            item
            for item in reversed(self.checkpoints)
            if (item.iteration, item.place) == (iteration, place)
        )
        return next(fitting, None)

    def children(self, checkpoint: int | None) -> tuple[Checkpoint, ...]:
        """The checkpoints that follow one; of None, the first."""
        return tuple(item for item in self.checkpoints if item.parent == checkpoint)


@dataclass(frozen=True)
class Walk:
    """What a journal amounts to."""

    state: RunState | None
    """The last state; None of an empty journal."""

    tree: RunTree
    """The places reached."""

    ran: frozenset[tuple[str, str]]
    """(tool, arguments) of the calls that were made, on any branch."""


def walk(events: Iterable[Event]) -> Walk:
    """Read a journal in one pass; forks go back to the states they name.

    Raises:
        ValueError: it does not begin with `Started`.
    """
    kept: list[Event] = []
    tree = RunTree()
    ran: set[tuple[str, str]] = set()
    state: RunState | None = None
    for event in events:
        if isinstance(event, Started):
            state = new_state(event.setup)
        elif isinstance(event, Forked):
            state = state_at(kept, event.checkpoint)
        if state is None:
            raise ValueError("a journal begins with Started")
        if isinstance(event, ToolCalled):
            ran.add(call_key(state.step.calls[event.call]))
        kept.append(event)
        state, _ = advance(state, event)
        tree.add(event, state)
    return Walk(state, tree, frozenset(ran))
