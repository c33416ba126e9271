"""JSON that somebody else wrote is read within bounds: how deep it nests, how long its numbers are.

Python's reader goes as deep as the stack of its caller lets it, and what it gives is walked by
others that go less deep; a number of thousands of digits costs the square of its length.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

from studio.core.text.values import Json

DEEPEST = 200
"""Most levels of objects and lists in each other. What people write has ten or twenty."""

_TOO_DEEP = f"it is nested more than {DEEPEST} levels deep"
_OF_DIGITS = "integer string conversion"  # in the words of Python's own limit
_HOLDERS = (dict, list)

Parsed = TypeVar("Parsed")


class JsonBoundError(ValueError):
    """A bound of JSON was passed; the text says which."""


def parse_json(text: str | bytes, parse_constant: Callable[[str], object] | None = None) -> Json:
    """The value of a JSON text.

    Args:
        text: the text.
        parse_constant: makes what `NaN` and `Infinity` become, as in `json.loads`.

    Raises:
        JSONDecodeError: it is not JSON; a `ValueError`.
        JsonBoundError: it nests too deeply, or holds a number of too many digits; a `ValueError`.
    """
    try:
        value: Json = json.loads(text, parse_constant=parse_constant)
    except RecursionError as error:
        raise JsonBoundError(_TOO_DEEP) from error
    except ValueError as error:
        if _OF_DIGITS not in str(error):
            raise
        raise JsonBoundError("it holds a number of more than 4,300 digits") from error
    return within_depth(value)


def is_json(text: str) -> bool:
    """Whether `parse_json` reads a text."""
    try:
        parse_json(text)
    except ValueError:
        return False
    return True


def within_depth(value: Parsed, deepest: int = DEEPEST) -> Parsed:
    """The value itself.

    Args:
        value: what was read.
        deepest: most levels that it may have.

    Raises:
        JsonBoundError: it nests too deeply.
    """
    level: list[object] = [value]
    for _ in range(deepest):
        objects = [each.values() for each in level if isinstance(each, dict)]
        lists = [each for each in level if isinstance(each, list)]
        level = [item for items in (*objects, *lists) for item in items if type(item) in _HOLDERS]
        if not level:
            return value
    raise JsonBoundError(_TOO_DEEP)
