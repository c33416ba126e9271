"""Which mapping a line of YAML belongs to, also while it does not parse yet."""

from __future__ import annotations

import re

_LEAD = re.compile(r"(?P<indent> *)(?P<dashes>(?:- +)*)(?:-$)?")
_KEY = re.compile(r"(?P<key>\"[^\"]*\"|'[^']*'|[\w$./-][\w$ ./-]*?)\s*:(?:\s|$)")
_DASH = 0
"""An item of a list, in a path: which one makes no difference to its keys."""
_FARTHEST = 2000


def path_at(text: str, caret: int) -> tuple[str | int, ...]:
    """The path of the mapping that a key on the caret's line would be in.

    Read from columns alone, so that it holds while the line is being typed; every list item counts
    as index 0.
    """
    *above, line = text[:caret].split("\n")
    own = _LEAD.match(line)
    limit = own.end() if own else 0
    path: list[str | int] = []
    # A row is a line's marks from left to right; the walk goes up and, in a line, to the left.
    rows = [[mark for mark in _marks(line) if mark[1] == _DASH]]
    for each in reversed(above[-_FARTHEST:]):
        if each.strip() in ("---", "+++"):
            break
        if each.strip() and not each.lstrip().startswith("#"):
            rows.append(_marks(each))
    for row in rows:
        for column, mark in reversed(row):
            # A list may stand in the same column as the key that it belongs to.
            beside = mark != _DASH and column == limit and path[:1] == [_DASH]
            if column < limit or beside:
                path.insert(0, mark)
                limit = column
        if limit == 0 and path[:1] != [_DASH]:
            break
    return tuple(path)


def _marks(line: str) -> list[tuple[int, str | int]]:
    """The dashes and the key that a line begins with, each with its column."""
    lead = _LEAD.match(line)
    if lead is None:
        return []
    marks: list[tuple[int, str | int]] = [
        (lead.start("dashes") + at, _DASH)
        for at, char in enumerate(line[lead.start("dashes") : lead.end()])
        if char == "-"
    ]
    key = _KEY.match(line, lead.end("dashes"))
    if key is not None:
        marks.append((key.start(), key["key"].strip("\"' ")))
    return marks
