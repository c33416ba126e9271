"""A run of the past, opened to be read: its journal, and the place that is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from studio.core.agent.events import Event
from studio.core.agent.state import Checkpoint, RunState
from studio.core.agent.tree import RunTree, state_at, walk


@dataclass(frozen=True)
class RunRecord:
    """A journal with a cursor; moving it runs nothing, the same fold makes the state again."""

    title: str
    """What it is, for the pane's bar: "From history, 21 Nov 11:05"."""

    events: Sequence[Event]
    """The whole journal, in order."""

    at: int | None = None
    """Index of the checkpoint looked at; None for the end."""

    @cached_property
    def tree(self) -> RunTree:
        """The places that the run reached, with its branches."""
        return walk(self.events).tree

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
            return walk(self.events).state
        return state_at(self.events, self.checkpoints[self.at].id)

    @property
    def cursor(self) -> int | None:
        """Id of the place looked at."""
        return self.tree.cursor if self.at is None else self.checkpoints[self.at].id

    def at_checkpoint(self, identifier: int) -> RunRecord:
        """The record, at the place of that id; unchanged where there is none."""
        for index, checkpoint in enumerate(self.checkpoints):
            if checkpoint.id == identifier:
                return replace(self, at=index)
        return self

    def moved(self, by: int) -> RunRecord:
        """The record, some places on or back; stays within its ends."""
        count = len(self.checkpoints)
        if not count:
            return self
        now = count if self.at is None else self.at
        wanted = max(0, now + by)
        return replace(self, at=None if wanted >= count else wanted)
