"""Read declarations of inputs, outputs and parameters from plain values."""

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from studio.core.prompty.document import InputDeclaration
from studio.core.prompty.yaml.tree import Places
from studio.core.text.values import Json, JsonDict, JsonObject, KeyPath, list_of

INPUT_KINDS = tuple(
    """
    string integer float boolean array object union thread image file audio
""".split()
)
"""Kinds of Prompty 2 §2.4."""

RICH_KINDS = frozenset({"thread", "image", "file", "audio"})
"""Kinds whose value is no text: it becomes messages or parts (§2.4, §5.3)."""

LEGACY_KINDS = {
    "number": "float",
    "double": "float",
    "decimal": "float",
    "list": "array",
    "tuple": "array",
    "dict": "object",
    "map": "object",
    "bool": "boolean",
    "str": "string",
    "text": "string",
    "int": "integer",
    "long": "integer",
}
"""Prompty 1's words for types, and those of Python and promptflow, with Prompty 2's kinds."""


def kind_of_word(word: str) -> str:
    """Return the kind for the name of a type, in any case; the word itself if it is unknown.

    The parameters of a generic type are ignored: `List[str]` is an array.
    """
    plain = word.split("[", maxsplit=1)[0].split("<", maxsplit=1)[0].strip().lower()
    kind = LEGACY_KINDS.get(plain, plain)
    return kind if kind in INPUT_KINDS else word


def read_declarations(
    value: Json, places: Places | None = None, path: KeyPath = (), depth: int = 0
) -> tuple[InputDeclaration, ...]:
    """Read the declarations in a list of properties, or in a mapping of properties by name.

    Args:
        value: The value in front matter; other types have no declarations.
        places: Spans of the keys.
        path: The path of `value`.
        depth: Number of enclosing levels, for the limit on nesting.
    """
    places = places or Places()
    if depth > 32:
        return ()
    if isinstance(value, Mapping):
        inner = value.get("properties")
        if isinstance(inner, Mapping | list) and set(value) <= {"properties", "strict", "examples"}:
            return read_declarations(inner, places, (*path, "properties"), depth)
        return tuple(
            _read_one(str(name), item, places, (*path, name), depth) for name, item in value.items()
        )
    if isinstance(value, list):
        return tuple(
            _read_one(_name_of(item), item, places, (*path, index), depth)
            for index, item in enumerate(value)
        )
    return ()


_PROPERTY_KEYS = frozenset(
    """
    name kind type description required nullable default sample example enumValues enum items
    properties oneOf anyOf strict json_schema
""".split()
)


def is_declaration(item: Json) -> TypeGuard[JsonObject]:
    """Return whether a mapping declares a property; otherwise it is a default (Prompty 2 §2.7)."""
    return isinstance(item, Mapping) and (not item or not _PROPERTY_KEYS.isdisjoint(item))


def kind_of_value(value: Json) -> str:
    """Return the kind of a plain value (Prompty 2 §2.7: boolean before integer)."""
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "float"
        case Mapping():
            return "object"
        case str() | None:
            return "string"
        case _:
            return "array"


def _name_of(item: Json) -> str:
    name = item.get("name") if isinstance(item, Mapping) else None
    return name if isinstance(name, str) else "" if name is None else str(name)


def _read_one(name: str, item: Json, places: Places, path: KeyPath, depth: int) -> InputDeclaration:
    span = places.whole(*path)
    name_span = places.key(*path) if isinstance(path[-1], str) else places.value(*path, "name")
    if not is_declaration(item):
        has_default = item is not None
        return InputDeclaration(
            name,
            kind_of_value(item),
            default=item,
            has_default=has_default,
            span=span,
            name_span=name_span,
        )
    properties = item.get("properties")
    sample_key = "sample" if "sample" in item else "example"
    enum = item.get("enumValues", item.get("enum"))
    inner_path = (*path, "items")
    return InputDeclaration(
        name,
        _kind(item),
        written_text(item.get("description")),
        item.get("required") is True,
        item.get("default"),
        "default" in item,
        item.get(sample_key),
        sample_key in item,
        tuple(enum) if isinstance(enum, list) else (),
        read_declarations(properties, places, (*path, "properties"), depth + 1),
        _read_items(item.get("items"), places, inner_path, depth),
        _read_variants(item, places, path, depth),
        item.get("nullable") is True,
        span,
        name_span,
    )


def _kind(item: JsonObject) -> str:
    """Return `kind`, or Prompty 1's `type`; without either the kind of the values."""
    for key in ("kind", "type"):
        kind = item.get(key)
        if isinstance(kind, str) and kind:
            return kind_of_word(kind)
    for key in ("default", "sample", "example"):
        if item.get(key) is not None:
            return kind_of_value(item[key])
    return "union" if "oneOf" in item or "anyOf" in item else "string"


def _read_items(value: Json, places: Places, path: KeyPath, depth: int) -> InputDeclaration | None:
    if depth > 32:
        return None
    if isinstance(value, Mapping):
        return _read_one(_name_of(value), value, places, path, depth + 1)
    if isinstance(value, str):
        return InputDeclaration("", kind_of_word(value), span=places.value(*path))
    return None


def _read_variants(
    item: JsonObject, places: Places, path: KeyPath, depth: int
) -> tuple[InputDeclaration, ...]:
    for key in ("oneOf", "anyOf"):
        value = item.get(key)
        if isinstance(value, list):
            return read_declarations(value, places, (*path, key), depth + 1)
    return ()


def written_text(value: Json) -> str:
    """Return a scalar as text; null as an empty one."""
    return value if isinstance(value, str) else "" if value is None else str(value)


# --- JSON schema -----------------------------------------------------------------------------


def object_schema(
    declarations: Sequence[InputDeclaration], leave_out: frozenset[str] = frozenset()
) -> JsonDict:
    """Return the JSON schema of an object with these properties, as for tools and outputs.

    Args:
        declarations: The properties.
        leave_out: Names to omit (bound parameters, §2.9.1).
    """
    shown = [item for item in declarations if item.name and item.name not in leave_out]
    schema: JsonDict = {
        "type": "object",
        "properties": {item.name: property_schema(item) for item in shown},
    }
    required = [item.name for item in shown if item.required]
    if required:
        schema["required"] = required
    return schema


def output_schema(outputs: Sequence[InputDeclaration]) -> JsonObject | None:
    """Return the JSON schema of the declared outputs; None without outputs.

    Runs, previews, the request command and exports all use this schema. Properties that are not
    required may be missing; each form of request then adapts it to its provider (`wire.schema`:
    OpenAI requires all properties and allows null for optional ones, §7.1.6).
    """
    return object_schema(outputs) if outputs else None


_JSON_TYPES = {
    "string": "string",
    "integer": "integer",
    "float": "number",
    "number": "number",
    "boolean": "boolean",
    "array": "array",
    "object": "object",
}


def property_schema(declaration: InputDeclaration) -> JsonDict:
    """Return the JSON schema of one property (§7.1.5); an unknown kind allows anything."""
    schema: JsonDict = {}
    json_type = _JSON_TYPES.get(declaration.kind)
    if declaration.kind == "object" and declaration.properties:
        schema = object_schema(declaration.properties)
    elif json_type is not None:
        schema["type"] = json_type
    if declaration.kind == "array":
        item = declaration.items
        schema["items"] = property_schema(item) if item else {"type": "string"}
    if declaration.variants:
        schema["anyOf"] = [property_schema(item) for item in declaration.variants]
    if declaration.description:
        schema["description"] = declaration.description
    if declaration.enum:
        schema["enum"] = list(declaration.enum)
    if declaration.nullable:
        _allow_null(schema)
    return schema


def _allow_null(schema: JsonDict) -> None:
    if isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
    elif isinstance(schema.get("anyOf"), list):
        schema["anyOf"] = [*list_of(schema["anyOf"]), {"type": "null"}]
    if isinstance(schema.get("enum"), list) and None not in list_of(schema["enum"]):
        schema["enum"] = [*list_of(schema["enum"]), None]


# Tools in a request's form, converted to Prompty 2's declarations.


def function_tool(item: JsonObject) -> JsonDict:
    """Return a tool in a request's form as a Prompty 2 function tool."""
    inner = item.get("function")
    function = inner if isinstance(inner, Mapping) else item
    found: JsonDict = {"name": function.get("name", ""), "kind": "function"}
    if function.get("description"):
        found["description"] = function["description"]
    if function.get("strict") is True:
        found["strict"] = True
    parameters = function.get("parameters")
    if isinstance(parameters, Mapping):
        found["parameters"] = properties_of_schema(parameters)
    return found


def declared_tool(item: JsonObject) -> JsonDict:
    """Return a tool in any usual form as Prompty 2's declaration.

    Keys that are valid already stay unchanged: name, kind, description, bindings, …
    """
    if isinstance(item.get("function"), Mapping):
        return function_tool(item)
    found: JsonDict = {}
    for key, value in item.items():
        new = {"id": "name", "type": "kind"}.get(key, key)
        if new not in found and (new == key or new not in item):
            found[new] = value
    if found.get("kind") is None and "connection" not in found:
        found["kind"] = "function"
    if found.get("kind") == "function" and "parameters" in found:
        found["parameters"] = _parameters(found["parameters"])
    return found


def _parameters(value: Json) -> Json:
    """Return parameters as a list or mapping of properties, each with its kind."""
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


def properties_of_schema(schema: JsonObject) -> list[Json]:
    """Return the properties of an object's JSON schema in Prompty 2's form."""
    names = list_of(schema.get("required"))
    properties = schema.get("properties")
    if isinstance(properties, list):  # Prompty 1's runtimes wrote this form too
        return [_named(item) for item in properties]
    found: list[Json] = []
    for name, item in properties.items() if isinstance(properties, Mapping) else ():
        property_ = {"name": name, **_property_of_schema(item)}
        if name in names:
            property_["required"] = True
        found.append(property_)
    return found


_KEPT = ("description", "default", "sample", "example", "required", "nullable", "enumValues")
_FLAGS = ("required", "nullable")  # a JSON schema's `required` is a list, on another level


def _property_of_schema(item: Json, *, short: bool = False) -> JsonDict:
    if not isinstance(item, Mapping):
        return {"kind": kind_of_value(item), "default": item} if short else {"kind": "string"}
    word = item.get("kind", item.get("type"))
    found: JsonDict = {}
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
