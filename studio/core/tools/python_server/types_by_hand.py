"""The common types, without pydantic: their JSON schema, and a conversion of JSON to them."""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, Union, get_args, get_origin

from .values import plain_value

_UNIONS = (Union, getattr(__import__("types"), "UnionType", Union))
_LISTS = (
    *(list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection),
    collections.abc.MutableSequence,
)
_MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_BOUNDS = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "pattern")
"""Attributes by which `Annotated` demands something of a value, as `annotated_types` names them."""


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

    schema: dict[str, object]
    """Its JSON schema."""

    convert: Callable[[object], object]
    """Makes its value of one of JSON; raises `Unfit`."""


class Shapes:
    """Makes shapes, and collects the definitions that they refer to."""

    def __init__(self) -> None:
        self.definitions: dict[str, object] = {}
        self._classes: dict[type, Callable[[object], object]] = {}

    def of(self, annotation: Any) -> Shape:
        """The shape of an annotation.

        Raises:
            TypeError: it has no JSON schema.
        """
        if annotation in (Any, object, inspect.Parameter.empty) or _is_variable(annotation):
            return Shape({}, lambda value: value)
        if annotation in (None, type(None)):
            return Shape({"type": "null"}, _null)
        if annotation == "number":
            return Shape({"type": "number"}, _any_number)
        if hasattr(annotation, "__supertype__"):
            return self.of(annotation.__supertype__)
        if hasattr(annotation, "__metadata__"):
            metadata = annotation.__metadata__
            demands = (getattr(each, name, None) for each in metadata for name in _BOUNDS)
            if any(each is not None for each in demands):
                raise TypeError("the bounds of an annotation need pydantic in this environment")
            return self.of(annotation.__origin__)
        origin = get_origin(annotation)
        if origin is not None:
            return self._generic(annotation, origin, get_args(annotation))
        if isinstance(annotation, type):
            return self._class(annotation)
        raise TypeError(f"{_name(annotation)} has no JSON schema without pydantic")

    def _generic(self, annotation: object, origin: object, inside: tuple[object, ...]) -> Shape:
        if origin is Literal:
            return _one_of([plain_value(each) for each in inside], list(inside))
        if origin in _UNIONS:
            return self._union(inside)
        if _name(origin) in ("Required", "NotRequired", "ReadOnly", "ClassVar", "Final"):
            return self.of(inside[0])
        item = self.of(inside[0]) if inside else self.of(Any)
        if origin in _LISTS:
            return Shape({"type": "array", **_items(item)}, _each(item))
        if origin in _MAPPINGS:
            return self._mapping(inside)
        raise TypeError(f"{_name(annotation)} has no JSON schema without pydantic")

    def _class(self, kind: type) -> Shape:
        if issubclass(kind, enum.Enum):
            return _one_of([plain_value(each.value) for each in kind], list(kind))
        if kind in _SIMPLE:
            return _SIMPLE[kind]
        if kind in _LISTS:
            return self._generic(kind, list, ())
        if kind in _MAPPINGS:
            return self._mapping(())
        if dataclasses.is_dataclass(kind) or _is_typed_dict(kind):
            return self._record(kind)
        raise TypeError(
            f"{kind.__module__}.{kind.__qualname__} has no JSON schema without pydantic"
        )

    def _record(self, kind: type) -> Shape:
        """Return a reference to a dataclass or a `TypedDict`, which may hold itself."""
        name = kind.__name__
        reference = Shape({"$ref": f"#/$defs/{name}"}, lambda value: self._classes[kind](value))  # noqa: PLW0108 - later
        if kind in self._classes:
            return reference
        self._classes[kind] = lambda value: value
        hints = typing.get_type_hints(kind, include_extras=True)
        fields = _defaults(kind, hints)
        shapes = {each: self.of(hints[each]) for each in fields}
        needed = [each for each, default in fields.items() if default is _NEEDED]
        schema: dict[str, object] = {
            "type": "object",
            "properties": {
                each: with_default(shape.schema, fields[each]) for each, shape in shapes.items()
            },
        }
        if dataclasses.is_dataclass(kind):
            schema["additionalProperties"] = False
        if needed:
            schema["required"] = needed
        self.definitions[name] = schema
        self._classes[kind] = _record_of(kind, shapes, needed)
        return reference

    def _union(self, inside: tuple[object, ...]) -> Shape:
        shapes = [self.of(each) for each in inside]

        def convert(value: object) -> object:
            faults = []
            # A value that is of one of the types as it stands is not made into another.
            for kind, shape in zip(inside, shapes):
                if isinstance(kind, type) and type(value) is kind:
                    return shape.convert(value)
            for shape in shapes:
                try:
                    return shape.convert(value)
                except Unfit as error:
                    faults.append(str(error))
            raise Unfit("; ".join(dict.fromkeys(faults)))

        return Shape({"anyOf": [shape.schema for shape in shapes]}, convert)

    def _mapping(self, inside: tuple[object, ...]) -> Shape:
        key, item = (
            (self.of(inside[0]), self.of(inside[1])) if inside else (self.of(str), self.of(Any))
        )

        def convert(value: object) -> object:
            if not isinstance(value, Mapping):
                raise Unfit("Input should be an object")
            return {key.convert(name): _inside(name, item, each) for name, each in value.items()}

        return Shape({"type": "object", "additionalProperties": item.schema or True}, convert)


def _is_variable(annotation: object) -> bool:
    return isinstance(annotation, typing.TypeVar)


def _is_typed_dict(kind: type) -> bool:
    return issubclass(kind, dict) and hasattr(kind, "__total__")


def _items(item: Shape) -> dict[str, object]:
    return {"items": item.schema} if item.schema else {"items": {}}


_NEEDED: object = object()
_UNSAID: object = object()


def _defaults(kind: type, hints: Mapping[str, object]) -> dict[str, object]:
    """The fields of a record with their defaults; `_NEEDED` or `_UNSAID` where there is none."""
    if dataclasses.is_dataclass(kind):
        none = dataclasses.MISSING
        return {
            each.name: each.default
            if each.default is not none
            else _NEEDED
            if each.default_factory is none
            else _UNSAID
            for each in dataclasses.fields(kind)
            if each.init
        }
    needed = getattr(kind, "__required_keys__", frozenset(hints))
    return {each: _NEEDED if each in needed else _UNSAID for each in hints}


def with_default(schema: dict[str, object], default: object) -> dict[str, object]:
    """A schema with its default; one that JSON cannot hold is left out."""
    if default is _NEEDED or default is _UNSAID:
        return schema
    try:
        return {**schema, "default": plain_value(default, strict=True)}
    except TypeError:
        return schema


def _record_of(
    kind: type, shapes: Mapping[str, Shape], needed: list[str]
) -> Callable[[object], object]:
    def convert(value: object) -> object:
        if not isinstance(value, Mapping):
            raise Unfit("Input should be an object")
        for name in needed:
            if name not in value:
                raise Unfit("Field required", name)
        for name in value:
            if name not in shapes and dataclasses.is_dataclass(kind):
                raise Unfit("Extra inputs are not permitted", str(name))
        given = {
            name: _inside(name, shapes[name], each)
            for name, each in value.items()
            if name in shapes
        }
        return given if _is_typed_dict(kind) else kind(**given)

    return convert


def _one_of(shown: list[object], values: list[object]) -> Shape:
    kinds = {type(each) for each in shown}
    schema: dict[str, object] = {"enum": shown}
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


def _each(item: Shape) -> Callable[[object], object]:
    def convert(value: object) -> object:
        if not isinstance(value, list):
            raise Unfit("Input should be a list")
        return [_inside(number, item, each) for number, each in enumerate(value)]

    return convert


def _inside(step: object, shape: Shape, value: object) -> object:
    try:
        return shape.convert(value)
    except Unfit as error:
        raise error.under(step) from None


def _name(annotation: object) -> str:
    return (
        getattr(annotation, "__name__", None)
        or getattr(annotation, "_name", None)
        or repr(annotation)
    )


def _null(value: object) -> None:
    """Convert what must be null."""
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
    """Convert a number, whole or not; whole ones stay whole."""
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
