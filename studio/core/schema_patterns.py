"""JSON schemas of strangers, checked without a pattern that holds the studio up."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from studio.core.patterns import SLOW_SECONDS, PatternError, schema_pattern
from studio.core.text.values import Json, JsonObject

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.protocols import Validator


def with_bounded_patterns(kind: Any) -> Any:  # noqa: ANN401 - classes that jsonschema makes
    """A validator class like `kind`, whose patterns are searched for with a limit of time."""
    from jsonschema.validators import extend

    return extend(kind, _Patterns(kind).keywords())  # type: ignore[no-untyped-call]


class _Patterns:
    """The keywords that search with a stranger's pattern, bounded in time.

    jsonschema uses `re`, which no limit can end and which reads some patterns otherwise in Python
    3.11.2. A pattern that is none, or took too long once, refuses nothing: the tool itself will.
    """

    def __init__(self, kind: Any) -> None:  # noqa: ANN401 - a class that jsonschema makes
        self._kind = kind
        self._made: dict[str, Any] = {}
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
            made = self._made.get(pattern)
            if made is None:
                made = self._made[pattern] = schema_pattern(pattern)
            return made.search(text, timeout=SLOW_SECONDS) is not None
        except (PatternError, TimeoutError):
            self._slow.add(pattern)
            return None

    def _pattern(
        self, validator: Validator, pattern: str, instance: Json, _: JsonObject
    ) -> Iterator[ValidationError]:
        if isinstance(instance, str) and self._found(pattern, instance) is False:
            from jsonschema import ValidationError

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
        if not isinstance(instance, dict):
            return
        own = self._kind.VALIDATORS["additionalProperties"]
        patterns = cast("JsonObject", schema.get("patternProperties", {}))
        if not patterns:
            yield from own(validator, allowed, instance, schema)
            return
        rest = {
            name: value
            for name, value in instance.items()
            if not any(self._found(pattern, name) is not False for pattern in patterns)
        }
        # The package's own rule and words, over what no pattern takes.
        known = {key: schema[key] for key in ("properties",) if key in schema}
        yield from own(validator, allowed, rest, known)

    def _unevaluated_properties(
        self, validator: Validator, allowed: Json, instance: Json, schema: JsonObject
    ) -> Iterator[ValidationError]:
        # The package looks with `re` for what patterns beside it or below it have taken.
        if '"patternProperties"' not in json.dumps(validator.schema, default=str):
            yield from self._kind.VALIDATORS["unevaluatedProperties"](
                validator, allowed, instance, schema
            )
