"""Commands of a user to a run; an edit is sent as its event."""

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

    Not possible where the user must decide: a call that waits for approval, a limit.
    """


@dataclass(frozen=True, slots=True)
class StepOn:
    """Continue to a nearby pause point (F10, F11, Shift+F11)."""

    how: Literal["over", "into", "out"] = "over"
    """`into`: the next pause point. `over`: a model call with its reading, or a tool, counts as
    one. `out`: the end of this step.
    """


@dataclass(frozen=True, slots=True)
class RunTo:
    """Continue to a pause point, unless a breakpoint or an error stops the run before it."""

    place: PausePoint | None = None
    """Pause point; None for the first of the step."""

    iteration: int | None = None
    """Number of the step; None for the next one that reaches the pause point."""


@dataclass(frozen=True, slots=True)
class PauseRun:
    """Pause at the next pause point."""

    abort: bool = False
    """Whether the current reply is cut off (keeping its text so far) instead of awaited."""


@dataclass(frozen=True, slots=True)
class StopRun:
    """End the run now; the current effect is canceled."""


@dataclass(frozen=True, slots=True)
class StopCall:
    """Cancel one running call; the model is informed, parallel calls and the run continue."""

    call: int
    """Row of the call in the step."""


@dataclass(frozen=True, slots=True)
class EditReply:
    """At `REPLY`, `ERROR` or `BEFORE_REQUEST` (in the model's place): use this as the reply."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class Approve:
    """At `TOOL_CALL`: run the call, then continue to the next pause."""

    call: int

    others: bool = False
    """Whether the undecided calls of the reply are approved as well."""

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
    """Whether the repair is made without asking for the rest of the run."""

    call: int = 0
    """Row of a native call."""


@dataclass(frozen=True, slots=True)
class TreatAsFinal:
    """At `ERROR`: use the reply as the answer."""

    text: str | None = None
    """Text of the answer; None for the text that the error offers."""

    always: bool = False
    """Whether replies without labels count as the answer for the rest of the run."""


@dataclass(frozen=True, slots=True)
class Steer:
    """Add a user message before the next step."""

    text: str


@dataclass(frozen=True, slots=True)
class SetOptions:
    """Set options in the body of a program's request."""

    text: str
    """Options as a JSON object; null removes one."""


@dataclass(frozen=True, slots=True)
class SendBack:
    """At `ANSWER` or after the end: continue with this user message."""

    text: str

    continues: bool = False
    """Whether the next answer continues this one, which was cut."""


@dataclass(frozen=True, slots=True)
class ChooseModel:
    """The user's choice which of two models gets the requests from here on."""

    model: RunModel
    """The chosen model; may be the run's current one."""

    over: RunModel
    """The model not chosen."""

    answers: ChatModel | None = None
    """Client of the chosen model, if the run has not used it yet."""


@dataclass(frozen=True, slots=True)
class ForkFrom:
    """Go back to a checkpoint and pause there on a new branch; keep the old branch."""

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
"""All commands, a closed union: consumers use `match` and `assert_never`."""
