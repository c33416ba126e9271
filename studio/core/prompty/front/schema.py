"""The keys of the front matter: the single source of checks, completion, hover and schema.

Sources: Prompty 2 §2.3 – §2.9 and its TypeSpec model; docs/design/file-format.md; for
`metadata.agent` docs/design/agent-loop.md. `python -m studio.core.prompty.front.schema [FILE]`
writes the JSON schema for other editors.
"""

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from studio.core.paths import resource_table
from studio.core.prompty.front.declarations import INPUT_KINDS
from studio.core.text.values import Json, JsonDict, KeyPath

# The keys of files: every mapping with its keys, types and help, from a table.

_ROW = re.compile(
    r"(?P<types>[a-z]+(?: [a-z]+)*)(?: > (?P<shape>\w+)(?P<many>\[\]|\{\})?)?"
    r"(?:, (?P<choice>one of|such as) (?P<words>\S+(?: \S+)*))?  +(?P<help>.+)"
)


@dataclass(frozen=True, slots=True)
class Key:
    """The definition of a key of a mapping."""

    name: str
    """Name of the key."""

    help: str
    """Help of one or two sentences for hover and completion."""

    types: tuple[str, ...] = ("text",)
    """Types of the value: text, number, integer, boolean, list, mapping, any."""

    values: tuple[str, ...] = ()
    """Allowed words; empty for any value."""

    shape: str | None = None
    """Name in `SHAPES` of the mapping that it contains; None for none."""

    container: Literal["one", "named", "list"] = "one"
    """`one`: the value has that shape; `named`: a list of such mappings, or a mapping of them by
    name; `list`: a list of them.
    """

    closed: bool = False
    """Whether only `values` are valid."""


_CONTAINERS: Mapping[str | None, Literal["one", "named", "list"]] = MappingProxyType(
    {None: "one", "{}": "named", "[]": "list"}
)


def read_shapes(table: str, **words: tuple[str, ...]) -> Mapping[str, tuple[Key, ...]]:
    """Read the keys of every mapping of a kind of file, by the mapping's name.

    Args:
        table: Name of the table in `resources/schema`, which describes its own format.
        words: The lists of words that the table names with `@`.

    Raises:
        ValueError: A row of the table cannot be read.
    """
    return {
        shape: tuple(_key(name, rest, words) for name, rest in rows.items())
        for shape, rows in resource_table("schema", table).items()
    }


def _key(name: str, rest: str, words: Mapping[str, tuple[str, ...]]) -> Key:
    found = _ROW.fullmatch(rest)
    if found is None:
        raise ValueError(f"the key {name!r} cannot be read from {rest!r}")
    named = found["words"] or ""
    return Key(
        name,
        found["help"],
        tuple(found["types"].split()),
        words[named[1:]] if named.startswith("@") else tuple(named.split()),
        found["shape"],
        _CONTAINERS[found["many"]],
        closed=found["choice"] == "one of",
    )


SHAPES = read_shapes("prompty.keys", kinds=INPUT_KINDS)
"""The keys of each mapping of the front matter, by the name of its shape."""

OPEN_SHAPES = frozenset({"metadata", "connection"})
"""Mappings that can contain any further key."""

LEGACY_KEYS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "root": frozenset({"sample", "authors", "tags", "version", "base"}),
        "model": frozenset({"api", "configuration", "parameters", "response"}),
        "options": frozenset(
            """
            max_tokens max_completion_tokens top_p top_k frequency_penalty presence_penalty stop
            tools tool_choice response_format n logit_bias user logprobs parallel_tool_calls
        """.split()
        ),
        "property": frozenset({"type", "json_schema", "enum"}),
        "tool": frozenset({"function"}),
        "template": frozenset({"type", "strict", "content"}),
    }
)
"""Keys of Prompty 1, by their mapping."""


__all__ = [
    "INPUT_KINDS",
    "LEGACY_KEYS",
    "OPEN_SHAPES",
    "SHAPES",
    "Key",
    "is_open",
    "json_schema",
    "key_at",
    "keys_below",
    "values_at",
]

_JSON_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "text": "string",
        "number": "number",
        "integer": "integer",
        "boolean": "boolean",
        "list": "array",
        "mapping": "object",
    }
)


@dataclass(frozen=True, slots=True)
class _Place:
    """The target of a path: its last key and the shape of its value."""

    key: Key | None
    shape: str | None
    container: Literal["one", "named", "list"]


KeyShapes: TypeAlias = Mapping[str, tuple[Key, ...]]
"""The keys of each mapping of a kind of file, by the mapping's name; `root` is the file."""


def key_at(path: KeyPath, shapes: KeyShapes = SHAPES) -> Key | None:
    """Return the definition of the key at a path's end; None for unknown keys and free names."""
    place = _walk(path, shapes)
    return place.key if place else None


def keys_below(path: KeyPath, shapes: KeyShapes = SHAPES) -> tuple[Key, ...]:
    """Return the known keys of the mapping at a path; empty if its names are free."""
    place = _walk(path, shapes)
    if place is None or place.shape is None or place.container != "one":
        return ()
    return shapes[place.shape]


def values_at(path: KeyPath) -> tuple[str, ...]:
    """Return the allowed words for the value at a path; empty for any value."""
    key = key_at(path)
    return key.values if key else ()


def is_open(path: KeyPath) -> bool:
    """Return whether the mapping at a path can contain any key."""
    place = _walk(path)
    if place is None or place.shape is None:
        return True
    return place.container != "one" or place.shape in OPEN_SHAPES


def _walk(path: KeyPath, shapes: KeyShapes = SHAPES) -> _Place | None:
    place = _Place(None, "root", "one")
    for part in path:
        shape = place.shape
        if shape is None:
            return None
        if place.container != "one":
            place = _Place(None, shape, "one")
            continue
        key = next((key for key in shapes[shape] if key.name == part), None)
        if key is None:
            return None
        place = _Place(key, key.shape, key.container)
    return place


def json_schema(
    shapes: KeyShapes = SHAPES, title: str = "Front matter of a .prompty file"
) -> JsonDict:
    """Return the JSON schema of a kind of file (draft 2020-12)."""
    definitions: JsonDict = {
        name: _shape_schema(keys) for name, keys in shapes.items() if name != "root"
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **_shape_schema(shapes["root"]),
        "$defs": definitions,
    }


def _shape_schema(keys: tuple[Key, ...]) -> JsonDict:
    return {
        "type": "object",
        "properties": {key.name: _key_schema(key) for key in keys},
        "additionalProperties": True,
    }


def _key_schema(key: Key) -> JsonDict:
    choices: list[Json] = [_type_schema(key, kind) for kind in key.types if kind != "any"]
    schema: JsonDict = {"description": key.help}
    if len(choices) == 1 and isinstance(choices[0], Mapping):
        schema |= choices[0]
    elif choices:
        schema["anyOf"] = choices
    return schema


def _type_schema(key: Key, kind: str) -> JsonDict:
    schema: JsonDict = {"type": _JSON_TYPES[kind]}
    if kind == "text" and key.values:
        # An open list of words still completes in an editor, and allows `${env:…}` and other words.
        schema = {"anyOf": [{"enum": list(key.values)}, {"type": "string"}]}
    if key.shape is None:
        return schema
    inner: Json = {"$ref": f"#/$defs/{key.shape}"}
    if kind == "list":
        is_plain = key.container == "list" and "text" in key.types  # an item may be a text too
        schema["items"] = {"anyOf": [inner, {"type": "string"}]} if is_plain else inner
    elif kind == "mapping" and key.container == "one":
        return {"$ref": f"#/$defs/{key.shape}"}
    elif kind == "mapping":
        schema["additionalProperties"] = True
    return schema


def main(arguments: list[str]) -> int:
    """Write the schema to the given file, or to `resources/schema/prompty.schema.json`."""
    from studio.core.paths import resource

    target = Path(arguments[0]) if arguments else resource("schema", "prompty.schema.json")
    target.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(json_schema(), indent=2, ensure_ascii=False)
    target.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
