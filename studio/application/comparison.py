"""Compare two texts by lines and words. All comparisons use this module."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Literal, TypeAlias

from studio.core.text.diff import changes, common_ends, line_edits
from studio.core.text.source import Span, TextEdit

LineKind: TypeAlias = Literal["same", "added", "removed", "gap"]

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_AROUND = 3
_MOST_ROWS = 5000
_LONGEST_LINE = 2000
_MOST_PAIRS = 500
"""Maximum number of changed lines whose words are compared; beyond it words are not helpful."""

_MOST_WORK = 4_000_000
"""Maximum product of the older and newer lines' word counts: half a second at worst."""

_ALIKE = 0.4
"""Minimum similarity of lines whose words are compared; below it the lines are unrelated."""


@dataclass(frozen=True, slots=True)
class DiffPiece:
    """A piece of a line."""

    text: str
    """Text of the piece."""

    is_changed: bool = False
    """Whether the other text differs here."""


@dataclass(frozen=True, slots=True)
class TextRow:
    """A line of a comparison."""

    kind: LineKind
    """Kind: the line is in both texts or in one, or stands for omitted lines."""

    pieces: tuple[DiffPiece, ...] = ()
    """Pieces of the line."""

    line: int = 0
    """Line number in the newer text, from 1; for a removed line in the older one."""

    hidden: int = 0
    """Number of omitted equal lines; 0 if the rest is not shown."""

    @property
    def text(self) -> str:
        """The text of the whole line."""
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class ComparedPart:
    """A text or a part of one, compared with its earlier form: a message, a request, a file."""

    title: str
    """Title of the part."""

    rows: tuple[TextRow, ...] = ()
    """Rows that differ; empty if none do."""

    span: Span | None = None
    """Span in the editor; None if it has none."""

    take_back: tuple[TextEdit, ...] = ()
    """Edits of the newer text that restore the older lines; empty if that is not offered."""


def compare_texts(
    before: str, after: str, most: int = _MOST_ROWS, *, whole: bool = False
) -> tuple[TextRow, ...]:
    """Return the differences of two texts with a few lines of context; empty if equal.

    Args:
        before: the older text.
        after: the newer one.
        most: maximum number of rows.
        whole: whether to keep every equal line.
    """
    if before == after:
        return ()
    old, new = lines_of(before), lines_of(after)
    rows: list[TextRow] = []
    for kind, a, b, c, d in changes(old, new):
        if kind == "equal" and whole:
            rows += [_same(line, c + number) for number, line in enumerate(new[c:d])]
        elif kind == "equal":
            rows += _unchanged(new[c:d], c, is_first=a == 0, is_last=b == len(old))
        else:
            # Words are not compared in lines beyond the maximum.
            room = most - len(rows)
            rows += _changed(old[a : min(b, a + room + 1)], new[c : min(d, c + room + 1)], a, c)
        if len(rows) > most:
            return (*rows[:most], TextRow("gap"))
    return tuple(rows)


def compare_for_taking_back(before: str, after: str) -> tuple[ComparedPart, ...]:
    """Return the differences in parts, each with the edits that restore its older lines.

    A truncated comparison has no such edits, since a part of it may not be shown.
    """
    rows = compare_texts(before, after)
    parts: list[list[TextRow]] = [[]]
    for row in rows:
        if row.kind == "gap" and any(each.kind != "same" for each in parts[-1]):
            parts.append([])
        parts[-1].append(row)
    edits = line_edits(after, before)
    counts = [_changed_stretches(part) for part in parts]
    if sum(counts) != len(edits):
        return (ComparedPart("", rows),) if rows else ()
    ends = accumulate(counts)
    return tuple(
        ComparedPart("", tuple(part), take_back=edits[end - count : end])
        for part, count, end in zip(parts, counts, ends, strict=True)
        if count
    )


def _changed_stretches(rows: Sequence[TextRow]) -> int:
    is_changed = [row.kind in ("added", "removed") for row in rows]
    return sum(now and not was for was, now in pairwise((False, *is_changed)))


def lines_of(text: str) -> list[str]:
    """Return the lines of a text; empty for an empty text."""
    return text.split("\n") if text else []


def changed_words(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    """Split two lists of words into ranges: old words, new words, and whether they differ."""
    for kind, a, b, c, d in changes(before, after):
        yield "".join(before[a:b]), "".join(after[c:d]), kind != "equal"


def _same(line: str, index: int) -> TextRow:
    return TextRow("same", (DiffPiece(line),), index + 1)


def _unchanged(
    lines: Sequence[str], first: int, *, is_first: bool, is_last: bool
) -> Iterator[TextRow]:
    """Yield the equal lines near a change, and the number of omitted ones."""
    head = 0 if is_first else _AROUND
    tail = 0 if is_last else _AROUND
    hidden = len(lines) - head - tail
    for number, line in enumerate(lines):
        if hidden <= 1 or number < head or number >= head + hidden:
            yield _same(line, first + number)
        elif number == head:
            yield TextRow("gap", hidden=hidden)


def _changed(old: Sequence[str], new: Sequence[str], first: int, second: int) -> Iterator[TextRow]:
    pairs, room = [], _MOST_WORK
    for was, now in zip(old[:_MOST_PAIRS], new, strict=False):
        words = _WORD.findall(was[:_LONGEST_LINE]), _WORD.findall(now[:_LONGEST_LINE])
        same = sum(common_ends(*words))
        room -= (len(words[0]) - same) * (len(words[1]) - same)
        if room < 0:
            break
        pairs.append(_words(was, now, *words))
    for number, line in enumerate(old):
        pieces = pairs[number][0] if number < len(pairs) else (DiffPiece(line),)
        yield TextRow("removed", pieces, first + number + 1)
    for number, line in enumerate(new):
        pieces = pairs[number][1] if number < len(pairs) else (DiffPiece(line),)
        yield TextRow("added", pieces, second + number + 1)


def _words(
    old: str, new: str, before: Sequence[str], after: Sequence[str]
) -> tuple[tuple[DiffPiece, ...], tuple[DiffPiece, ...]]:
    """Return the pieces of both lines, with the differences marked."""
    if max(len(old), len(new)) > _LONGEST_LINE:
        return (DiffPiece(old),), (DiffPiece(new),)
    found = list(changed_words(before, after))
    same = sum(len(was) for was, _, changed in found if not changed)
    if 2 * same < _ALIKE * (len(old) + len(new)):
        return (DiffPiece(old),), (DiffPiece(new),)
    left = tuple(DiffPiece(was, changed) for was, _, changed in found if was)
    right = tuple(DiffPiece(now, changed) for _, now, changed in found if now)
    return left, right
