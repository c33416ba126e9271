"""The console lines of a run, and a file's breakpoints, exception filters and watches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from studio.application.run.breakpoints import BreakpointSet
from studio.application.run.words import bare
from studio.application.words import tr
from studio.core.agent.values import events
from studio.core.agent.values.breakpoints import (
    NAMES,
    Breakpoint,
    ExpressionError,
    at_step,
    environment_of,
    parse_expression,
)
from studio.core.agent.values.options import ExceptionFilter
from studio.core.agent.values.state import RunState, steps_of
from studio.core.agent.values.step import RunSetup
from studio.core.runs.codec import JournalError, decode_value, encode_value
from studio.core.text.amounts import duration, shortened
from studio.core.text.files import read_text, write_private
from studio.core.text.values import JsonObject, list_of, parse_json
from studio.core.tools.source import ToolOutcome

_MOST_FILES = 200
"""Maximum number of remembered files; the least recently changed one is removed first."""


@dataclass(frozen=True, slots=True)
class FileDebugging:
    """The debugging setup of one file."""

    breakpoints: BreakpointSet = field(default_factory=BreakpointSet)
    """Breakpoints and exception filters."""

    watches: tuple[str, ...] = ()
    """Expressions of the Watch tab."""


class DebugStore:
    """A small JSON file of debugging setups; if unreadable, only they are lost."""

    def __init__(self, path: Path) -> None:
        """Read the file.

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
        """Store a setup; return why it could not be written, empty if it was."""
        self._files.pop(file, None)
        if value != FileDebugging():
            self._files[file] = {
                "breakpoints": [encode_value(each) for each in value.breakpoints.breakpoints],
                "exceptions": sorted(value.breakpoints.exceptions),
                "watches": list(value.watches),
            }
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


# Watch expressions: values that the user follows during a run.

HINT = "Names: " + ", ".join(NAMES)
"""Names that expressions can use."""

_LONGEST_WATCH = 500


@dataclass(frozen=True, slots=True)
class WatchRow:
    """One expression with its current value."""

    expression: str
    """The expression as written."""

    value: str
    """Its value as JSON, or the reason why it has none."""

    is_wrong: bool = False
    """Whether the expression is invalid."""


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
        rows.append(WatchRow(source, shortened(text, _LONGEST_WATCH)))
    return tuple(rows)


ConsoleLineKind: TypeAlias = Literal["log", "output", "warning", "error", "asked", "value", "wrong"]
"""`log`: a log point. `output`: a tool's output. `asked`, `value`: an expression and its value."""

_LONGEST = 2_000


@dataclass(frozen=True, slots=True)
class ConsoleLine:
    """One line of the console."""

    kind: ConsoleLineKind
    """Kind of the line."""

    text: str
    """Text of the line."""

    step: int = 0
    """Number of its iteration; 0 for none."""

    call: int | None = None
    """Row of its call in the step; None for none."""


def lines_of(event: events.Event, step: int, tool: str = "") -> Iterator[ConsoleLine]:
    """Return the console lines of a journal event; most events have none.

    Args:
        event: the event.
        step: its iteration.
        tool: name of the tool whose call the event is about.
    """
    match event:
        case events.Logged(text=text):
            yield ConsoleLine("log", text, step)
        case events.ToolEnded(call=row, outcome=outcome):
            yield from _of_tool(outcome, ConsoleLine("output", "", step, row), tool)
        case events.ModelFailed(message=message, retry_in=wait):
            again = "" if wait is None else tr("; next try in {time}").format(time=duration(wait))
            yield ConsoleLine("error" if wait is None else "warning", bare(message) + again, step)
        case events.ReplyEdited(repair=name) if name:
            yield ConsoleLine("warning", tr("Repaired: {name}").format(name=name), step)
        case events.ReplyRead(reading=reading):
            for warning in reading.warnings:
                yield ConsoleLine("warning", warning.message, step)
        case events.ModelChosen(model=model, over=over):
            words = tr("Model: {model}, not {other}").format(model=model.name, other=over.name)
            yield ConsoleLine("warning", words, step)
        case events.ContextTrimmed(dropped=count):
            words = tr("{count} old messages left out")
            if count == 1:
                words = tr("1 old message left out")
            words = words.format(count=count)
            yield ConsoleLine("warning", words, step)
        case events.Rendered(problems=problems):
            for text in problems:
                yield ConsoleLine("warning", text, step)
        case _:
            return


def event_lines(event: events.Event, state: RunState) -> tuple[ConsoleLine, ...]:
    """Return the console lines of an event, with the state after it."""
    calls = state.step.calls
    tool = calls[event.call].tool if isinstance(event, events.ToolEnded) else ""
    return tuple(lines_of(event, state.iteration, tool))


def _of_tool(outcome: ToolOutcome, line: ConsoleLine, tool: str) -> Iterator[ConsoleLine]:
    """Return the output of a tool, and how it failed."""
    for text in outcome.stderr.splitlines():
        if text.strip():
            yield replace(line, text=f"{tool}: {text}")
    if outcome.is_error:
        first = next(iter(outcome.text.splitlines()), outcome.status)
        yield replace(line, kind="error", text=f"{tool}: {first}")


def evaluated(
    source: str, state: RunState | None, moment: tuple[int, int | None] | None = None
) -> tuple[ConsoleLine, ConsoleLine]:
    """Evaluate an expression at a moment; an error is shown in place of the value.

    Args:
        source: the expression.
        state: the run; evaluated at its end if it is too long to fold to the moment.
        moment: iteration and row of the call; None for the current moment of the state.
    """
    asked = ConsoleLine("asked", source)
    if state is None:
        return asked, ConsoleLine("wrong", tr("There is no run yet."))
    if moment is not None and state.step.number != moment[0] <= len(steps_of(state)):
        state = at_step(state, steps_of(state)[moment[0] - 1], moment[1])
    try:
        value = parse_expression(source).value(environment_of(state))
    except ExpressionError as error:
        return asked, ConsoleLine("wrong", str(error))
    return asked, ConsoleLine("value", json.dumps(value, ensure_ascii=False)[:_LONGEST])


def names_for(state: RunState | None) -> tuple[str, ...]:
    """Return the names that expressions can use now, with the keys of their values."""
    values = environment_of(state or RunState(RunSetup("")))
    keys = [
        f"{name}.{key}"
        for name in ("args", "call", "inputs", "request", "tokens")
        if isinstance(value := values[name], Mapping)
        for key in value
        if key.isidentifier()
    ]
    return tuple(sorted((*values, *keys)))


# Output of tool calls while they run, line by line with the time of each.

_MOST_LINES = 400
"""Maximum lines stored per call; the oldest are dropped."""

_OVERLAP = 400
"""Characters of overlap used to join the newest output to the earlier output."""

CallKey: TypeAlias = tuple[int, int]
"""Number of the step, and row of the call."""


@dataclass(frozen=True, slots=True)
class OutputLine:
    """One line of output."""

    seconds: float
    """Seconds since the call began."""

    text: str
    """The line, without its line end; the last one may be incomplete."""


@dataclass(frozen=True, slots=True)
class CallOutput:
    """The output of one call so far."""

    lines: tuple[OutputLine, ...] = ()
    """The lines, in order."""

    is_open: bool = False
    """Whether the last line is incomplete."""

    text: str = ""
    """The whole output, or its newest part."""

    def plus(self, text: str, seconds: float) -> CallOutput:
        """Return the output with a piece appended that arrived `seconds` after the call began."""
        pieces = text.replace("\r\n", "\n").split("\n")
        lines = [*self.lines]
        if self.is_open:
            last = lines.pop()
            lines.append(OutputLine(last.seconds, last.text + pieces.pop(0)))
        lines += [OutputLine(seconds, piece) for piece in pieces]
        is_open = bool(lines and lines[-1].text)
        if not is_open and text.endswith("\n"):
            lines.pop()  # nothing follows the end of the last line yet
        return CallOutput(tuple(lines[-_MOST_LINES:]), is_open, self.text + text)

    def heard(self, text: str, seconds: float) -> CallOutput:
        """Return the output with the new part of a text that overlaps the output so far."""
        if text.startswith(self.text):
            new = text[len(self.text) :]
            return self.plus(new, seconds) if new else self
        # Only the newest part of long output is reported: the new text follows the overlap.
        tail = self.text[-_OVERLAP:]
        at = text.rfind(tail)
        new = text[at + len(tail) :] if at >= 0 else text
        return replace(self.plus(new, seconds), text=text) if new else self


@dataclass(frozen=True, slots=True)
class LiveOutput:
    """The output of a run's calls while this process runs them."""

    calls: Mapping[CallKey, CallOutput] = field(default_factory=dict)
    """Output by step and row."""

    def of(self, step: int, row: int) -> tuple[OutputLine, ...]:
        """Return the lines of a call."""
        return self.calls.get((step, row), CallOutput()).lines

    def heard(self, key: CallKey, text: str, seconds: float) -> LiveOutput:
        """Return the output with the newest part of a call."""
        before = self.calls.get(key, CallOutput())
        held = before.heard(text, seconds)
        return self if held is before else LiveOutput({**self.calls, key: held})

    def without(self, key: CallKey) -> LiveOutput:
        """Return the output without that of an earlier call in the same place."""
        return LiveOutput({each: held for each, held in self.calls.items() if each != key})
