"""The console of a run: what log points, tools, retries and repairs had to say, line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from studio.application.run.words import bare
from studio.application.words import tr
from studio.core.agent.values.events import (
    ContextTrimmed,
    Event,
    Logged,
    ModelChosen,
    ModelFailed,
    Rendered,
    ReplyEdited,
    ReplyRead,
    ToolEnded,
)
from studio.core.agent.values.expressions import (
    ExpressionError,
    at_step,
    environment_of,
    parse_expression,
)
from studio.core.agent.values.state import RunState, steps_of
from studio.core.agent.values.step import RunSetup
from studio.core.text.amounts import duration
from studio.core.tools.source import ToolOutcome

ConsoleLineKind: TypeAlias = Literal["log", "output", "warning", "error", "asked", "value", "wrong"]
"""`log`: a log point. `output`: what a tool printed. `asked` and `value`: the user's expression."""

_LONGEST = 2_000


@dataclass(frozen=True, slots=True)
class ConsoleLine:
    """One line."""

    kind: ConsoleLineKind
    """Kind of the line."""

    text: str
    """Text of the line."""

    step: int = 0
    """The iteration that it is of; 0 for none."""

    call: int | None = None
    """The row of the call that it is of."""


def lines_of(event: Event, step: int, tool: str = "") -> Iterator[ConsoleLine]:
    """Return the console lines of a journal event; most events have none.

    Args:
        event: the fact.
        step: the iteration that it happened in.
        tool: name of the tool whose call it is about.
    """
    match event:
        case Logged(text=text):
            yield ConsoleLine("log", text, step)
        case ToolEnded(call=row, outcome=outcome):
            yield from _of_tool(outcome, ConsoleLine("output", "", step, row), tool)
        case ModelFailed(message=message, retry_in=wait):
            again = "" if wait is None else tr("; next try in {time}").format(time=duration(wait))
            yield ConsoleLine("error" if wait is None else "warning", bare(message) + again, step)
        case ReplyEdited(repair=name) if name:
            yield ConsoleLine("warning", tr("Repaired: {name}").format(name=name), step)
        case ReplyRead(reading=reading):
            for warning in reading.warnings:
                yield ConsoleLine("warning", warning.message, step)
        case ModelChosen(model=model, over=over):
            words = tr("Model: {model}, not {other}").format(model=model.name, other=over.name)
            yield ConsoleLine("warning", words, step)
        case ContextTrimmed(dropped=count):
            words = tr("{count} old messages left out")
            if count == 1:
                words = tr("1 old message left out")
            words = words.format(count=count)
            yield ConsoleLine("warning", words, step)
        case Rendered(problems=problems):
            for text in problems:
                yield ConsoleLine("warning", text, step)
        case _:
            return


def event_lines(event: Event, state: RunState) -> tuple[ConsoleLine, ...]:
    """Return the console lines of an event, with the state after it."""
    calls = state.step.calls
    tool = calls[event.call].tool if isinstance(event, ToolEnded) else ""
    return tuple(lines_of(event, state.iteration, tool))


def _of_tool(outcome: ToolOutcome, line: ConsoleLine, tool: str) -> Iterator[ConsoleLine]:
    """Return what a tool printed, and how it failed."""
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
        state: the run; at its end where it is too long to be folded to the moment.
        moment: iteration and row of the call; None for where the state is.
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


# What tool calls say while they run, line by line with the time of each.

_MOST_LINES = 400
"""Lines that are kept of one call; the first ones go."""

_OVERLAP = 400
"""Characters by which the newest part of a text is joined to what was heard of it before."""

CallKey: TypeAlias = tuple[int, int]
"""Number of the step, and row of the call."""


@dataclass(frozen=True, slots=True)
class OutputLine:
    """One line."""

    seconds: float
    """Since the call began."""

    text: str
    """The line, without its end; the last one may go on."""


@dataclass(frozen=True, slots=True)
class CallOutput:
    """The output of one call so far."""

    lines: tuple[OutputLine, ...] = ()
    """In order."""

    is_open: bool = False
    """Whether the last line goes on."""

    text: str = ""
    """All of it, or its newest part."""

    def plus(self, text: str, seconds: float) -> CallOutput:
        """Return the output with another piece, received so many seconds after the call began."""
        pieces = text.replace("\r\n", "\n").split("\n")
        lines = [*self.lines]
        if self.is_open:
            last = lines.pop()
            lines.append(OutputLine(last.seconds, last.text + pieces.pop(0)))
        lines += [OutputLine(seconds, piece) for piece in pieces]
        is_open = bool(lines and lines[-1].text)
        if not is_open and text.endswith("\n"):
            lines.pop()  # behind the end of the last line nothing has come yet
        return CallOutput(tuple(lines[-_MOST_LINES:]), is_open, self.text + text)

    def heard(self, text: str, seconds: float) -> CallOutput:
        """Return the output with what is new in a text that overlaps the output so far."""
        if text.startswith(self.text):
            new = text[len(self.text) :]
            return self.plus(new, seconds) if new else self
        # Only the newest part of a talkative call is told: what is new stands behind the overlap.
        tail = self.text[-_OVERLAP:]
        at = text.rfind(tail)
        new = text[at + len(tail) :] if at >= 0 else text
        return replace(self.plus(new, seconds), text=text) if new else self


@dataclass(frozen=True, slots=True)
class LiveOutput:
    """The output of a run's calls while this process runs them."""

    calls: Mapping[CallKey, CallOutput] = field(default_factory=dict)
    """By step and row."""

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
