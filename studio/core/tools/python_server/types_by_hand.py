"""JSON schemas and conversions of the common types, without pydantic.

Texts, numbers, booleans, lists, objects, literals, enums, typed dictionaries, and unions of
these. Other types need pydantic in the environment of the tools.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Literal, Union, get_args, get_origin, get_type_hints

from .values import plain_value

Schema = dict[str, object]
"""A JSON schema."""

Convert = Callable[[object], object]
"""Function that converts JSON to a value of a type; raises `Unfit`."""

_UNIONS = (Union, getattr(__import__("types"), "UnionType", Union))
_LISTS = (
    *(list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection),
    collections.abc.MutableSequence,
)
_MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_BOUNDS = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "pattern")
"""Constraints in `Annotated`, as named by `annotated_types`."""


class Unfit(ValueError):  # noqa: N818 - names a property of a value
    """Raised when a value does not fit a type; the text says why."""

    def __init__(self, message: str, *steps: str) -> None:
        super().__init__(message)
        self.steps = steps
        """Path to the value inside the argument."""


@dataclasses.dataclass(frozen=True)
class Shape:
    """The schema and conversion of a type."""

    schema: Schema
    """JSON schema of the type."""

    convert: Convert
    """Function that converts JSON to a value of the type; raises `Unfit`."""


def shape_of(annotation: object) -> Shape:
    """Return the shape of an annotation.

    Raises:
        TypeError: the annotation has no JSON schema without pydantic.
    """
    if annotation in (Any, object, inspect.Parameter.empty):
        return Shape({}, lambda value: value)
    if annotation in (None, type(None)):
        return Shape({"type": "null"}, _null)
    if annotation == "number":
        return Shape({"type": "number"}, _any_number)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return _one_of([plain_value(member.value) for member in annotation], list(annotation))
    if isinstance(annotation, type) and annotation in _SIMPLE:
        return _SIMPLE[annotation]
    return _composed(annotation)


def _composed(annotation: object) -> Shape:
    """Return the shape of an annotation composed of others."""
    if hasattr(annotation, "__supertype__"):
        return shape_of(annotation.__supertype__)
    if hasattr(annotation, "__metadata__"):
        demands = (
            getattr(each, name, None) for each in annotation.__metadata__ for name in _BOUNDS
        )
        if any(demand is not None for demand in demands):
            raise TypeError("the bounds of an annotation need pydantic in this environment")
        return shape_of(get_args(annotation)[0])
    if isinstance(annotation, type) and hasattr(annotation, "__required_keys__"):
        return _typed_dict(annotation)
    origin, inside = get_origin(annotation) or annotation, get_args(annotation)
    if origin is Literal:
        return _one_of([plain_value(each) for each in inside], list(inside))
    if origin in _UNIONS:
        return _union(inside)
    if origin in _LISTS:
        return _list(shape_of(inside[0] if inside else Any))
    if origin in _MAPPINGS:
        return _mapping(*map(shape_of, inside or (str, Any)))
    name = getattr(annotation, "__qualname__", None) or repr(annotation)
    raise TypeError(f"{name} has no JSON schema without pydantic")


def with_default(schema: Schema, default: object) -> Schema:
    """Return a schema with its default, which is omitted if JSON has no such value."""
    try:
        return {**schema, "default": plain_value(default, strict=True)}
    except TypeError:
        return schema


def _union(inside: tuple[object, ...]) -> Shape:
    shapes = [shape_of(each) for each in inside]

    def convert(value: object) -> object:
        faults = []
        # A value that has one of the types already is not converted to another.
        for kind, shape in zip(inside, shapes):
            if type(value) is kind:
                return shape.convert(value)
        for shape in shapes:
            try:
                return shape.convert(value)
            except Unfit as error:
                faults.append(str(error))
        raise Unfit("; ".join(dict.fromkeys(faults)))

    return Shape({"anyOf": [shape.schema for shape in shapes]}, convert)


def _list(item: Shape) -> Shape:
    def convert(value: object) -> object:
        if not isinstance(value, list):
            raise Unfit("Input should be a list")
        return [_inside(number, item, each) for number, each in enumerate(value)]

    return Shape({"type": "array", "items": item.schema}, convert)


def _mapping(key: Shape, item: Shape) -> Shape:
    def convert(value: object) -> object:
        if not isinstance(value, Mapping):
            raise Unfit("Input should be an object")
        return {key.convert(name): _inside(name, item, each) for name, each in value.items()}

    return Shape({"type": "object", "additionalProperties": item.schema or True}, convert)


def _typed_dict(kind: type) -> Shape:
    shapes = {name: shape_of(hint) for name, hint in get_type_hints(kind).items()}
    needed = [name for name in shapes if name in kind.__required_keys__]  # type: ignore[attr-defined]

    def convert(value: object) -> object:
        if not isinstance(value, Mapping):
            raise Unfit("Input should be an object")
        for name in needed:
            if name not in value:
                raise Unfit("Field required", name)
        return {name: _inside(name, shapes[name], value[name]) for name in shapes if name in value}

    schema: Schema = {"type": "object", "properties": {n: s.schema for n, s in shapes.items()}}
    return Shape({**schema, "required": needed} if needed else schema, convert)


def _one_of(shown: Sequence[object], values: Sequence[object]) -> Shape:
    kinds = {type(each) for each in shown}
    schema: Schema = {"enum": list(shown)}
    if kinds == {str}:
        schema = {"type": "string", **schema}
    elif kinds == {int}:
        schema = {"type": "integer", **schema}

    def convert(value: object) -> object:
        for each, made in zip(shown, values):
            if each == value and type(each) is type(value):
                return made
        raise Unfit(f"Input should be {' or '.join(repr(each) for each in shown)}")

    return Shape(schema, convert)


def _inside(step: object, shape: Shape, value: object) -> object:
    try:
        return shape.convert(value)
    except Unfit as error:
        raise Unfit(str(error), str(step), *error.steps) from None


def _null(value: object) -> None:
    """Check that a value is null."""
    if value is not None:
        raise Unfit("Input should be None")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Unfit("Input should be a valid string")
    return value


def _whole(value: object) -> int:
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


def _number(value: object) -> float:
    return float(_any_number(value))


def _any_number(value: object) -> float:
    """Convert a number; integers stay integers."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            pass
    raise Unfit("Input should be a valid number")


def _truth(value: object) -> bool:
    if isinstance(value, bool):
        return value
    known = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
    if str(value).lower() in known and isinstance(value, (str, int)):
        return known[str(value).lower()]
    raise Unfit("Input should be a valid boolean")


_SIMPLE: dict[type, Shape] = {
    str: Shape({"type": "string"}, _text),
    int: Shape({"type": "integer"}, _whole),
    float: Shape({"type": "number"}, _number),
    bool: Shape({"type": "boolean"}, _truth),
}
