"""What a template rendered to, piece by piece, each with where it came from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from studio.core.text.problem import Problem
from studio.core.text.span import Span
from studio.core.text.values import Json


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of rendered text with one origin."""

    kind: Literal["literal", "value", "rich"]
    """`literal`: the author's own text. `value`: put in by an expression. `rich`: a whole thread,
    image, file or audio input, whose text here is only a placeholder."""

    text: str
    """The rendered text."""

    span: Span | None
    """The template source that made it: the literal text itself, or the whole `{{ … }}`."""

    input: str | None = None
    """For a value: the root name of the input that it came from, where one can be named."""

    value: Json = None
    """What a reference gave, where that is not a text; `text` is then its JSON."""


@dataclass(frozen=True)
class Rendering:
    """A rendered template: `text` is the segments' texts joined."""

    segments: tuple[Segment, ...]
    """In order. Literal segments may be split anywhere; empty ones are left out."""

    problems: tuple[Problem, ...] = ()
    """What went wrong while rendering (syntax, bounds); segments then hold what there is."""

    @cached_property
    def text(self) -> str:
        """The rendered text."""
        return "".join(segment.text for segment in self.segments)
