"""A mistake in YAML, explained."""

from __future__ import annotations

from dataclasses import dataclass

from studio.core.text.problem import Fix
from studio.core.text.span import Span


@dataclass(frozen=True, slots=True)
class YamlMistake:
    """A mistake, explained."""

    message: str
    """What is wrong, without a full stop."""

    span: Span
    """Where."""

    fixes: tuple[Fix, ...] = ()
    """What can be done."""


def in_quotes(value: str) -> str:
    """A text as YAML writes it between single quotes."""
    return "'" + value.replace("'", "''") + "'"
