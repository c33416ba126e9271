"""Breakpoints and their expressions, which guards, watches, the console and history share.

Expressions use Jinja's grammar, in its sandbox and with a budget; they cannot run code or change a
run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

from studio.core.agent.values.json_text import json_text
from studio.core.agent.values.state import LazySequence, RunState, steps_of
from studio.core.agent.values.step import Call, FormatError, PausePoint, Step
from studio.core.prompty.document import named_messages
from studio.core.prompty.parse import parse
from studio.core.prompty.templates.jinja import conditions
from studio.core.text.values import Json, JsonDict, JsonObject

Environment: TypeAlias = JsonObject
"""Values by name."""

ExpressionError: TypeAlias = conditions.ConditionError
"""Error of an expression that cannot be read or evaluated; the text says what and where."""

_HOLE = re.compile(r"\{\{(.+?)\}\}|\{([^{}]+)\}")

T = TypeVar("T")


@lru_cache(maxsize=256)
def parse_expression(source: str) -> conditions.Condition:
    """Read an expression.

    Raises:
        ExpressionError: the expression is empty, too long, or malformed.
    """
    return conditions.compile_condition(source, NAMES)


def check_message(template: str) -> None:
    """Check the expressions of a log point's message.

    Raises:
        ExpressionError: one cannot be read.
    """
    for found in _HOLE.finditer(template):
        parse_expression(found[1] or found[2])


def fill(template: str, environment: Environment) -> str:
    """Return a log point's message with each `{expression}` replaced by its value.

    Raises:
        ExpressionError: one of the expressions cannot be read, or has no value.
    """

    def value(found: re.Match[str]) -> str:
        result = parse_expression(found[1] or found[2]).value(environment)
        return result if isinstance(result, str) else json_text(result)

    return _HOLE.sub(value, template)


class _Place(str):
    """The word of a pause point; also equals its old code (`P3`)."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and PausePoint.of(other) is PausePoint.of(self)

    def __hash__(self) -> int:
        return hash(str(self))


class _Listed(LazySequence[Json], Generic[T]):
    """A list whose values are computed when an expression reads them, each once."""

    __slots__ = ("_encode", "_items", "_made")

    def __init__(self, items: Sequence[T], encode: Callable[[T], Json]) -> None:
        self._items, self._encode = items, encode
        self._made: dict[int, Json] = {}

    def __len__(self) -> int:
        return len(self._items)

    def _make(self, index: int) -> Json:
        if index not in self._made:
            self._made[index] = self._encode(self._items[index])
        return self._made[index]


class _Named(JsonObject):
    """An object whose values are computed when an expression reads them, each once."""

    def __init__(self, table: Mapping[str, Callable[[RunState], Json]], of: RunState) -> None:
        self._table, self._of = table, of
        self._made: JsonDict = {}

    def __getitem__(self, name: str) -> Json:
        if name not in self._made:
            self._made[name] = self._table[name](self._of)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


def _messages(state: RunState) -> Json:
    return _Listed(state.step.messages, lambda each: {"role": each.role, "text": each.text})


def _current_call(state: RunState) -> Call | None:
    """Return the call of the current pause point; the first if there are several."""
    calls = state.step.calls
    at = state.call if state.call is not None and state.call < len(calls) else 0
    return calls[at] if calls else None


def _of_call(state: RunState, name: str) -> Json:
    call = _current_call(state)
    return _call(call)[name] if call is not None else None


def _call(call: Call) -> JsonDict:
    outcome = call.outcome
    failed = outcome.status if outcome is not None and outcome.is_error else None
    return {
        "tool": call.tool,
        "args": call.arguments,
        "observation": call.observation,
        "status": call.status,
        "error": call.error or failed,
        "elapsed": outcome.duration if outcome is not None else None,
    }


def _call_at(state: RunState) -> Json:
    """Return the current call for expressions; at a model's pause point it has only `elapsed`."""
    call = _current_call(state)
    if call is None or state.place is PausePoint.REPLY:
        seconds = state.step.seconds_model if state.step.reply is not None else None
        return {**dict.fromkeys(_call(Call("", "", None))), "elapsed": seconds}
    return _call(call)


def _elapsed(state: RunState) -> float:
    """Return the seconds of the call whose result is shown; elsewhere those of the run."""
    call = _current_call(state)
    if state.place is PausePoint.OBSERVATION and call is not None and call.outcome is not None:
        return call.outcome.duration
    return state.step.seconds_model if state.place is PausePoint.REPLY else state.seconds


def _errors(state: RunState) -> Json:
    """Return the errors of the step as words: `timeout`, `bad_args`, `schema`."""
    reading = state.step.reading
    found: list[Json] = [reading.code if isinstance(reading, FormatError) else None]
    found += [_call(each)["error"] for each in state.step.calls]
    found.append(state.error.code if state.error is not None else None)
    return list(dict.fromkeys(filter(None, found)))


def _text(state: RunState) -> Json:
    """Return the text that the pause point shows."""
    call = _current_call(state)
    match state.place:
        case PausePoint.BEFORE_REQUEST:
            return _prompt(state)
        case PausePoint.TOOL_CALL:
            return f"{call.tool}({json_text(call.arguments)})" if call is not None else None
        case PausePoint.OBSERVATION:
            return call.observation if call is not None else None
        case PausePoint.ANSWER:
            return state.answer
        case PausePoint.ERROR:
            return state.error.message if state.error is not None else None
        case PausePoint.REPLY | PausePoint.STEP_END:
            return state.step.reply.text if state.step.reply is not None else None
        case None:
            return "\n".join(_said(state))


def _said(state: RunState) -> Iterator[str]:
    """Yield all texts of the step; those of the request only for the first step."""
    step = state.step
    if step.number == 1:
        yield from (message.text for message in step.messages)
    yield from step.said
    if step.reply is not None:
        yield step.reply.text
    for call in step.calls:
        yield f"{call.tool}({json_text(call.arguments)})"
        yield call.observation or ""
    if state.error is not None:
        yield state.error.message


def _prompt(state: RunState) -> Json:
    return "\n".join(message.text for message in state.step.messages)


@lru_cache(maxsize=8)
def _defaults(source: str) -> JsonDict:
    """Return the default values of the prompt's inputs."""
    return {each.name: each.default for each in parse(source).inputs if each.has_default}


def _request(state: RunState) -> Json:
    setup = state.setup
    return {
        "model": state.answered_by.id or state.answered_by.name,
        "messages": _messages(state),
        "tools": [tool.name for tool in setup.tools],
        "options": dict(setup.options),
        "stop": list(setup.stop),
    }


_OF_STEP: Mapping[str, Callable[[RunState], Json]] = {
    "iteration": lambda state: state.step.number,
    "messages": _messages,
    "thought": lambda state: state.step.reading.thought if state.step.reading else None,
    "reply": lambda state: state.step.reply.text if state.step.reply is not None else None,
    "tool": lambda state: _of_call(state, "tool"),
    "args": lambda state: _of_call(state, "args"),
    "observation": lambda state: _of_call(state, "observation"),
    "calls": lambda state: [_call(each) for each in state.step.calls],
    "warnings": lambda state: [warning.code for warning in state.step.warnings],
    "errors": _errors,
    "attempt": lambda state: state.step.attempt,
    "elapsed": lambda state: state.step.seconds_model,
    "model": lambda state: (state.step.model or state.setup.answered_by).name,
}
"""Names of an item of `steps`; `elapsed` is that of the model call, and `tool`, `args` and
`observation` are those of the first call.
"""

_OF_RUN: Mapping[str, Callable[[RunState], Json]] = {
    **_OF_STEP,
    "iteration": lambda state: state.iteration,
    "place": lambda state: _Place(state.place.word) if state.place is not None else None,
    "call": _call_at,
    "calls": lambda state: len(state.past_calls) + len(state.step.calls),
    "elapsed": _elapsed,
    "text": _text,
    "answer": lambda state: state.answer,
    "error": lambda state: state.error.code if state.error is not None else None,
    "model": lambda state: state.answered_by.name,
    "tokens": lambda state: {
        "input": state.usage.input_tokens,
        "output": state.usage.output_tokens,
        "total": state.usage.total_tokens,
    },
    "cost": lambda state: state.usage.cost or 0.0,
    "inputs": lambda state: _defaults(state.setup.source) | dict(state.setup.inputs),
    "question": lambda state: state.setup.question,
    "left": lambda state: (
        max(0, state.limits.iterations - state.iteration) if state.limits.iterations else None
    ),
    "prompt": _prompt,
    "request": _request,
    "steps": lambda state: _Listed(
        steps_of(state), lambda step: _Named(_OF_STEP, at_step(state, step))
    ),
}

NAMES = tuple(_OF_RUN)
"""Names of a run in expressions."""


def environment_of(state: RunState) -> Environment:
    """Return the values of `NAMES` at a moment of a run, each computed when it is read."""
    return _Named(_OF_RUN, state)


def at_step(state: RunState, step: Step, call: int | None = None) -> RunState:
    """Return a run as it was in one of its steps, with `call` as the current call."""
    return replace(
        state,
        step=step,
        steps=state.steps.upto(step.number - 1),
        iteration=step.number,
        call=call,
        place=None,
        error=state.error if step.number == state.step.number else None,
    )


def moments_of(state: RunState) -> Iterator[RunState]:
    """Yield a run as it was at each call of each step, or once for a step without calls."""
    for step in steps_of(state):
        for call in range(len(step.calls)) or (None,):
            yield at_step(state, step, call)


HERE = "here"
"""Id of the one-time breakpoint at the pause point that the user wants to run to."""


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A breakpoint; it is hit if all its conditions are true."""

    id: str
    """Stable identifier."""

    places: frozenset[PausePoint] = frozenset()
    """Pause points; empty for all that fit (with a tool: `TOOL_CALL`)."""

    tool: str = ""
    """Name of the tool whose calls it stops at; empty for all."""

    condition: str = ""
    """Expression that must be true; empty for none."""

    hits: str = ""
    """Hit count among places that match otherwise: "3" (the third), ">=3", "%2" (every second);
    empty for every time.
    """

    log: str = ""
    """Line that a log point writes, with each `{expression}` replaced; a log point does not stop.
    """

    enabled: bool = True
    """Whether it is active."""

    message: str = ""
    """Message of the template that must be newly rendered for the request: its role and number
    among messages of that role, as in `user 2`; empty for any.
    """


@dataclass(frozen=True, slots=True)
class Hit:
    """The breakpoints that are hit at a pause point."""

    stops: tuple[str, ...] = ()
    """Ids of those that stop the run."""

    logs: tuple[tuple[str, str], ...] = ()
    """(id, line) of the log points."""


@dataclass
class HitCounter:
    """A counter of how often each breakpoint was reached in a run."""

    counts: dict[str, int] = field(default_factory=dict)
    """Number of times by id."""

    def look(
        self,
        breakpoints: Iterable[Breakpoint],
        state: RunState,
        rendered: Container[int] = frozenset(),
    ) -> Hit:
        """Return the breakpoints that are hit at the state's pause point, and count them.

        Args:
            breakpoints: all breakpoints of the run.
            state: the run.
            rendered: source offsets of the role markers whose messages were just rendered.
        """
        stops: list[str] = []
        logs: list[tuple[str, str]] = []
        environment = environment_of(state)
        for item in breakpoints:
            if not item.enabled or not _fits(item, state, environment, rendered):
                continue
            try:
                met = not item.condition or parse_expression(item.condition).holds(environment)
                line = fill(item.log, environment) if met and item.log else ""
            except ExpressionError as error:
                # A breakpoint with a broken condition stops, so that it is not silently ignored.
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


def _fits(
    item: Breakpoint, state: RunState, environment: Environment, rendered: Container[int]
) -> bool:
    places = item.places or (frozenset({PausePoint.TOOL_CALL}) if item.tool else frozenset())
    if places and state.place not in places:
        return False
    if item.message:
        setup = state.setup
        if _markers(setup.source, setup.path).get(item.message) not in rendered:
            return False
    if item.tool:
        return environment["tool"] == item.tool
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
    """Return why a breakpoint can never be hit; empty if it can."""
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
