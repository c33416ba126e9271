"""A rendering with its values hidden, so that only the author's own text makes structure.

Every value is one placeholder character here. Whatever is found in this text (markers, fences,
media) was therefore written by the author, whatever a value may hold.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Literal

from studio.core.prompty.rendering import Rendering, Segment
from studio.core.text.span import Span

PLACEHOLDER = "\ufffc"
"""Stands for one hidden value; told from the same character in literal text by its place."""

TrustRule = Literal["literal", "role-words", "all"]
"""Which segments may make structure: the author's text only; also a value that is nothing but a
role word (Prompty 1 prompts write `{{item.role}}:`); or every value (`format.strict: false`)."""


class MaskedText:
    """A rendering's text for finding structure, with the way back to its segments."""

    def __init__(self, rendering: Rendering, trust: TrustRule, role_words: tuple[str, ...]) -> None:
        self.segments = tuple(segment for segment in rendering.segments if segment.text)
        self._visible = [_is_visible(item, trust, role_words) for item in self.segments]
        texts = [
            segment.text if visible else PLACEHOLDER
            for segment, visible in zip(self.segments, self._visible, strict=True)
        ]
        self.text = "".join(texts)
        """The text, one placeholder for each hidden value."""
        self._starts = [0, *accumulate(map(len, texts))]

    @property
    def hides_values(self) -> bool:
        """Whether any value is hidden."""
        return not all(self._visible)

    def placed(self) -> Iterator[tuple[int, Segment]]:
        """Every segment with its place in the masked text."""
        return zip(self._starts, self.segments, strict=False)

    def pieces(self, start: int, end: int) -> list[Segment]:
        """The segments, cut to a range of the masked text."""
        if start >= end:
            return []
        first = bisect_right(self._starts, start) - 1
        last = bisect_left(self._starts, end, first)  # one past
        found = list(self.segments[first:last])
        if not found:
            return []
        # Each end is cut once and on its own side: a long segment is not copied for a short piece.
        before, after = start - self._starts[first], end - self._starts[last - 1]
        if last - first == 1:
            if self._visible[first]:
                found[0] = cut(found[0], before, min(after, len(found[0].text)))
            return found
        if self._visible[last - 1]:
            found[-1] = cut(found[-1], 0, min(after, len(found[-1].text)))
        if self._visible[first]:
            found[0] = cut(found[0], before, len(found[0].text))
        return found

    def read(self, start: int, end: int) -> str:
        """The real text of a range, values put back."""
        return "".join(piece.text for piece in self.pieces(start, end))

    def holds_value(self, start: int, end: int) -> bool:
        """Whether any part of a range came from a value."""
        return any(piece.kind != "literal" for piece in self.pieces(start, end))

    def source(self, start: int, end: int) -> Span | None:
        """The template source of a range; None where nothing of it has a place."""
        spans = [piece.span for piece in self.pieces(start, end) if piece.span is not None]
        return spans[0].cover(spans[-1]) if spans else None

    def rich_places(self, start: int, end: int) -> list[tuple[int, Segment]]:
        """The rich inputs in a range, with their places."""
        found: list[tuple[int, Segment]] = []
        index = bisect_right(self._starts, start) - 1
        while index < len(self.segments) and self._starts[index] < end:
            if self.segments[index].kind == "rich" and self._starts[index] >= start:
                found.append((self._starts[index], self.segments[index]))
            index += 1
        return found


def cut(segment: Segment, start: int, end: int) -> Segment:
    """A slice of a segment; its span is sliced too where text and source run in step."""
    if start <= 0 and end >= len(segment.text):
        return segment
    span = segment.span
    if span is not None and segment.kind == "literal":
        # A template gives its line ends as LF: such a segment is one longer in a CR LF source.
        longer = len(span) - len(segment.text)
        if longer == 0 or (longer == 1 and segment.text.endswith("\n")):
            span = Span(
                span.start + start,
                span.end if end >= len(segment.text) else span.start + end,
            )
    return Segment(segment.kind, segment.text[start:end], span, segment.input)


def trim_newlines(pieces: list[Segment], *, blanks: bool = False) -> list[Segment]:
    """Pieces without the newlines at both ends, and nothing else taken (Prompty vectors).

    Args:
        pieces: Segments in order.
        blanks: Take spaces and tabs at both ends too.
    """
    what = " \t\r\n" if blanks else "\r\n"
    first, last = 0, len(pieces)
    while first < last and not pieces[first].text.strip(what):
        first += 1
    while last > first and not pieces[last - 1].text.strip(what):
        last -= 1
    kept = pieces[first:last]
    if kept:
        head = kept[0]
        kept[0] = cut(head, len(head.text) - len(head.text.lstrip(what)), len(head.text))
        tail = kept[-1]
        kept[-1] = cut(tail, 0, len(tail.text.rstrip(what)))
    return kept


def with_plain_newlines(pieces: list[Segment]) -> tuple[Segment, ...]:
    """Pieces with LF for every line end, as a model gets them."""
    return tuple(
        Segment(
            piece.kind,
            piece.text.replace("\r\n", "\n").replace("\r", "\n"),
            piece.span,
            piece.input,
        )
        if piece.kind == "literal" and "\r" in piece.text
        else piece
        for piece in pieces
    )


def _is_visible(segment: Segment, trust: TrustRule, role_words: tuple[str, ...]) -> bool:
    if segment.kind == "literal":
        return True
    if segment.kind == "rich":
        return False
    if trust == "role-words":
        return segment.text.strip(" \t").lower() in role_words
    return trust == "all"
