"""Two texts beside each other: lines that changed, and the words in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_AROUND = 3
_MOST_ROWS = 5000
_LONGEST_LINE = 2000
_ALIKE = 0.4
"""Lines less alike than this are two others, and no words in them are the same."""


@dataclass(frozen=True, slots=True)
class DiffPiece:
    """A stretch of a line."""

    text: str
    """What it says."""

    is_changed: bool = False
    """Whether the other text has something else here."""


@dataclass(frozen=True, slots=True)
class TextRow:
    """One line of a comparison."""

    kind: Literal["same", "added", "removed", "gap"]
    """Where the line stands: in both, in one of them, or that lines are left out here."""

    pieces: tuple[DiffPiece, ...] = ()
    """Its text."""

    line: int = 0
    """Its number in the newer text, from 1; of a removed one in the older."""


def compare_texts(before: str, after: str) -> tuple[TextRow, ...]:
    """What differs between two texts, with a few lines around it; empty where they are the same."""
    old, new = before.split("\n"), after.split("\n")
    groups = SequenceMatcher(None, old, new, autojunk=len(old) > _MOST_ROWS)
    rows: list[TextRow] = []
    for group in groups.get_grouped_opcodes(_AROUND):
        if rows or group[0][3] > 0:
            rows.append(TextRow("gap"))
        for kind, a, b, c, d in group:
            if kind == "equal":
                rows += [
                    TextRow("same", (DiffPiece(line),), c + number + 1)
                    for number, line in enumerate(new[c:d])
                ]
            else:
                rows += _changed(old[a:b], new[c:d], a, c)
        if len(rows) > _MOST_ROWS:
            return (*rows[:_MOST_ROWS], TextRow("gap"))
    return tuple(rows)


def _changed(old: list[str], new: list[str], first: int, second: int) -> Iterator[TextRow]:
    pairs = [_words(a, b) for a, b in zip(old, new, strict=False)]
    for number, line in enumerate(old):
        pieces = pairs[number][0] if number < len(pairs) else (DiffPiece(line),)
        yield TextRow("removed", pieces, first + number + 1)
    for number, line in enumerate(new):
        pieces = pairs[number][1] if number < len(pairs) else (DiffPiece(line),)
        yield TextRow("added", pieces, second + number + 1)


def _words(old: str, new: str) -> tuple[tuple[DiffPiece, ...], tuple[DiffPiece, ...]]:
    """Both lines in pieces, those that the other has not marked."""
    if max(len(old), len(new)) > _LONGEST_LINE:
        return (DiffPiece(old),), (DiffPiece(new),)
    before, after = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return (DiffPiece(old),), (DiffPiece(new),)
    left: list[DiffPiece] = []
    right: list[DiffPiece] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        changed = kind != "equal"
        if b > a:
            left.append(DiffPiece("".join(before[a:b]), changed))
        if d > c:
            right.append(DiffPiece("".join(after[c:d]), changed))
    return tuple(left), tuple(right)
