"""Collects segments while a template renders."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

from studio.core.prompty.rendering import Segment
from studio.core.prompty.templates.bounds import Budget
from studio.core.text.span import Span


class RenderedText(str):
    """Text that was rendered by a part of the same template and still knows its segments.

    What a macro or a `{% set %}` block makes is put in as the author's own text, not as a value.
    """

    segments: tuple[Segment, ...]
    __slots__ = ("segments",)

    def __new__(cls, segments: Iterable[Segment]) -> RenderedText:
        """Join the segments' texts."""
        pieces = tuple(segments)
        made = super().__new__(cls, "".join(piece.text for piece in pieces))
        made.segments = pieces
        return made

    @property
    def input(self) -> str | None:
        """The first input that went in."""
        return next((piece.input for piece in self.segments if piece.input), None)


class SegmentWriter:
    """The segments so far, within the budget of the rendering."""

    def __init__(self, budget: Budget) -> None:
        self.segments: list[Segment] = []
        self._budget = budget

    def literal(self, text: str, span: Span) -> None:
        """Add the author's own text."""
        self._budget.write(len(text))
        self.segments.append(Segment("literal", text, span))

    def value(self, text: str, span: Span, source: str | None) -> None:
        """Add a value's text; one that still knows its segments brings them along."""
        if not text:
            return
        self._budget.write(len(text))
        if isinstance(text, RenderedText):
            self.segments.extend(text.segments)
        else:
            self.segments.append(Segment("value", text, span, source))

    def rich(self, name: str, span: Span) -> None:
        """Add the place of a whole thread, image, file or audio input."""
        text = rich_placeholder(name)
        self._budget.write(len(text))
        self.segments.append(Segment("rich", text, span, name))

    def begin(self) -> list[Segment]:
        """Write elsewhere from now on; hand the result to `end`."""
        held = self.segments
        self.segments = []
        return held

    def end(self, held: list[Segment]) -> RenderedText:
        """What was written since `begin`; go on where it stood."""
        rendered = RenderedText(self.segments)
        self.segments = held
        return rendered


def rich_placeholder(name: str) -> str:
    """The text that stands for a rich input (Prompty spec §5.3, vectors: eight hex digits).

    Nothing reads it back, since segments say what is rich; so it need not be random.
    """
    return f"__PROMPTY_THREAD_{zlib.crc32(name.encode('utf-8', 'surrogatepass')):08x}_{name}__"


def plain_text(value: object) -> str:
    """How a value reads in a prompt, in every template language.

    Booleans and null are `true`, `false` and empty, and a whole float has no fraction (Prompty's
    Jinja subset §5); everything else is as Python writes it.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    try:
        return str(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return "(a number of more than 4,300 digits)"


def merge(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Segments without the empty ones."""
    return tuple(segment for segment in segments if segment.text)
