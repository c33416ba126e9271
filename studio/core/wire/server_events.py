"""Server-sent events, from the bytes of a stream (HTML Standard, section 9.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BREAK = re.compile(rb"\r\n|\r|\n")
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event of a stream."""

    data: str
    """Its data; several lines are joined by line breaks."""

    name: str = ""
    """What `event:` names it; empty where it has no name."""


class LineSplitter:
    """Finds the JSON of each line in the pieces of a stream (NDJSON), as Ollama sends it."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, piece: bytes) -> Iterator[ServerEvent]:
        """The lines that are whole with this piece.

        Raises:
            UnicodeDecodeError: a line is not UTF-8.
        """
        *whole, self._rest = (self._rest + piece).split(b"\n")
        for line in whole:
            if line.strip():
                yield ServerEvent(line.decode("utf-8"))

    def close(self) -> ServerEvent | None:
        """The last line, where no break follows it."""
        return next(self.feed(b"\n"), None)


class EventSplitter:
    """Finds the events in the pieces of a stream, wherever those are cut."""

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._data: list[str] = []
        self._name = ""
        self._after_return = False
        self._is_first = True

    def feed(self, piece: bytes) -> Iterator[ServerEvent]:
        """The events that are whole with this piece.

        Raises:
            UnicodeDecodeError: a line is not UTF-8.
        """
        if self._after_return and piece.startswith(b"\n"):
            piece = piece[1:]
        self._after_return = piece.endswith(b"\r")
        *whole, rest = _BREAK.split(piece)
        for end in whole:
            line = b"".join((*self._line, end))
            self._line.clear()
            if self._is_first:
                line, self._is_first = line.removeprefix(_MARK), False
            event = self._take(line.decode("utf-8"))
            if event is not None:
                yield event
        if rest:
            self._line.append(rest)

    def close(self) -> ServerEvent | None:
        """The last event, where the stream ended without the blank line behind it."""
        return next(self.feed(b"\n\n"), None)

    def _take(self, line: str) -> ServerEvent | None:
        if not line:
            event = ServerEvent("\n".join(self._data), self._name) if self._data else None
            self._data, self._name = [], ""
            return event
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        return None
