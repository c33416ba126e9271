"""A past run, opened for reading: its journal and the shown place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from studio.application.run.cards.timeline import Timeline, timeline_of
from studio.core.agent.past.replay import Past, RunTree, walk
from studio.core.agent.values.events import Event
from studio.core.agent.values.state import Checkpoint, RunState
from studio.core.agent.values.step import RunSetup
from studio.core.runs.store import RunStore, RunWriter
from studio.core.wire.reply import Reply
from studio.core.wire.wire_call import CallLookup, KeptCall, WireCall


@dataclass(frozen=True)
class RunRecord:
    """A journal with a cursor. Moving it runs nothing: the state is folded from the events."""

    title: str
    """Title for the pane's bar: "From history, 21 Nov 11:05"."""

    events: Sequence[Event]
    """The events of the whole journal, in order."""

    at: int | None = None
    """Index of the shown checkpoint; None for the end."""

    names: Mapping[int, str] = field(default_factory=dict)
    """The user's names of its branches, by number."""

    seen: Past | None = field(default=None, compare=False, repr=False)
    """State of the journal, if it was read already."""

    @cached_property
    def whole(self) -> Past:
        """The whole journal with its state."""
        return self.seen if self.seen is not None else walk(self.events)

    @property
    def tree(self) -> RunTree:
        """The places that the run reached, with its branches."""
        return self.whole.tree

    @cached_property
    def timeline(self) -> Timeline:
        """The cards of the shown place."""
        return timeline_of(self.state)

    @property
    def checkpoints(self) -> list[Checkpoint]:
        """The checkpoints, in the order of the journal."""
        return self.tree.checkpoints

    @cached_property
    def state(self) -> RunState | None:
        """The run at the shown place; None for an empty journal."""
        if not self.events:
            return None
        if self.at is None:
            return self.whole.state
        return self.whole.state_at(self.checkpoints[self.at].id)

    @property
    def cursor(self) -> int | None:
        """Id of the shown place."""
        return self.tree.cursor if self.at is None else self.checkpoints[self.at].id

    def at_checkpoint(self, identifier: int) -> RunRecord:
        """Return the record at the place with that id; unchanged if there is none."""
        for index, checkpoint in enumerate(self.checkpoints):
            if checkpoint.id == identifier:
                return replace(self, at=index, seen=self.whole)
        return self

    def moved(self, by: int) -> RunRecord:
        """Return the record moved by some places, within its ends."""
        count = len(self.checkpoints)
        if not count:
            return self
        now = count if self.at is None else self.at
        wanted = max(0, now + by)
        return replace(self, at=None if wanted >= count else wanted, seen=self.whole)


def kept_calls(path: Path, run: str) -> CallLookup:
    """Return a lookup of the model calls of a run in the history at `path`."""

    def call_of(seq: int) -> WireCall | None:
        with closing(RunStore(path)) as store:
            return store.call(run, seq)

    return call_of


_MOST = 2
"""Number of open writers: the active run, and the previous one, which may still record its stop."""


class StoreJournal:
    """The journal of `RunController`; writes in the thread of the loop only."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._writers: dict[str, RunWriter] = {}
        """Writers of the latest runs, which hold all their events."""

    def begin(self, setup: RunSetup) -> None:
        """Prepare for a run's events."""
        self._open(setup.run)

    def write(self, run: str, event: Event) -> None:
        """Store one event; it is on disk when this returns."""
        (self._writers.get(run) or self._open(run)).write(event)

    def keep_reply(self, run: str, reply: Reply) -> None:
        """Store the part of a reply that has arrived."""
        (self._writers.get(run) or self._open(run)).keep_reply(reply)

    def keep_call(self, run: str, seq: int, call: WireCall | KeptCall) -> None:
        """Store the request and response of a model call."""
        (self._writers.get(run) or self._open(run)).keep_call(seq, call)

    def call(self, run: str, seq: int) -> WireCall | None:
        """Return the request and response of a model call; can be called from any thread."""
        return self._store.call(run, seq)

    def _open(self, run: str) -> RunWriter:
        self._writers.pop(run, None)
        writer = self._writers[run] = self._store.journal(run)
        while len(self._writers) > _MOST:
            del self._writers[next(iter(self._writers))]
        return writer
