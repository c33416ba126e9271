"""Apply a user's edits to a run; each is an event of the journal.

The state also records who made each change and when, and how long the run waited for it.
"""

from typing import TypeAlias, assert_never

from studio.core.agent.loop import steps
from studio.core.agent.loop.calls import first_call, with_call
from studio.core.agent.loop.context import assistant_message, extended, legal, user_message
from studio.core.agent.protocols.findings import RAN_WITHOUT_RESULT
from studio.core.agent.values import events
from studio.core.agent.values.json_text import json_text
from studio.core.agent.values.state import LimitName, RunState
from studio.core.agent.values.step import CheckCalls, Limits, PausePoint, Touch, TouchKind, replace

Edit: TypeAlias = (
    events.MessagesEdited
    | events.ReplyEdited
    | events.CallEdited
    | events.ObservationEdited
    | events.ErrorObservationEdited
    | events.TreatedAsFinal
    | events.AnswerEdited
    | events.AnswerReturned
    | events.OutcomeTold
    | events.LimitRaised
    | events.Steered
)
"""The events by which the user changes a paused run."""

_TOUCHING = (
    events.MessagesEdited,
    events.ReplyEdited,
    events.CallEdited,
    events.CallDecided,
    events.ObservationEdited,
    events.TreatedAsFinal,
    events.AnswerEdited,
    events.OutcomeTold,
    events.Steered,
    events.ModelReplied,
    events.ModelChosen,
)

_DECISIONS: dict[str, TouchKind] = {
    "approve": "approved",
    "reject": "rejected",
    "answer": "answered",
    "skip": "skipped",
}


def edit(state: RunState, event: Edit) -> steps.Move:  # noqa: C901 - one arm per edit
    """Return the run after an edit; it stays at its pause point unless the edit moves it."""
    match event:
        case events.MessagesEdited(messages=messages):
            if state.setup.protocol == "native":
                messages = legal(messages)
            return steps.settle(
                _marked(steps.with_messages(state, messages), "edited", PausePoint.BEFORE_REQUEST)
            )
        case events.ReplyEdited():
            return steps.settle(_reply(state, event))
        case events.CallEdited():
            return _call(state, event), (CheckCalls(),)
        case events.ObservationEdited(call=index, text=text, is_error=is_error):
            edited = (*state.step.calls[index].edited, "observation")
            state = with_call(
                state,
                index,
                observation=text,
                is_error=is_error,
                edited=tuple(dict.fromkeys(edited)),
            )
            return steps.settle(_marked(state, "edited", PausePoint.OBSERVATION))
        case events.ErrorObservationEdited(text=text):
            if state.error is not None:
                state = replace(state, error=replace(state.error, observation=text))
            return steps.settle(state)
        case events.TreatedAsFinal(text=text, always=always):
            plain = state.plain_is_final or always
            state = replace(
                state, place=PausePoint.ANSWER, answer=text, error=None, plain_is_final=plain
            )
            return steps.settle(replace(_answered(state, text), format_errors=0))
        case events.AnswerEdited(text=text):
            state = replace(
                state, place=PausePoint.ANSWER, answer=text, answer_problems=(), error=None
            )
            return steps.settle(_answered(state, text))
        case events.AnswerReturned(text=text, continues=continues):
            words = (state.answer or "") if continues else ""
            return _go_on(replace(state, answer_so_far=words), text)
        case events.OutcomeTold():
            return _outcome(state, event)
        case events.LimitRaised():
            return steps.settle(replace(state, limits=raised(state.limits, event.limit, event.to)))
        case events.Steered():
            return _steered(state, event)
        case _:
            assert_never(event)


def raised(limits: Limits, name: LimitName, to: float | None) -> Limits:
    """Return the limits with one of them changed."""
    match name:
        case "iterations":
            return replace(limits, iterations=None if to is None else int(to))
        case "tokens":
            return replace(limits, tokens=None if to is None else int(to))
        case "cost":
            return replace(limits, cost=to)
        case "seconds":
            return replace(limits, seconds=to)
        case "reply":
            return replace(limits, reply=None if to is None else int(to))
        case _:
            assert_never(name)


def _steered(state: RunState, event: events.Steered) -> steps.Move:
    """Add the user's message to the request that is ready to be sent, or to the next one."""
    if not event.joins or state.place != PausePoint.BEFORE_REQUEST:
        state = replace(state, steering=(*state.steering, event.text))
        return state, steps.pending(state)
    message = user_message(event.text)
    if state.setup.protocol != "native":
        state = replace(state, injected=(*state.injected, message))
    state = extended(state, (message,))
    state = steps.with_messages(state, state.conversation)
    return steps.settle(
        replace(state, step=replace(state.step, said=(*state.step.said, event.text)))
    )


def _marked(state: RunState, mark: str, at: PausePoint | None = None) -> RunState:
    """Return the state with a mark on its step, and the edited pause point."""
    edited = state.step.edited_at | ({at} if at is not None else set())
    step = replace(state.step, marks=state.step.marks | {mark}, edited_at=edited)
    return replace(state, step=step)


def _answered(state: RunState, text: str) -> RunState:
    """Keep the user's answer in the step, so that later turns of the conversation contain it."""
    marked = _marked(state, "edited", PausePoint.ANSWER)
    return replace(marked, step=replace(marked.step, answer=text))


def _reply(state: RunState, event: events.ReplyEdited) -> RunState:
    mark = "repaired" if event.repair else "edited"
    repairs = state.repairs | ({event.repair} if event.repair and event.always else set())
    origin = "person" if event.given else state.step.reply_origin
    made = (*state.step.repairs, event.repair) if event.repair else state.step.repairs
    unread = replace(state.step, reading=None, calls=(), answer=None, repairs=made)
    step = replace(unread, reply=event.reply, reply_origin=origin)
    state = replace(
        state,
        step=step,
        place=PausePoint.REPLY,
        call=None,
        error=None,
        repairs=repairs,
        repaired=state.repaired + bool(event.repair),
    )
    # A repaired or corrected reply does not count as another format error.
    marked = _marked(state, mark, PausePoint.REPLY)
    return replace(marked, format_errors=max(0, state.format_errors - 1))


def _call(state: RunState, event: events.CallEdited) -> RunState:
    before = state.step.calls[event.call]
    what = [*before.edited]
    if event.tool != before.tool:
        what.append("tool")
    what.append("arguments")
    state = with_call(
        state,
        event.call,
        tool=event.tool,
        arguments=event.arguments,
        text=json_text(event.arguments),
        status="asked",
        problems=(),
        error=None,
        repairs=(),
        edited=tuple(dict.fromkeys(what)),
    )
    return replace(_marked(state, "edited", PausePoint.TOOL_CALL), place=None, error=None)


def _go_on(state: RunState, text: str) -> steps.Move:
    """Add the answer and the user's next message to the conversation, and continue the loop."""
    answer = assistant_message(state.answer or "")
    message = user_message(text)
    if state.setup.protocol == "native":
        # A checked answer is in the conversation already.
        held = (message,) if state.status == "done" else (answer, message)
        state = extended(state, held)
    else:
        state = replace(state, injected=(*state.injected, answer, message))
    allowed = state.setup.limits.iterations
    if allowed is not None:
        state = replace(state, limits=replace(state.limits, iterations=state.iteration + allowed))
    return steps.begin_step(
        replace(
            steps.close_step(state),
            status="running",
            composing=False,
            answer=None,
            answer_value=None,
            answer_problems=(),
            pause=None,
        )
    )


def _outcome(state: RunState, event: events.OutcomeTold) -> steps.Move:
    match event.fate:
        case "did-not-run":
            state = with_call(state, event.call, status="asked", origin="live")
        case "ran" | "result":
            text = event.text if event.fate == "result" else RAN_WITHOUT_RESULT
            state = with_call(
                state, event.call, status="answered", observation=text, origin="person"
            )
        case _:
            assert_never(event.fate)
    lost = first_call(state, lambda call: call.status == "unknown")
    if lost is not None:
        return steps.outcome_unknown(state, lost)
    if event.fate == "did-not-run" or not state.runs_at_once:
        return steps.next_call(state)
    return steps.results_ready(replace(state, call=None, error=None))


def noted(before: RunState, after: RunState, event: events.Event) -> RunState:
    """Return the state after an event, with the user's action and the length of the pause added.

    Args:
        before: the state before the event.
        after: the state that `advance` made from it.
        event: the event.
    """
    if before.pause is not None and after.pause is None and not isinstance(event, events.Forked):
        # After a fork, the time since the earlier pause belongs to the other branch.
        spent = event.waited
        if spent is None and before.pause.at:
            spent = event.at - before.pause.at
        after = replace(after, waited=after.waited + max(spent or 0.0, 0.0))
    if not isinstance(event, _TOUCHING) or after.step.number != before.step.number:
        return after
    touch = (
        _model_touch(before, event) if isinstance(event, events.ModelChosen) else _touch_of(event)
    )
    if touch is None:
        return after
    return replace(after, step=replace(after.step, touches=(*after.step.touches, touch)))


def _model_touch(before: RunState, event: events.ModelChosen) -> Touch:
    """Return the mark for a choice of model, at the current pause point or at the request.

    A run that only begins has no model to keep, so the kind is then `switched`.
    """
    place, call = before.place, before.call
    begins = place is None and not before.is_over
    if place in (PausePoint.ERROR, PausePoint.STEP_END) or begins:
        place, call = PausePoint.BEFORE_REQUEST, None
    is_kept = event.model.is_same(before.answered_by) and not begins
    kind: TouchKind = "kept" if is_kept else "switched"
    words = f"{event.model.name} instead of {event.over.name}"
    return Touch(kind, place or PausePoint.ANSWER, call, event.at, words)


def _touch_of(event: events.Event) -> Touch | None:
    """Return the mark for an event of the user; None for events that a rule caused."""
    at = event.at
    match event:
        case events.MessagesEdited():
            return Touch("edited", PausePoint.BEFORE_REQUEST, at=at)
        case events.Steered():
            return Touch("sent", PausePoint.BEFORE_REQUEST, at=at)
        case events.ReplyEdited(repair=repair):
            return Touch("repaired" if repair else "edited", PausePoint.REPLY, at=at)
        case events.ModelReplied(stopped_by="user"):
            return Touch("cut", PausePoint.REPLY, at=at)
        case events.CallEdited(call=row):
            return Touch("edited", PausePoint.TOOL_CALL, row, at)
        case events.CallDecided(call=row, decision=decision, by="person"):
            return Touch(_DECISIONS[decision], PausePoint.TOOL_CALL, row, at)
        case events.OutcomeTold(call=row):
            return Touch("told", PausePoint.TOOL_CALL, row, at)
        case events.ObservationEdited(call=row):
            return Touch("edited", PausePoint.OBSERVATION, row, at)
        case events.AnswerEdited() | events.TreatedAsFinal():
            return Touch("edited", PausePoint.ANSWER, at=at)
        case _:
            return None
