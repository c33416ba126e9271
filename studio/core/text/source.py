"""A source text that knows its lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from studio.core.text.span import Position, Span

_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class SourceText:
    """A text with the file it came from; offsets are code points.

    Only LF, CR LF and CR end a line: U+2028, form feeds and the like are content.
    """

    text: str
    """The whole text, newlines as they are in the file."""

    path: Path | None = field(default=None)
    """The file, where there is one; relative references are read beside it."""

    def __len__(self) -> int:
        return len(self.text)

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """Offset of the first code point of each line."""
        return (0, *(match.end() for match in _LINE_END.finditer(self.text)))

    def line_of(self, offset: int) -> int:
        """The line (from 0) that holds `offset`; offsets outside the text count as its ends."""
        return bisect_right(self.line_starts, max(0, min(offset, len(self.text)))) - 1

    def position(self, offset: int) -> Position:
        """Line and column, both from 1, of `offset`."""
        offset = max(0, min(offset, len(self.text)))
        line = self.line_of(offset)
        return Position(line + 1, offset - self.line_starts[line] + 1)

    def offset(self, position: Position) -> int:
        """The offset of a line and column, kept inside the text."""
        line = max(0, min(position.line - 1, len(self.line_starts) - 1))
        last = self.line_starts[line + 1] if line + 1 < len(self.line_starts) else len(self.text)
        return max(0, min(self.line_starts[line] + position.column - 1, last))

    def slice(self, span: Span) -> str:
        """The text inside `span`."""
        return self.text[span.start : span.end]

    @cached_property
    def is_bmp(self) -> bool:
        """Whether every character is one UTF-16 unit, so that Qt's positions equal ours."""
        return not self.text or self.text.isascii() or max(self.text) <= "\uffff"

    def to_utf16(self, offset: int) -> int:
        """The UTF-16 position (as Qt counts) of a code point offset."""
        if self.is_bmp:
            return offset
        return offset + sum(1 for char in self.text[:offset] if char > "\uffff")

    def from_utf16(self, position: int) -> int:
        """The code point offset of a UTF-16 position."""
        if self.is_bmp:
            return position
        units = 0
        for offset, char in enumerate(self.text):
            if units >= position:
                return offset
            units += 2 if char > "\uffff" else 1
        return len(self.text)
