"""Arguments of a call: checked against the tool's schema, with bound inputs put in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from studio.core.prompty.tool_spec import ToolSpec
from studio.core.schema_patterns import with_bounded_patterns
from studio.core.text.shortened import shortened
from studio.core.text.values import Json, JsonObject

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator


_SHOWN_PROBLEMS = 5
_MOST_VALIDATORS = 256
_VALIDATORS: dict[int, tuple[JsonObject, Validator]] = {}
"""By the identity of the schema, which is held so that no other takes its place."""


def check_arguments(schema: JsonObject, arguments: JsonObject) -> tuple[str, ...]:
    """What is wrong with the arguments, a plain sentence each; empty when nothing is.

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
    """Arguments with bound parameters set from the run's inputs, over whatever the model gave.

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
    """The validator of a schema; to write a schema out at each call takes longer than to check."""
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
