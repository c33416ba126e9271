"""Small operations on JSON schemas of arguments: what is required, combine, how large."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json, JsonObject

LARGE_TOOL = 20 * 1024
"""Characters of a tool from which on it is marked."""

_LETTERS_A_TOKEN = 4

_CONSTRAINTS = tuple(
    """
    pattern enum const format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
    minLength maxLength minItems maxItems
""".split()
)


def with_constraints(declared: JsonObject, implementation: JsonObject) -> JsonObject:
    """The declared schema, with the implementation's constraints where it says none.

    A call is checked against the implementation anyway, so the model is told what would be refused.
    """
    own, other = _properties(declared), _properties(implementation)
    if not own or not other:
        return declared
    merged: dict[str, Json] = {
        name: {
            **schema,
            **{
                key: other[name][key]
                for key in _CONSTRAINTS
                if name in other and key in other[name] and key not in schema
            },
        }
        for name, schema in own.items()
    }
    return {**declared, "properties": merged}


def without_properties(schema: JsonObject, names: Sequence[str]) -> JsonObject:
    """The object schema without some properties, required or not (bindings, Prompty 2 §7.1.3)."""
    left = {name: value for name, value in _properties(schema).items() if name not in names}
    result: dict[str, Json] = {**schema, "properties": left}
    required = schema.get("required")
    if isinstance(required, Sequence) and not isinstance(required, str):
        still = [name for name in required if name not in names]
        if still:
            result["required"] = still
        else:
            result.pop("required")
    return result


def required_names(schema: JsonObject) -> tuple[str, ...]:
    """Names of the required properties."""
    required = schema.get("required")
    if not isinstance(required, Sequence) or isinstance(required, str):
        return ()
    return tuple(name for name in required if isinstance(name, str))


def _properties(schema: JsonObject) -> dict[str, Mapping[str, Json]]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return {}
    return {name: value if isinstance(value, Mapping) else {} for name, value in properties.items()}


def spec_size(spec: ToolSpec) -> int:
    """Return the characters that a tool takes in each request."""
    return len(spec.name) + len(spec.description) + len(json.dumps(spec.parameters))


def about_tokens(sizes: Iterable[int]) -> int:
    """Return about how many tokens tools of these sizes take, each rounded by itself."""
    return sum(size // _LETTERS_A_TOKEN for size in sizes)
