"""Read JSON in a reply with a real decoder from a given offset, never by counting braces."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import NoReturn

from studio.core.agent.values.step import FormatErrorCode
from studio.core.text.values import Json, JsonBoundError, JsonDict, within_depth


@dataclass(frozen=True, slots=True)
class Decoded:
    """A JSON value that was decoded."""

    value: Json
    """The value."""

    end: int
    """Offset after its last character."""

    has_raw_breaks: bool = False
    """Whether a string contains an unescaped line break or tab (accepted, with a warning)."""


@dataclass(frozen=True, slots=True)
class Undecoded:
    """The error of a text that is not JSON."""

    code: FormatErrorCode
    """Kind of error."""

    message: str
    """One plain sentence without a period, to follow "Args: "."""

    at: int
    """Offset of the error."""


class _BadJsonError(ValueError):
    def __init__(self, code: FormatErrorCode, message: str) -> None:
        super().__init__(message)
        self.code: FormatErrorCode = code


def _pairs(pairs: list[tuple[str, Json]]) -> JsonDict:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _BadJsonError("duplicate_key", f"the key {twice!r} occurs twice")
    return made


def _no_constant(word: str) -> NoReturn:
    raise _BadJsonError("not_finite", f"{word} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _BadJsonError("not_finite", f"the number {text[:20]} is too large")
    return number


def _decoder(*, strict: bool) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_pairs, parse_constant=_no_constant, parse_float=_finite, strict=strict
    )


_STRICT = _decoder(strict=True)
_BREAKS_ALLOWED = _decoder(strict=False)


def decode_at(text: str, start: int) -> Decoded | Undecoded:
    """Decode the JSON value that begins at `start`; text after it is ignored.

    A raw line break inside a string is accepted (its meaning is unambiguous); anything else that
    JSON forbids is an error.
    """
    try:
        value, end = _STRICT.raw_decode(text, start)
        has_raw_breaks = False
    except (ValueError, RecursionError) as first:
        try:
            value, end = _BREAKS_ALLOWED.raw_decode(text, start)
            has_raw_breaks = True
        except (ValueError, RecursionError):
            return _why(text, first)
    try:
        within_depth(value)
    except JsonBoundError as error:
        return Undecoded("too_deep", f"the JSON cannot be used: {error}", start)
    if has_lone_surrogate(value):
        return Undecoded("lone_surrogate", "a \\u escape is half of a character", start)
    return Decoded(value, end, has_raw_breaks)


def _why(text: str, error: ValueError | RecursionError) -> Undecoded:
    match error:
        case RecursionError():
            return Undecoded("too_deep", "the JSON is nested too deeply", 0)
        case _BadJsonError():
            return Undecoded(error.code, str(error), 0)
        case json.JSONDecodeError():
            if is_cut(text, error):
                return Undecoded("truncated", "the JSON is cut off", error.pos)
            what = error.msg[:1].lower() + error.msg[1:]
            return Undecoded(
                "bad_args", f"{what} (line {error.lineno}, column {error.colno})", error.pos
            )
        case _:
            return Undecoded("bad_args", "a number is too long", 0)


def is_cut(text: str, error: json.JSONDecodeError) -> bool:
    """Return whether the text ended before the value did."""
    if error.msg.startswith("Unterminated string"):
        return True
    rest = text[error.pos :]
    if error.msg.startswith("Invalid \\uXXXX") or error.msg.startswith("Invalid \\escape"):
        return len(rest) <= 6 and '"' not in rest
    # A word cut in half ("tru", "-") fails at its beginning, a missing token at the text's end.
    return not rest.strip("`\n\r\t ") or (
        error.msg.startswith("Expecting value")
        and any(word.startswith(rest.strip()) for word in ("true", "false", "null", "-"))
    )


def has_lone_surrogate(value: Json) -> bool:
    """Return whether any string in a value contains a lone surrogate."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    except RecursionError:
        return False
    return False


def json_text(value: Json) -> str:
    """Return a value as JSON on one line, without ASCII escapes except for lone surrogates."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value)
    return text
