"""A long answer in parts, so that a window can show it part by part without standing still."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

PART_CHARACTERS = 1_500
"""About how long a part is, a screenful; Qt takes some five milliseconds to make its paragraphs."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class _Fence:
    """A fence of code that is open."""

    opening: str
    """Its first line."""

    mark: str
    """The backticks or tildes that close it."""


def markdown_parts(text: str, most: int = PART_CHARACTERS) -> Iterator[str]:
    """Cut Markdown where a paragraph ends, outside of fenced code.

    What grows to twice that length without such a place is cut all the same: fenced code between
    two lines, with a fence of its own in each part; a paragraph at a line or a space.

    Args:
        text: Markdown.
        most: length from which on a part ends at the next good place, characters.
    """
    part: list[str] = []
    length = 0
    fence: _Fence | None = None
    for line in text.splitlines(keepends=True):
        for piece in _pieces(line, 2 * most):
            part.append(piece)
            length += len(piece)
            fence = _fence_after(piece, fence)
            if length >= most and fence is None and not piece.strip():
                yield "".join(part)
                part, length = [], 0
            elif length >= 2 * most:
                yield "".join(part) + (f"\n{fence.mark}\n" if fence is not None else "")
                part, length = ([fence.opening] if fence is not None else []), 0
    if part:
        yield "".join(part)


def _fence_after(line: str, fence: _Fence | None) -> _Fence | None:
    """The fence that is open behind a line."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    if fence is None:
        return _Fence(line, match[1])
    closes = match[1].startswith(fence.mark) and not line[match.end() :].strip()
    return None if closes else fence


def _pieces(line: str, most: int) -> Iterator[str]:
    """A line, cut at spaces where it is very long."""
    while len(line) > most:
        space = _SPACE.search(line, most)
        at = space.end() if space is not None and space.end() < 2 * most else most
        yield line[:at]
        line = line[at:]
    yield line
