"""Arguments of a call: checked against the tool's schema, with bound inputs put in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from studio.core.patterns import SLOW_SECONDS, PatternError, schema_pattern
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json, JsonObject

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.protocols import Validator


_SHOWN_PROBLEMS = 5


def check_arguments(schema: JsonObject, arguments: JsonObject) -> tuple[str, ...]:
    """What is wrong with the arguments, a plain sentence each; empty when nothing is.

    A schema that is itself broken refuses nothing: the tool will say what it does not like.
    """
    from jsonschema import SchemaError
    from referencing.exceptions import Unresolvable

    try:
        validator = _validator(json.dumps(schema, sort_keys=True, default=str))
        found = sorted(validator.iter_errors(arguments), key=lambda error: str(list(error.path)))
    except (SchemaError, Unresolvable, RecursionError):
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


@lru_cache(maxsize=256)
def _validator(schema: str) -> Validator:
    from jsonschema import Draft202012Validator, FormatChecker
    from jsonschema.validators import extend
    from referencing import Registry

    loaded = cast("dict[str, Any]", json.loads(schema))
    Draft202012Validator.check_schema(loaded, FormatChecker(formats=()))  # `regex` asks `re`
    bounded: type = extend(Draft202012Validator, _Patterns().keywords())  # type: ignore[no-untyped-call]
    # An empty registry: a schema of a stranger must not make us fetch anything.
    return cast("Validator", bounded(loaded, registry=Registry()))


class _Patterns:
    """The keywords that search with a stranger's pattern, bounded in time.

    jsonschema uses `re`, which no limit can end and which reads some patterns otherwise in Python
    3.11.2. A pattern that is none, or took too long once, refuses nothing: the tool itself will.
    """

    def __init__(self) -> None:
        self._slow: set[str] = set()

    def keywords(self) -> dict[str, Any]:
        """The functions by the names of their keywords, for `jsonschema.validators.extend`."""
        return {
            "pattern": self._pattern,
            "patternProperties": self._pattern_properties,
            "additionalProperties": self._additional_properties,
            "unevaluatedProperties": self._unevaluated_properties,
        }

    def _found(self, pattern: str, text: str) -> bool | None:
        """Whether the pattern is in the text; None where that cannot be told."""
        if pattern in self._slow:
            return None
        try:
            return schema_pattern(pattern).search(text, timeout=SLOW_SECONDS) is not None
        except (PatternError, TimeoutError):
            self._slow.add(pattern)
            return None

    def _pattern(
        self, validator: Validator, pattern: str, instance: Json, _: JsonObject
    ) -> Iterator[ValidationError]:
        from jsonschema import ValidationError

        if isinstance(instance, str) and self._found(pattern, instance) is False:
            yield ValidationError(f"{instance!r} does not match {pattern!r}")

    def _pattern_properties(
        self,
        validator: Draft202012Validator,
        patterns: Mapping[str, Any],
        instance: Json,
        _: JsonObject,
    ) -> Iterator[ValidationError]:
        if not isinstance(instance, dict):
            return
        for pattern, schema in patterns.items():
            for name, value in instance.items():
                if self._found(pattern, name):
                    yield from validator.descend(value, schema, path=name, schema_path=pattern)

    def _additional_properties(
        self, validator: Validator, allowed: Json, instance: Json, schema: JsonObject
    ) -> Iterator[ValidationError]:
        from jsonschema import Draft202012Validator

        if not isinstance(instance, dict):
            return
        patterns = cast("JsonObject", schema.get("patternProperties", {}))
        rest = {
            name: value
            for name, value in instance.items()
            if not any(self._found(pattern, name) is not False for pattern in patterns)
        }
        # The package's own rule and words, over what no pattern takes.
        known = {key: schema[key] for key in ("properties",) if key in schema}
        yield from Draft202012Validator.VALIDATORS["additionalProperties"](
            validator, allowed, rest, known
        )

    def _unevaluated_properties(
        self, validator: Validator, allowed: Json, instance: Json, schema: JsonObject
    ) -> Iterator[ValidationError]:
        from jsonschema import Draft202012Validator

        # The package looks with `re` for what patterns beside it or below it have taken.
        if '"patternProperties"' not in json.dumps(validator.schema, default=str):
            yield from Draft202012Validator.VALIDATORS["unevaluatedProperties"](
                validator, allowed, instance, schema
            )


def _sentence(error: ValidationError) -> str:
    path = ".".join(str(step) for step in error.path)
    message = error.message
    if len(message) > 300:
        message = f"{message[:300]}…"
    return f"{path}: {message}" if path else message
