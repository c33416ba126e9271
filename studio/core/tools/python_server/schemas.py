"""Read the parameters of a function, and tidy schemas: references put in, titles dropped."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, cast

_MOST_NODES = 20_000
_NAMED_SCHEMAS = ("properties", "$defs", "definitions", "patternProperties")
_DEFINITIONS = "#/$defs/"


def inline_references(schema: Mapping[str, object]) -> dict[str, object]:
    """Put local `$defs` in the place of references to them.

    Providers and grammars treat references differently; without them, all see the same schema.
    Recursive definitions are kept, and all are where putting them in would make too much of it.
    """
    definitions = cast("Mapping[str, object]", schema.get("$defs", {}))
    kept: set[str] = set()
    nodes = 0

    def resolve(node: object, inside: tuple[str, ...]) -> object:
        nonlocal nodes
        nodes += 1
        if nodes > _MOST_NODES:
            raise OverflowError
        if isinstance(node, list):
            return [resolve(item, inside) for item in node]
        if not isinstance(node, dict):
            return node
        name = _referred(node)
        if name not in definitions:
            return {key: resolve(value, inside) for key, value in node.items()}
        if name in inside:
            kept.add(name)
            return node
        rest = {key: resolve(value, inside) for key, value in node.items() if key != "$ref"}
        target = resolve(definitions[name], (*inside, name))
        return {**target, **rest} if isinstance(target, dict) else target

    root = {key: value for key, value in schema.items() if key != "$defs"}
    try:
        result = cast("dict[str, object]", resolve(root, ()))
    except (OverflowError, RecursionError):
        result, kept = root, _referred_names(root)
    if kept:
        result["$defs"] = _reachable(kept, definitions)
    return result


def _reachable(names: set[str], definitions: Mapping[str, object]) -> dict[str, object]:
    """The named definitions, and all that they refer to."""
    found: dict[str, object] = {}
    waiting = sorted(names)
    while waiting:
        name = waiting.pop()
        if name in definitions and name not in found:
            found[name] = definitions[name]
            waiting += sorted(_referred_names(definitions[name]))
    return found


def _referred_names(node: object) -> set[str]:
    found: set[str] = set()
    waiting = [node]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            found.add(_referred(item))
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
    return found - {""}


def _referred(node: Mapping[str, object]) -> str:
    """The definition that a node refers to; empty where it refers to none."""
    reference = node.get("$ref")
    return (
        reference[len(_DEFINITIONS) :]
        if isinstance(reference, str) and reference.startswith(_DEFINITIONS)
        else ""
    )


def without_titles(schema: Mapping[str, object]) -> dict[str, object]:
    """Drop the titles that a generator made from names; a property called "title" stays."""
    return cast("dict[str, object]", _without_titles(schema, names=False))


def _without_titles(schema: object, *, names: bool) -> object:
    if isinstance(schema, list):
        return [_without_titles(item, names=False) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_titles(value, names=not names and key in _NAMED_SCHEMAS)
        for key, value in schema.items()
        if names or key != "title" or not isinstance(value, str)
    }


# Read the parameters of a function.

UNKNOWN: object = inspect.Parameter.empty
"""No annotation, or no default."""


@dataclass(frozen=True)
class TakenArgument:
    """One parameter of a function."""

    name: str
    """Its name."""

    annotation: object
    """Annotation of the parameter; `UNKNOWN` if there is none."""

    default: object
    """Default value; `UNKNOWN` if the argument is required."""

    description: str
    """Description for the model."""

    kind: object
    """Kind of the parameter, as in `inspect`."""

    @property
    def is_rest(self) -> bool:
        """Whether it is `*rest`."""
        return self.kind is inspect.Parameter.VAR_POSITIONAL

    @property
    def is_open(self) -> bool:
        """Whether it is `**more`."""
        return self.kind is inspect.Parameter.VAR_KEYWORD


class ArgumentReader(Protocol):
    """Knows the schema of a function's arguments, and converts them."""

    @property
    def schema(self) -> dict[str, object]:
        """JSON schema of all arguments."""
        ...

    def read(self, arguments: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
        """Arguments by parameter, those that were given, and those of `**more`.

        Raises:
            ValueError: an argument is missing, unknown or of the wrong type.
        """
        ...
