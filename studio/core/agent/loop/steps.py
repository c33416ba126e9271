"""How facts change the current step; pure state, no effects (those are in `flow`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from studio.core.agent.loop.context import extended, replaced
from studio.core.agent.loop.conversation import assistant_message, exchange, user_message
from studio.core.agent.protocols.feedback import SKIPPED, bad_call, rejected, unknown_tool
from studio.core.agent.values.copying import replace
from studio.core.agent.values.events import (
    CallDecided,
    CallsChecked,
    ModelReplied,
    Stopped,
    ToolEnded,
)
from studio.core.agent.values.json_text import json_text
from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.reading import Action, Final, Reading, ReadingWarning, RequestedCall
from studio.core.agent.values.state import (
    Call,
    LimitName,
    RunSetup,
    RunState,
    Status,
    Step,
    StepError,
)
from studio.core.models.base import ModelRequest
from studio.core.prompty.messages import Message
from studio.core.text.values import Json, JsonObject
from studio.core.wire.reply import Usage

_REPEATS = 3
_LOOK_BACK = 20


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
        "iterations": f"{state.limits.iterations} steps",
        "tokens": f"{state.limits.tokens} tokens",
        "cost": f"{state.limits.cost} US dollars",
        "seconds": f"{state.limits.seconds} seconds",
        "reply": f"{state.limits.reply} tokens of a reply",
    }[limit]
    message = f"The run has used up its {allowed} without a final answer."
    return StepError("limit", limit, message, "Allow more, answer yourself, or stop.")


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
        tokens_per_second=event.tokens_per_second,
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
    warnings = reading.warnings
    calls: tuple[Call, ...] = ()
    if isinstance(reading, Action):
        calls = tuple(_row(asked) for asked in reading.calls)
        warnings += tuple(_repeated(state, call) for call in calls if _is_repeated(state, call))
    marks = state.step.marks | ({"warned"} if warnings else set())
    step = replace(state.step, reading=reading, warnings=warnings, calls=calls, marks=marks)
    errors = 0 if isinstance(reading, Action | Final) else state.format_errors
    return replace(state, place=None, call=None, step=step, error=None, format_errors=errors)


def _row(asked: RequestedCall) -> Call:
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


def _is_repeated(state: RunState, call: Call) -> bool:
    """Whether the last steps made this very call twice already."""
    before = state.past_calls[-_LOOK_BACK:]
    return before.count(call_key(call)) >= _REPEATS - 1


def _repeated(state: RunState, call: Call) -> ReadingWarning:
    message = f"{call.tool!r} is called with the same arguments for at least the third time."
    return ReadingWarning("repeated_action", message)


# The calls ----------------------------------------------------------------------------------------


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
    if state.switched_to is None and state.declined is None:
        return [first.name]  # nobody was asked about it: no step has to be looked at
    asked = [first.name, *((each.model or first).name for each in steps_of(state))]
    return [name for at, name in enumerate(asked) if not at or name != asked[at - 1]]


def steps_of(state: RunState) -> Sequence[Step]:
    """All steps of a run, the current one included."""
    done = bool(state.steps) and state.steps[-1].number == state.step.number
    return state.steps if done or state.step.number == 0 else state.steps.plus((state.step,))
