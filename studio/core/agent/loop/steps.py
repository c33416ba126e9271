"""Apply events to the current step; pure state, no effects (those are in `flow`)."""

from collections.abc import Sequence
from dataclasses import fields
from typing import TypeAlias, assert_never

from studio.core.agent.loop.calls import (
    call_error_text,
    call_key,
    call_of,
    first_call,
    is_repeated,
    repetition,
    with_call,
)
from studio.core.agent.loop.context import (
    assistant_message,
    exchange,
    extended,
    is_too_long,
    legal,
    replaced,
    user_message,
)
from studio.core.agent.protocols.findings import remark
from studio.core.agent.protocols.loops import loop_of
from studio.core.agent.values.events import ModelReplied, Stopped
from studio.core.agent.values.state import LimitName, RunState, Status, steps_of
from studio.core.agent.values.step import (
    Action,
    AskOutcome,
    Call,
    CallModel,
    CheckAnswer,
    DecideCall,
    Effect,
    Final,
    Pass,
    PausePoint,
    Reading,
    ReadingWarning,
    ReadReply,
    RenderPrompt,
    Repair,
    RunSetup,
    RunTools,
    Step,
    StepError,
    TrimContext,
    replace,
)
from studio.core.models.base import ModelRequest
from studio.core.prompty.document import Message
from studio.core.text.amounts import counted
from studio.core.text.values import Json, JsonObject
from studio.core.wire.reply import Usage


def new_state(setup: RunSetup) -> RunState:
    """Return the state of a run that has not begun."""
    return RunState(
        setup, limits=setup.limits, plain_is_final=setup.plain_is_final, repairs=setup.repairs
    )


# The request --------------------------------------------------------------------------------------


def used_up(state: RunState) -> LimitName | None:
    """Return the limit that allows no further step; None if there is none."""
    limits = state.limits
    used = state.iteration - state.composing  # the step that writes the answer does not count
    if limits.iterations is not None and used >= limits.iterations:
        return "iterations"
    if limits.tokens is not None and state.usage.total_tokens >= limits.tokens:
        return "tokens"
    if limits.cost is not None and (state.usage.cost or 0.0) >= limits.cost:
        return "cost"
    if limits.seconds is not None and state.seconds >= limits.seconds:
        return "seconds"
    return None


def limit_error(state: RunState, limit: LimitName) -> StepError:
    """Return the `ERROR` of a limit that is reached."""
    allowed = {
        "iterations": counted(state.limits.iterations or 0, "step"),
        "tokens": counted(state.limits.tokens or 0, "token"),
        "cost": counted(state.limits.cost or 0, "US dollar"),
        "seconds": counted(state.limits.seconds or 0, "second"),
        "reply": counted(state.limits.reply or 0, "token of a reply", "tokens of a reply"),
    }[limit]
    message = f"The run has used up its {allowed} without a final answer."
    return StepError("limit", limit, message, "Allow more, or stop.")


def ending_error(state: RunState, *, headless: bool | None = None) -> StepError | None:
    """Return the error that ends the run when passed: a reached limit; headless, a failed call too.

    Args:
        state: the state at `ERROR`.
        headless: whether the run has no user now; None to use the run's own setting.
    """
    error = state.error
    if state.place != PausePoint.ERROR or error is None:
        return None
    if error.kind == "limit":
        return error if used_up(state) is not None else None
    alone = state.setup.headless if headless is None else headless
    return error if alone and error.kind in ("model", "render", "output") else None


def status_after(error: StepError) -> Status:
    """Return the status of a run that an error ended."""
    match error.kind:
        case "limit":
            return "limit"
        case "output":
            return "incomplete"
        case _:
            return "failed"


_FLAWS = ("cut_answer", "filtered_answer", "empty_answer")


def flaw_of(state: RunState) -> ReadingWarning | None:
    """Return the warning about how the answer ended; None if it is complete or the user's."""
    if state.step.answer is not None:
        return None
    return next((item for item in state.step.warnings if item.code in _FLAWS), None)


_HINTS = {
    "cut_answer": "Let the model continue, or allow more tokens (maxOutputTokens) and run again.",
    "filtered_answer": "Change the prompt, or choose another model.",
    "empty_answer": "Run again, or choose another model.",
}


def output_error(state: RunState, problems: tuple[str, ...]) -> StepError:
    """Return the `ERROR` of an answer that is cut, filtered, empty or unlike the outputs."""
    flaw = flaw_of(state)
    code = flaw.code if flaw is not None else "output"
    hint = _HINTS.get(code, "Ask again with the errors, edit it, or accept it unchanged.")
    return StepError("output", code, " ".join(problems), hint)


def with_messages(state: RunState, messages: Sequence[Message]) -> RunState:
    """Return the state with the messages that the current step will send."""
    state = replaced(state, messages)
    step = replace(state.step, messages=state.conversation, sent=len(messages))
    return replace(state, step=step)


def request_of(state: RunState) -> ModelRequest:
    """Return the request that the current step sends; the same for every attempt."""
    setup = state.setup
    return ModelRequest(
        messages=state.step.messages,
        tools=() if state.composing else setup.tools,
        options=_options(state) or None,
        stop=() if state.composing else setup.stop,
        response_schema=setup.response_schema,
        protocol=state.protocol,
        iteration=state.iteration,
        max_iterations=state.limits.iterations or 1_000_000,
        past_calls=state.past_calls,
        observations=state.observations,
        question=setup.question,
    )


def _options(state: RunState) -> JsonObject:
    """Return the prompt's options, with the maximum number of tokens that the user raised."""
    most = state.limits.reply
    return state.setup.options if most is None else {**state.setup.options, "maxOutputTokens": most}


def add_usage(total: Usage, one: Usage | None) -> Usage:
    """Return the sum of the tokens and cost of two usages."""
    if one is None:
        return total
    cost = None if one.cost is None and total.cost is None else (total.cost or 0) + (one.cost or 0)
    counted = {
        each.name: getattr(total, each.name) + getattr(one, each.name)
        for each in fields(Usage)
        if each.name != "cost"
    }
    return Usage(**counted, cost=cost)


# The reply ----------------------------------------------------------------------------------------


def replied(state: RunState, event: ModelReplied) -> RunState:
    """Return the state after a reply: the run is at `REPLY`."""
    marks = state.step.marks | _origin_mark(event.origin)
    if event.stopped_by == "user":
        marks |= {"cut"}
    step = replace(
        state.step,
        reply=event.reply,
        reply_origin=event.origin,
        partial=None,
        seconds_model=state.step.seconds_model + event.seconds,
        first_seconds=event.first_seconds,
        stopped_by=event.stopped_by,
        marks=marks,
        tries=tries_ended(state.step, event.at),
    )
    return replace(
        state,
        place=PausePoint.REPLY,
        step=step,
        usage=add_usage(state.usage, event.reply.usage if event.origin == "live" else None),
        seconds=state.seconds + event.seconds,
        error=None,
    )


def tries_ended(step: Step, at: float) -> tuple[tuple[float, float], ...]:
    """Return the attempts of a step's model call, the last one ended at `at`."""
    if not step.tries:
        return ()
    began, _ = step.tries[-1]
    return (*step.tries[:-1], (began, at))


def _origin_mark(origin: str) -> frozenset[str]:
    marks = {"recorded": "replayed", "mock": "mocked", "person": "edited"}
    return frozenset({marks[origin]} if origin in marks else ())


def with_reading(state: RunState, reading: Reading) -> RunState:
    """Return the state with the reply's reading, and the calls that it requests."""
    reply = state.step.reply
    refused = reply.left_out if reply is not None else ()
    warnings = tuple(remark("refused_option", each.sentence) for each in refused)
    warnings += reading.warnings
    calls: tuple[Call, ...] = ()
    if isinstance(reading, Action):
        calls = tuple(call_of(asked) for asked in reading.calls)
        warnings += tuple(repetition(call) for call in calls if is_repeated(state, call))
    marks = state.step.marks | ({"warned"} if warnings else set())
    step = replace(state.step, reading=reading, warnings=warnings, calls=calls, marks=marks)
    errors = 0 if isinstance(reading, Action | Final) else state.format_errors
    return replace(state, place=None, call=None, step=step, error=None, format_errors=errors)


# The end of a step --------------------------------------------------------------------------------


def fold_step(state: RunState) -> RunState:
    """Add the step's calls and results to the conversation: the run is at `STEP_END`."""
    step = state.step
    appended: tuple[Message, ...] = ()
    if state.setup.protocol == "native":
        if step.calls:
            appended = exchange(step)
        else:
            kept = step.reading.kept if step.reading is not None else ""
            appended = (assistant_message(kept),) if kept else ()
        if step.observation:
            appended += (user_message(step.observation),)
    step = replace(step, appended=appended)
    if state.setup.protocol == "native":
        state = extended(state, appended)
    return replace(state, place=PausePoint.STEP_END, call=None, step=step)


def close_step(state: RunState) -> RunState:
    """Move the current step to the finished ones; do nothing if it is there (after a limit)."""
    step = state.step
    if len(state.steps) >= state.iteration:
        return state
    return replace(
        state,
        steps=state.steps.plus((step,)),
        settled=state.conversation,
        past_calls=state.past_calls.plus(call_key(call) for call in step.calls),
        observations=state.observations.plus(call.observation or "" for call in step.calls),
    )


def answered(state: RunState, value: Json, problems: tuple[str, ...]) -> RunState:
    """Return the state after the check of the answer: the run is done."""
    step = state.step
    if state.setup.protocol == "native":
        step = replace(step, appended=(assistant_message(state.answer or "", step.reply),))
        state = extended(state, step.appended)
    return replace(
        state,
        status="done",
        place=None,
        step=step,
        error=None,
        answer_value=value,
        answer_problems=problems,
    )


def stopped(state: RunState, event: Stopped) -> RunState:
    """Return the state of a run stopped from outside; the outcome of running calls is unknown."""
    for index, call in enumerate(state.step.calls):
        if call.status == "running":
            state = with_call(state, index, status="unknown", origin="studio")
    step = state.step if event.partial is None else replace(state.step, partial=event.partial)
    status: Status = "interrupted" if event.interrupted else "stopped"
    return replace(state, status=status, place=None, pause=None, step=step)


def messages_of(state: RunState, number: int) -> Sequence[Message]:
    """Return the messages that were sent in step `number`."""
    return (state.step if number == state.step.number else state.steps[number - 1]).messages


def models_of(state: RunState) -> list[str]:
    """Return the names of the models that answered, one for each change."""
    first = state.setup.answered_by
    if state.switched_to is None:
        return [first.name]  # the user never changed the model: no step has to be searched
    asked = [first.name, *((each.model or first).name for each in steps_of(state))]
    return [name for at, name in enumerate(asked) if not at or name != asked[at - 1]]


# Moves between the pause points of a step: each returns the next state and its effects.

Effects: TypeAlias = tuple[Effect, ...]
"""The effects to perform; more than one only where documented."""

Move: TypeAlias = tuple[RunState, Effects]
"""The next state and the effects to perform."""


def pending(state: RunState) -> Effects:
    """Return the effects to perform after the current pause point; empty between pause points."""
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
    """Return a state at a pause point, with the effects that follow it."""
    return state, pending(state)


def at_error(state: RunState, error: StepError, call: int | None = None) -> Move:
    """Return the state of a run at `ERROR`."""
    return settle(replace(state, place=PausePoint.ERROR, call=call, error=error))


# Before the model call ----------------------------------------------------------------------------


def begin_step(state: RunState) -> Move:
    """Go to the next step if the limits allow one."""
    limit = used_up(state)
    if limit is not None:
        return at_error(state, limit_error(state, limit))
    number = state.iteration + 1
    step = Step(number)
    state = replace(state, iteration=number, step=step, place=None, call=None, error=None)
    is_given = bool(state.setup.program) or not state.conversation
    if loop_of(state.setup.protocol).rerenders or is_given:
        return state, (RenderPrompt(number),)
    return _native_ready(state)


def _native_ready(state: RunState) -> Move:
    """Add the user's messages to the conversation and trim it if it is too long."""
    messages = tuple(user_message(text) for text in state.steering)
    state = replace(extended(state, messages), steering=())
    if is_too_long(state):
        return state, (TrimContext(state.setup.context_budget or 0),)
    return request_ready(state)


def rendered(state: RunState, messages: tuple[Message, ...]) -> Move:
    """Return the state with the rendered prompt, followed by messages that no template includes."""
    if state.setup.protocol == "native":
        # An author's own calls may lack results; calls of the loop never do.
        return _native_ready(replaced(state, legal(messages)))
    lines = tuple(user_message(text) for text in state.steering)
    state = replace(state, injected=state.injected + lines, steering=())
    trailing = loop_of(state.setup.protocol).trailing(state)
    return request_ready(replaced(state, messages + trailing))


def request_ready(state: RunState) -> Move:
    """Return the state of a run at `BEFORE_REQUEST`."""
    state = with_messages(state, state.conversation)
    return settle(replace(state, place=PausePoint.BEFORE_REQUEST, call=None))


def next_step(state: RunState) -> Move:
    """Go from `STEP_END` to the next step."""
    return begin_step(close_step(state))


def offered(state: RunState, repairs: tuple[Repair, ...]) -> tuple[Repair, ...]:
    """Return the repairs that the run's settings allow to offer."""
    return () if state.setup.repair == "never" else repairs


# Calls --------------------------------------------------------------------------------------------


def calls_checked(state: RunState) -> Move:
    """Go to `ERROR` if a call cannot run, else to the first decision."""
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
    """Go to the next row that needs a decision, the approved calls, or the end of the step."""
    state = replace(state, error=None)
    index = first_call(state, lambda call: call.status == "asked")
    if index is not None:
        return settle(replace(state, place=PausePoint.TOOL_CALL, call=index))
    approved = tuple(at for at, call in enumerate(state.step.calls) if call.status == "approved")
    if approved:
        return replace(state, place=None, call=None), (RunTools(approved),)
    return settle(fold_step(state))


def results_ready(state: RunState) -> Move:
    """Wait for parallel results, ask about lost ones, or go to the first result."""
    if first_call(state, lambda call: call.status in ("running", "approved")) is not None:
        return replace(state, place=None), ()
    lost = first_call(state, lambda call: call.status == "unknown")
    if lost is not None:
        return outcome_unknown(state, lost)
    if not state.runs_at_once and state.call is not None:
        return settle(replace(state, place=PausePoint.OBSERVATION, error=None))
    return next_result(state, -1)


def outcome_unknown(state: RunState, index: int) -> Move:
    """Return the error of an interrupted call: only the user can know its outcome."""
    tool = state.step.calls[index].tool
    message = f"The call of {tool!r} was interrupted; it is unknown whether it ran."
    error = StepError("outcome_unknown", "outcome_unknown", message, "Choose its outcome.")
    return at_error(state, error, index)


def next_result(state: RunState, after: int) -> Move:
    """Go to `OBSERVATION` of the next parallel call that ran, else to the end of the step."""
    for index in range(after + 1, len(state.step.calls)):
        if state.step.calls[index].outcome is not None:
            return settle(replace(state, place=PausePoint.OBSERVATION, call=index, error=None))
    return settle(fold_step(replace(state, error=None)))
