"""Differences of two texts or sequences; no other module compares them."""

import difflib
import re
from _blake2 import blake2b  # `hashlib` would also load OpenSSL: 3 ms of a start
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, zip_longest
from typing import NamedTuple, TypeAlias

from studio.core.text.source import Span, TextEdit

Opcode: TypeAlias = tuple[str, int, int, int, int]
"""Kind of change (as in `difflib`), start and end in the old sequence, then in the new one."""

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_EXACT = 2000
"""Maximum number of lines for which frequent lines are matched too: at most 0.1 s."""


def common_start(old: Sequence[object], new: Sequence[object]) -> int:
    """Return the number of common items at the start of two sequences of one type.

    Bisects and compares slices, since texts are long and mostly equal.
    """
    low, high = 0, min(len(old), len(new))
    if old[:high] == new[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def beginnings_of(items: Iterable[object], start: str = "") -> tuple[bytes, ...]:
    """Return a digest of the first item, of the first two, and so on, each after `start`."""
    made, sum_ = list[bytes](), blake2b(start.encode("utf-8", "surrogatepass"))
    for item in items:
        sum_.update(repr(item).encode("utf-8", "surrogatepass"))
        made.append(sum_.digest())
    return tuple(made)


def common_ends(old: Sequence[object], new: Sequence[object]) -> tuple[int, int]:
    """Return the number of common items at the start, and at the end of the rest."""
    start = common_start(old, new)
    return start, common_start(old[start:][::-1], new[start:][::-1])


def changes(old: Sequence[object], new: Sequence[object]) -> Iterator[Opcode]:
    """Yield the equal and the changed ranges; common starts and ends are skipped first."""
    start, end = common_ends(old, new)
    if start:
        yield "equal", 0, start, 0, start
    inner = old[start : len(old) - end], new[start : len(new) - end]
    is_long = len(inner[0]) + len(inner[1]) > _EXACT
    for kind, a, b, c, d in difflib.SequenceMatcher(None, *inner, autojunk=is_long).get_opcodes():
        yield kind, a + start, b + start, c + start, d + start
    if end:
        yield "equal", len(old) - end, len(old), len(new) - end, len(new)


def word_changes(old: str, new: str) -> Iterator[Span]:
    """Yield the spans of words in the new text that the old one does not have."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    starts = [0, *accumulate(map(len, after))]
    same, rest = common_ends(before, after)
    end = len(after) - rest
    if len(before) + len(after) - 2 * (same + rest) > _EXACT:
        yield Span(starts[same], starts[end])
        return
    for kind, _, _, first, last in changes(before, after):
        if kind in ("insert", "replace"):
            yield Span(starts[first], starts[last])


def smallest_edit(old: str, new: str) -> tuple[TextEdit, ...]:
    """Return the smallest single edit that turns `old` into `new`; empty if they are equal."""
    start, end = common_ends(old, new)
    edit = TextEdit(Span(start, len(old) - end), new[start : len(new) - end])
    return () if old == new else (edit,)


def line_edits(old: str, new: str) -> tuple[TextEdit, ...]:
    """Return the edits of whole lines that turn `old` into `new`; equal lines stay untouched."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [0]
    for line in before:
        starts.append(starts[-1] + len(line))
    return tuple(
        TextEdit(Span(starts[a], starts[b]), "".join(after[c:d]))
        for kind, a, b, c, d in changes(before, after)
        if kind != "equal"
    )


def unified_diff(old: str, new: str, name: str = "", context: int = 3) -> str:
    """Return the difference in the format of `diff -u`; without a name, without headers."""
    lines = difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), name, name, n=context
    )
    written = [
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    ]
    return "".join(written if name else written[2:])


class JsonDifference(NamedTuple):
    """The first place at which two JSON values differ."""

    path: str
    """Keys and indexes from the root ("messages[2].content"); empty for the root itself."""

    old: object
    """Value in the first one, or `ABSENT`."""

    new: object
    """Value in the second one, or `ABSENT`."""


ABSENT = object()
"""Value of a key or an index that only one of two values has."""


def json_difference(
    old: object, new: object, path: str = "", *, by_shape: bool = False
) -> JsonDifference | None:
    """Return the first difference of two JSON values; None if they are equal.

    Args:
        old: One value.
        new: The other one.
        path: Name of the root.
        by_shape: Whether to compare only keys and types, not values and lengths of lists.
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        pairs = [
            (f"{path}.{key}" if path else str(key), old.get(key, ABSENT), new.get(key, ABSENT))
            for key in {**old, **new}
        ]
    elif isinstance(old, list | tuple) and isinstance(new, list | tuple):
        items = zip(old, new) if by_shape else zip_longest(old, new, fillvalue=ABSENT)  # noqa: B905
        pairs = [(f"{path}[{index}]", one, other) for index, (one, other) in enumerate(items)]
    else:
        is_same = _kind(old) == _kind(new) and (by_shape or old == new)
        return None if is_same else JsonDifference(path, old, new)
    found = (json_difference(one, other, at, by_shape=by_shape) for at, one, other in pairs)
    return next(filter(None, found), None)


def _kind(value: object) -> object:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return "number" if is_number else type(value)
