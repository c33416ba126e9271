"""Writes the facts of a run to the history, each before anything shows it."""

from __future__ import annotations

from studio.core.agent.events import Event
from studio.core.agent.state import RunSetup
from studio.core.runs.store import RunStore, RunWriter


class StoreJournal:
    """The journal of `RunController`; used in the loop's thread only."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._writers: dict[str, RunWriter] = {}

    def begin(self, setup: RunSetup) -> None:
        """Make room for a run's facts."""
        self._writers[setup.run] = self._store.journal(setup.run)

    def write(self, run: str, event: Event) -> None:
        """Keep one fact; it is on disk when this returns."""
        self._writers[run].write(event)
