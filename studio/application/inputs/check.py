"""Reading what a user typed into a field, and saying what is wrong with it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from studio.application.inputs.fields import ABSENT, FieldSpec, FieldValue
from studio.application.words import tr
from studio.core.patterns import SLOW_SECONDS, PatternError, schema_pattern
from studio.core.text.foreign_json import JsonBoundError, parse_json

_WHOLE = re.compile(r"[-+]?\d{1,4000}$")
_REAL = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,4})?$")


@dataclass(frozen=True, slots=True)
class TypedValue:
    """What a typed text means."""

    value: FieldValue
    """The value; absent where the text means none."""

    problem: str = ""
    """What is wrong with it, in one sentence; empty where nothing is."""


def read_integer(text: str, spec: FieldSpec) -> TypedValue:
    """A whole number of any size."""
    if not text.strip():
        return TypedValue(ABSENT)
    if not _WHOLE.match(text.strip()):
        return TypedValue(ABSENT, tr("Write a whole number, such as 42."))
    number = int(text)
    return TypedValue(number, _range_problem(number, spec))


def read_number(text: str, spec: FieldSpec) -> TypedValue:
    """A number; one written without a point stays whole."""
    if not text.strip():
        return TypedValue(ABSENT)
    if _WHOLE.match(text.strip()):
        return read_integer(text, spec)
    if not _REAL.match(text.strip()):
        return TypedValue(ABSENT, tr("Write a number, such as 0.5."))
    number = float(text)
    if number in (float("inf"), float("-inf")):
        return TypedValue(ABSENT, tr("The number is too large."))
    return TypedValue(number, _range_problem(number, spec))


def check_text(text: str, spec: FieldSpec) -> str:
    """What is wrong with a text; empty where nothing is."""
    if not spec.pattern:
        return ""
    try:
        pattern = schema_pattern(spec.pattern)
        matches = pattern.search(text[:10_000], timeout=SLOW_SECONDS) is not None
    except (PatternError, TimeoutError):
        return ""  # what the pattern asks for cannot be told; a run checks its values by the schema
    return "" if matches else tr("The text must match {pattern}").format(pattern=spec.pattern)


def read_json(text: str) -> TypedValue:
    """Any JSON value; an empty text means none."""
    if not text.strip():
        return TypedValue(ABSENT)
    try:
        return TypedValue(parse_json(text, parse_constant=_no_constant))
    except json.JSONDecodeError as error:
        return TypedValue(
            ABSENT,
            tr("Line {lineno}, column {colno}: {msg}.").format(
                lineno=error.lineno, colno=error.colno, msg=error.msg.lower()
            ),
        )
    except JsonBoundError as error:
        return TypedValue(ABSENT, tr("It cannot be used: {reason}.").format(reason=error))
    except ValueError as error:
        return TypedValue(ABSENT, str(error))


def _no_constant(word: str) -> float:
    raise ValueError(tr("{word} is not a JSON value.").format(word=word))


def _range_problem(number: float, spec: FieldSpec) -> str:
    if spec.minimum is not None and number < spec.minimum:
        return tr("Not below {minimum:g}.").format(minimum=spec.minimum)
    if spec.maximum is not None and number > spec.maximum:
        return tr("Not above {maximum:g}.").format(maximum=spec.maximum)
    return ""
