"""Large YAML as plain values, without places: made straight from libyaml's events.

PyYAML builds a tree of nodes first and values from it, which takes twice as long; a description of
an API has half a million of them. Scalars are read as `reader.py` reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import yaml

from studio.core.prompty.yaml.reader import plain_scalar
from studio.core.text.values import Json

MOST_NODES = 10_000_000
"""Values that are read, aliases counted with all that they stand for."""

_DEEPEST = 200
_REPORTED_DEPTH = 3  # after each key of these levels it is told how far the reading is
_MERGE = "<<"


class YamlTextError(ValueError):
    """Text that is not YAML, or beyond a bound; says what and where."""


def read_plain_yaml(text: str, reached: Callable[[int], None] = lambda done: None) -> Json:
    """The value of one YAML document.

    Args:
        text: the document.
        reached: is told now and then how many characters are read; what it raises ends it.

    Raises:
        YamlTextError: it is none, or too deep or large.
    """
    try:
        return _Values(text, reached).read()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}: " if mark is not None else ""
        raise YamlTextError(f"{place}{error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise YamlTextError(str(error)) from error


class _Values:
    """Builds the values of one text."""

    def __init__(self, text: str, reached: Callable[[int], None]) -> None:
        self._reached = reached
        self._events = yaml.parse(text, Loader=yaml.CSafeLoader)
        self._anchors: dict[str, tuple[Json, int]] = {}
        self._scalars: dict[str, Json] = {}
        self._nodes = 0

    def read(self) -> Json:
        """The first document's value; None for an empty text."""
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                value = self._value(next(self._events), 0)
                for rest in self._events:  # what follows must be YAML, too
                    if isinstance(rest, yaml.DocumentStartEvent):
                        break
                return value
        return None

    def _value(self, event: Any, depth: int) -> Json:  # noqa: ANN401 - yaml has no types
        kind = type(event)
        self._count(1)
        if kind is yaml.ScalarEvent:
            value = self._scalar(event)
            if event.anchor:
                self._anchors[event.anchor] = (value, 1)
            return value
        if kind is yaml.AliasEvent:
            if event.anchor not in self._anchors:
                line = event.start_mark.line + 1
                raise YamlTextError(f"line {line}: nothing is named {event.anchor!r} before it")
            value, size = self._anchors[event.anchor]
            self._count(size)
            return value
        if depth >= _DEEPEST:
            line = event.start_mark.line + 1
            raise YamlTextError(f"line {line}: it is nested more than {_DEEPEST} levels deep")
        before = self._nodes
        made: Json = (
            self._mapping(depth) if kind is yaml.MappingStartEvent else self._sequence(depth)
        )
        if event.anchor:
            self._anchors[event.anchor] = (made, self._nodes - before + 1)
        return made

    def _count(self, number: int) -> None:
        self._nodes += number
        if self._nodes > MOST_NODES:
            raise YamlTextError(f"it stands for more than {MOST_NODES:,} values")

    def _scalar(self, event: Any) -> Json:  # noqa: ANN401 - yaml has no types
        text: str = event.value
        tag = event.tag
        if tag is None or tag == "!":
            if not event.implicit[0]:
                return text
            found = self._scalars.get(text, self)
            if found is self:
                found = self._scalars[text] = plain_scalar(text)
            return found  # type: ignore[return-value]
        return text if tag.endswith(":str") else plain_scalar(text)

    def _sequence(self, depth: int) -> list[Json]:
        items: list[Json] = []
        for event in self._events:
            if type(event) is yaml.SequenceEndEvent:
                break
            items.append(self._value(event, depth + 1))
        return items

    def _mapping(self, depth: int) -> dict[str, Json]:
        made: dict[str, Json] = {}
        merged: list[Json] = []
        for event in self._events:
            if type(event) is yaml.MappingEndEvent:
                break
            if depth < _REPORTED_DEPTH and event.start_mark is not None:
                self._reached(event.start_mark.index)
            key = self._value(event, depth + 1)
            value = self._value(next(self._events), depth + 1)
            if key == _MERGE and type(event) is yaml.ScalarEvent and event.implicit[0]:
                merged += value if isinstance(value, list) else [value]
            else:
                made[event.value if type(event) is yaml.ScalarEvent else str(key)] = value
        for other in merged:
            if isinstance(other, dict):
                made = {**other, **made}
        return made
