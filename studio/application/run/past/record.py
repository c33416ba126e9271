"""A run of the past, opened to be read: its journal, and the place that is looked at."""

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
    """A journal with a cursor; moving it runs nothing, the same fold makes the state again."""

    title: str
    """Title for the pane's bar: "From history, 21 Nov 11:05"."""

    events: Sequence[Event]
    """The whole journal, in order."""

    at: int | None = None
    """Index of the checkpoint looked at; None for the end."""

    names: Mapping[int, str] = field(default_factory=dict)
    """The user's names of its branches, by number."""

    seen: Past | None = field(default=None, compare=False, repr=False)
    """State read from the journal, if it was read already."""

    @cached_property
    def whole(self) -> Past:
        """Read the whole journal."""
        return self.seen if self.seen is not None else walk(self.events)

    @property
    def tree(self) -> RunTree:
        """The places that the run reached, with its branches."""
        return self.whole.tree

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
            return self.whole.state
        return self.whole.state_at(self.checkpoints[self.at].id)

    @property
    def cursor(self) -> int | None:
        """Id of the place looked at."""
        return self.tree.cursor if self.at is None else self.checkpoints[self.at].id

    def at_checkpoint(self, identifier: int) -> RunRecord:
        """Return the record, at the place of that id; unchanged where there is none."""
        for index, checkpoint in enumerate(self.checkpoints):
            if checkpoint.id == identifier:
                return replace(self, at=index, seen=self.whole)
        return self

    def moved(self, by: int) -> RunRecord:
        """Return the record, some places on or back; stays within its ends."""
        count = len(self.checkpoints)
        if not count:
            return self
        now = count if self.at is None else self.at
        wanted = max(0, now + by)
        return replace(self, at=None if wanted >= count else wanted, seen=self.whole)


def kept_calls(path: Path, run: str) -> CallLookup:
    """Return what looks up the model calls of a run in the history at `path`."""

    def call_of(seq: int) -> WireCall | None:
        with closing(RunStore(path)) as store:
            return store.call(run, seq)

    return call_of


_MOST = 2
"""The run that goes, and the one before it, which may still say that it was stopped."""


class StoreJournal:
    """The journal of `RunController`; writes in the loop's thread only."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._writers: dict[str, RunWriter] = {}
        """Writers of the latest runs, which hold all their events."""

    def begin(self, setup: RunSetup) -> None:
        """Make room for a run's facts."""
        self._open(setup.run)

    def write(self, run: str, event: Event) -> None:
        """Keep one fact; it is on disk when this returns."""
        (self._writers.get(run) or self._open(run)).write(event)

    def keep_reply(self, run: str, reply: Reply) -> None:
        """Keep how far a reply has come."""
        (self._writers.get(run) or self._open(run)).keep_reply(reply)

    def keep_call(self, run: str, seq: int, call: WireCall | KeptCall) -> None:
        """Keep what a model call sent and received."""
        (self._writers.get(run) or self._open(run)).keep_call(seq, call)

    def call(self, run: str, seq: int) -> WireCall | None:
        """Return what a model call sent and received; can be called from any thread."""
        return self._store.call(run, seq)

    def _open(self, run: str) -> RunWriter:
        self._writers.pop(run, None)
        writer = self._writers[run] = self._store.journal(run)
        while len(self._writers) > _MOST:
            del self._writers[next(iter(self._writers))]
        return writer
