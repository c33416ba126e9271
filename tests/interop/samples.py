"""A value that a JSON schema accepts: the least of it, or with all that is optional."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from hypothesis import find, settings
from hypothesis import strategies as st

_FORMATS = {
    "date-time": "2026-07-28T12:00:00Z",
    "date": "2026-07-28",
    "email": "a@example.org",
    "uri": "https://example.org/a",
    "uri-reference": "/a",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uuid": "7f2c1a2e-5b1c-4c1e-9f0a-1b2c3d4e5f60",
    "hostname": "example.org",
    "time": "12:00:00Z",
    "byte": "YQ==",
    "duration": "P1D",
    "int-or-string": "1",
    "timestamp": "2026-07-28T12:00:00Z",
}
_DEEPEST = 6
_SAME = settings(database=None, deadline=None)


def sample(schema: Any, root: Mapping[str, Any], *, whole: bool, depth: int = 0) -> Any:
    """A value of a schema.

    Args:
        schema: the schema.
        root: what its references lead into.
        whole: whether what is optional is there too, down to a few levels.
        depth: how deep it stands already.
    """
    if not isinstance(schema, Mapping):
        return "x"
    schema = _merged(schema, root)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return next((each for each in schema["enum"] if each is not None), None)
    for word in ("oneOf", "anyOf"):
        if schema.get(word):
            beside = {key: value for key, value in schema.items() if key != word}
            chosen = next((each for each in schema[word] if each.get("type") != "null"), {})
            return sample(_joined(beside, _merged(chosen, root)), root, whole=whole, depth=depth)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), "null")
    if kind is None:
        kind = "object" if "properties" in schema else "array" if "items" in schema else "string"
    match kind:
        case "object":
            return _object(schema, root, whole=whole, depth=depth)
        case "array":
            count = max(schema.get("minItems", 0), 1 if whole and depth < _DEEPEST else 0)
            item = sample(schema.get("items", {}), root, whole=whole, depth=depth + 1)
            return [item] * count
        case "integer" | "number":
            return _number(schema)
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return _text(schema)


def _object(
    schema: Mapping[str, Any], root: Mapping[str, Any], *, whole: bool, depth: int
) -> dict[str, Any]:
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    wanted = [name for name in properties if name in required or (whole and depth < _DEEPEST)]
    made = {name: sample(properties[name], root, whole=whole, depth=depth + 1) for name in wanted}
    for name in required:
        made.setdefault(name, "x")
    more = schema.get("additionalProperties")
    for number in range(schema.get("minProperties", 0) - len(made)):
        left = [name for name in properties if name not in made]
        name = left[0] if left else f"key{number}"
        made[name] = sample(properties.get(name, more), root, whole=whole, depth=depth + 1)
    return made


def _number(schema: Mapping[str, Any]) -> int | float:
    least = schema.get("minimum", 1)
    if isinstance(schema.get("exclusiveMinimum"), int | float) and not isinstance(
        schema.get("exclusiveMinimum"), bool
    ):
        least = schema["exclusiveMinimum"] + 1
    least = min(least, schema.get("maximum", least))
    step = schema.get("multipleOf")
    return -(-least // step) * step if step else least


def _text(schema: Mapping[str, Any]) -> str:
    pattern = schema.get("pattern")
    if pattern:
        return find(st.from_regex(pattern), lambda _: True, settings=_SAME, random=Random(0))
    text = _FORMATS.get(schema.get("format", ""), "x")
    return text.ljust(schema.get("minLength", 0), "x")[: schema.get("maxLength", 10_000)]


def _merged(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema with references followed and `allOf` joined."""
    while "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        schema = _joined(rest, root.get("$defs", {}).get(name, {}))
    for each in schema.get("allOf", ()):
        rest = {key: value for key, value in schema.items() if key != "allOf"}
        schema = _joined(rest, _merged(each, root))
    return schema


def _joined(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    made = {**other, **one}
    for word in ("properties",):
        if word in one and word in other:
            made[word] = {**other[word], **one[word]}
    if "required" in one and "required" in other:
        made["required"] = [*one["required"], *other["required"]]
    return made
