"""Arguments of a call: checked against the tool's schema, with bound inputs put in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from studio.core.patterns import with_bounded_patterns
from studio.core.prompty.document import ToolSpec
from studio.core.text.amounts import shortened
from studio.core.text.values import Json, JsonObject

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator


_SHOWN_PROBLEMS = 5
_MOST_VALIDATORS = 256
_VALIDATORS: dict[int, tuple[JsonObject, Validator]] = {}
"""By the identity of the schema, which is held so that no other takes its place."""


def check_arguments(schema: JsonObject, arguments: JsonObject) -> tuple[str, ...]:
    """Check arguments: a plain sentence for each problem; empty if they are valid.

    A schema that is itself broken refuses nothing: the tool will say what it does not like.
    """
    try:
        validator = _validator_of(schema)
        found = sorted(validator.iter_errors(arguments), key=lambda error: str(list(error.path)))
    except _broken_schema():  # looked up only once there is an error
        return ()
    return tuple(_sentence(error) for error in found[:_SHOWN_PROBLEMS])


def inject_bindings(
    spec: ToolSpec, arguments: JsonObject, inputs: Mapping[str, Json]
) -> JsonObject:
    """Return arguments with bound parameters set from the run's inputs, over the model's.

    Prompty 2 §2.9.1; a bound input that has no value leaves its parameter out.
    """
    if not spec.bindings:
        return arguments
    kept = {name: value for name, value in arguments.items() if name not in spec.bindings}
    bound = {name: inputs[given] for name, given in spec.bindings.items() if given in inputs}
    return {**kept, **bound}


def _broken_schema() -> tuple[type[Exception], ...]:
    from jsonschema import SchemaError
    from referencing.exceptions import Unresolvable

    return SchemaError, Unresolvable, RecursionError


def _validator_of(schema: JsonObject) -> Validator:
    """Return a schema's validator: writing a schema out per call takes longer than checking."""
    known = _VALIDATORS.get(id(schema))
    if known is None or known[0] is not schema:
        if len(_VALIDATORS) >= _MOST_VALIDATORS:
            _VALIDATORS.clear()
        known = schema, _validator(json.dumps(schema, sort_keys=True, default=str))
        _VALIDATORS[id(schema)] = known
    return known[1]


@lru_cache(maxsize=_MOST_VALIDATORS)
def _validator(schema: str) -> Validator:
    from jsonschema import Draft202012Validator, FormatChecker
    from referencing import Registry

    loaded = cast("dict[str, Any]", json.loads(schema))
    Draft202012Validator.check_schema(loaded, FormatChecker(formats=()))  # `regex` asks `re`
    bounded = with_bounded_patterns(Draft202012Validator)
    # An empty registry: a schema of a stranger must not make us fetch anything.
    return cast("Validator", bounded(loaded, registry=Registry()))


def _sentence(error: ValidationError) -> str:
    path = ".".join(str(step) for step in error.path)
    message = shortened(error.message, 300)
    return f"{path}: {message}" if path else message


# Small operations on JSON schemas of arguments: what is required, combine, how large.

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
    """Return the declared schema, with the implementation's constraints where it has none.

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
    """Return the object schema without some properties (bindings, Prompty 2 §7.1.3)."""
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
    """Return the names of the required properties."""
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
