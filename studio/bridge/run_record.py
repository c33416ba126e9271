"""A run of the past, opened to be read: its journal, and the place that is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from studio.bridge.run_cards import Timeline, timeline_of
from studio.core.agent.events import Event, Forked, Started
from studio.core.agent.machine import advance, fold
from studio.core.agent.state import Checkpoint, RunState
from studio.core.agent.steps import new_state
from studio.core.agent.tree import RunTree, branch_path

_SNAPSHOT_EVERY = 1_000
"""Events between two states that are kept: a state holds all its steps, so keeping each would take
the square of their number."""


@dataclass(frozen=True)
class Walked:
    """What one pass over a journal gives."""

    tree: RunTree
    """The places reached."""

    state: RunState | None
    """The state at the end."""

    snapshots: Mapping[int, RunState]
    """States by the sequence number of the event that led to them."""

    def state_at(self, events: Sequence[Event], seq: int) -> RunState:
        """The state right after an event, folded from the nearest state that was kept."""
        path = branch_path(events, seq)
        for back, event in enumerate(reversed(path)):
            state = self.snapshots.get(event.seq)
            if state is not None:
                for after in path[len(path) - back :]:
                    state, _ = advance(state, after)
                return state
        return fold(path)


def walked(events: Sequence[Event]) -> Walked:
    """Read a journal once, keeping some states on the way.

    Raises:
        ValueError: it does not begin with `Started`.
    """
    tree = RunTree()
    snapshots: dict[int, RunState] = {}
    made = Walked(tree, None, snapshots)
    state: RunState | None = None
    for event in events:
        if isinstance(event, Started):
            state = new_state(event.setup)
        elif isinstance(event, Forked):
            state = made.state_at(events, event.checkpoint)
        if state is None:
            raise ValueError("a journal begins with Started")
        state, _ = advance(state, event)
        tree.add(event, state)
        if event.seq % _SNAPSHOT_EVERY == 0:
            snapshots[event.seq] = state
    return Walked(tree, state, snapshots)


@dataclass(frozen=True)
class RunRecord:
    """A journal with a cursor; moving it runs nothing, the same fold makes the state again."""

    title: str
    """What it is, for the pane's bar: "From history, 21 Nov 11:05"."""

    events: Sequence[Event]
    """The whole journal, in order."""

    at: int | None = None
    """Index of the checkpoint looked at; None for the end."""

    names: Mapping[int, str] = field(default_factory=dict)
    """The person's names of its branches, by number."""

    seen: Walked | None = field(default=None, compare=False, repr=False)
    """What the journal amounts to, where it was read already."""

    @cached_property
    def walked(self) -> Walked:
        """What the journal amounts to."""
        return self.seen if self.seen is not None else walked(self.events)

    @property
    def tree(self) -> RunTree:
        """The places that the run reached, with its branches."""
        return self.walked.tree

    @cached_property
    def timeline(self) -> Timeline:
        """The cards of the place looked at."""
        return timeline_of(self.state)

    @property
    def checkpoints(self) -> list[Checkpoint]:
        """The places, in the order of the journal."""
        return self.tree.checkpoints

    @cached_property
    def state(self) -> RunState | None:
        """The run at the place looked at; None for an empty journal."""
        if not self.events:
            return None
        if self.at is None:
            return self.walked.state
        return self.walked.state_at(self.events, self.checkpoints[self.at].id)

    @property
    def cursor(self) -> int | None:
        """Id of the place looked at."""
        return self.tree.cursor if self.at is None else self.checkpoints[self.at].id

    def at_checkpoint(self, identifier: int) -> RunRecord:
        """The record, at the place of that id; unchanged where there is none."""
        for index, checkpoint in enumerate(self.checkpoints):
            if checkpoint.id == identifier:
                return replace(self, at=index, seen=self.walked)
        return self

    def moved(self, by: int) -> RunRecord:
        """The record, some places on or back; stays within its ends."""
        count = len(self.checkpoints)
        if not count:
            return self
        now = count if self.at is None else self.at
        wanted = max(0, now + by)
        return replace(self, at=None if wanted >= count else wanted, seen=self.walked)
