"""Writes the facts of a run to the history, each before anything shows it."""

from __future__ import annotations

from studio.core.agent.values.events import Event
from studio.core.agent.values.state import RunSetup
from studio.core.runs.store import RunStore, RunWriter

_MOST = 2
"""The run that goes, and the one before it, which may still say that it was stopped."""


class StoreJournal:
    """The journal of `RunController`; used in the loop's thread only."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._writers: dict[str, RunWriter] = {}
        """Of the latest runs: a writer holds all that its run said."""

    def begin(self, setup: RunSetup) -> None:
        """Make room for a run's facts."""
        self._open(setup.run)

    def write(self, run: str, event: Event) -> None:
        """Keep one fact; it is on disk when this returns."""
        writer = self._writers.get(run) or self._open(run)
        writer.write(event)

    def _open(self, run: str) -> RunWriter:
        self._writers.pop(run, None)
        writer = self._writers[run] = self._store.journal(run)
        while len(self._writers) > _MOST:
            del self._writers[next(iter(self._writers))]
        return writer
