"""A kept journal in memory: its rows as they are in the history, each read when it is looked at."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from studio.core.agent.values.events import Event
from studio.core.agent.values.persistent_list import LazySequence
from studio.core.runs.blobs import restore
from studio.core.runs.codec import JournalError, decode_event
from studio.core.text.values import JsonObject

T = TypeVar("T")


EventRow: TypeAlias = tuple[float, str, str | None]
"""One event as it is kept, just as it comes from the database: when, in seconds since 1970 UTC; its
JSON; what it reached (`studio.core.runs.run_index`), None where nobody followed the run."""


class StepRecord(NamedTuple):
    """A step's row as it is kept; see `outline.StepRow`."""

    seq: int
    """The event that ended it."""

    shape: str
    """What it has to show."""

    messages: int
    """Length of the conversation then."""

    kept: int
    """How many of its first messages were there when the step before was done."""

    calls: int
    """How many calls were made so far."""

    state: str | None
    """JSON of the state right after, where it was kept."""

    step_summary: str | None
    """JSON of what its cards show; None where an older studio wrote it."""


class StoredEvents(LazySequence[Event]):
    """A kept journal; each event is read when it is looked at."""

    def __init__(self, rows: Sequence[EventRow], text_of: Callable[[str], str]) -> None:
        """Take the rows, in order from event 1, and what gives a long text by its name."""
        self._rows = rows
        self._text_of = text_of

    def __len__(self) -> int:
        return len(self._rows)

    def _make(self, index: int) -> Event:
        at, data, _ = self._rows[index]
        try:
            value = json.loads(data)
            if '"$' in data:
                value = restore(value, self._text_of)
        except (ValueError, KeyError) as error:
            raise JournalError(f"event {index + 1} cannot be read: {error!r}") from error
        return decode_event(value | {"seq": index + 1, "at": at})

    def snapshot(self, text: str) -> JsonObject:
        """A state that is kept beside the events (`run_index.snapshot_of`)."""
        value: JsonObject = json.loads(text)
        return restore(value, self._text_of) if '"$' in text else value
