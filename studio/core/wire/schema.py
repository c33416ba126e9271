"""JSON schemas as providers enforce them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json, JsonObject

_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_MAPS = ("$defs", "definitions")

_Form: TypeAlias = Literal["strict", "closed", "answer"]


def sent_parameters(tool: ToolSpec) -> JsonObject:
    """A tool's schema without bound parameters, whoever made the tool (Prompty spec §2.9.1)."""
    schema = tool.parameters
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping) or not tool.bindings.keys() & properties.keys():
        return schema
    sent: dict[str, Json] = dict(schema)
    sent["properties"] = {
        name: item for name, item in properties.items() if name not in tool.bindings
    }
    if isinstance(required, list | tuple):
        sent["required"] = [name for name in required if name not in tool.bindings]
    return sent


def strict_schema(schema: JsonObject) -> dict[str, Json]:
    """The schema for OpenAI's strict mode (Prompty spec §7.1.4, §7.1.6).

    Every property is required and what was optional may be null instead, at every depth; no object
    takes further properties.
    """
    return _closed(schema, "strict")


def closed_schema(schema: JsonObject) -> dict[str, Json]:
    """The schema with no object taking further properties, as Anthropic wants it."""
    return _closed(schema, "closed")


def answer_schema(schema: JsonObject) -> dict[str, Json]:
    """The schema that an answer is checked with, whichever of the two forms its provider got.

    What is optional may be missing, as in the closed form, or null, as in the strict one.
    """
    return _closed(schema, "answer")


def _closed(schema: JsonObject, form: _Form) -> dict[str, Json]:
    made: dict[str, Json] = dict(schema)
    if _is_object(schema):
        properties = schema.get("properties")
        own = properties if isinstance(properties, Mapping) else {}
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


def _allow_null(schema: dict[str, Json]) -> None:
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
