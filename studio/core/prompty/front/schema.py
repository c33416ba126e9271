"""The keys of the front matter: the one definition behind checks, completion, hover and schema.

Sources: Prompty 2 §2.3 – §2.9 and its TypeSpec model; docs/design/file-format.md; for
`metadata.agent` docs/design/agent-loop.md.
Run as `python -m studio.core.prompty.front.schema [FILE]` it writes the JSON schema for other
editors.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from studio.core.prompty.front.declarations import INPUT_KINDS
from studio.core.prompty.front.schema_shapes import LEGACY_KEYS, OPEN_SHAPES, SHAPES, Key
from studio.core.text.values import Json

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


def key_at(path: tuple[str | int, ...], shapes: KeyShapes = SHAPES) -> Key | None:
    """The definition of the key that a path ends at; None for an unknown key or a free name."""
    place = _walk(path, shapes)
    return place.key if place else None


def keys_below(path: tuple[str | int, ...], shapes: KeyShapes = SHAPES) -> tuple[Key, ...]:
    """Return the known keys of the mapping at a path; none if names are free."""
    place = _walk(path, shapes)
    if place is None or place.shape is None or place.container != "one":
        return ()
    return shapes[place.shape]


def values_at(path: tuple[str | int, ...]) -> tuple[str, ...]:
    """The words that the value at a path is chosen from; none where it is free."""
    key = key_at(path)
    return key.values if key else ()


def is_open(path: tuple[str | int, ...]) -> bool:
    """Whether the mapping at a path may hold any key."""
    place = _walk(path)
    if place is None or place.shape is None:
        return True
    return place.container != "one" or place.shape in OPEN_SHAPES


def _walk(path: tuple[str | int, ...], shapes: KeyShapes = SHAPES) -> _Place | None:
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
) -> dict[str, Json]:
    """The JSON schema of a kind of file (draft 2020-12)."""
    definitions: dict[str, Json] = {
        name: _shape_schema(keys) for name, keys in shapes.items() if name != "root"
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **_shape_schema(shapes["root"]),
        "$defs": definitions,
    }


def _shape_schema(keys: tuple[Key, ...]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": {key.name: _key_schema(key) for key in keys},
        "additionalProperties": True,
    }


def _key_schema(key: Key) -> dict[str, Json]:
    choices: list[Json] = [_type_schema(key, kind) for kind in key.types if kind != "any"]
    schema: dict[str, Json] = {"description": key.help}
    if len(choices) == 1 and isinstance(choices[0], Mapping):
        schema |= choices[0]
    elif choices:
        schema["anyOf"] = choices
    return schema


def _type_schema(key: Key, kind: str) -> dict[str, Json]:
    schema: dict[str, Json] = {"type": _JSON_TYPES[kind]}
    if kind == "text" and key.values:
        # An open choice still completes in an editor, and accepts `${env:…}` and other words.
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
    """Write the schema to the named file, or to `resources/schema/prompty.schema.json`."""
    from studio.core.paths import resource

    target = Path(arguments[0]) if arguments else resource("schema", "prompty.schema.json")
    target.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(json_schema(), indent=2, ensure_ascii=False)
    target.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
