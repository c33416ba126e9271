"""Load an OpenAPI description from text, and select the operations that a prompt uses.

Large JSON is parsed in slices, so that other threads can run meanwhile and the user can stop it.
Python's parser blocks all other threads until it has finished: a quarter of a second for ten
megabytes. Here it parses the values of the outer levels one by one.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from json.decoder import scanstring  # type: ignore[attr-defined]
from pathlib import Path
from typing import Literal, TypeAlias

from studio.core.prompty.yaml.reader import YamlTextError, read_plain_yaml
from studio.core.text.files import read_text
from studio.core.text.values import (
    DEEPEST,
    Json,
    JsonBoundError,
    JsonDict,
    parse_json,
    within_depth,
)
from studio.core.tools.openapi.description import METHODS, read_description
from studio.core.tools.openapi.schemas import Description, OpenApiError, Operation, OtherFiles
from studio.core.tools.toolbox import LARGE_TOOL, about_tokens, spec_size

# Progress of reading a large description, and its cancellation.

LARGE = 1_000_000
"""Size of a description from which progress is reported, in characters."""

_PARTS = 50  # number of progress reports per stage


@dataclass(frozen=True, slots=True)
class ReadingProgress:
    """The progress of reading a description."""

    name: str
    """File name or URL of the description."""

    stage: Literal["fetched", "read", "operations"]
    """Unit of the count: bytes downloaded, characters parsed, or operations converted to tools."""

    done: int
    """Number done so far."""

    whole: int
    """Number in total; 0 if unknown."""


TellProgress: TypeAlias = Callable[[ReadingProgress | None], None]
"""Callback for the progress, from any thread; None at the end."""


def tell_nobody(_: ReadingProgress | None) -> None:
    """Ignore the progress."""


class ReadingStoppedError(Exception):
    """Raised when the user stops the reading."""


class DescriptionReading:
    """The reading of a description in steps, with progress, which can be stopped."""

    def __init__(self, name: str, tell: TellProgress = tell_nobody) -> None:
        """Store the settings.

        Args:
            name: name of the description, for the user.
            tell: callback for the progress of reading a large description.
        """
        self._name = name
        self._tell = tell
        self._next = 0
        self._stage = ""
        self.is_large = False
        """Whether the description is large enough for a progress report."""
        self.is_stopped = False
        """Whether it was stopped."""
        self._is_reported = False
        self._is_over = False

    def fetched(self, done: int, whole: int) -> None:
        """Report the bytes downloaded, and their total (0 if unknown)."""
        self.is_large = max(done, whole) >= LARGE
        self._reached("fetched", done, whole)

    def read(self, done: int, whole: int) -> None:
        """Report the characters parsed."""
        self.is_large = whole >= LARGE
        self._reached("read", done, whole)

    def made(self, done: int, whole: int) -> None:
        """Report the operations converted to tools."""
        self._reached("operations", done, whole)

    def stop(self) -> None:
        """Stop the reading at its next step; can be called from any thread."""
        self.is_stopped = True

    def end(self) -> None:
        """Report the end of the reading."""
        self._is_over = True
        if self._is_reported:
            self._tell(None)

    def _reached(
        self, stage: Literal["fetched", "read", "operations"], done: int, whole: int
    ) -> None:
        if self.is_stopped:
            raise ReadingStoppedError
        if stage != self._stage:
            self._stage, self._next = stage, 0
        if self.is_large and done >= self._next:
            self._next = done + (whole // _PARTS or LARGE)
            self._is_reported = True
            self._tell(ReadingProgress(self._name, stage, done, whole))
            if self._is_over:  # another thread has ended the reading meanwhile: report that last
                self._tell(None)


# The operations that a prompt uses: by tag, path, method or name.


@dataclass(frozen=True, slots=True)
class OperationChoice:
    """The value of a tool's `operations:`; all given parts must match."""

    names: tuple[str, ...] = ()
    """Patterns of operation ids (`issues/*`), tool names, or `METHOD /path`."""

    tags: tuple[str, ...] = ()
    """Patterns of tags."""

    paths: tuple[str, ...] = ()
    """Patterns of paths (`/repos/*/issues*`)."""

    methods: tuple[str, ...] = ()
    """HTTP methods, in lower case."""

    problem: str = ""
    """Reason why it cannot be read; empty if it can."""

    @property
    def is_all(self) -> bool:
        """Whether it selects all operations."""
        return not (self.names or self.tags or self.paths or self.methods)


ALL_OPERATIONS = OperationChoice()
"""Selects all operations."""


def read_choice(value: Json) -> OperationChoice:
    """Read `operations:`: a list of names, or an object (ids, tags, paths, methods)."""
    if value is None:
        return OperationChoice()
    if isinstance(value, str | list | tuple):
        return OperationChoice(names=_patterns(value))
    if not isinstance(value, Mapping):
        return OperationChoice(problem="'operations' is a list of names, or an object")
    unknown = sorted(set(value) - {"ids", "tags", "paths", "methods"})
    if unknown:
        return OperationChoice(
            problem=f"'operations' has no {unknown[0]!r}; it has ids, tags, paths and methods"
        )
    methods = tuple(each.lower() for each in _patterns(value.get("methods")))
    wrong = next((each for each in methods if each not in METHODS), "")
    if wrong:
        return OperationChoice(problem=f"'operations' names {wrong!r}, which is not an HTTP method")
    ids, tags, paths = (_patterns(value.get(key)) for key in ("ids", "tags", "paths"))
    return OperationChoice(ids, tags, paths, methods)


def chosen(description: Description, choice: OperationChoice) -> Description:
    """Return the description with only the selected operations.

    Raises:
        OpenApiError: the selection is invalid, or matches no operation.
    """
    if choice.problem:
        raise OpenApiError(choice.problem)
    if choice.is_all:
        return description
    kept = tuple(each for each in description.operations if fits(each, choice))
    if not kept:
        raise OpenApiError(
            f"none of its {len(description.operations):,} operations is chosen by 'operations'"
        )
    return replace(description, operations=kept)


def fits(operation: Operation, choice: OperationChoice) -> bool:
    """Return whether an operation is selected."""
    line = f"{operation.method.upper()} {operation.path}"
    names = (operation.operation_id, operation.spec.name, line)
    return (
        (not choice.names or any(_fits(name, choice.names) for name in names))
        and (not choice.tags or any(_fits(tag, choice.tags) for tag in operation.tags))
        and (not choice.paths or _fits(operation.path, choice.paths))
        and (not choice.methods or operation.method in choice.methods)
    )


def _fits(text: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a text matches, ignoring case and the braces of a path."""
    return any(fnmatchcase(text.casefold(), each.casefold()) for each in patterns)


def _patterns(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list | tuple):
        return ()
    return tuple(item for item in value if isinstance(item, str) and item)


# All operations of a description, for the user's selection.


@dataclass(frozen=True, slots=True)
class OperationRow:
    """One operation, selected or not."""

    name: str
    """Name of its tool."""

    identifier: str
    """Name in `operations:`: its id, or method and path without an id."""

    method: str
    """HTTP method, in upper case."""

    path: str
    """Path template."""

    tag: str
    """First tag; empty for none."""

    tags: tuple[str, ...]
    """All tags."""

    summary: str
    """Summary on one line."""

    tokens: int
    """Approximate tokens in each request."""

    is_chosen: bool
    """Whether the prompt uses it."""

    is_large: bool = False
    """Whether it adds over 20 KB to each request."""


def operation_rows(description: Description, choice: OperationChoice) -> tuple[OperationRow, ...]:
    """Return every operation of a whole description.

    Args:
        description: the description with all operations.
        choice: the prompt's selection.
    """
    return tuple(_row(each, choice) for each in description.operations)


def _row(operation: Operation, choice: OperationChoice) -> OperationRow:
    spec = operation.spec
    line = f"{operation.method.upper()} {operation.path}"
    size = spec_size(spec)
    first = spec.description.strip().splitlines()[:1]
    return OperationRow(
        spec.name,
        operation.operation_id or line,
        operation.method.upper(),
        operation.path,
        operation.tags[0] if operation.tags else "",
        operation.tags,
        first[0] if first else "",
        about_tokens((size,)),
        choice.is_all or (not choice.problem and fits(operation, choice)),
        size > LARGE_TOOL,
    )


LONGEST_DESCRIPTION = 64 * 1024 * 1024
"""Maximum size of a description in bytes. GitHub's has 13 million."""

Reached: TypeAlias = Callable[[int], None]
"""Callback with the number of characters read; raising (never a `ValueError`) ends the reading."""

_SLICED_LEVELS = 4
"""Depth of values that are parsed one by one: in a description, path, method and its parts."""

_SPACE = re.compile(r"[ \t\n\r]*")


def load_description(
    text: str,
    source: str,
    choice: OperationChoice,
    variables: Mapping[str, str],
    reading: DescriptionReading | None = None,
    path: Path | None = None,
) -> Description:
    """Load a description; a large one takes seconds, so call it in a thread.

    Args:
        text: JSON or YAML.
        source: source of its tools, for the user.
        choice: the selected operations.
        variables: values of variables in its servers' addresses.
        reading: receives the progress, and may stop it.
        path: the description's file; references to files below its folder are resolved.

    Raises:
        OpenApiError: it is invalid; the text says what and where.
        ReadingStoppedError: the user stopped it.
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
    """Parse a large JSON text in slices, with the result of `parse_json`.

    Args:
        text: the text.
        reached: called after each slice with the number of characters read.

    Raises:
        JSONDecodeError: it is not JSON; a `ValueError`.
        JsonBoundError: it is nested too deeply, or a number has too many digits; a `ValueError`.
    """
    try:
        return _Slices(text, reached).read()
    except (StopIteration, ValueError, RecursionError):
        return parse_json(text)  # it reports the error as Python does


class _Slices:
    """The sliced parsing of one text; Python's parser reports the errors."""

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
        made: JsonDict = {}
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
        """Return the start of the next item or the end, and which of them it is."""
        at = self._after_space(at)
        mark = self._text[at : at + 1]
        if mark == end:
            return at + 1, True
        if mark != ",":
            raise ValueError("a comma is missing")
        return self._after_space(at + 1), False
