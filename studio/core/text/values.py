"""The plain values that documents and requests are made of; JSON from elsewhere, and reasons."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""A value that JSON can write. Mappings and sequences are treated as immutable everywhere."""

JsonObject: TypeAlias = Mapping[str, Json]
"""A JSON object."""

JsonDict: TypeAlias = dict[str, Json]
"""A JSON object that is being made."""

KeyPath: TypeAlias = tuple[str | int, ...]
"""Path to a value in JSON or YAML: names of keys and indices."""


def objects_of(value: object) -> list[JsonObject]:
    """Return the objects of a list; none of anything else."""
    if not isinstance(value, list | tuple):
        return []
    return [item for item in value if isinstance(item, Mapping)]


def object_of(value: object) -> JsonObject:
    """Return an object as it is, and an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def list_of(value: Json) -> list[Json]:
    """Return a list as it is, and an empty one for anything else."""
    return value if isinstance(value, list) else []


def pairs_of(value: Json) -> list[tuple[str | int, Json]]:
    """Return the items of a mapping by key, or of a list by number; none of anything else."""
    if isinstance(value, Mapping):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def text_of(value: object) -> str:
    """Return a text as it is, and an empty one for anything else."""
    return value if isinstance(value, str) else ""


def text_or_json(value: object) -> str:
    """Return a text as it is, any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def texts_in(value: object) -> Iterator[str]:
    """Yield every text of a value, however deep; keys are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(item)


def whole_numbers(value: Json) -> Json:
    """Return a value with `2` for `2.0`, as JavaScript's JSON has it."""
    if isinstance(value, Mapping):
        return {key: whole_numbers(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [whole_numbers(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


# JSON that somebody else wrote is read within bounds: how deep it nests, how long its numbers
# are.

DEEPEST = 200
"""Most levels of objects and lists in each other. What people write has ten or twenty."""

_TOO_DEEP = f"it is nested more than {DEEPEST} levels deep"
_OF_DIGITS = "integer string conversion"  # in the words of Python's own limit
_HOLDERS = (dict, list)

Parsed = TypeVar("Parsed")


class JsonBoundError(ValueError):
    """A bound of JSON was passed; the text says which."""


def parse_json(text: str | bytes, parse_constant: Callable[[str], object] | None = None) -> Json:
    """Parse the value of a JSON text.

    Args:
        text: the text.
        parse_constant: makes what `NaN` and `Infinity` become, as in `json.loads`.

    Raises:
        JSONDecodeError: it is not JSON; a `ValueError`.
        JsonBoundError: it nests too deeply, or holds a number of too many digits; a `ValueError`.
    """
    try:
        value: Json = json.loads(text, parse_constant=parse_constant)
    except RecursionError as error:
        raise JsonBoundError(_TOO_DEEP) from error
    except ValueError as error:
        if _OF_DIGITS not in str(error):
            raise
        raise JsonBoundError("it holds a number of more than 4,300 digits") from error
    return within_depth(value)


def is_json(text: str) -> bool:
    """Return whether `parse_json` reads a text."""
    try:
        parse_json(text)
    except ValueError:
        return False
    return True


def within_depth(value: Parsed, deepest: int = DEEPEST) -> Parsed:
    """Return the value, if it is not too deep.

    Args:
        value: what was read.
        deepest: most levels that it may have.

    Raises:
        JsonBoundError: it nests too deeply.
    """
    level: list[object] = [value]
    for _ in range(deepest):
        objects = [each.values() for each in level if isinstance(each, dict)]
        lists = [each for each in level if isinstance(each, list)]
        level = [item for items in (*objects, *lists) for item in items if type(item) in _HOLDERS]
        if not level:
            return value
    raise JsonBoundError(_TOO_DEEP)


# Reasons why a file or a text cannot be read or written, in words for people.


def reason_of(error: Exception) -> str:
    """Return the reason, without the file's name and without Python's own words."""
    match error:
        case UnicodeDecodeError(object=content, start=at):
            if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
                return "the text is UTF-16; save the file as UTF-8"
            line = content.count(b"\n", 0, at) + 1
            return f"line {line} is not UTF-8; save the file as UTF-8"
        case UnicodeEncodeError(object=text, start=at):
            return f"it holds half a character (U+{ord(text[at]):04X}), which no file can hold"
        case json.JSONDecodeError(msg=message, doc=text, lineno=line, colno=column):
            place = f"line {line}, column {column}" if "\n" in text else f"column {column}"
            return f"{place}: {message[:1].lower()}{message[1:]}"
        case OSError(strerror=str(said)) if said:
            return said
        case ValueError() if "embedded null" in str(error):  # the words of Python 3.13 name `lstat`
            return "the name of a file cannot hold a NUL character"
        case _:
            return str(error) or type(error).__name__


def named_reason(error: Exception) -> str:
    """Return the reason, behind the name of the file where the error has one."""
    name = error.filename if isinstance(error, OSError) else None
    return f"{name}: {reason_of(error)}" if isinstance(name, str) else reason_of(error)
