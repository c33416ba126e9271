"""The loop as a pure function: a state and an event give the next state and its effects.

render ▶ before request ▶ model ▶ reply ▶ read, check ▶ tool call ▶ tool ▶ observation
▶ fold ▶ step end ▶ render …      final ▶ answer ▶ done      any failure ▶ error

A run pauses between states, never inside an effect, so resuming repeats nothing.
"""

from collections.abc import Iterable
from typing import assert_never

from studio.core.agent.loop import steps
from studio.core.agent.loop.calls import decided, tell_bad_calls, tool_ended, with_call, with_checks
from studio.core.agent.loop.context import replaced
from studio.core.agent.loop.edits import edit, noted
from studio.core.agent.loop.setup import must_compose
from studio.core.agent.protocols.findings import format_feedback
from studio.core.agent.values.events import (
    AnswerChecked,
    AnswerEdited,
    AnswerReturned,
    CallDecided,
    CallEdited,
    CallsChecked,
    ContextTrimmed,
    ErrorObservationEdited,
    Event,
    Failed,
    Forked,
    LimitRaised,
    Logged,
    MessagesEdited,
    ModelCalled,
    ModelChosen,
    ModelFailed,
    ModelReplied,
    ObservationEdited,
    OutcomeLost,
    OutcomeTold,
    Passed,
    Paused,
    Rendered,
    RenderFailed,
    ReplyEdited,
    ReplyRead,
    Resumed,
    Started,
    Steered,
    Stopped,
    ToolCalled,
    ToolEnded,
    TreatedAsFinal,
)
from studio.core.agent.values.state import Pause, RunState
from studio.core.agent.values.step import (
    Action,
    CallModel,
    CheckCalls,
    Final,
    FormatError,
    PausePoint,
    Refused,
    RenderPrompt,
    RunTools,
    StepError,
    replace,
)
from studio.core.wire.reply import Reply


def advance(state: RunState, event: Event) -> steps.Move:
    """Return the state after an event, and the effects to perform.

    At a pause point (`state.place`) the effects wait for the gate: they are performed after the
    pause, and an edit there replaces them.
    """
    after, effects = _led_to(state, event)
    return noted(state, after, event), effects


def _led_to(state: RunState, event: Event) -> steps.Move:  # noqa: C901, PLR0912 - one arm per fact
    if event.released:
        state = replace(state, released=state.released.union(event.released))
    match event:
        case Started():
            return steps.begin_step(state)
        case Rendered(messages=messages):
            return steps.rendered(state, messages)
        case RenderFailed(message=message):
            error = StepError("render", "render", message, "Fix the prompt, then continue.")
            return steps.at_error(state, error)
        case ContextTrimmed(messages=messages):
            return steps.request_ready(replaced(state, messages))
        case ModelCalled() | ModelReplied() | ModelFailed() | ReplyRead():
            return _model(state, event)
        case CallsChecked() | CallDecided() | ToolCalled() | ToolEnded() | OutcomeLost():
            return _tool(state, event)
        case AnswerChecked(problems=problems, accepted=False) if problems:
            state = replace(state, answer_problems=problems, answer_value=event.value)
            return steps.at_error(state, steps.output_error(state, problems))
        case AnswerChecked(value=value, problems=problems):
            return steps.answered(state, value, problems), ()
        case Passed():
            return _passed(state)
        case Failed(error=error):
            status = steps.status_after(error)
            return replace(state, status=status, place=None, call=None, error=error), ()
        case Stopped():
            return steps.stopped(state, event), ()
        case Logged() | Paused() | Resumed() | Forked() | ModelChosen():
            return _control(state, event)
        case (
            MessagesEdited()
            | ReplyEdited()
            | CallEdited()
            | ObservationEdited()
            | ErrorObservationEdited()
            | TreatedAsFinal()
            | AnswerEdited()
            | AnswerReturned()
            | OutcomeTold()
            | LimitRaised()
            | Steered()
        ):
            return edit(state, event)
        case _:
            assert_never(event)


def _control(
    state: RunState, event: Logged | Paused | Resumed | Forked | ModelChosen
) -> steps.Move:
    match event:
        case Logged():
            return state, steps.pending(state)
        case ModelChosen(model=model, over=over):
            # After a switch, the user may be asked about the old model again; a declined one is
            # recorded.
            declined = over if model.is_same(state.answered_by) else None
            state = replace(state, switched_to=model, declined=declined)
            return state, steps.pending(state)
        case Paused(place=place, reason=reason, breakpoints=hit, text=text):
            return steps.settle(replace(state, pause=Pause(place, reason, hit, text, event.at)))
        case Resumed():
            return steps.settle(replace(state, pause=None))
        case Forked():
            step = replace(
                state.step,
                marks=state.step.marks | {"forked"},
                forked_at=state.place,
                forked_call=state.call,
            )
            return steps.settle(replace(state, pause=None, step=step))
        case _:
            assert_never(event)


# The model ----------------------------------------------------------------------------------------


def _model(
    state: RunState, event: ModelCalled | ModelReplied | ModelFailed | ReplyRead
) -> steps.Move:
    match event:
        case ModelCalled(attempt=attempt):
            marks = state.step.marks | ({"retried"} if attempt > 1 else set())
            tries = (*state.step.tries, (event.at, 0.0))
            step = replace(
                state.step,
                called=event.seq,
                attempt=attempt,
                marks=marks,
                tries=tries,
                model=state.switched_to,
            )
            return replace(state, place=None, step=step, error=None), ()
        case ModelReplied():
            return steps.settle(steps.replied(state, event))
        case ModelFailed():
            return _model_failed(state, event)
        case ReplyRead(reading=reading):
            state = steps.with_reading(state, reading)
            match reading:
                case Action():
                    return state, (CheckCalls(),)
                case Final() if must_compose(state, reading):
                    return steps.settle(steps.fold_step(replace(state, composing=True)))
                case Final(answer=answer):
                    whole = state.answer_so_far + answer
                    return steps.settle(replace(state, place=PausePoint.ANSWER, answer=whole))
                case Refused(text=text):
                    error = StepError("refusal", "refused", text or "The model declined.")
                    return replace(state, status="refused", error=error), ()
                case FormatError():
                    return _format_error(state, reading)
                case _:
                    assert_never(reading)
        case _:
            assert_never(event)


def _model_failed(state: RunState, event: ModelFailed) -> steps.Move:
    step = replace(
        state.step,
        partial=_furthest(state.step.partial, event.partial),
        seconds_model=state.step.seconds_model + event.seconds,
        first_seconds=event.first_seconds,
        tries=steps.tries_ended(state.step, event.at),
    )
    state = replace(state, place=None, step=step, seconds=state.seconds + event.seconds)
    if event.retry_in is not None:
        return state, (CallModel(state.step.attempt + 1, event.retry_in),)
    error = StepError("model", event.kind, event.message, event.hint, retryable=event.retryable)
    return steps.at_error(state, error)


def _furthest(before: Reply | None, now: Reply | None) -> Reply | None:
    """Return the longer of two partial replies; a retry without output keeps the earlier one."""
    return now if now is not None and now.says_something else before


def _format_error(state: RunState, reading: FormatError) -> steps.Move:
    state = replace(state, format_errors=state.format_errors + 1)
    observation = format_feedback(state.protocol, reading.message)
    error = StepError(
        "format",
        reading.code,
        f"{reading.message}.",
        "",
        steps.offered(state, reading.repairs),
        reading.answer,
        observation,
        retryable=True,
    )
    return steps.at_error(state, error)


# Tools --------------------------------------------------------------------------------------------


def _tool(
    state: RunState, event: CallsChecked | CallDecided | ToolCalled | ToolEnded | OutcomeLost
) -> steps.Move:
    match event:
        case CallsChecked():
            return steps.calls_checked(with_checks(state, event))
        case CallDecided():
            state = decided(state, event)
            if event.decision == "approve" and not state.runs_at_once:
                return replace(state, place=None), (RunTools((event.call,)),)
            return steps.next_call(state)
        case ToolCalled(call=index):
            return replace(
                with_call(state, index, status="running", began=event.at), place=None
            ), ()
        case ToolEnded():
            return steps.results_ready(tool_ended(state, event))
        case OutcomeLost(call=index):
            return steps.results_ready(with_call(state, index, status="unknown", origin="studio"))
        case _:
            assert_never(event)


# Passing a pause point ----------------------------------------------------------------------------


def _passed(state: RunState) -> steps.Move:
    match state.place:
        case PausePoint.OBSERVATION:
            if state.runs_at_once:
                return steps.next_result(state, state.call if state.call is not None else -1)
            return steps.next_call(state)
        case PausePoint.STEP_END:
            return steps.next_step(state)
        case PausePoint.ERROR if state.error is not None:
            return _error_passed(state, state.error)
        case _:
            return steps.settle(state)


def _error_passed(state: RunState, error: StepError) -> steps.Move:
    match error.kind:
        case "format" if state.step.reading is None or isinstance(state.step.reading, FormatError):
            step = replace(state.step, observation=error.observation)
            return steps.settle(steps.fold_step(replace(state, step=step, error=None)))
        case "unknown_tool" | "schema" | "format" | "guardrail":
            return steps.next_call(tell_bad_calls(state))
        case "model":
            step = replace(state.step, attempt=state.step.attempt + 1)
            return steps.settle(
                replace(state, place=PausePoint.BEFORE_REQUEST, error=None, step=step)
            )
        case "render":
            return replace(state, place=None, error=None), (RenderPrompt(state.iteration),)
        case "limit":
            return steps.begin_step(replace(state, error=None))
        case _:
            return steps.settle(state)


def fold(events: Iterable[Event]) -> RunState:
    """Return the state after the events of a journal; forks: `studio.core.agent.past.replay`.

    Raises:
        ValueError: the first event is not `Started`.
    """
    state: RunState | None = None
    for event in events:
        if state is None:
            if not isinstance(event, Started):
                raise ValueError("a journal begins with Started")
            state = steps.new_state(event.setup)
        state, _ = advance(state, event)
    if state is None:
        raise ValueError("the journal is empty")
    return state
