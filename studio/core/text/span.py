"""Places in a text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of a source text, counted in code points."""

    start: int
    """First code point, from 0."""

    end: int
    """One past the last code point; equal to `start` for a place between two characters."""

    def __len__(self) -> int:
        return self.end - self.start

    def __contains__(self, offset: object) -> bool:
        return isinstance(offset, int) and self.start <= offset < self.end

    def touches(self, offset: int) -> bool:
        """Whether a caret at `offset` is inside the span or at one of its ends."""
        return self.start <= offset <= self.end

    def shift(self, by: int) -> Span:
        """The same range, `by` code points further on."""
        return Span(self.start + by, self.end + by)

    def cover(self, other: Span) -> Span:
        """The smallest span that holds both."""
        return Span(min(self.start, other.start), max(self.end, other.end))


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place as people and compilers write it."""

    line: int
    """Line, from 1."""

    column: int
    """Column in code points, from 1."""
