"""Small operations on JSON schemas of arguments: inline references, tidy, combine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from studio.core.text.values import Json, JsonObject

_CONSTRAINTS = (
    "pattern", "enum", "const", "format", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems",
)  # fmt: skip
_MOST_NODES = 20_000
_NAMED_SCHEMAS = ("properties", "$defs", "definitions", "patternProperties")


def inline_references(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Put local `$defs` in the place of references to them.

    Providers and grammars treat references differently; without them, all see the same schema.
    Recursive definitions are kept, and all are where putting them in would make too much of it.
    """
    definitions: Mapping[str, Any] = schema.get("$defs", {})
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
        result = cast("dict[str, Any]", resolve(root, ()))
    except (OverflowError, RecursionError):
        result, kept = root, _referred_names(root)
    if kept:
        result["$defs"] = _reachable(kept, definitions)
    return result


def _reachable(names: set[str], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """The named definitions, and all that they refer to."""
    found: dict[str, Any] = {}
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


def _referred(node: Mapping[str, Any]) -> str:
    """The definition that a node refers to; empty where it refers to none."""
    reference = node.get("$ref")
    return reference.removeprefix("#/$defs/") if isinstance(reference, str) else ""


def without_titles(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Drop the titles that a generator made from names; a property called "title" stays."""
    return cast("dict[str, Any]", _without_titles(schema, names=False))


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


def with_constraints(declared: JsonObject, implementation: JsonObject) -> JsonObject:
    """The declared schema, with the implementation's constraints where it says none.

    A call is checked against the implementation anyway, so the model is told what would be refused.
    """
    own, other = _properties(declared), _properties(implementation)
    if not own or not other:
        return declared
    merged: dict[str, Json] = {
        name: {
            **schema,
            **{
                key: other[name][key]
                for key in _CONSTRAINTS
                if name in other and key in other[name] and key not in schema
            },
        }
        for name, schema in own.items()
    }
    return {**declared, "properties": merged}


def without_properties(schema: JsonObject, names: Sequence[str]) -> JsonObject:
    """The object schema without some properties, required or not (bindings, Prompty 2 §7.1.3)."""
    left = {name: value for name, value in _properties(schema).items() if name not in names}
    result: dict[str, Json] = {**schema, "properties": left}
    required = schema.get("required")
    if isinstance(required, Sequence) and not isinstance(required, str):
        still = [name for name in required if name not in names]
        if still:
            result["required"] = still
        else:
            result.pop("required")
    return result


def required_names(schema: JsonObject) -> tuple[str, ...]:
    """Names of the required properties."""
    required = schema.get("required")
    if not isinstance(required, Sequence) or isinstance(required, str):
        return ()
    return tuple(name for name in required if isinstance(name, str))


def _properties(schema: JsonObject) -> dict[str, Mapping[str, Json]]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return {}
    return {name: value if isinstance(value, Mapping) else {} for name, value in properties.items()}
