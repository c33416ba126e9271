"""Names: the known one that a word probably means, and a free one."""

import difflib
import sys
from collections.abc import Callable, Iterable
from itertools import chain, count

_NEAR = 0.75
"""Minimum similarity of near words, from 0 to 1: one wrong letter in four."""

_SURE = 0.8
"""Minimum similarity where most unknown words are correct."""


def nearest(word: str, known: Iterable[str], *, surely: bool = False) -> str:
    """Return the known word that `word` probably means; empty if none is near.

    Args:
        word: The written word; case is ignored.
        known: The possible words.
        surely: Whether `word` may be correct: a word of a text, an optional key.
    """
    names = {name.lower(): name for name in reversed(list(known))}
    if not names:
        return ""
    near = difflib.get_close_matches(word.lower(), names, 1, _SURE if surely else _NEAR)
    return names[near[0]] if near else ""


def free_name(
    wanted: str, is_taken: Callable[[str], bool], suffix: str = " {}", longest: int = sys.maxsize
) -> str:
    """Return `wanted`, with the first suffix (`wanted 2`, …) that makes it free if needed.

    Args:
        wanted: the name, truncated to `longest`.
        is_taken: returns whether a name is taken.
        suffix: the suffix, with `{}` for the number.
        longest: maximum number of characters.
    """
    ends = chain([""], map(suffix.format, count(2)))
    names = (wanted[: longest - len(end)] + end for end in ends)
    return next(name for name in names if not is_taken(name))


def unique_names(names: Iterable[str], suffix: str = " {}") -> tuple[str, ...]:
    """Return the names in order, with a suffix added to repeated ones."""
    taken: dict[str, int] = {}
    made: list[str] = []
    for name in names:
        own, number = name, taken.get(name, 1)
        while own in taken:
            number += 1
            own = name + suffix.format(number)
        taken[name] = number
        taken.setdefault(own, 1)
        made.append(own)
    return tuple(made)


# Fuzzy matching for the command palette.


def score(query: str, text: str) -> int | None:
    """Score how well `text` matches `query`; None if it does not, higher is better.

    All letters of the query must occur in order; starts of words and runs score higher.
    """
    wanted = query.casefold().replace(" ", "")
    if not wanted:
        return 0
    folded = text.casefold()
    whole = folded.find(query.casefold().strip())
    if whole == 0 or (whole > 0 and not folded[whole - 1].isalnum()):
        return 1000 - whole - len(text) // 8
    best: int | None = None
    start = folded.find(wanted[0])
    while start >= 0:
        found = _from(wanted, folded, start)
        if found is not None and (best is None or found > best):
            best = found
        start = folded.find(wanted[0], start + 1)
    return best


def _from(wanted: str, text: str, start: int) -> int | None:
    points, at, last = 0, start, start - 1
    for char in wanted:
        at = text.find(char, last + 1)
        if at < 0:
            return None
        if at == last + 1:
            points += 6
        if at == 0 or not text[at - 1].isalnum():
            points += 10
        points -= min(at - last, 4)
        last = at
    return points - len(text) // 8
