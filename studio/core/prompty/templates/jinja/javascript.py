"""Values as JavaScript has them, for templates that a JavaScript program renders.

The rules are those of ECMAScript's `ToBoolean` (an empty list is true) and `ToString` (a list is
its items with commas, an object is "[object Object]"), which Nunjucks goes by.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from studio.core.text.values import Json


class _List(list[object]):
    """A list that is true when it is empty, too."""

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return ",".join(written(item) for item in self)


class _Object(dict[str, object]):
    """An object that is true when it is empty, too."""

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return "[object Object]"


def as_javascript(value: Json) -> object:
    """A value whose lists and objects are as true, and written, as in JavaScript."""
    if isinstance(value, Mapping):
        return _Object((name, as_javascript(item)) for name, item in value.items())
    if isinstance(value, list):
        return _List(as_javascript(item) for item in value)
    return value


def written(value: object) -> str:
    """A value as a template of Nunjucks writes it."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str() | _List() | _Object():
            return str(value)
        case int() | float():
            return _number(value)
        case Mapping():
            return "[object Object]"
        case Iterable():
            return ",".join(written(item) for item in value)
        case _:
            return str(value)


def _number(value: float) -> str:
    """A number of 64 bits; no exponent from 1e-6 up to 1e21 (ECMAScript, Number::toString)."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else ("Infinity" if number > 0 else "-Infinity")
    if number == 0:
        return "0"
    digits, _, exponent = f"{abs(number)!r}".partition("e")
    whole, _, fraction = digits.partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole) + int(exponent or 0)
    kept = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(kept)
    kept = kept.rstrip("0")
    sign = "-" if number < 0 else ""
    if 0 < point <= 21:
        kept = kept.ljust(point, "0")
        return sign + kept[:point] + (f".{kept[point:]}" if kept[point:] else "")
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{kept}"
    head = kept[0] + (f".{kept[1:]}" if kept[1:] else "")
    return f"{sign}{head}e{point - 1:+d}"
