"""Fuzzy matching for the palette: pure."""

from __future__ import annotations


def score(query: str, text: str) -> int | None:
    """How well `text` answers `query`; None when it does not, higher is better.

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
