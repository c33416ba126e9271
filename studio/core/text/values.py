"""Plain JSON values of documents and requests; parsing of foreign JSON; reasons of errors."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""A JSON value. Mappings and sequences are treated as immutable everywhere."""

JsonObject: TypeAlias = Mapping[str, Json]
"""A JSON object."""

JsonDict: TypeAlias = dict[str, Json]
"""A JSON object under construction."""

KeyPath: TypeAlias = tuple[str | int, ...]
"""Path to a value in JSON or YAML: keys and indices."""


def objects_of(value: object) -> list[JsonObject]:
    """Return the objects in a list; empty for any other value."""
    if not isinstance(value, list | tuple):
        return []
    return [item for item in value if isinstance(item, Mapping)]


def object_of(value: object) -> JsonObject:
    """Return an object unchanged, and an empty one for any other value."""
    return value if isinstance(value, Mapping) else {}


def list_of(value: Json) -> list[Json]:
    """Return a list unchanged, and an empty one for any other value."""
    return value if isinstance(value, list) else []


def pairs_of(value: Json) -> list[tuple[str | int, Json]]:
    """Return the items of a mapping by key, or of a list by index; empty for other values."""
    if isinstance(value, Mapping):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def text_of(value: object) -> str:
    """Return a text unchanged, and an empty one for any other value."""
    return value if isinstance(value, str) else ""


def text_or_json(value: object) -> str:
    """Return a text unchanged, any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def texts_in(value: object) -> Iterator[str]:
    """Yield every text in a value at any depth, without keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(item)


def whole_numbers(value: Json) -> Json:
    """Return a value with `2` instead of `2.0`, as in JavaScript's JSON."""
    if isinstance(value, Mapping):
        return {key: whole_numbers(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [whole_numbers(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


# Limits for foreign JSON: depth of nesting, and length of numbers.

DEEPEST = 200
"""Maximum depth of nested objects and lists; usual data has ten or twenty levels."""

_TOO_DEEP = f"it is nested more than {DEEPEST} levels deep"
_OF_DIGITS = "integer string conversion"  # from the message of Python's own limit
_HOLDERS = (dict, list)

Parsed = TypeVar("Parsed")


class JsonBoundError(ValueError):
    """Raised when JSON exceeds a limit; the text says which."""


def parse_json(text: str | bytes, parse_constant: Callable[[str], object] | None = None) -> Json:
    """Parse the value of a JSON text.

    Args:
        text: the text.
        parse_constant: converts `NaN` and `Infinity`, as in `json.loads`.

    Raises:
        JSONDecodeError: it is not JSON; a `ValueError`.
        JsonBoundError: it is nested too deeply, or a number has too many digits; a `ValueError`.
    """
    try:
        value: Json = json.loads(text, parse_constant=parse_constant)
    except RecursionError as error:
        raise JsonBoundError(_TOO_DEEP) from error
    except ValueError as error:
        if _OF_DIGITS not in str(error):
            raise
        raise JsonBoundError("it contains a number of more than 4,300 digits") from error
    return within_depth(value)


def is_json(text: str) -> bool:
    """Return whether `parse_json` reads a text."""
    try:
        parse_json(text)
    except ValueError:
        return False
    return True


def within_depth(value: Parsed, deepest: int = DEEPEST) -> Parsed:
    """Return the value if it is not nested too deeply.

    Args:
        value: the value.
        deepest: maximum depth.

    Raises:
        JsonBoundError: it is nested too deeply.
    """
    level: list[object] = [value]
    for _ in range(deepest):
        objects = [each.values() for each in level if isinstance(each, dict)]
        lists = [each for each in level if isinstance(each, list)]
        level = [item for items in (*objects, *lists) for item in items if type(item) in _HOLDERS]
        if not level:
            return value
    raise JsonBoundError(_TOO_DEEP)


# Reasons why a file or a text cannot be read or written, in words for the user.


def reason_of(error: Exception) -> str:
    """Return the reason, without the file's name and Python's own terms."""
    match error:
        case UnicodeDecodeError(object=content, start=at):
            if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
                return "the text is UTF-16; save the file as UTF-8"
            line = content.count(b"\n", 0, at) + 1
            return f"line {line} is not UTF-8; save the file as UTF-8"
        case UnicodeEncodeError(object=text, start=at):
            return (
                f"it contains half a character (U+{ord(text[at]):04X}), which no file can contain"
            )
        case json.JSONDecodeError(msg=message, doc=text, lineno=line, colno=column):
            place = f"line {line}, column {column}" if "\n" in text else f"column {column}"
            return f"{place}: {message[:1].lower()}{message[1:]}"
        case OSError(strerror=str(said)) if said:
            return said
        case ValueError() if "embedded null" in str(error):  # Python 3.13's text names `lstat`
            return "a file name cannot contain a NUL character"
        case _:
            return str(error) or type(error).__name__


def named_reason(error: Exception) -> str:
    """Return the reason, preceded by the name of the file if the error has one."""
    name = error.filename if isinstance(error, OSError) else None
    return f"{name}: {reason_of(error)}" if isinstance(name, str) else reason_of(error)
