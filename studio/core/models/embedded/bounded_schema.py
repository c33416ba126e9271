"""The part of a JSON schema that the embedded model is held to, with a bound on everything.

A tiny model that may go on does, and a string that may begin with any character begins with one
that the vocabulary merges with the quote (docs/design/embedded-model.md). The server leaves a
grammar that it cannot read without a word, so what it may not understand is never sent.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

from studio.core.text.values import JsonObject

FIRST_CHARACTER = r"[^\x00-\x27\x29-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]"
"""A letter of any script, a digit, or an opening round bracket."""

STRING_CHARACTER = r'[^"\\\x00-\x1f]'
"""Pattern of an unescaped character in a JSON string."""

_LONGEST = 80
_LONGEST_ASKED = 4 * _LONGEST
_DEEPEST = 6
_MOST_ITEMS = 8
_LARGEST = 9_999_999_999
_DECIMALS = 0.000001
_NUMBER_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def bounded(schema: JsonObject, depth: int = 0) -> JsonObject:
    """Return a schema that allows only values of the given one, as far as it is understood.

    Understood: `const`, `enum`, `anyOf`/`oneOf`, `type` (also lists of types), `pattern` (as one of
    the whole text), `minLength`/`maxLength`, bounds of numbers, `properties` and `required`,
    `items`, `minItems`/`maxItems`. What the schema says beyond that is left free.
    """
    if "const" in schema:
        return {"const": schema["const"]}
    choices = schema.get("enum")
    if isinstance(choices, Sequence) and choices and not isinstance(choices, str):
        return {"enum": choices}
    for key in ("anyOf", "oneOf"):
        branches = schema.get(key)
        if isinstance(branches, Sequence) and not isinstance(branches, str):
            found = [bounded(each, depth) for each in branches if isinstance(each, Mapping)]
            if found:
                return {"anyOf": found}
    kind = schema.get("type", "object" if "properties" in schema else None)
    if isinstance(kind, Sequence) and kind and not isinstance(kind, str):
        return {"anyOf": [bounded({**schema, "type": each}, depth) for each in kind]}
    return _typed(kind, schema, depth)


def object_schema(members: Iterable[tuple[str, JsonObject, bool]]) -> JsonObject:
    """Return the schema of an object.

    Args:
        members: name, schema of the value, and whether it is required; required ones come first
            in the text, each group in the given order.
    """
    ordered = sorted(members, key=lambda member: not member[2])
    return {
        "type": "object",
        "properties": {name: schema for name, schema, _ in ordered},
        "required": [name for name, _, needed in ordered if needed],
        "additionalProperties": False,
    }


def is_followed(grammar: str) -> bool:
    """Return whether the model server can enforce a grammar (llguidance's Lark)."""
    import llguidance

    return not llguidance.LLMatcher.validate_grammar(grammar)


def json_rule(schema: JsonObject) -> str:
    """Return the expression of JSON that a schema allows, with one blank after a colon and a comma.

    Freedom in blanks is where tiny models lose themselves.
    """
    blanks = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
    return f"%json {json.dumps({**schema, 'x-guidance': blanks}, ensure_ascii=False)}"


def _typed(kind: object, schema: JsonObject, depth: int) -> JsonObject:
    match kind:
        case "string":
            return _string(schema)
        case "integer" | "number":
            return _number(str(kind), schema)
        case "boolean" | "null":
            return {"type": kind}
        case "array":
            return _array(schema, depth)
        case "object":
            return _object(schema, depth)
        case _:
            kinds = ("string", "number", "boolean", "null")
            return {"anyOf": [_typed(each, {}, depth) for each in kinds]}


def _string(schema: JsonObject) -> JsonObject:
    least, most = schema.get("minLength", 1), schema.get("maxLength", _LONGEST)
    least = least if isinstance(least, int) and least >= 0 else 1
    most = most if isinstance(most, int) and most > 0 else _LONGEST
    most = max(least, min(most, _LONGEST_ASKED), 1)
    rest = f"{STRING_CHARACTER}{{{max(0, least - 1)},{most - 1}}}"
    free: JsonObject = {"type": "string", "pattern": f"^{FIRST_CHARACTER}{rest}$"}
    pattern = schema.get("pattern")
    if not isinstance(pattern, str):
        return free
    longest = most if "maxLength" in schema else _LONGEST
    whole = f"^(?:{pattern.removeprefix('^').removesuffix('$')})$"
    ways: list[JsonObject] = [
        {"type": "string", "pattern": each, "maxLength": longest} for each in (whole, pattern)
    ]
    return _first_followed((*ways, free))


def _number(kind: str, schema: JsonObject) -> JsonObject:
    plain: dict[str, float] = {"minimum": -_LARGEST, "maximum": _LARGEST}
    asked: dict[str, float] = {}
    for key in _NUMBER_BOUNDS:
        bound = schema.get(key)
        if isinstance(bound, int | float) and not isinstance(bound, bool):
            asked[key] = bound
    ways = (plain | asked, plain) if asked else (plain,)
    if kind == "integer":
        return _first_followed([{"type": "integer", **bounds} for bounds in ways])
    return _first_followed([_decimal(bounds) for bounds in ways])


def _decimal(bounds: Mapping[str, float]) -> JsonObject:
    """Return a number of few digits; the engine has no multiples below zero, where digits go on."""
    above: JsonObject = {"type": "number", "multipleOf": _DECIMALS, **bounds}
    below: JsonObject = {"type": "number", **bounds, "maximum": min(0, bounds["maximum"])}
    return {"anyOf": [above, below]}


def _array(schema: JsonObject, depth: int) -> JsonObject:
    items = schema.get("items")
    if depth >= _DEEPEST:
        return {"const": []}
    item = bounded(items if isinstance(items, Mapping) else {}, depth + 1)
    least, most = schema.get("minItems", 0), schema.get("maxItems", _MOST_ITEMS)
    least = least if isinstance(least, int) and least >= 0 else 0
    most = most if isinstance(most, int) else _MOST_ITEMS
    most = max(1, least, min(most, _MOST_ITEMS))
    return {"type": "array", "items": item, "minItems": least, "maxItems": most}


def _object(schema: JsonObject, depth: int) -> JsonObject:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or depth >= _DEEPEST:
        return {"const": {}}
    required = schema.get("required")
    needed = set(required) if isinstance(required, Sequence) else set()
    return object_schema(
        (name, bounded(each if isinstance(each, Mapping) else {}, depth + 1), name in needed)
        for name, each in properties.items()
    )


def _first_followed(ways: Sequence[JsonObject]) -> JsonObject:
    """Return the first of some schemas that the server understands and that some value fits."""
    return next(
        (each for each in ways if is_followed(f"%llguidance {{}}\nstart: {json_rule(each)}")),
        ways[-1],
    )
