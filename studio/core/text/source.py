"""A source text with its lines; spans and positions in it, and problems with their fixes."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import accumulate, count
from operator import add
from pathlib import Path

# Spans and positions in a text.


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of a source text, counted in code points."""

    start: int
    """First code point, from 0."""

    end: int
    """Offset after the last code point; equal to `start` for a place between two characters."""

    def __len__(self) -> int:
        return self.end - self.start

    def __contains__(self, offset: object) -> bool:
        return isinstance(offset, int) and self.start <= offset < self.end

    def touches(self, offset: int) -> bool:
        """Return whether a caret at `offset` is inside the span or at one of its ends."""
        return self.start <= offset <= self.end

    def shift(self, by: int) -> Span:
        """Return the span moved forward by `by` code points."""
        return Span(self.start + by, self.end + by)

    def cover(self, other: Span) -> Span:
        """Return the smallest span that contains both."""
        return Span(min(self.start, other.start), max(self.end, other.end))


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A line and column, as people and compilers count."""

    line: int
    """Line, from 1."""

    column: int
    """Column in code points, from 1."""


_LINE_END = re.compile(r"\r\n|\n|\r")
_WIDE = re.compile("[\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class SourceText:
    """A text with its file; offsets are code points.

    Only LF, CR LF and CR end a line; U+2028, form feeds and the like are content.
    """

    text: str
    """The whole text with its original line breaks."""

    path: Path | None = field(default=None)
    """Path of the file; None if there is none. Relative references are resolved beside it."""

    def __len__(self) -> int:
        return len(self.text)

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """Offset of the first code point of each line."""
        if "\r" not in self.text:  # ten times as fast, and usual in an editor
            return (0, *map(add, accumulate(map(len, self.text.split("\n")[:-1])), count(1)))
        return (0, *(match.end() for match in _LINE_END.finditer(self.text)))

    def line_of(self, offset: int) -> int:
        """Return the line (from 0) of `offset`, which is limited to the text."""
        return bisect_right(self.line_starts, max(0, min(offset, len(self.text)))) - 1

    def position(self, offset: int) -> Position:
        """Return the line and column, both from 1, of `offset`."""
        offset = max(0, min(offset, len(self.text)))
        line = self.line_of(offset)
        return Position(line + 1, offset - self.line_starts[line] + 1)

    def offset(self, position: Position) -> int:
        """Return the offset of a line and column, limited to the text."""
        line = max(0, min(position.line - 1, len(self.line_starts) - 1))
        last = self.line_starts[line + 1] if line + 1 < len(self.line_starts) else len(self.text)
        return max(0, min(self.line_starts[line] + position.column - 1, last))

    def slice(self, span: Span) -> str:
        """Return the text inside `span`."""
        return self.text[span.start : span.end]

    @cached_property
    def is_bmp(self) -> bool:
        """Whether every character is one UTF-16 unit, so that Qt's positions equal code points."""
        if self.text.isascii():
            return True
        return len(self.text.encode("utf-16-le", "surrogatepass")) == 2 * len(self.text)

    @cached_property
    def wide(self) -> tuple[int, ...]:
        """Offsets of the characters with two UTF-16 units."""
        return () if self.is_bmp else tuple(each.start() for each in _WIDE.finditer(self.text))

    def to_utf16(self, offset: int) -> int:
        """Return the UTF-16 position (as Qt counts) of a code point offset."""
        return offset + bisect_left(self.wide, offset)

    def from_utf16(self, position: int) -> int:
        """Return the code point offset of a UTF-16 position; inside a character, its end."""
        if self.is_bmp:
            return position
        low, high = 0, len(self.wide)
        while low < high:  # binary search for the number of wide characters before the position
            middle = (low + high) // 2
            if self.wide[middle] + middle < position:
                low = middle + 1
            else:
                high = middle
        inside = low > 0 and self.wide[low - 1] + low - 1 == position - 1
        return min(position - low + inside, len(self.text))


# Problems: what is wrong, where, and how to fix it.


class Severity(StrEnum):
    """The severity of a problem."""

    ERROR = "error"
    """The prompt is invalid, or cannot be sent."""

    WARNING = "warning"
    """The prompt works, but probably not as intended."""

    HINT = "hint"
    """Useful information."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """A replacement of one span by another text."""

    span: Span
    """Span to replace; an empty one inserts."""

    text: str
    """New text."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that fixes a problem; offered, never applied automatically."""

    title: str
    """Effect of the fix, for a button: "Declare input 'city'"."""

    edits: tuple[TextEdit, ...]
    """Edits to the document's text that do not overlap."""

    def shift(self, by: int) -> Fix:
        """Return the fix moved forward by `by` code points."""
        return Fix(
            self.title, tuple(TextEdit(edit.span.shift(by), edit.text) for edit in self.edits)
        )


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding of a check."""

    code: str
    """Stable code, lower-case words joined by hyphens ("undeclared-variable")."""

    severity: Severity
    """Severity of the problem."""

    message: str
    """One sentence: what is wrong and what to do."""

    span: Span
    """Span in the document's text."""

    fixes: tuple[Fix, ...] = ()
    """Possible fixes, best first."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """An explained syntax error, from which the caller makes a problem."""

    message: str
    """Description of the error, without a period."""

    span: Span
    """Span in the text that was read."""

    fixes: tuple[Fix, ...] = ()
    """Possible fixes, with offsets of the same text."""

    def shift(self, by: int) -> Mistake:
        """Return the mistake moved forward by `by` code points."""
        fixes = tuple(fix.shift(by) for fix in self.fixes)
        return Mistake(self.message, self.span.shift(by), fixes)


def fixable(message: str, span: Span, title: str, text: str, *place: int) -> Mistake:
    """Return a mistake with a fix of one edit.

    Args:
        message: Description of the error, without a period.
        span: Span of the error.
        title: Title of the fix, for a button.
        text: New text.
        place: Offset of an insertion, or start and end of a replacement; by default the span.
    """
    edit = TextEdit(Span(place[0], place[-1]) if place else span, text)
    return Mistake(message, span, (Fix(title, (edit,)),))


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """Apply edits that do not overlap; all spans refer to the original text.

    Raises:
        ValueError: two edits overlap, or one is outside the text.
    """
    pieces: list[str] = []
    done = 0
    for edit in sort_edits(edits):
        if edit.span.start < done or edit.span.end > len(text) or edit.span.end < edit.span.start:
            raise ValueError(f"edit at {edit.span.start}-{edit.span.end} overlaps or lies outside")
        pieces += (text[done : edit.span.start], edit.text)
        done = edit.span.end
    pieces.append(text[done:])
    return "".join(pieces)


def sort_edits(edits: Iterable[TextEdit]) -> Sequence[TextEdit]:
    """Return edits ordered by span; insertions at one offset keep their order."""
    return sorted(edits, key=lambda edit: (edit.span.start, edit.span.end))
