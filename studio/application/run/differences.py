"""Two texts side by side, line by line, as blocks for two columns."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher

from studio.application.run.text import Block, Blocks, Piece

_MOST_LINES = 4_000
"""Above this many lines together, texts are shown whole: comparing them would take seconds."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Both columns."""

    left: Blocks = ()
    """The first text; what the other has not is marked as gone."""

    right: Blocks = ()
    """The second text; what the first has not is marked as new."""


def sides_of(left: str, right: str) -> Sides:
    """Two texts with the lines marked that differ."""
    one, two = left.split("\n") if left else [], right.split("\n") if right else []
    if len(one) + len(two) > _MOST_LINES:
        return Sides(_block("body", one), _block("body", two))
    lefts: list[Block] = []
    rights: list[Block] = []
    matcher = SequenceMatcher(None, one, two, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        same = tag == "equal"
        lefts += _block("body" if same else "gone", one[i1:i2])
        rights += _block("body" if same else "added", two[j1:j2])
    return Sides(tuple(lefts), tuple(rights))


def _block(kind: str, lines: list[str]) -> Blocks:
    if not lines:
        return ()
    piece = (Piece("\n".join(lines)),)
    match kind:
        case "added":
            return (Block("added", piece),)
        case "gone":
            return (Block("gone", piece),)
        case _:
            return (Block("body", piece),)
