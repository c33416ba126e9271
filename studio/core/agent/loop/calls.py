"""The calls of a step: asked for, checked, decided, answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from studio.core.agent.protocols.feedback import SKIPPED, bad_call, rejected, unknown_tool
from studio.core.agent.values.copying import replace
from studio.core.agent.values.events import (
    CallDecided,
    CallsChecked,
    ToolEnded,
)
from studio.core.agent.values.json_text import json_text
from studio.core.agent.values.reading import ReadingWarning, RequestedCall
from studio.core.agent.values.state import (
    Call,
    RunState,
)

_REPEATS = 3
_LOOK_BACK = 20


def call_of(asked: RequestedCall) -> Call:
    """The row of a call that a reply asks for."""
    return Call(
        asked.id,
        asked.tool,
        asked.arguments,
        asked.text,
        problems=(asked.message,) if asked.error else (),
        error="format" if asked.error else None,
        repairs=asked.repairs,
    )


def call_key(call: Call) -> tuple[str, str]:
    """What makes two calls the same: the tool and its arguments."""
    return call.tool, json_text(call.arguments)


def is_repeated(state: RunState, call: Call) -> bool:
    """Whether the last steps made this very call twice already."""
    before = state.past_calls[-_LOOK_BACK:]
    return before.count(call_key(call)) >= _REPEATS - 1


def repetition(call: Call) -> ReadingWarning:
    """The remark on a call that is repeated."""
    message = f"{call.tool!r} is called with the same arguments for at least the third time."
    return ReadingWarning("repeated_action", message)


def first_call(state: RunState, wanted: Callable[[Call], bool]) -> int | None:
    """The first row that a test holds for."""
    return next((at for at, call in enumerate(state.step.calls) if wanted(call)), None)


def with_call(state: RunState, index: int, **changes: Any) -> RunState:  # noqa: ANN401 - as replace
    """One row changed."""
    calls = list(state.step.calls)
    calls[index] = replace(calls[index], **changes)
    return replace(state, step=replace(state.step, calls=tuple(calls)))


def with_checks(state: RunState, event: CallsChecked) -> RunState:
    """The undecided rows were checked; what bindings put in is shown in them."""
    state = replace(state, step=replace(state.step, at_once=event.at_once))
    for index, check in enumerate(event.checks):
        call = state.step.calls[index]
        if call.status != "asked":
            continue
        arguments = call.arguments if check.arguments is None else check.arguments
        state = with_call(
            state,
            index,
            problems=check.problems,
            error=check.kind or None,
            needs_approval=check.needs_approval,
            why=check.why,
            again=check.again,
            arguments=arguments,
            bound=check.bound,
        )
    return state


def call_error_text(state: RunState, call: Call) -> str:
    """What the model is informed of a call that cannot run."""
    if call.error == "unknown_tool":
        return unknown_tool(call.tool, [tool.name for tool in state.setup.tools])
    if call.error == "guardrail":
        return f"Tool denied by guardrail: {'; '.join(call.problems)}"
    return bad_call(call.problems)


def tell_bad_calls(state: RunState) -> RunState:
    """Every row that cannot run gets its error as the result."""
    for index, call in enumerate(state.step.calls):
        if call.status == "asked" and call.problems:
            is_edited = state.error is not None and state.call == index and state.error.observation
            text = (
                state.error.observation
                if is_edited and state.error
                else call_error_text(state, call)
            )
            state = with_call(
                state, index, status="done", observation=text, is_error=True, origin="studio"
            )
    return state


def decided(state: RunState, event: CallDecided) -> RunState:
    """Whether a row runs."""
    match event.decision:
        case "approve":
            return with_call(state, event.call, status="approved")
        case "reject":
            text = rejected(event.text)
            return with_call(
                state, event.call, status="rejected", observation=text, is_error=True,
                origin="studio",
            )  # fmt: skip
        case "answer":
            return with_call(
                state, event.call, status="answered", observation=event.text, origin="person"
            )
        case "skip":
            return with_call(
                state, event.call, status="skipped", observation=SKIPPED, origin="studio"
            )


def tool_ended(state: RunState, event: ToolEnded) -> RunState:
    """A tool has answered: a failure is an observation, never the end of the run."""
    outcome = event.outcome
    text = outcome.text
    if outcome.is_error and not text.startswith("Error"):
        text = f"Error: {text}"
    state = with_call(
        state,
        event.call,
        status="done",
        outcome=outcome,
        observation=text,
        is_error=outcome.is_error,
        origin=event.origin,
    )
    step = replace(
        state.step,
        seconds_tools=state.step.seconds_tools + outcome.duration,
    )
    return replace(
        state,
        step=step,
        call=event.call,
        seconds=state.seconds + outcome.duration,
        seconds_tools=state.seconds_tools + outcome.duration,
    )
