"""An expression of a template, with all that a rule of portability asks about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jinja2 import nodes

from studio.core.prompty.checks.portability.values import Values
from studio.core.prompty.templates.jinja.fields import Bound
from studio.core.prompty.templates.jinja.program import Program
from studio.core.text.span import Span

ValueRole = Literal["printed", "tested", "used"]
"""Whether the value is put into the text, asked whether it holds, or worked with."""


@dataclass(frozen=True, slots=True)
class Found:
    """An expression, or a part of one."""

    node: nodes.Node
    """The expression."""

    role: ValueRole
    """What becomes of its value."""

    bound: Bound
    """Names that the template binds there."""

    guarded: frozenset[str]
    """Names that a condition around it has asked about."""

    values: Values
    """What is known of values."""

    program: Program
    """The template."""

    source: str
    """Its text."""

    def kind(self, node: nodes.Node | None) -> str | None:
        """The kind of a part's value."""
        return self.values.kind(node, self.bound) if node is not None else None

    def may_be_missing(self, node: nodes.Node | None) -> bool:
        """Whether a part is an input that a run need not give, and nobody asked about."""
        if not isinstance(node, nodes.Name) or node.name in self.guarded:
            return False
        return self.values.may_be_missing(node, self.bound)

    @property
    def tag(self) -> Span:
        """The tag around it, in the document."""
        return self.program.tag_at(self.node.lineno)

    def word(self, text: str) -> Span:
        """A word of the expression, in the document."""
        start = self.source.find(text, self.node.lineno)
        if start < 0:
            return self.tag
        return Span(start, start + len(text)).shift(self.program.base)

    def written(self, text: str) -> bool:
        """Whether the expression begins with this text."""
        return self.source.startswith(text, self.node.lineno)
