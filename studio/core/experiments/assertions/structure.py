"""Assertions on JSON in an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from studio.core.experiments.assertions.result import CellAnswer, UndecidedError, Verdict
from studio.core.experiments.values import AssertionSpec
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.schema_patterns import with_bounded_patterns
from studio.core.text.foreign_json import parse_json
from studio.core.text.reason import reason_of
from studio.core.text.span import Span
from studio.core.text.values import Json

_MOST_OBJECTS = 200


def decide_json(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """The whole answer is JSON (`is-json`), or some of it (`contains-json`), and fits a schema."""
    schema = _schema(value)
    if spec.type == "is-json":
        try:
            found: Json = parse_json(answer.text)
        except ValueError as error:
            where = getattr(error, "pos", 0)
            return Verdict(
                False, f"The answer is not JSON: {reason_of(error)}.", span=Span(where, where + 1)
            )
        return _fits(found, schema, Span(0, len(answer.text)))
    worst = Verdict(False, "The answer contains no JSON.")
    for part, span in objects_in(answer.text):
        verdict = _fits(part, schema, span)
        if verdict.passed:
            return verdict
        worst = verdict
    return worst


def objects_in(text: str) -> Iterator[tuple[Json, Span]]:
    """Every JSON object and list of a text that is in no other."""
    decoder = json.JSONDecoder()
    at = tries = 0
    while tries < _MOST_OBJECTS:
        starts = [found for found in (text.find("{", at), text.find("[", at)) if found >= 0]
        if not starts:
            return
        start = min(starts)
        tries += 1
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            at = start + 1
            continue
        yield value, Span(start, end)
        at = end


def _schema(value: Json) -> Mapping[str, Json] | None:
    if value is None:
        return None
    if isinstance(value, str):
        value = read_yaml(value).value
    if not isinstance(value, Mapping):
        raise UndecidedError("The schema is not a JSON object.")
    return value


def _fits(value: Json, schema: Mapping[str, Json] | None, span: Span) -> Verdict:
    if schema is None:
        return Verdict(True, "It is JSON.", span=span)
    validator = _validator(json.dumps(schema, sort_keys=True))
    try:
        error = next(iter(validator.iter_errors(value)), None)
    except Exception as problem:
        raise UndecidedError(f"The schema cannot be applied: {problem}") from problem
    if error is None:
        return Verdict(True, "The JSON fits the schema.", span=span)
    where = "/".join(str(each) for each in error.absolute_path)
    place = f" at {where}" if where else ""
    return Verdict(False, f"The JSON does not fit the schema{place}: {error.message}", span=span)


@lru_cache(maxsize=64)
def _validator(text: str) -> Any:  # noqa: ANN401 - a class that jsonschema chooses
    from jsonschema import FormatChecker, SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for
    from referencing import Registry

    schema = json.loads(text)
    kind: Any = with_bounded_patterns(validator_for(schema, default=Draft202012Validator))
    try:
        kind.check_schema(schema, FormatChecker(formats=()))  # `regex` asks `re`
    except SchemaError as error:
        raise UndecidedError(f"The schema is none: {error.message}") from error
    # Nothing is fetched: an empty registry knows no schema but this one.
    return kind(schema, registry=Registry(), format_checker=kind.FORMAT_CHECKER)
