"""Tools in the shape of a request, as Prompty 2 declares them."""

from __future__ import annotations

from collections.abc import Mapping

from studio.core.prompty.front.declarations import kind_of_value, kind_of_word
from studio.core.text.values import Json, list_of


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


def declared_tool(item: Mapping[str, Json]) -> dict[str, Json]:
    """A tool of any of the shapes that people write, as Prompty 2 declares it.

    The keys that have the right shape stay as they are: name, kind, description, bindings, …
    """
    if isinstance(item.get("function"), Mapping):
        return function_tool(item)
    found: dict[str, Json] = {}
    for key, value in item.items():
        new = {"id": "name", "type": "kind"}.get(key, key)
        if new not in found and (new == key or new not in item):
            found[new] = value
    kind = found.get("kind")
    if kind is None and "connection" not in found:
        found["kind"] = "function"
    if found.get("kind") == "function" and "parameters" in found:
        found["parameters"] = _parameters(found["parameters"])
    return found


def _parameters(value: Json) -> Json:
    """Parameters as a list or mapping of properties, each with its kind."""
    if isinstance(value, Mapping) and (
        value.get("type") == "object"
        or isinstance(value.get("properties"), list | Mapping)
        or value == {}
    ):
        return list(properties_of_schema(value))
    if isinstance(value, Mapping):
        return {name: _property_of_schema(item, short=True) for name, item in value.items()}
    if isinstance(value, list):
        return [_named(item) for item in value]
    return value


def _named(item: Json) -> Json:
    if not isinstance(item, Mapping):
        return {"name": item, "kind": "string"} if isinstance(item, str) else item
    return {"name": item.get("name", ""), **_property_of_schema(item)}


def properties_of_schema(schema: Mapping[str, Json]) -> list[Json]:
    """The properties of a JSON schema of an object as Prompty 2 writes them."""
    names = list_of(schema.get("required"))
    properties = schema.get("properties")
    if isinstance(properties, list):  # Prompty 1's runtimes wrote them so, too
        return [_named(item) for item in properties]
    found: list[Json] = []
    for name, item in properties.items() if isinstance(properties, Mapping) else ():
        property_ = {"name": name, **_property_of_schema(item)}
        if name in names:
            property_["required"] = True
        found.append(property_)
    return found


_KEPT = ("description", "default", "sample", "example", "required", "nullable", "enumValues")
_FLAGS = ("required", "nullable")  # a JSON schema's `required` is a list, of another level


def _property_of_schema(item: Json, *, short: bool = False) -> dict[str, Json]:
    if not isinstance(item, Mapping):
        return {"kind": kind_of_value(item), "default": item} if short else {"kind": "string"}
    word = item.get("kind", item.get("type"))
    found: dict[str, Json] = {}
    if isinstance(word, list):  # JSON schema: a type, or null
        found["nullable"] = "null" in word
        word = next((each for each in word if each != "null"), "string")
    kind = kind_of_word(word) if isinstance(word, str) else "string"
    found = {"kind": kind, **({"nullable": True} if found.get("nullable") else {})}
    for key in _KEPT:
        if key in item and (key not in _FLAGS or isinstance(item[key], bool)):
            found[key] = item[key]
    if item.get("description") == "":
        del found["description"]
    if isinstance(item.get("enum"), list):
        found["enumValues"] = item["enum"]
    if kind == "object":
        found["properties"] = properties_of_schema(item)
    if kind == "array":
        found["items"] = _property_of_schema(item.get("items"))
    return found
