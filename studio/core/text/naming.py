"""Names: the known one that a word was meant to be, and one that is not taken."""

import difflib
import sys
from collections.abc import Callable, Iterable
from itertools import chain, count

_NEAR = 0.75
"""Similarity from which two words are near, from 0 to 1: one wrong letter in four."""

_SURE = 0.8
"""The same where most unknown words are right as they are."""


def nearest(word: str, known: Iterable[str], *, surely: bool = False) -> str:
    """Return the known word that `word` was meant to be; empty if none is near.

    Args:
        word: What was written; the case of letters is ignored.
        known: The words that are possible.
        surely: Whether `word` may well be meant as it is: a word of a text, a key that is optional.
    """
    names = {name.lower(): name for name in reversed(list(known))}
    if not names:
        return ""
    near = difflib.get_close_matches(word.lower(), names, 1, _SURE if surely else _NEAR)
    return names[near[0]] if near else ""


def free_name(
    wanted: str, is_taken: Callable[[str], bool], suffix: str = " {}", longest: int = sys.maxsize
) -> str:
    """Return `wanted`, or with the first suffix (`wanted 2`, …) that makes it a free name.

    Args:
        wanted: the name, cut where it is longer than `longest`.
        is_taken: whether a name is not free.
        suffix: what is appended, with `{}` for the number.
        longest: the most characters of a name.
    """
    ends = chain([""], map(suffix.format, count(2)))
    names = (wanted[: longest - len(end)] + end for end in ends)
    return next(name for name in names if not is_taken(name))


def unique_names(names: Iterable[str], suffix: str = " {}") -> tuple[str, ...]:
    """Return the names in order, with a suffix behind each that came before."""
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


# Fuzzy matching for the palette: pure.


def score(query: str, text: str) -> int | None:
    """Score how well `text` matches `query`; None if it does not, higher is better.

    All letters of the query must come in order; starts of words and runs count more.
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
