"""How YAML writes a text between quotes."""

from __future__ import annotations


def in_quotes(value: str) -> str:
    """Return a text as YAML writes it between single quotes."""
    return "'" + value.replace("'", "''") + "'"
