"""GBNF, llama.cpp's grammar language: literals, free text, and JSON of a schema.

Everything is an expression in one line; rules are named only by the grammar that uses them. The
shapes are fixed (one blank after a colon and a comma), because freedom in blanks is where tiny
models lose themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from studio.core.models.embedded.pattern import LONGEST, pattern_to_gbnf
from studio.core.text.values import Json, JsonObject

STRING_CHARACTER = r'[^"\\\x00-\x1f]'
"""A character that stands in a JSON string as itself."""

FIRST_CHARACTER = r"[^\x00-\x27\x29-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]"
"""A letter of any script, a digit, or an opening round bracket. A string that may start with any
character starts with one that is merged with the quote in the model's vocabulary (`".`, `"}`):
docs/design/embedded-model.md."""

NUMBER = '"-"? ("0" | [1-9] [0-9]{0,9})'
"""A whole number."""

DECIMAL = f'{NUMBER} ("." [0-9]{{1,6}})?'
"""A number."""

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_DEEPEST = 6
_MOST_ITEMS = 8


def literal(text: str) -> str:
    """The expression of exactly this text."""
    written = "".join(
        _ESCAPES.get(char) or (f"\\x{ord(char):02x}" if char < " " else char) for char in text
    )
    return f'"{written}"'


def json_literal(value: Json) -> str:
    """The expression of exactly this value, written as JSON."""
    return literal(json.dumps(value, ensure_ascii=False))


def in_string(text: str) -> str:
    """A text as it stands between the quotes of a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def one_of(expressions: Iterable[str]) -> str:
    """An expression of alternatives; a single one stands alone.

    Raises:
        ValueError: there is none; a grammar without a way on cannot be sampled.
    """
    ways = tuple(dict.fromkeys(expressions))
    if not ways:
        raise ValueError("alternatives need at least one expression")
    return ways[0] if len(ways) == 1 else "(" + " | ".join(ways) + ")"


def free_string(longest: int = LONGEST) -> str:
    """A JSON string of free, bounded text, quotes included."""
    return f'"\\"" {FIRST_CHARACTER} {STRING_CHARACTER}{{0,{longest - 1}}} "\\""'


def schema_expression(schema: JsonObject, depth: int = 0) -> str:
    """JSON that a schema allows; what the schema says beyond this subset is left free.

    Understood: `const`, `enum`, `anyOf`/`oneOf`, `type` (also lists of types), `pattern`,
    `minLength`/`maxLength`, `properties` and `required`, `items`, `minItems`/`maxItems`.
    """
    if "const" in schema:
        return json_literal(schema["const"])
    choices = schema.get("enum")
    if isinstance(choices, Sequence) and choices and not isinstance(choices, str):
        return one_of(json_literal(choice) for choice in choices)
    for key in ("anyOf", "oneOf"):
        branches = schema.get(key)
        if isinstance(branches, Sequence) and branches and not isinstance(branches, str):
            return one_of(
                schema_expression(branch, depth)
                for branch in branches
                if isinstance(branch, Mapping)
            )
    kind = schema.get("type", "object" if "properties" in schema else None)
    if isinstance(kind, Sequence) and not isinstance(kind, str):
        return one_of(schema_expression({**schema, "type": each}, depth) for each in kind)
    return _typed(kind, schema, depth)


def object_expression(members: Sequence[tuple[str, str, bool]]) -> str:
    """A JSON object.

    Args:
        members: name, expression of the value, and whether it is required; required ones come
            first in the text, each group in the given order.
    """
    required = [_member(name, value) for name, value, needed in members if needed]
    optional = [_member(name, value) for name, value, needed in members if not needed]
    tails = [f'(", " {member})?' for member in optional]
    if required:
        inside = ' ", " '.join(required) + (" " + " ".join(tails) if tails else "")
        return f'"{{" {inside} "}}"'
    if not optional:
        return '"{}"'
    ways = [" ".join([member, *tails[index + 1 :]]) for index, member in enumerate(optional)]
    return f'"{{" ({" | ".join(ways)})? "}}"'


def _typed(kind: object, schema: JsonObject, depth: int) -> str:
    match kind:
        case "string":
            return _string(schema)
        case "integer":
            return NUMBER
        case "number":
            return DECIMAL
        case "boolean":
            return '("true" | "false")'
        case "null":
            return '"null"'
        case "array":
            return _array(schema, depth)
        case "object":
            return _object(schema, depth)
        case _:
            return one_of((free_string(), DECIMAL, '"true"', '"false"', '"null"'))


def _string(schema: JsonObject) -> str:
    pattern = schema.get("pattern")
    inside = pattern_to_gbnf(pattern) if isinstance(pattern, str) else None
    if inside is not None:
        return f'"\\"" {inside} "\\""'
    least, most = schema.get("minLength", 1), schema.get("maxLength", LONGEST)
    least = least if isinstance(least, int) and least >= 0 else 1
    most = most if isinstance(most, int) and most > 0 else LONGEST
    most = max(least, min(most, 4 * LONGEST), 1)
    rest = f"{STRING_CHARACTER}{{{max(0, least - 1)},{most - 1}}}"
    return f'"\\"" {FIRST_CHARACTER} {rest} "\\""'


def _array(schema: JsonObject, depth: int) -> str:
    items = schema.get("items")
    if depth >= _DEEPEST:
        return '"[]"'
    item = schema_expression(items if isinstance(items, Mapping) else {}, depth + 1)
    least, most = schema.get("minItems", 0), schema.get("maxItems", _MOST_ITEMS)
    least = least if isinstance(least, int) and least >= 0 else 0
    most = max(1, least, most if isinstance(most, int) else _MOST_ITEMS)
    most = max(least, min(most, _MOST_ITEMS))
    filled = f'"[" {item} (", " {item}){{{max(0, least - 1)},{most - 1}}} "]"'
    return filled if least else one_of(('"[]"', filled))


def _object(schema: JsonObject, depth: int) -> str:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or depth >= _DEEPEST:
        return '"{}"'
    required = schema.get("required")
    needed = set(required) if isinstance(required, Sequence) else set()
    return object_expression(
        [
            (
                name,
                schema_expression(each if isinstance(each, Mapping) else {}, depth + 1),
                name in needed,
            )
            for name, each in properties.items()
        ]
    )


def _member(name: str, value: str) -> str:
    return f"{json_literal(name)} {literal(': ')} {value}"
