"""From the text of a description to its values: JSON or YAML, of any size met in practice.

Large JSON is read in slices, so that other threads go on meanwhile and its reading can end.
Python's reader holds every other thread up until it is through: a quarter of a second for ten
megabytes. Here it reads the values of the outer levels one by one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]
from pathlib import Path
from typing import TypeAlias

from studio.core.prompty.yaml.reader import YamlTextError, read_plain_yaml
from studio.core.text.files import read_text
from studio.core.text.foreign_json import DEEPEST, JsonBoundError, parse_json, within_depth
from studio.core.text.values import Json
from studio.core.tools.openapi.choice import OperationChoice, chosen
from studio.core.tools.openapi.description import read_description
from studio.core.tools.openapi.operation import Description, OpenApiError
from studio.core.tools.openapi.progress import DescriptionReading
from studio.core.tools.openapi.schemas import OtherFiles

LONGEST_DESCRIPTION = 64 * 1024 * 1024
"""Bytes of a description that are read. GitHub's has 13 million."""

Reached: TypeAlias = Callable[[int], None]
"""Callback with the number of characters read; raising (never a `ValueError`) ends the reading."""

_SLICED_LEVELS = 4
"""Levels whose values are read one by one: in a description, path, method and its parts."""

_SPACE = re.compile(r"[ \t\n\r]*")


def load_description(
    text: str,
    source: str,
    choice: OperationChoice,
    variables: Mapping[str, str],
    reading: DescriptionReading | None = None,
    path: Path | None = None,
) -> Description:
    """Read a description; a large one takes seconds, so call it in a thread.

    Args:
        text: JSON or YAML.
        source: what its tools are said to come from.
        choice: the operations that are wanted.
        variables: values of variables in its servers' addresses.
        reading: is told how far it is, and may stop it.
        path: the description's file, below whose folder its references are followed.

    Raises:
        OpenApiError: it is none; says what is wrong and where.
        ReadingStoppedError: it was stopped.
    """
    reading = reading if reading is not None else DescriptionReading(source)
    files = OtherFiles(
        path,
        lambda other: _values(read_text(other, LONGEST_DESCRIPTION, errors="replace"), reading),
    )
    values = files.linked(text, _values(text, reading))
    return chosen(read_description(values, source, variables, reading.made, files), choice)


def _values(text: str, reading: DescriptionReading) -> Json:
    text = text.removeprefix("\ufeff")
    whole = len(text)

    def reached(done: int) -> None:
        reading.read(done, whole)

    if text.lstrip()[:1] in ("{", "["):
        try:
            return parse_sliced_json(text, reached)
        except JsonBoundError as error:
            raise OpenApiError(f"its JSON cannot be used: {error}") from error
        except json.JSONDecodeError as json_error:
            try:
                return read_plain_yaml(text, reached)  # YAML that begins with a bracket
            except YamlTextError:
                place = f"line {json_error.lineno}, column {json_error.colno}"
                raise OpenApiError(f"it is not JSON: {json_error.msg} ({place})") from json_error
    try:
        return read_plain_yaml(text, reached)
    except YamlTextError as error:
        raise OpenApiError(f"it is not YAML: {error}") from error


def parse_sliced_json(text: str, reached: Reached) -> Json:
    """Parse a large JSON text in slices; the result is that of `parse_json`.

    Args:
        text: the text.
        reached: is told after each slice how far it is.

    Raises:
        JSONDecodeError: it is not JSON; a `ValueError`.
        JsonBoundError: it nests too deeply, or holds a number of too many digits; a `ValueError`.
    """
    try:
        return _Slices(text, reached).read()
    except (StopIteration, ValueError, RecursionError):
        return parse_json(text)  # it says what is wrong in the words of the Python that runs


class _Slices:
    """Reads one text; Python's reader reports the errors."""

    def __init__(self, text: str, reached: Reached) -> None:
        self._text = text
        self._reached = reached
        self._scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
        self._names: dict[str, str] = {}

    def read(self) -> Json:
        value, at = self._value(self._after_space(0), 0)
        at = self._after_space(at)
        if at != len(self._text):
            raise ValueError("extra data")
        return value

    def _after_space(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return found.end() if found is not None else at

    def _value(self, at: int, level: int) -> tuple[Json, int]:
        first = self._text[at : at + 1]
        if level < _SLICED_LEVELS and first == "{":
            return self._object(at + 1, level)
        if level < _SLICED_LEVELS and first == "[":
            return self._list(at + 1, level)
        value, at = self._scan(self._text, at)
        self._reached(at)
        return within_depth(value, DEEPEST - level), at

    def _object(self, at: int, level: int) -> tuple[Json, int]:
        made: dict[str, Json] = {}
        at = self._after_space(at)
        if self._text[at : at + 1] == "}":
            return made, at + 1
        while True:
            if self._text[at : at + 1] != '"':
                raise ValueError("a name is missing")
            name, at = scanstring(self._text, at + 1, True)
            at = self._after_space(at)
            if self._text[at : at + 1] != ":":
                raise ValueError("a colon is missing")
            name = self._names.setdefault(name, name)
            made[name], at = self._value(self._after_space(at + 1), level + 1)
            at, is_over = self._next(at, "}")
            if is_over:
                return made, at

    def _list(self, at: int, level: int) -> tuple[Json, int]:
        made: list[Json] = []
        at = self._after_space(at)
        if self._text[at : at + 1] == "]":
            return made, at + 1
        while True:
            value, at = self._value(at, level + 1)
            made.append(value)
            at, is_over = self._next(at, "]")
            if is_over:
                return made, at

    def _next(self, at: int, end: str) -> tuple[int, bool]:
        """Find the start of the next item, or the end, and return which it is."""
        at = self._after_space(at)
        mark = self._text[at : at + 1]
        if mark == end:
            return at + 1, True
        if mark != ",":
            raise ValueError("a comma is missing")
        return self._after_space(at + 1), False
