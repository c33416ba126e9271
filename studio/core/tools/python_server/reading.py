"""Arguments read, and results written, by a function's annotations.

Pydantic does it where the environment has it. Otherwise texts, numbers, lists, objects, literals,
enums and typed dictionaries are known; a tool with any other type is not offered, and its message
says that pydantic would know it.
"""

from __future__ import annotations

import collections.abc
import inspect
import typing
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Callable

from .schemas import UNKNOWN, ArgumentReader, TakenArgument, inline_references, without_titles
from .types_by_hand import Schema, Shape, Unfit, shape_of, with_default
from .values import plain_value

_WRAPPED = "result"
"""The name under which other clients get a value that is not an object, as of other servers."""

_SERIES = (
    collections.abc.Iterator,
    collections.abc.Generator,
    collections.abc.AsyncIterator,
    collections.abc.AsyncGenerator,
    collections.abc.AsyncIterable,
)
_PROMISES = (collections.abc.Awaitable, collections.abc.Coroutine)
_SAYS_NOTHING = (UNKNOWN, None, type(None), Any, object, typing.NoReturn, bytes)


def make_reader(name: str, parameters: Sequence[TakenArgument]) -> ArgumentReader:
    """The reader of this environment: pydantic's where it has it, otherwise our own."""
    if has_pydantic():
        from .with_pydantic import PydanticReader

        return PydanticReader(name, parameters)
    return PlainReader(parameters)


def has_pydantic() -> bool:
    """Whether this environment has pydantic 2, at or above 2.5."""
    try:
        from pydantic import VERSION
    except Exception:  # noqa: BLE001 - a broken one is none
        return False
    major, minor = VERSION.split(".")[:2]
    return (int(major), int(minor)) >= (2, 5)


class PlainReader:
    """Makes a schema and a conversion of each parameter's annotation, without pydantic."""

    def __init__(self, parameters: Sequence[TakenArgument]) -> None:
        """Make it.

        Raises:
            TypeError: an annotation has no JSON schema.
        """
        self._shapes: dict[str, Shape] = {}
        self._needed: list[str] = []
        self._more: Shape | None = None
        properties: Schema = {}
        for each in parameters:
            shape = _shape(each)
            if each.is_open:
                self._more = shape
                continue
            self._shapes[each.name] = shape
            described = dict(shape.schema)
            if each.description:
                described["description"] = each.description
            if each.default is UNKNOWN:
                self._needed.append(each.name)
            else:
                described = with_default(described, each.default)
            properties[each.name] = described
        self.schema: Schema = {
            "type": "object",
            "properties": properties,
            "additionalProperties": self._more is not None and (self._more.schema or True),
        }
        """JSON schema of all arguments."""
        if self._needed:
            self.schema["required"] = self._needed

    def read(self, arguments: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
        """Arguments by parameter, those that were given, and those of `**more`.

        Raises:
            ValueError: an argument is missing, unknown or of the wrong type.
        """
        wrong = [f"{name}: Field required" for name in self._needed if name not in arguments]
        given: dict[str, object] = {}
        extra: dict[str, object] = {}
        for name, value in arguments.items():
            shape = self._shapes.get(name, self._more)
            if shape is None:
                wrong.append(f"{name}: Extra inputs are not permitted")
                continue
            try:
                (given if name in self._shapes else extra)[name] = shape.convert(value)
            except Unfit as error:
                wrong.append(f"{'.'.join((name, *error.steps))}: {error}")
        if wrong:
            raise ValueError("; ".join(wrong))
        return given, extra


def _shape(parameter: TakenArgument) -> Shape:
    annotation = parameter.annotation
    if annotation is UNKNOWN:
        annotation = _guess(parameter.default)
    if parameter.is_rest:
        is_bare = parameter.annotation is UNKNOWN
        annotation = list[Any] if is_bare else list[annotation]  # type: ignore[valid-type]
    return shape_of(annotation)


def _guess(default: object) -> object:
    """The type of a parameter without annotation: that of its default, otherwise anything."""
    if isinstance(default, (int, float)) and not isinstance(default, bool):
        return float if isinstance(default, float) else "number"
    if isinstance(default, (bool, str, list, dict)):
        return type(default)
    return Any


class Returned:
    """The type that a function gives."""

    def __init__(self, schema: Schema, form: Callable[[object], Any]) -> None:
        self.schema = schema
        """Its JSON schema."""
        self._form = form

    @property
    def output_schema(self) -> Schema:
        """The schema for other clients, which want an object."""
        if self.schema.get("type") == "object":
            return self.schema
        inner = {key: value for key, value in self.schema.items() if key != "$defs"}
        whole = {"type": "object", "properties": {_WRAPPED: inner}, "required": [_WRAPPED]}
        return {**whole, **({"$defs": self.schema["$defs"]} if "$defs" in self.schema else {})}

    def structured(self, value: Any) -> dict[str, object]:
        """A value as `output_schema` has it.

        Raises:
            ValueError: it is not what the function says that it gives.
        """
        made = self._form(value)
        return made if self.schema.get("type") == "object" else {_WRAPPED: made}


def returned(annotation: object) -> Returned | None:
    """Read the annotation of a result; None if there is none, or none that JSON has."""
    annotation = _awaited(annotation)
    if any(annotation is each for each in _SAYS_NOTHING):
        return None
    for make in (_by_pydantic, _by_hand) if has_pydantic() else (_by_hand,):
        try:
            return make(annotation)
        except Exception:  # noqa: BLE001 - of any type: the tool works without
            continue
    return None


def _awaited(annotation: object) -> object:
    """Return the final value: an iterator is collected to a list."""
    origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in _PROMISES and inside:
        return _awaited(inside[-1])
    if origin in _SERIES or (inspect.isclass(annotation) and annotation in _SERIES):
        return typing.List[inside[0]] if inside else list  # type: ignore[valid-type]  # noqa: UP006
    return annotation


def _by_pydantic(annotation: Any) -> Returned:
    from pydantic import ConfigDict, TypeAdapter, ValidationError
    from pydantic.errors import PydanticUserError

    try:
        adapter = TypeAdapter(annotation, config=ConfigDict(arbitrary_types_allowed=False))
    except PydanticUserError:  # a model has settings of its own
        adapter = TypeAdapter(annotation)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schema = adapter.json_schema(mode="serialization", by_alias=False)

    def form(value: object) -> object:
        try:
            checked = adapter.validate_python(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            place = ".".join(str(step) for step in first["loc"])
            raise ValueError(f"{place}: {first['msg']}" if place else first["msg"]) from None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return adapter.dump_python(checked, mode="json", by_alias=False)

    return Returned(without_titles(inline_references(schema)), form)


def _by_hand(annotation: object) -> Returned | None:
    shape = shape_of(annotation)

    def form(value: object) -> object:
        made = plain_value(value)
        shape.convert(made)
        return made

    return Returned(shape.schema, form)
