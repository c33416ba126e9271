"""Tools in the shape of a request, as Prompty 2 declares them."""

from __future__ import annotations

from collections.abc import Mapping

from studio.core.prompty.front.declarations import LEGACY_KINDS
from studio.core.text.values import Json


def function_tool(item: Mapping[str, Json]) -> dict[str, Json]:
    """A tool in the shape of a request as a Prompty 2 function tool."""
    inner = item.get("function")
    function = inner if isinstance(inner, Mapping) else item
    found: dict[str, Json] = {"name": function.get("name", ""), "kind": "function"}
    if function.get("description"):
        found["description"] = function["description"]
    if function.get("strict") is True:
        found["strict"] = True
    parameters = function.get("parameters")
    if isinstance(parameters, Mapping):
        found["parameters"] = properties_of_schema(parameters)
    return found


def properties_of_schema(schema: Mapping[str, Json]) -> list[Json]:
    """The properties of a JSON schema of an object as Prompty 2 writes them."""
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    properties = schema.get("properties")
    found: list[Json] = []
    for name, item in properties.items() if isinstance(properties, Mapping) else ():
        property_ = {"name": name, **_property_of_schema(item)}
        if name in names:
            property_["required"] = True
        found.append(property_)
    return found


def _property_of_schema(item: Json) -> dict[str, Json]:
    if not isinstance(item, Mapping):
        return {"kind": "string"}
    word = item.get("type")
    kind = LEGACY_KINDS.get(word, word) if isinstance(word, str) else "string"
    found: dict[str, Json] = {"kind": kind}
    if item.get("description"):
        found["description"] = item["description"]
    if isinstance(item.get("enum"), list):
        found["enumValues"] = item["enum"]
    if kind == "object":
        found["properties"] = properties_of_schema(item)
    if kind == "array":
        found["items"] = _property_of_schema(item.get("items"))
    return found
