"""Which regular expressions of a stranger's schema may be run here.

Python's `re` can take hours for a few dozen characters, and holds everything up meanwhile. A
pattern in which a repeated group itself repeats, or chooses, is not run by the studio; the tool
itself is left to refuse what it does not like (our own server's engine cannot blow up).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

_LONGEST = 1000
_MANY = 100


@dataclass(slots=True)
class _Group:
    """What an open bracket holds so far."""

    repeats: bool = False
    chooses: bool = False


@lru_cache(maxsize=512)
def is_quick(pattern: str) -> bool:
    """Whether a pattern can be searched for without a risk of exponential time."""
    if len(pattern) > _LONGEST:
        return False
    open_groups = [_Group()]
    closed: _Group | None = None  # the group that ended just before this place
    index = 0
    while index < len(pattern):
        char = pattern[index]
        repeats, after = _repetition(pattern, index)
        if repeats is not None:
            if repeats and closed is not None and (closed.repeats or closed.chooses):
                return False
            open_groups[-1].repeats |= repeats
            index, closed = after, None
            continue
        closed = None
        if char == "\\":
            # A reference to a group can repeat what was matched: its cost is not bounded by ours.
            if pattern[index + 1 : index + 2].isdigit():
                return False
            index += 2
            continue
        if char == "[":
            index = _end_of_set(pattern, index)
            continue
        if char == "(":
            open_groups.append(_Group())
        elif char == ")" and len(open_groups) > 1:
            closed = open_groups.pop()
            open_groups[-1].repeats |= closed.repeats
            open_groups[-1].chooses |= closed.chooses
        elif char == "|":
            open_groups[-1].chooses = True
        index += 1
    return True


def _repetition(pattern: str, index: int) -> tuple[bool | None, int]:
    """Whether a quantifier at this place is open-ended or large, and the place after it.

    None where there is no quantifier.
    """
    char = pattern[index]
    if char in "*+":
        return True, index + 1
    if char == "?" and not pattern.startswith("(?", index - 1):
        return False, index + 1
    end = pattern.find("}", index)
    if char != "{" or end < 0:
        return None, index
    low, comma, high = pattern[index + 1 : end].partition(",")
    if not (low + high).isdigit():
        return None, index
    return bool(comma and not high) or int(high or low) > _MANY, end + 1


def _end_of_set(pattern: str, start: int) -> int:
    """The place after a character set; a bracket right after its start belongs to it."""
    index = start + 1
    if pattern.startswith("^", index):
        index += 1
    if pattern.startswith("]", index):
        index += 1
    while index < len(pattern) and pattern[index] != "]":
        index += 2 if pattern[index] == "\\" else 1
    return index + 1
