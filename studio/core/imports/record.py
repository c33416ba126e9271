"""Objects that record which of their keys an importer read, so that no key is lost in silence."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from dataclasses import replace

from studio.core.imports.imported import Imported
from studio.core.text.values import Json

_SHAPES = ("type", "object", "lc", "_type")
"""Keys that only say which shape an object has."""


class Record(dict[str, Json]):
    """An object of JSON or YAML that records which keys were read; writing it out reads all."""

    def __init__(self, data: Mapping[str, Json]) -> None:
        super().__init__({str(key): recorded(value) for key, value in data.items()})
        self.read: set[str] = set()
        """Keys that were asked for."""

    def __getitem__(self, key: str) -> Json:
        self.read.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Json = None) -> Json:  # type: ignore[override]
        """Return the value of a key, which counts as read."""
        self.read.add(key)
        return super().get(key, default)

    def __iter__(self) -> Iterator[str]:
        # Overridden so that `{**record}` and `dict(record)` ask for each key.
        return super().__iter__()

    def items(self) -> ItemsView[str, Json]:  # type: ignore[override]
        """Return all pairs; every key counts as read."""
        self.read.update(self)
        return super().items()

    def values(self) -> ValuesView[Json]:  # type: ignore[override]
        """Return all values; every key counts as read."""
        self.read.update(self)
        return super().values()


def recorded(value: Json) -> Json:
    """Return a value whose objects record what is read of them."""
    if isinstance(value, Mapping):
        return Record(value)
    return [recorded(each) for each in value] if isinstance(value, list | tuple) else value


def implied(value: Json, *keys: str) -> None:
    """Count keys of an object as read: what they say is in the prompt file by other means."""
    if isinstance(value, Record):
        value.read.update(keys)


def with_unread_keys(data: Json, make: Callable[[Json], Imported]) -> Imported:
    """Make a prompt file of data, and name each key that was not read in a note of its own."""
    record = recorded(data)
    made = make(record)
    unread = dict.fromkeys(_unread(record, ""))
    notes = (f"{path}: has no place in a prompt file; it is left out." for path in unread)
    return replace(made, notes=tuple(dict.fromkeys((*made.notes, *notes))))


def _unread(value: Json, path: str) -> Iterator[str]:
    """Yield the dotted paths of keys that were not read; `[]` stands for any item of a list."""
    if isinstance(value, list):
        for item in value:
            yield from _unread(item, f"{path}[]")
    if not isinstance(value, Record):
        return
    for key, inner in dict.items(value):
        dotted = f"{path}.{key}" if path else key
        if key in value.read:
            yield from _unread(inner, dotted)
        elif key not in _SHAPES and inner not in (None, "", [], {}):
            yield dotted
