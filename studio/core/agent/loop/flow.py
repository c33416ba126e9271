"""Moves between the places of a step: each gives the next state and what the world must do."""

from __future__ import annotations

from typing import TypeAlias, assert_never

from studio.core.agent.loop.calls import call_error_text, first_call
from studio.core.agent.loop.context import extended, is_too_long, legal, replaced, user_message
from studio.core.agent.loop.steps import close_step, fold_step, limit_error, used_up, with_messages
from studio.core.agent.protocols.loops import loop_of
from studio.core.agent.values.copying import replace
from studio.core.agent.values.pause_point import (
    AskOutcome,
    CallModel,
    CheckAnswer,
    DecideCall,
    Effect,
    Pass,
    PausePoint,
    ReadReply,
    RenderPrompt,
    RunTools,
    TrimContext,
)
from studio.core.agent.values.reading import Repair
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Step, StepError
from studio.core.prompty.messages import Message

Effects: TypeAlias = tuple[Effect, ...]
"""What the world must do; several only where that is said."""

Move: TypeAlias = tuple[RunState, Effects]
"""A state and what the world must do next."""


def pending(state: RunState) -> Effects:
    """What follows a place once it is passed; nothing between places."""
    if state.is_over:
        return ()
    match state.place:
        case PausePoint.BEFORE_REQUEST:
            return (CallModel(state.step.attempt),)
        case PausePoint.REPLY:
            return (ReadReply(state.step.reply),) if state.step.reply is not None else ()
        case PausePoint.TOOL_CALL:
            return (DecideCall(state.call or 0),)
        case PausePoint.OBSERVATION | PausePoint.STEP_END:
            return (Pass(state.place),)
        case PausePoint.ANSWER:
            return (CheckAnswer(state.answer or ""),)
        case PausePoint.ERROR:
            if state.error is not None and state.error.kind == "outcome_unknown":
                return (AskOutcome(state.call or 0),)
            return (Pass(PausePoint.ERROR),)
        case None:
            return ()
        case _:
            assert_never(state.place)


def settle(state: RunState) -> Move:
    """A state at a place, with what follows it."""
    return state, pending(state)


def at_error(state: RunState, error: StepError, call: int | None = None) -> Move:
    """The run comes to `ERROR`."""
    return settle(replace(state, place=PausePoint.ERROR, call=call, error=error))


# Towards the model --------------------------------------------------------------------------------


def begin_step(state: RunState) -> Move:
    """On to the next step, where the allowances leave room for one."""
    limit = used_up(state)
    if limit is not None:
        return at_error(state, limit_error(state, limit))
    number = state.iteration + 1
    step = Step(number)
    state = replace(state, iteration=number, step=step, place=None, call=None, error=None)
    if loop_of(state.setup.protocol).rerenders or not state.conversation:
        return state, (RenderPrompt(number),)
    return _native_ready(state)


def _native_ready(state: RunState) -> Move:
    """What the user said joins the conversation; one that is too long is trimmed first."""
    messages = tuple(user_message(text) for text in state.steering)
    state = replace(extended(state, messages), steering=())
    if is_too_long(state):
        return state, (TrimContext(state.setup.context_budget or 0),)
    return request_ready(state)


def rendered(state: RunState, messages: tuple[Message, ...]) -> Move:
    """The prompt was rendered; what its template has no place for follows it."""
    if state.setup.protocol == "native":
        # An author's own calls may lack their results; what the loop adds never does.
        return _native_ready(replaced(state, legal(messages)))
    lines = tuple(user_message(text) for text in state.steering)
    state = replace(state, injected=state.injected + lines, steering=())
    trailing = loop_of(state.setup.protocol).trailing(state)
    return request_ready(replaced(state, messages + trailing))


def request_ready(state: RunState) -> Move:
    """The run comes to `BEFORE_REQUEST`."""
    state = with_messages(state, state.conversation)
    return settle(replace(state, place=PausePoint.BEFORE_REQUEST, call=None))


def next_step(state: RunState) -> Move:
    """From `STEP_END` to the next step."""
    return begin_step(close_step(state))


def offered(state: RunState, repairs: tuple[Repair, ...]) -> tuple[Repair, ...]:
    """The repairs that the run may be offered."""
    return () if state.setup.repair == "never" else repairs


# Calls --------------------------------------------------------------------------------------------


def calls_checked(state: RunState) -> Move:
    """To `ERROR` where a call cannot run, else to the first decision."""
    bad = first_call(state, lambda call: call.status == "asked" and bool(call.problems))
    if bad is None:
        return next_call(state)
    call = state.step.calls[bad]
    kind = call.error or "schema"
    if kind == "format":
        state = replace(state, format_errors=state.format_errors + 1)
    message = "; ".join(call.problems)
    observation = call_error_text(state, call)
    repairs = offered(state, call.repairs)
    error = StepError(kind, kind, message, "", repairs, observation=observation)
    return at_error(state, error, bad)


def next_call(state: RunState) -> Move:
    """On to the next row that needs a decision, the approved calls, or the end of the step."""
    state = replace(state, error=None)
    index = first_call(state, lambda call: call.status == "asked")
    if index is not None:
        return settle(replace(state, place=PausePoint.TOOL_CALL, call=index))
    approved = tuple(at for at, call in enumerate(state.step.calls) if call.status == "approved")
    if approved:
        return replace(state, place=None, call=None), (RunTools(approved),)
    return settle(fold_step(state))


def results_ready(state: RunState) -> Move:
    """After a result: wait for siblings, ask about lost ones, or show the first result."""
    if first_call(state, lambda call: call.status in ("running", "approved")) is not None:
        return replace(state, place=None), ()
    lost = first_call(state, lambda call: call.status == "unknown")
    if lost is not None:
        return outcome_unknown(state, lost)
    if not state.runs_at_once and state.call is not None:
        return settle(replace(state, place=PausePoint.OBSERVATION, error=None))
    return next_result(state, -1)


def outcome_unknown(state: RunState, index: int) -> Move:
    """Only the user can say what became of a call."""
    tool = state.step.calls[index].tool
    message = f"The call of {tool!r} was interrupted; nobody knows whether it did its work."
    error = StepError("outcome_unknown", "outcome_unknown", message, "Say what became of it.")
    return at_error(state, error, index)


def next_result(state: RunState, after: int) -> Move:
    """Parallel calls: `OBSERVATION` of the next row that ran, else the end of the step."""
    for index in range(after + 1, len(state.step.calls)):
        if state.step.calls[index].outcome is not None:
            return settle(replace(state, place=PausePoint.OBSERVATION, call=index, error=None))
    return settle(fold_step(replace(state, error=None)))
