"""Commands of a user to a run; an edit is sent as the event that it makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from studio.core.agent.values.events import (
    AnswerEdited,
    CallEdited,
    ErrorObservationEdited,
    LimitRaised,
    MessagesEdited,
    ObservationEdited,
    OutcomeTold,
)
from studio.core.agent.values.step import PausePoint, RunModel
from studio.core.models.base import ChatModel
from studio.core.wire.reply import Reply


@dataclass(frozen=True, slots=True)
class Continue:
    """Continue to the next breakpoint, error or end (F5). At `ERROR`: inform the model, or retry.

    Not where only the user can decide: a call that waits for approval, a limit.
    """


@dataclass(frozen=True, slots=True)
class StepOn:
    """Go on to a nearby place (F10, F11, Shift+F11)."""

    how: Literal["over", "into", "out"] = "over"
    """`into`: the next place of any kind. `over`: a model call with its reading, or a tool, counts
    as one. `out`: the end of this step."""


@dataclass(frozen=True, slots=True)
class RunTo:
    """Go on to a place, past no breakpoint and no error."""

    place: PausePoint | None = None
    """Place; None for the first place of the step."""

    iteration: int | None = None
    """In which step; None for the next time that the place is reached."""


@dataclass(frozen=True, slots=True)
class PauseRun:
    """Pause at the next place."""

    abort: bool = False
    """Whether a reply under way is cut off (its text so far is kept) instead of waited for."""


@dataclass(frozen=True, slots=True)
class StopRun:
    """End the run now; what is under way is cancelled."""


@dataclass(frozen=True, slots=True)
class StopCall:
    """End one running call; the model is informed, its siblings and the run continue."""

    call: int
    """The row of the step's calls."""


@dataclass(frozen=True, slots=True)
class EditReply:
    """At `REPLY`, `ERROR` or `BEFORE_REQUEST` (in the model's place): take this as the reply."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class Approve:
    """At `TOOL_CALL`: run the call, then go on to the next pause."""

    call: int

    others: bool = False
    """Whether the calls of the reply that are not decided yet are approved, too."""

    how: Literal["", "into", "over", "out"] | None = None
    """Next stepping command, as in `StepOn`; empty for `Continue`, None for the last one."""


@dataclass(frozen=True, slots=True)
class Reject:
    """At `TOOL_CALL`: do not run the call; the model gets the reason."""

    call: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AnswerCall:
    """At `TOOL_CALL`: do not run the call; this is its result (mock, skip with a result)."""

    call: int
    text: str


@dataclass(frozen=True, slots=True)
class SkipCall:
    """At `TOOL_CALL`: do not run the call; the model is informed that it was not run."""

    call: int


@dataclass(frozen=True, slots=True)
class TakeRepair:
    """At `ERROR`: read the reply again after this repair."""

    name: str
    always: bool = False
    """Whether it is made without asking for the rest of the run."""

    call: int = 0
    """For a native call: which one."""


@dataclass(frozen=True, slots=True)
class TreatAsFinal:
    """At `ERROR`: what came is the answer."""

    text: str | None = None
    """Other words; None takes what the error offers."""

    always: bool = False
    """Whether replies without labels count as the answer for the rest of the run."""


@dataclass(frozen=True, slots=True)
class Steer:
    """Put a user message in before the next step."""

    text: str


@dataclass(frozen=True, slots=True)
class SetOptions:
    """Set options in the body of a program's request."""

    text: str
    """JSON object of the options; null takes one out."""


@dataclass(frozen=True, slots=True)
class SendBack:
    """At `ANSWER` or after the end: go on with this user message."""

    text: str

    continues: bool = False
    """Whether the next answer is put behind this one, which was cut."""


@dataclass(frozen=True, slots=True)
class ChooseModel:
    """The user's word on which of two models the requests from here on go to."""

    model: RunModel
    """The one that is taken; it may be the one that the run has."""

    over: RunModel
    """The other one."""

    answers: ChatModel | None = None
    """Client of the chosen model, if the run has not used it yet."""


@dataclass(frozen=True, slots=True)
class ForkFrom:
    """Go back to a checkpoint and pause there on a new branch; the old branch is kept."""

    checkpoint: int


Command: TypeAlias = (
    Continue
    | StepOn
    | RunTo
    | PauseRun
    | StopRun
    | StopCall
    | MessagesEdited
    | EditReply
    | CallEdited
    | ObservationEdited
    | ErrorObservationEdited
    | AnswerEdited
    | Approve
    | Reject
    | AnswerCall
    | SkipCall
    | TakeRepair
    | TreatAsFinal
    | LimitRaised
    | OutcomeTold
    | Steer
    | SetOptions
    | SendBack
    | ChooseModel
    | ForkFrom
)
"""Closed: consumers `match` and `assert_never`."""
