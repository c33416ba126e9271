"""How facts change the current step; pure state, no effects (those are in `flow`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from studio.core.agent.loop.calls import call_key, call_of, is_repeated, repetition, with_call
from studio.core.agent.loop.context import (
    assistant_message,
    exchange,
    extended,
    replaced,
    user_message,
)
from studio.core.agent.protocols.findings import remark
from studio.core.agent.values.copying import replace
from studio.core.agent.values.events import (
    ModelReplied,
    Stopped,
)
from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.reading import Action, Final, Reading, ReadingWarning
from studio.core.agent.values.run_setup import RunSetup
from studio.core.agent.values.state import LimitName, RunState, Status
from studio.core.agent.values.step import Call, Step, StepError
from studio.core.models.base import ModelRequest
from studio.core.prompty.messages import Message
from studio.core.text.amounts import counted
from studio.core.text.values import Json, JsonObject
from studio.core.wire.reply import Usage


def new_state(setup: RunSetup) -> RunState:
    """The state of a run that has not begun."""
    return RunState(
        setup, limits=setup.limits, plain_is_final=setup.plain_is_final, repairs=setup.repairs
    )


# The request --------------------------------------------------------------------------------------


def used_up(state: RunState) -> LimitName | None:
    """The allowance that leaves no room for another step."""
    limits = state.limits
    used = state.iteration - state.composing  # the step that writes the answer is always let
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
    """The `ERROR` of an allowance that is used up."""
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
    """The error that ends the run when it is passed: a used-up limit; headless, a failed call.

    Args:
        state: at `ERROR`.
        headless: whether nobody is there now; None where that is as at the run's start.
    """
    error = state.error
    if state.place != PausePoint.ERROR or error is None:
        return None
    if error.kind == "limit":
        return error if used_up(state) is not None else None
    alone = state.setup.headless if headless is None else headless
    return error if alone and error.kind in ("model", "render", "output") else None


def status_after(error: StepError) -> Status:
    """How a run stands that an error ended."""
    match error.kind:
        case "limit":
            return "limit"
        case "output":
            return "incomplete"
        case _:
            return "failed"


_FLAWS = ("cut_answer", "filtered_answer", "empty_answer")


def flaw_of(state: RunState) -> ReadingWarning | None:
    """What is wrong with how the answer ended; nothing where the user wrote it."""
    if state.step.answer is not None:
        return None
    return next((item for item in state.step.warnings if item.code in _FLAWS), None)


_HINTS = {
    "cut_answer": "Let the model go on, or allow more tokens (maxOutputTokens) and run again.",
    "filtered_answer": "Change the prompt, or choose another model.",
    "empty_answer": "Run again, or choose another model.",
}


def output_error(state: RunState, problems: tuple[str, ...]) -> StepError:
    """The `ERROR` of an answer that is cut, filtered or empty, or not what the outputs declare."""
    flaw = flaw_of(state)
    code = flaw.code if flaw is not None else "output"
    hint = _HINTS.get(code, "Ask again with the errors, edit it, or accept it as it is.")
    return StepError("output", code, " ".join(problems), hint)


def with_messages(state: RunState, messages: Sequence[Message]) -> RunState:
    """The messages that the current step will send."""
    state = replaced(state, messages)
    step = replace(state.step, messages=state.conversation, sent=len(messages))
    return replace(state, step=step)


def request_of(state: RunState) -> ModelRequest:
    """The snapshot that the current step sends; the same for every attempt."""
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
    """The prompt's options, with as many tokens of a reply as the user allowed since."""
    most = state.limits.reply
    return state.setup.options if most is None else {**state.setup.options, "maxOutputTokens": most}


def add_usage(total: Usage, one: Usage | None) -> Usage:
    """Tokens and money of one more model call."""
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
    """A reply has ended: the run is at `REPLY`."""
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
    """The tries of a step's model call, once the last of them has ended."""
    if not step.tries:
        return ()
    began, _ = step.tries[-1]
    return (*step.tries[:-1], (began, at))


def _origin_mark(origin: str) -> frozenset[str]:
    marks = {"recorded": "replayed", "mock": "mocked", "person": "edited"}
    return frozenset({marks[origin]} if origin in marks else ())


def with_reading(state: RunState, reading: Reading) -> RunState:
    """The reply was read; an action's calls become rows."""
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
    """The step's calls and results join the conversation: the run is at `STEP_END`."""
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
    """The current step goes to the finished ones, where it did not go there already (a limit)."""
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
    """The answer was checked: the run is done."""
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
    """The run was ended from outside; a call under way has an unknown outcome."""
    for index, call in enumerate(state.step.calls):
        if call.status == "running":
            state = with_call(state, index, status="unknown", origin="studio")
    step = state.step if event.partial is None else replace(state.step, partial=event.partial)
    status: Status = "interrupted" if event.interrupted else "stopped"
    return replace(state, status=status, place=None, pause=None, step=step)


def messages_of(state: RunState, number: int) -> Sequence[Message]:
    """What step `number` sent."""
    step = state.step if number == state.step.number else state.steps[number - 1]
    return step.messages


def models_of(state: RunState) -> list[str]:
    """The models that were asked, by name, each time that it was another one."""
    first = state.setup.answered_by
    if state.switched_to is None:
        return [first.name]  # nobody was asked about it: no step has to be looked at
    asked = [first.name, *((each.model or first).name for each in steps_of(state))]
    return [name for at, name in enumerate(asked) if not at or name != asked[at - 1]]


def steps_of(state: RunState) -> Sequence[Step]:
    """All steps of a run, the current one included."""
    done = bool(state.steps) and state.steps[-1].number == state.step.number
    return state.steps if done or state.step.number == 0 else state.steps.plus((state.step,))
