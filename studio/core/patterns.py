"""Searches with users' patterns, bounded in time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from studio.core.text.values import Json, JsonObject

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.protocols import Validator


SLOW_SECONDS = 0.3
"""Timeout of a search in seconds; `(a|aa)+$` would take years."""


class PatternError(Exception):
    """Raised when a pattern is invalid or its search takes too long; the text is for the user."""


def compile_pattern(text: str, *, regex: bool, case: bool, word: bool = False) -> Any:  # noqa: ANN401 - of a package without types
    """Compile the text of a search field.

    Args:
        text: the words, or the pattern.
        regex: whether it is a pattern.
        case: whether case matters.
        word: whether only whole words count.

    Raises:
        PatternError: the pattern is invalid.
    """
    import regex as engine

    wanted = text if regex else re.escape(text)
    if word:
        wanted = rf"\b(?:{wanted})\b"
    return _compiled(wanted, engine.MULTILINE | (0 if case else engine.IGNORECASE))


def schema_pattern(text: str) -> Any:  # noqa: ANN401
    """Return the pattern of a schema, with its usual meaning.

    Not with `re`, which warns of patterns such as `[[`, whose meaning may change in a later Python.

    Raises:
        PatternError: the pattern is invalid.
    """
    return _compiled(text, 0)


def _compiled(text: str, flags: int) -> Any:  # noqa: ANN401
    import regex as engine

    try:
        return engine.compile(text, flags)
    except (engine.error, ValueError, OverflowError, RecursionError) as error:
        # `regex` raises internal errors for some patterns: `a{1d<`, `a{99999999999999999999}`.
        raise PatternError(str(error)) from error


def matches(pattern: Any, text: str, seconds: float = SLOW_SECONDS) -> Iterator[Any]:  # noqa: ANN401
    """Yield every nonempty match.

    Raises:
        PatternError: the search takes longer than `seconds`.
    """
    try:
        for match in pattern.finditer(text, timeout=seconds, concurrent=True):
            if match.end() > match.start():
                yield match
    except TimeoutError as error:
        raise PatternError("it takes too long in this text") from error


def expanded(match: Any, new: str) -> str:  # noqa: ANN401
    """Return the replacement for a match: `new` with its group references expanded.

    Raises:
        PatternError: `new` refers to a group that does not exist.
    """
    import regex as engine

    try:
        return str(match.expand(new))
    except (engine.error, IndexError) as error:
        raise PatternError(str(error)) from error


# Validation with foreign JSON schemas, whose patterns are bounded in time.


def with_bounded_patterns(kind: Any) -> Any:  # noqa: ANN401 - classes that jsonschema makes
    """Return a validator class like `kind` that searches for patterns with a time limit."""
    from jsonschema.validators import extend

    return extend(kind, _Patterns(kind).keywords())  # type: ignore[no-untyped-call]


class _Patterns:
    """Keywords of JSON schema that search with a pattern, bounded in time.

    jsonschema uses `re`, which has no time limit and reads some patterns differently in Python
    3.11.2. An invalid pattern, or one that was too slow once, accepts every value: the tool itself
    will check it.
    """

    def __init__(self, kind: Any) -> None:  # noqa: ANN401 - a class that jsonschema makes
        self._kind = kind
        self._made: dict[str, Any] = {}
        self._slow: set[str] = set()

    def keywords(self) -> dict[str, Any]:
        """Return the functions by keyword, for `jsonschema.validators.extend`."""
        return {
            "pattern": self._pattern,
            "patternProperties": self._pattern_properties,
            "additionalProperties": self._additional_properties,
            "unevaluatedProperties": self._unevaluated_properties,
        }

    def _found(self, pattern: str, text: str) -> bool | None:
        """Return whether the pattern matches in the text; None if that cannot be decided."""
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
        # The package's own function, for properties that no pattern matches.
        known = {key: schema[key] for key in ("properties",) if key in schema}
        yield from own(validator, allowed, rest, known)

    def _unevaluated_properties(
        self, validator: Validator, allowed: Json, instance: Json, schema: JsonObject
    ) -> Iterator[ValidationError]:
        # The package uses `re` to find the properties that nearby patterns match.
        if '"patternProperties"' not in json.dumps(validator.schema, default=str):
            yield from self._kind.VALIDATORS["unevaluatedProperties"](
                validator, allowed, instance, schema
            )
