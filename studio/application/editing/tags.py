"""Which part of a Jinja template a place is in: text, an expression, a comment, a raw block."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

TagKind: TypeAlias = Literal["text", "expression", "statement", "comment", "raw"]

_TAGS = re.compile(
    r"\{#(?P<comment>.*?)(?:#\}|\Z)"
    r"|\{%[-+]?\s*raw\s*[-+]?%\}(?P<raw>.*?)(?:\{%[-+]?\s*endraw\s*[-+]?%\}|\Z)"
    r"|\{\{(?P<expression>(?:(?!\{[{%#]|\}\}).)*)(?:\}\})?"
    r"|\{%(?P<statement>(?:(?!\{[{%#]|%\}).)*)(?:%\})?",
    re.DOTALL,
)
"""A tag that is not closed ends where the next one begins: it may be one that is being written."""
_KINDS: tuple[TagKind, ...] = ("comment", "raw", "expression", "statement")

_BLOCK = re.compile(r"[-+]?\s*(?P<end>end)?(?P<name>if|for|macro|call|filter|block)\b")


class TagAt(NamedTuple):
    """The part around a place."""

    kind: TagKind
    """What it is."""

    start: int
    """Where its inside begins; of text, the place itself."""


def tag_at(text: str, at: int, start: int = 0) -> TagAt:
    """The part of a template that a place is in.

    Args:
        text: the text.
        at: the place.
        start: where the template begins; what stands before it is not a template.
    """
    for match in _TAGS.finditer(text, min(start, at)):
        if match.start() >= at:
            break
        for kind in _KINDS:
            if match[kind] is not None and match.start(kind) <= at <= match.end(kind):
                return TagAt(kind, match.start(kind))
    return TagAt("text", at)


def open_block(text: str, at: int, start: int = 0) -> str:
    """Return the name of the innermost block of a template that is open at a place (`for`)."""
    opened: list[str] = []
    for match in _TAGS.finditer(text, min(start, at)):
        if match.start() >= at:
            break
        block = _BLOCK.match(match["statement"] or "")
        if block is None:
            continue
        if block["end"] is None:
            opened.append(block["name"])
        elif block["name"] in opened:
            del opened[len(opened) - 1 - opened[::-1].index(block["name"]) :]
    return opened[-1] if opened else ""
