"""A journal as JSON lines: one event a line, complete in itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from studio.core.agent.values.events import Event
from studio.core.runs.codec import JournalError, decode_event, encode_event


def event_line(event: Event) -> str:
    """One event as a line of JSON, without the line end; lone surrogates escaped."""
    data = encode_event(event)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(data, separators=(",", ":"))
    return text


def write_journal(events: Iterable[Event]) -> str:
    """A whole journal as JSON lines."""
    return "".join(event_line(event) + "\n" for event in events)


def read_journal(text: str) -> Iterator[Event]:
    """The events of a journal; a last line that was cut off in writing is left out.

    Raises:
        JournalError: another line is no event.
    """
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except ValueError as error:
            if number == len(lines):
                return
            raise JournalError(f"line {number} is no JSON: {error}") from error
        if not isinstance(data, dict):
            raise JournalError(f"line {number} is no event")
        yield decode_event(data)
