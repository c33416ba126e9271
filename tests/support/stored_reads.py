"""Which events of a kept run are read from its store."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from studio.core.runs.database import StoredEvents


def note_reads(monkeypatch: pytest.MonkeyPatch, note: Callable[[int], object]) -> None:
    """Have `note` called with the index of each event that is read from now on."""
    make = StoredEvents._make

    def noted(events: StoredEvents, index: int) -> object:
        note(index)
        return make(events, index)

    monkeypatch.setattr(StoredEvents, "_make", noted)
