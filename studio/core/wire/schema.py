"""JSON schemas as providers enforce them."""

import json
from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from studio.core.prompty.document import ToolSpec
from studio.core.text.values import Json, JsonDict, JsonObject, object_of

_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_MAPS = ("$defs", "definitions")

_STRICT_WORDS = frozenset(
    {
        *("type", "enum", "const", "anyOf", "$ref", "$defs", "title", "description", "properties"),
        *("required", "additionalProperties", "items", "pattern", "format", "multipleOf"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"),
    }
)
"""Keywords of OpenAI's strict mode (Structured Outputs, "Supported schemas")."""

_STRICT_FORMATS = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
)
_MOST_MERGES = 30

_Form: TypeAlias = Literal["strict", "closed", "answer"]


def sent_parameters(tool: ToolSpec) -> JsonObject:
    """Return a tool's schema without bound parameters (Prompty spec §2.9.1)."""
    schema = tool.parameters
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping) or not tool.bindings.keys() & properties.keys():
        return schema
    sent: JsonDict = dict(schema)
    sent["properties"] = {
        name: item for name, item in properties.items() if name not in tool.bindings
    }
    if isinstance(required, list | tuple):
        sent["required"] = [name for name in required if name not in tool.bindings]
    return sent


def strict_schema(schema: JsonObject) -> JsonDict:
    """Return the schema for OpenAI's strict mode (Prompty spec §7.1.4, §7.1.6).

    At every depth, all properties are required, optional ones may be null, and no object allows
    further properties. Unsupported keywords are described in the description.
    """
    definitions = {**_named(schema, "definitions"), **_named(schema, "$defs")}
    return _closed(_in_strict_words(schema, definitions), "strict")


def _in_strict_words(schema: JsonObject, definitions: JsonObject) -> JsonDict:
    """Return a schema with only the keywords of strict mode, at every depth."""
    schema = _merged(schema, definitions)
    made = {key: value for key, value in schema.items() if key in _STRICT_WORDS}
    branches = schema.get("oneOf")
    if isinstance(branches, list | tuple) and "anyOf" not in made:
        made["anyOf"] = branches
    if definitions and ("$defs" in schema or "definitions" in schema):
        made["$defs"] = definitions
    for key in ("properties", "$defs"):
        if key in made:
            parts = _named(made, key).items()
            made[key] = {name: _strict_part(item, definitions) for name, item in parts}
    for key in ("anyOf", "items"):
        if isinstance(made.get(key), list | tuple):
            made[key] = [_strict_part(item, definitions) for item in made[key]]  # type: ignore[union-attr]
        elif key in made:
            made[key] = _strict_part(made[key], definitions)
    told = "; ".join(_untold(schema, made))
    if told:
        made["description"] = f"{made.get('description') or ''} ({told})".strip()
    return made


def _strict_part(schema: Json, definitions: JsonObject) -> Json:
    if not isinstance(schema, Mapping):
        return {} if schema is True else schema
    reference = schema.get("$ref")
    if isinstance(reference, str):  # no other keyword is allowed beside it
        return {"$ref": reference.replace("#/definitions/", "#/$defs/")}
    return _in_strict_words(schema, definitions)


def _untold(schema: JsonObject, made: JsonDict) -> Iterator[str]:
    """Yield the unsupported keywords of a schema as words for its description."""
    if made.get("format") not in (None, *_STRICT_FORMATS):
        yield f"format: {made.pop('format')}"
    for key, value in schema.items():
        if key not in (*_STRICT_WORDS, "oneOf", "allOf", "definitions") and key[:1] != "$":
            yield f"{key}: {json.dumps(value, ensure_ascii=False)}"


def _merged(schema: JsonObject, definitions: JsonObject, steps: int = 0) -> JsonObject:
    """Return a schema with its `allOf` merged, which strict mode does not support."""
    parts = schema.get("allOf")
    if not isinstance(parts, list | tuple) or steps > _MOST_MERGES:
        return schema
    whole: JsonDict = {key: value for key, value in schema.items() if key != "allOf"}
    for part in parts:
        found = part if isinstance(part, Mapping) else {}
        reference = found.get("$ref")
        if isinstance(reference, str):
            found = object_of(definitions.get(reference.rpartition("/")[2]))
        found = _merged(found, definitions, steps + 1)
        required = (*_texts(whole.get("required")), *_texts(found.get("required")))
        own = _named(whole, "properties")
        properties = {**own, **_named(found, "properties"), **own}
        whole = {**found, **whole}
        if properties:
            whole |= {"type": "object", "properties": properties, "required": [*required]}
    return whole


def _named(schema: JsonObject, key: str) -> JsonObject:
    return object_of(schema.get(key))


def _texts(value: Json) -> tuple[Json, ...]:
    return tuple(value) if isinstance(value, list | tuple) else ()


def closed_schema(schema: JsonObject) -> JsonDict:
    """Return the schema with no object allowing further properties, as Anthropic requires."""
    return _closed(schema, "closed")


def answer_schema(schema: JsonObject) -> JsonDict:
    """Return the schema for checking an answer, whichever form its provider got.

    Optional properties may be missing, as in the closed form, or null, as in the strict one.
    """
    return _closed(schema, "answer")


def _closed(schema: JsonObject, form: _Form) -> JsonDict:
    made: JsonDict = dict(schema)
    if _is_object(schema):
        own = object_of(schema.get("properties"))
        required = schema.get("required")
        needed = list(required) if isinstance(required, list | tuple) else []
        made["properties"] = {
            name: _property(item, form, optional=form != "closed" and name not in needed)
            for name, item in own.items()
        }
        if form == "strict" and own:
            made["required"] = list(own)
        made["additionalProperties"] = False
    items = schema.get("items")
    if isinstance(items, Mapping):
        made["items"] = _closed(items, form)
    for key in _LISTS:
        branches = schema.get(key)
        if isinstance(branches, list | tuple):
            made[key] = [_property(item, form, optional=False) for item in branches]
    for key in _MAPS:
        named = schema.get(key)
        if isinstance(named, Mapping):
            made[key] = {
                name: _property(item, form, optional=False) for name, item in named.items()
            }
    return made


def _is_object(schema: JsonObject) -> bool:
    kind = schema.get("type")
    return kind == "object" or (isinstance(kind, list | tuple) and "object" in kind)


def _property(schema: Json, form: _Form, *, optional: bool) -> Json:
    if not isinstance(schema, Mapping):
        return schema
    made = _closed(schema, form)
    if optional:
        _allow_null(made)
    return made


def _allow_null(schema: JsonDict) -> None:
    kind, branches, values = schema.get("type"), schema.get("anyOf"), schema.get("enum")
    if isinstance(kind, str):
        if kind != "null":
            schema["type"] = [kind, "null"]
    elif isinstance(kind, list | tuple):
        schema["type"] = [*kind, *([] if "null" in kind else ["null"])]
    elif isinstance(branches, list | tuple):
        if {"type": "null"} not in branches:
            schema["anyOf"] = [*branches, {"type": "null"}]
    elif schema:
        inner = dict(schema)
        schema.clear()
        schema["anyOf"] = [inner, {"type": "null"}]
        return
    if isinstance(values, list | tuple) and None not in values:
        schema["enum"] = [*values, None]
