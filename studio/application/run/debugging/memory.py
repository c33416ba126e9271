"""Breakpoints, filters and watches of a file, kept between starts."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from studio.application.run.breakpoints import BreakpointSet
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.expressions import (
    NAMES,
    ExpressionError,
    environment_of,
    parse_expression,
)
from studio.core.agent.values.options import ExceptionFilter
from studio.core.agent.values.state import RunState
from studio.core.runs.codec import JournalError, decode_value, encode_value
from studio.core.text.amounts import shortened
from studio.core.text.files import read_text, write_private
from studio.core.text.values import JsonObject, list_of, parse_json

_MOST_FILES = 200
"""Files that are remembered; the one that was changed longest ago goes first."""


@dataclass(frozen=True, slots=True)
class FileDebugging:
    """All of it for one file."""

    breakpoints: BreakpointSet = field(default_factory=BreakpointSet)
    """Breakpoints and exception filters."""

    watches: tuple[str, ...] = ()
    """Expressions of the Watch tab."""


class DebugStore:
    """A small JSON file; one that cannot be read or written costs no more than the memory."""

    def __init__(self, path: Path) -> None:
        """Read what is there.

        Args:
            path: the file; need not exist.
        """
        self._path = path
        self._files: dict[str, object] = _read(path)

    def of(self, file: str) -> FileDebugging:
        """Return the debugging setup of a file; the default if there is none."""
        held = self._files.get(file)
        return _from_data(held) if isinstance(held, Mapping) else FileDebugging()

    def keep(self, file: str, value: FileDebugging) -> str:
        """Keep it; gives why it could not be written, empty where it was."""
        self._files.pop(file, None)
        if value != FileDebugging():
            self._files[file] = _to_data(value)
        while len(self._files) > _MOST_FILES:
            del self._files[next(iter(self._files))]
        try:
            write_private(self._path, json.dumps(self._files, indent=1).encode())
        except OSError as error:
            return error.strerror or type(error).__name__
        return ""


def _read(path: Path) -> dict[str, object]:
    try:
        held = parse_json(read_text(path))
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}


def _to_data(value: FileDebugging) -> dict[str, object]:
    return {
        "breakpoints": [encode_value(each) for each in value.breakpoints.breakpoints],
        "exceptions": sorted(value.breakpoints.exceptions),
        "watches": list(value.watches),
    }


def _from_data(data: JsonObject) -> FileDebugging:
    """Read stored data leniently; a file edited by hand must not prevent opening a prompt."""
    made = map(_breakpoint, list_of(data.get("breakpoints")))
    names, exceptions = data.get("exceptions"), BreakpointSet().exceptions
    if isinstance(names, list):
        exceptions = frozenset(name for name in get_args(ExceptionFilter) if name in names)
    watches = tuple(each for each in list_of(data.get("watches")) if isinstance(each, str))
    return FileDebugging(BreakpointSet(tuple(filter(None, made)), exceptions), watches)


def _breakpoint(data: object) -> Breakpoint | None:
    try:
        return decode_value(Breakpoint, data) if isinstance(data, Mapping) else None
    except JournalError:
        return None


# Watch expressions: what the user wants to keep an eye on while a run goes.

HINT = "Names: " + ", ".join(NAMES)
"""Names that expressions can use."""

_LONGEST = 500


@dataclass(frozen=True, slots=True)
class WatchRow:
    """One expression with its value now."""

    expression: str
    """As it was written."""

    value: str
    """Its value as JSON, or why it has none."""

    is_wrong: bool = False
    """Whether the expression cannot be read."""


def watch_rows(state: RunState | None, expressions: Iterable[str]) -> tuple[WatchRow, ...]:
    """Return the watches with their values at the current moment."""
    environment = environment_of(state) if state is not None else None
    rows: list[WatchRow] = []
    for source in expressions:
        try:
            expression = parse_expression(source)
            value = None if environment is None else expression.value(environment)
        except ExpressionError as error:
            rows.append(WatchRow(source, str(error), is_wrong=True))
            continue
        if environment is None:
            rows.append(WatchRow(source, "no run yet"))
            continue
        text = json.dumps(value, ensure_ascii=False)
        rows.append(WatchRow(source, shortened(text, _LONGEST)))
    return tuple(rows)
