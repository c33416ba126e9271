"""Convert events to JSON and back, driven by the annotations of the dataclasses.

Fields with their default value are omitted, so that rows stay small and a newer studio can read old
journals. Members of a union have their class name as `t`.
"""

import dataclasses
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from functools import cache
from typing import Any, TypeVar

from studio.core.agent.values.events import Event
from studio.core.text.values import Json, JsonDict

T = TypeVar("T")
Encoder = Callable[[Any], Json]
Decoder = Callable[[Any], Any]

_SCALARS = frozenset((str, int, float, bool, type(None)))
_EVENTS: Mapping[str, type] = {item.__name__: item for item in typing.get_args(Event)}


class JournalError(ValueError):
    """Raised when a line or row is not an event; the text says why."""


class _AnyJson:
    """Placeholder for the recursive aliases `Json` and `JsonObject` while annotations are read."""


_ALIASES = {"Json": _AnyJson, "JsonObject": _AnyJson, "ResolvedInputs": _AnyJson}


def encode_event(event: Event) -> JsonDict:
    """Encode an event as a JSON object: its class as `t`, then its fields."""
    return {"t": type(event).__name__, **encode_value(event)}


def decode_event(data: Mapping[str, object]) -> Event:
    """Decode an event from its JSON object.

    Raises:
        JournalError: the object is no event.
    """
    kind = _EVENTS.get(str(data.get("t")))
    if kind is None:
        raise JournalError(f"there is no event {data.get('t')!r}")
    try:
        made: Event = _decoder(kind)(data)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise JournalError(f"the event {data.get('t')!r} cannot be read: {error}") from error
    return made


def encode_value(value: object, without: frozenset[str] = frozenset()) -> JsonDict:
    """Return a frozen dataclass as a JSON object with its fields, except `without`."""
    kind: object = type(value)
    return _encoder(kind, without)(value)


def decode_value(kind: type[T], data: Mapping[str, object]) -> T:
    """Decode a dataclass from its JSON object.

    Raises:
        JournalError: the object does not fit.
    """
    try:
        made: T = _decoder(kind)(data)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise JournalError(f"{kind.__name__} cannot be read: {error}") from error
    return made


def decode_onto(value: T, data: Mapping[str, object]) -> T:
    """Return a dataclass with the fields of a JSON object replaced.

    Raises:
        JournalError: it does not fit.
    """
    try:
        made: T = dataclasses.replace(value, **_fields_of(type(value), data))  # type: ignore[type-var]
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise JournalError(f"{type(value).__name__} cannot be read: {error}") from error
    return made


# Encoding -----------------------------------------------------------------------------------------


@cache
def _encoder(kind: type, without: frozenset[str] = frozenset()) -> Callable[[object], JsonDict]:
    """Return the encoder of a dataclass; it omits fields with their default."""
    plans = [
        (field.name, _plan(hint), _default(field))
        for field, hint in _fields(kind)
        if field.name not in without
    ]

    def encode(value: object) -> JsonDict:
        made: JsonDict = {}
        for name, plan, default in plans:
            item = getattr(value, name)
            if default is not _NO_DEFAULT and type(item) is type(default) and item == default:
                continue
            made[name] = plan(item)
        return made

    return encode


def _plan(hint: object) -> Encoder:
    """Return the encoder of an annotated type."""
    if hint is _AnyJson:
        return _plain
    origin = typing.get_origin(hint)
    if _is_union(origin):
        members = [member for member in typing.get_args(hint) if member is not type(None)]
        if all(dataclasses.is_dataclass(member) for member in members):
            return _encode_one if len(members) == 1 else _encode_tagged
        return _plan(members[0]) if len(members) == 1 else _plain
    if dataclasses.is_dataclass(hint):
        return _encode_one
    if origin in (tuple, frozenset):
        inner = _inner(hint)
        plans = [_plan(item) for item in inner]
        if origin is frozenset:
            return sorted
        if len(plans) == 1:
            return lambda value: [plans[0](item) for item in value]
        return lambda value: [plan(item) for plan, item in zip(plans, value, strict=True)]
    return _plain


def _plain(value: object) -> Json:
    """Return a plain value with mappings and sequences as in JSON."""
    if type(value) in _SCALARS:  # the most frequent values; the rest is slower
        return value  # type: ignore[return-value]
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, AbstractSet):
        return sorted(_plain(item) for item in value)  # type: ignore[type-var]
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} is not JSON")


def _encode_one(value: object) -> Json:
    return None if value is None else encode_value(value)


def _encode_tagged(value: object) -> Json:
    if value is None:
        return None
    return {"t": type(value).__name__, **encode_value(value)}


# Decoding -----------------------------------------------------------------------------------------


def _decoder(kind: type) -> Decoder:
    """Return the decoder of a dataclass."""
    return lambda data: kind(**_fields_of(kind, data))


def _fields_of(kind: object, data: Mapping[str, object]) -> dict[str, object]:
    """Return the values of the fields in an object."""
    plans = _unplans(kind)
    return {name: plans[name](item) for name, item in data.items() if name in plans}


@cache
def _unplans(kind: type) -> Mapping[str, Decoder]:
    """Return the decoder of each field of a dataclass."""
    return {field.name: _unplan(hint) for field, hint in _fields(kind)}


def _unplan(hint: object) -> Decoder:
    """Return the decoder of an annotated type."""
    if hint is _AnyJson:
        return _same
    origin = typing.get_origin(hint)
    if _is_union(origin):
        members = [member for member in typing.get_args(hint) if member is not type(None)]
        if all(dataclasses.is_dataclass(member) for member in members):
            if len(members) == 1:
                only = members[0]
                return lambda data: None if data is None else _decoder(only)(data)
            by_name = {member.__name__: member for member in members}
            return lambda data: None if data is None else _decoder(by_name[data["t"]])(data)
        if len(members) == 1:
            inner = _unplan(members[0])
            return lambda data: None if data is None else inner(data)
        return _same
    if dataclasses.is_dataclass(hint):
        return _late(hint)
    if origin in (frozenset, tuple):
        plans = [_unplan(item) for item in _inner(hint)]
        if len(plans) == 1:
            return lambda data: origin(plans[0](item) for item in data)
        return lambda data: tuple(plan(item) for plan, item in zip(plans, data, strict=True))
    return _unplan_plain(hint)


def _unplan_plain(hint: object) -> Decoder:
    """Return the decoder of a text, a number or a member of an enumeration."""
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint
    if typing.get_origin(hint) is typing.Literal:
        return _checked(*{type(each) for each in typing.get_args(hint)})
    if hint in (str, int, bool):
        return _checked(hint)
    return float if hint is float else _same


def _checked(*kinds: type) -> Decoder:
    """Return the decoder of a plain value, which must have one of the types."""

    def read(data: object) -> object:
        if not isinstance(data, kinds):
            raise TypeError(f"{data!r} is not a value of type {kinds[0].__name__}")
        return data

    return read


def _late(kind: Any) -> Decoder:  # noqa: ANN401
    """Return a dataclass's decoder, looked up when needed: types may contain themselves."""
    return lambda data: _decoder(kind)(data)  # noqa: PLW0108


def _same(data: Any) -> object:  # noqa: ANN401
    return data


# Annotations --------------------------------------------------------------------------------------

_NO_DEFAULT = object()


def _default(field: dataclasses.Field[object]) -> object:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return _NO_DEFAULT


def _fields(kind: type) -> list[tuple[dataclasses.Field[object], object]]:
    """Return the fields with their types, evaluated in the module that defines them.

    Such a module imports `annotations` from `__future__`, since an evaluated `Json` has no name.
    """
    made: list[tuple[dataclasses.Field[object], object]] = []
    owners = {
        name: base for base in reversed(kind.__mro__) for name in inspect.get_annotations(base)
    }
    for field in dataclasses.fields(kind):
        module = sys.modules[owners[field.name].__module__]
        names = {**vars(module), **_ALIASES}
        hint = eval(field.type, names) if isinstance(field.type, str) else field.type
        made.append((field, hint))
    return made


def _is_union(origin: object) -> bool:
    return origin in (typing.Union, types.UnionType)


def _inner(hint: object) -> list[object]:
    return [item for item in typing.get_args(hint) if item is not Ellipsis]
