"""Change every text in a value: dataclasses, mappings and sequences at any depth.

A value without changes is returned as it is, so that hardly anything is copied.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from studio.core.masking.masker import Masker

T = TypeVar("T")

NAMES = frozenset(
    """
    id name tool run role protocol kind status code origin model place reason media_type
    finish_reason
""".split()
)
"""Fields of dataclasses that contain names; a plain word in them is not treated as a secret."""

FILES = frozenset(("path", "source"))
"""Fields that contain or name the author's file: only keys are masked in them."""

_LEAST_NUMBER = 100_000
_FIELDS: dict[type, tuple[str, ...]] = {}
_SHAPES: dict[type, str] = {}


def masked(value: T, masker: Masker, found: set[str] | None = None) -> T:
    """Return the value with its secrets masked.

    Args:
        value: a dataclass, mapping, sequence or text.
        masker: knows the secrets.
        found: gets the references of secrets in the value.
    """
    if not masker.table().all:
        return value
    made: T = _Walk(
        lambda text: masker.mask(text, found),
        lambda text: masker.mask_name(text, found),
        masker.mask_keys,
    ).change(value)
    return made


def changed(value: T, change: Callable[[str], str]) -> T:
    """Return the value with `change` applied to all texts, including names and keys of mappings."""
    made: T = _Walk(change, change, change).change(value)
    return made


@dataclasses.dataclass(frozen=True, slots=True)
class _Walk:
    """A walk through one value that applies a change to it."""

    text: Callable[[str], str]
    name: Callable[[str], str]
    file: Callable[[str], str]

    def change(self, value: Any) -> Any:  # noqa: ANN401 - any value
        """Return the value, or a changed copy."""
        match _shape(type(value)):
            case "text":
                return self.text(value)
            case "mapping":
                return self._mapping(value)
            case "sequence":
                return self._sequence(value)
            case "dataclass":
                return self._dataclass(value)
            case _:
                return value

    def _dataclass(self, value: Any) -> Any:  # noqa: ANN401 - any dataclass
        changes: dict[str, Any] = {}
        for field in _fields(type(value)):
            item = getattr(value, field)
            if item is None or item == ():
                continue
            if field in NAMES and isinstance(item, str):
                made: Any = self.name(item)
            elif field in FILES and isinstance(item, str):
                made = self.file(item)
            else:
                made = self.change(item)
            if made is not item:
                changes[field] = made
        return dataclasses.replace(value, **changes) if changes else value

    def _mapping(self, value: Mapping[object, object]) -> object:
        made = {
            self.name(key) if isinstance(key, str) else key: self._item(item)
            for key, item in value.items()
        }
        same = len(made) == len(value) and all(
            key is other and item is made[key]
            for (key, item), other in zip(value.items(), made, strict=True)
        )
        return value if same else made

    def _sequence(self, value: Sequence[object]) -> object:
        made = [self._item(item) for item in value]
        if all(one is other for one, other in zip(made, value, strict=True)):
            return value
        return made if isinstance(value, list) else tuple(made)

    def _item(self, value: object) -> object:
        """Return a part of JSON, changed; a number may be a secret too."""
        if type(value) is int and value >= _LEAST_NUMBER:
            digits = str(value)
            made = self.text(digits)
            return value if made == digits else made
        return self.change(value)


def _shape(kind: type) -> str:
    """Return how to traverse values of a type; computed once for each type."""
    known = _SHAPES.get(kind)
    if known is None:
        if issubclass(kind, str):
            known = "text"
        elif issubclass(kind, Mapping):
            known = "mapping"
        elif issubclass(kind, Sequence):
            known = "sequence"
        else:
            known = "dataclass" if dataclasses.is_dataclass(kind) else "other"
        _SHAPES[kind] = known
    return known


def _fields(kind: type) -> tuple[str, ...]:
    """Return the fields that can contain texts; computed once for each type."""
    known = _FIELDS.get(kind)
    if known is None:
        names = tuple(
            field.name
            for field in dataclasses.fields(kind)
            if field.init and field.type not in ("int", "float", "bool", "int | None")
        )
        known = _FIELDS[kind] = names
    return known
