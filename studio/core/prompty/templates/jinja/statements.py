"""Statements that Jinja's parser does not make, each with its place."""

from __future__ import annotations

from dataclasses import dataclass

from jinja2 import nodes

from studio.core.text.span import Span


@dataclass(frozen=True, slots=True)
class Literal:
    """The author's own text."""

    text: str
    """As it is rendered: line ends are LF."""

    span: Span
    """As it stands in the template."""


@dataclass(frozen=True, slots=True)
class PlainExpression:
    """A `{{ dotted.name }}`."""

    path: tuple[str, ...]
    """The names between the dots."""

    offset: int
    """Where the first name begins."""

    span: Span
    """The whole tag."""


@dataclass(frozen=True, slots=True)
class Interpolation:
    """Any other `{{ … }}`."""

    expression: nodes.Expr
    """What is put in."""

    span: Span
    """The whole tag."""


Statement = Literal | PlainExpression | Interpolation | nodes.Node
"""What a template is made of; of Jinja's own nodes only statements appear."""
