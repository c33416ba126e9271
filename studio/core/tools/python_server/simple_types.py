"""Types without parts, each with its JSON schema and a conversion, and the bounds of any type."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import re
import uuid
from collections.abc import Callable
from typing import Any

_BOUNDS = {
    "ge": ("minimum", lambda value, bound: value >= bound, "greater than or equal to"),
    "gt": ("exclusiveMinimum", lambda value, bound: value > bound, "greater than"),
    "le": ("maximum", lambda value, bound: value <= bound, "less than or equal to"),
    "lt": ("exclusiveMaximum", lambda value, bound: value < bound, "less than"),
    "multiple_of": ("multipleOf", lambda value, bound: value % bound == 0, "a multiple of"),
}
_SIZES = {"min_length": ("min", "at least"), "max_length": ("max", "at most")}


class Unfit(ValueError):  # noqa: N818 - says what a value is
    """A value does not fit a type; the text says why."""

    def __init__(self, message: str, *steps: str) -> None:
        super().__init__(message)
        self.steps = steps
        """The way to it, inside the argument."""

    def under(self, step: object) -> Unfit:
        """The same, seen from one level above."""
        return Unfit(str(self), str(step), *self.steps)


@dataclasses.dataclass(frozen=True)
class Shape:
    """One type."""

    schema: dict[str, Any]
    """Its JSON schema."""

    convert: Callable[[Any], Any]
    """Makes its value of one of JSON; raises `Unfit`."""


def bounded(shape: Shape, metadata: tuple[Any, ...]) -> Shape:
    """A type with what `annotated_types`, or objects that look the same, demand of it."""
    schema = dict(shape.schema)
    checks: list[tuple[Callable[[Any], Any], str]] = []
    prefix = {"string": "Length", "array": "Items", "object": "Properties"}.get(
        schema.get("type", ""), ""
    )
    for each in metadata:
        for name, (key, holds, words) in _BOUNDS.items():
            bound = getattr(each, name, None)
            if isinstance(bound, (int, float)):
                schema[key] = bound
                checks.append((_compared(holds, bound), f"should be {words} {bound}"))
        for name, (key, words) in _SIZES.items():
            bound = getattr(each, name, None)
            if isinstance(bound, int) and prefix:
                schema[key + prefix] = bound
                fits = _at_least(bound) if key == "min" else _at_most(bound)
                checks.append((fits, f"should have {words} {bound} of them"))
        pattern = getattr(each, "pattern", None)
        if isinstance(pattern, str):
            schema["pattern"] = pattern
            found = re.compile(pattern)
            checks.append((found.search, f"should match the pattern {pattern!r}"))

    def convert(value: Any) -> Any:
        made = shape.convert(value)
        for holds, words in checks:
            if not holds(made):
                raise Unfit(f"Input {words}")
        return made

    return Shape(schema, convert)


def _compared(holds: Callable[[Any, Any], bool], bound: float) -> Callable[[Any], Any]:
    return lambda value: holds(value, bound)


def _at_least(bound: int) -> Callable[[Any], Any]:
    return lambda value: len(value) >= bound


def _at_most(bound: int) -> Callable[[Any], Any]:
    return lambda value: len(value) <= bound


def null(value: Any) -> None:
    """Convert what must be null."""
    if value is not None:
        raise Unfit("Input should be None")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Unfit("Input should be a valid string")
    return value


def _whole(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            pass
    raise Unfit("Input should be a valid integer")


def _number(value: Any) -> float:
    return float(any_number(value))


def any_number(value: Any) -> float:
    """Convert a number, whole or not; whole ones stay whole."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            pass
    raise Unfit("Input should be a valid number")


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    known = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
    if str(value).lower() in known and isinstance(value, (str, int)):
        return known[str(value).lower()]
    raise Unfit("Input should be a valid boolean")


def text_to(make: Callable[[str], Any], words: str) -> Callable[[Any], Any]:
    """A conversion of texts, and what is said of one that cannot be converted."""

    def convert(value: Any) -> Any:
        try:
            return make(value if isinstance(value, str) else str(value))
        except (ValueError, ArithmeticError, TypeError):
            raise Unfit(f"Input should be {words}") from None

    return convert


def _bytes(value: Any) -> bytes:
    return _text(value).encode()


def _moment(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)


SIMPLE: dict[type, Shape] = {
    str: Shape({"type": "string"}, _text),
    int: Shape({"type": "integer"}, _whole),
    float: Shape({"type": "number"}, _number),
    bool: Shape({"type": "boolean"}, _truth),
    bytes: Shape({"type": "string", "format": "binary"}, _bytes),
    datetime.datetime: Shape(
        {"type": "string", "format": "date-time"}, text_to(_moment, "a date and time")
    ),
    datetime.date: Shape(
        {"type": "string", "format": "date"}, text_to(datetime.date.fromisoformat, "a date")
    ),
    datetime.time: Shape(
        {"type": "string", "format": "time"}, text_to(datetime.time.fromisoformat, "a time")
    ),
    uuid.UUID: Shape({"type": "string", "format": "uuid"}, text_to(uuid.UUID, "a UUID")),
    decimal.Decimal: Shape(
        {"anyOf": [{"type": "number"}, {"type": "string"}]},
        text_to(decimal.Decimal, "a decimal number"),
    ),
}
