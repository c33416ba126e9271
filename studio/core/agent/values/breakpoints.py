"""Breakpoints: places at which a run pauses or writes a line, with conditions."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from studio.core.agent.values.json_text import json_text
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Call, PausePoint
from studio.core.prompty.document import named_messages
from studio.core.prompty.parse import parse
from studio.core.prompty.templates.jinja.conditions import ConditionError, compile_condition
from studio.core.text.values import Json

# The expressions of breakpoints, guards, watches and log points. Nothing of them runs code.

NAMES = tuple(
    """
    iteration place tool args thought reply observation answer error warnings tokens cost elapsed
    calls attempt prompt
""".split()
)
"""Names of a run in expressions; `tokens` has `input`, `output`, `total`; `prompt` is available
for guards on requests only."""

_HOLE = re.compile(r"\{([^{}]+)\}")

Environment: TypeAlias = Mapping[str, Json]
"""Values by name."""

ExpressionError: TypeAlias = ConditionError
"""An expression that cannot be read; the text says what and where."""


@dataclass(frozen=True)
class Expression:
    """A parsed expression."""

    source: str
    """As it was written."""

    value: Callable[[Environment], Json]
    """Its value for some values; raises `ExpressionError` where it has none."""

    def holds(self, environment: Environment) -> bool:
        """Return whether its value counts as true.

        Raises:
            ExpressionError: it has none.
        """
        return bool(self.value(environment))


@lru_cache(maxsize=256)
def parse_expression(source: str) -> Expression:
    """Read an expression.

    Raises:
        ExpressionError: it is empty, too long, or malformed.
    """
    return Expression(source, compile_condition(source, NAMES))


def check_message(template: str) -> None:
    """Read the expressions of a log point's message.

    Raises:
        ExpressionError: one cannot be read.
    """
    for source in _HOLE.findall(template):
        parse_expression(source)


def fill(template: str, environment: Environment) -> str:
    """Return a log point's message with each `{expression}` replaced by its value.

    Raises:
        ExpressionError: one of the expressions cannot be read, or has no value.
    """

    def value(found: re.Match[str]) -> str:
        result = parse_expression(found.group(1)).value(environment)
        return result if isinstance(result, str) else json_text(result)

    return _HOLE.sub(value, template)


HERE = "here"
"""Id of the breakpoint that is met once: the place that the user wants to run to."""


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """One breakpoint. All of what it names must hold."""

    id: str
    """Stable identifier."""

    places: frozenset[PausePoint] = frozenset()
    """Place; empty means everywhere that fits (for a tool: `TOOL_CALL`)."""

    tool: str = ""
    """Only for calls of this tool."""

    condition: str = ""
    """Only where this expression holds."""

    hits: str = ""
    """Hit count, counted where everything else holds: "3" (the third), ">=3", "%2" (every
    second); empty for every time."""

    log: str = ""
    """A log point: writes this line, with `{expression}` filled in, and does not stop."""

    enabled: bool = True
    """Whether it counts."""

    message: str = ""
    """Only for requests with this message of the template, newly rendered: its role and which of
    that role it is, as in `user 2`."""


@dataclass(frozen=True, slots=True)
class Hit:
    """The breakpoints that are hit at a place."""

    stops: tuple[str, ...] = ()
    """Ids of those that stop the run."""

    logs: tuple[tuple[str, str], ...] = ()
    """(id, line) of the log points."""


@dataclass
class HitCounter:
    """Counts how often each breakpoint was met in a run."""

    counts: dict[str, int] = field(default_factory=dict)
    """By id."""

    def look(
        self,
        breakpoints: Iterable[Breakpoint],
        state: RunState,
        rendered: Container[int] = frozenset(),
    ) -> Hit:
        """Return the breakpoints that are hit at the state's place, and count the hits.

        Args:
            breakpoints: all of them.
            state: the run.
            rendered: the places of the role markers whose messages were just rendered.
        """
        stops: list[str] = []
        logs: list[tuple[str, str]] = []
        environment: Environment | None = None
        for item in breakpoints:
            if not item.enabled or not _fits(item, state, rendered):
                continue
            environment = environment if environment is not None else environment_of(state)
            try:
                met = not item.condition or parse_expression(item.condition).holds(environment)
                line = fill(item.log, environment) if met and item.log else ""
            except ExpressionError as error:
                # A broken condition must not be a breakpoint that silently never stops.
                met, line = True, f"{item.condition or item.log!r}: {error}"
                logs.append((item.id, line))
            if not met:
                continue
            self.counts[item.id] = self.counts.get(item.id, 0) + 1
            if not _count_fits(item.hits, self.counts[item.id]):
                continue
            if item.log:
                logs.append((item.id, line))
            else:
                stops.append(item.id)
        return Hit(tuple(stops), tuple(logs))


def _fits(item: Breakpoint, state: RunState, rendered: Container[int]) -> bool:
    places = item.places or (frozenset({PausePoint.TOOL_CALL}) if item.tool else frozenset())
    if places and state.place not in places:
        return False
    if item.message:
        setup = state.setup
        if _markers(setup.source, setup.path).get(item.message) not in rendered:
            return False
    if item.tool:
        return _current(state).get("tool") == item.tool
    return True


@lru_cache(maxsize=8)
def _markers(source: str, path: str) -> dict[str, int]:
    return {
        name: section.marker.start
        for name, section in named_messages(parse(source, Path(path) if path else None))
        if section.marker is not None
    }


def _count_fits(hits: str, count: int) -> bool:
    text = hits.strip()
    number = text.lstrip("<>=% ")
    if not text or not number.isdigit():
        return True
    wanted = int(number)
    match text[: len(text) - len(number)].strip():
        case ">=":
            return count >= wanted
        case ">":
            return count > wanted
        case "<=":
            return count <= wanted
        case "<":
            return count < wanted
        case "%":
            return wanted > 0 and count % wanted == 0
        case _:
            return count == wanted


def problem_of(item: Breakpoint, tools: Iterable[str]) -> str:
    """Return why a breakpoint can never be met as it is written; empty if it can."""
    if item.tool and item.tool not in set(tools):
        return f"there is no tool {item.tool!r}"
    try:
        if item.condition:
            parse_expression(item.condition)
        if item.log:
            check_message(item.log)
    except ExpressionError as error:
        return str(error)
    return ""


def environment_of(state: RunState) -> dict[str, Json]:
    """Return the variables of expressions in a run; the names are in `expressions.NAMES`."""
    step = state.step
    reading = step.reading
    return {
        "iteration": state.iteration,
        "place": state.place,
        "attempt": step.attempt,
        "thought": reading.thought if reading is not None else None,
        "reply": step.reply.text if step.reply is not None else None,
        "answer": state.answer,
        "error": state.error.code if state.error is not None else None,
        "warnings": [warning.code for warning in step.warnings],
        "tokens": {
            "input": state.usage.input_tokens,
            "output": state.usage.output_tokens,
            "total": state.usage.total_tokens,
        },
        "cost": state.usage.cost or 0.0,
        "elapsed": _elapsed(state),
        "calls": len(state.past_calls) + len(step.calls),
        **_current(state),
    }


def _elapsed(state: RunState) -> float:
    """Return the seconds of the call that the place shows the result of; elsewhere the run's."""
    call = _current_call(state)
    if state.place is PausePoint.OBSERVATION and call is not None and call.outcome is not None:
        return call.outcome.duration
    return state.step.seconds_model if state.place is PausePoint.REPLY else state.seconds


def _current_call(state: RunState) -> Call | None:
    """Return the call that the place is about; of several, the first."""
    calls = state.step.calls
    at = state.call if state.call is not None and state.call < len(calls) else 0
    return calls[at] if calls else None


def _current(state: RunState) -> Mapping[str, Json]:
    call = _current_call(state)
    if call is None:
        return {"tool": None, "args": None, "observation": None}
    return {"tool": call.tool, "args": call.arguments, "observation": call.observation}
