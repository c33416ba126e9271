"""What a person did in a run, and how long the run waited for it: beside what it led to."""

from __future__ import annotations

from studio.core.agent.values.copying import replace
from studio.core.agent.values.events import (
    AnswerEdited,
    CallDecided,
    CallEdited,
    Event,
    Forked,
    MessagesEdited,
    ModelChosen,
    ModelReplied,
    ObservationEdited,
    OutcomeTold,
    ReplyEdited,
    Steered,
    TreatedAsFinal,
)
from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.state import RunState, Touch, TouchKind

_TOUCHING = (
    MessagesEdited, ReplyEdited, CallEdited, CallDecided, ObservationEdited, TreatedAsFinal,
    AnswerEdited, OutcomeTold, Steered, ModelReplied, ModelChosen,
)  # fmt: skip

_DECISIONS: dict[str, TouchKind] = {
    "approve": "approved", "reject": "rejected", "answer": "answered", "skip": "skipped",
}  # fmt: skip


def noted(before: RunState, after: RunState, event: Event) -> RunState:
    """The state after an event, with who did what when and how long it stood still before.

    Args:
        before: the state that the event met.
        after: the state that it led to.
        event: what happened.
    """
    if before.pause is not None and after.pause is None and not isinstance(event, Forked):
        # After going back, the time since that place first waited belongs to the other way.
        spent = event.at - before.pause.at
        if before.pause.at and spent > 0:
            after = replace(after, waited=after.waited + spent)
    if not isinstance(event, _TOUCHING) or after.step.number != before.step.number:
        return after
    touch = _model_touch(before, event) if isinstance(event, ModelChosen) else _touch_of(event)
    if touch is None:
        return after
    step = replace(after.step, touches=(*after.step.touches, touch))
    return replace(after, step=step)


def _model_touch(before: RunState, event: ModelChosen) -> Touch:
    """The word on the model, at what the run stood with; the request where that has no card.

    A run that only begins has kept none: it was chosen over another one.
    """
    place, call = before.place, before.call
    begins = place is None and not before.is_over
    if place in (PausePoint.ERROR, PausePoint.STEP_END) or begins:
        place, call = PausePoint.BEFORE_REQUEST, None
    is_kept = event.model.is_same(before.answered_by) and not begins
    kind: TouchKind = "kept" if is_kept else "switched"
    words = f"{event.model.name} instead of {event.over.name}"
    return Touch(kind, place or PausePoint.ANSWER, call, event.at, words)


def _touch_of(event: Event) -> Touch | None:
    """What a person did by an event; None where a rule did it."""
    at = event.at
    match event:
        case MessagesEdited():
            return Touch("edited", PausePoint.BEFORE_REQUEST, at=at)
        case Steered():
            return Touch("sent", PausePoint.BEFORE_REQUEST, at=at)
        case ReplyEdited(repair=repair):
            return Touch("repaired" if repair else "edited", PausePoint.REPLY, at=at)
        case ModelReplied(stopped_by="user"):
            return Touch("cut", PausePoint.REPLY, at=at)
        case CallEdited(call=row):
            return Touch("edited", PausePoint.TOOL_CALL, row, at)
        case CallDecided(call=row, decision=decision, by="person"):
            return Touch(_DECISIONS[decision], PausePoint.TOOL_CALL, row, at)
        case OutcomeTold(call=row):
            return Touch("told", PausePoint.TOOL_CALL, row, at)
        case ObservationEdited(call=row):
            return Touch("edited", PausePoint.OBSERVATION, row, at)
        case AnswerEdited() | TreatedAsFinal():
            return Touch("edited", PausePoint.ANSWER, at=at)
        case _:
            return None
