"""The journal of a run: a closed union of facts. Folding them gives the run back.

Here are the facts that the run makes by itself; those of the user are in `user_events`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.run_setup import RunSetup
from studio.core.agent.values.step import Reading, ResultOrigin, StepError
from studio.core.agent.values.user_events import (
    AnswerEdited,
    AnswerReturned,
    CallDecided,
    CallEdited,
    ErrorObservationEdited,
    EventBase,
    Forked,
    LimitRaised,
    MessagesEdited,
    ModelChosen,
    ObservationEdited,
    OutcomeTold,
    Paused,
    ReplyEdited,
    Resumed,
    Steered,
    TreatedAsFinal,
)
from studio.core.prompty.messages import Message
from studio.core.text.values import Json, JsonObject
from studio.core.tools.source import ToolOutcome
from studio.core.wire.reply import Reply


@dataclass(frozen=True, slots=True)
class Started(EventBase):
    """A run begins."""

    setup: RunSetup
    """Everything it is started with."""


@dataclass(frozen=True, slots=True)
class Rendered(EventBase):
    """The prompt was rendered for a step."""

    messages: tuple[Message, ...]
    """The messages, segments left out."""

    problems: tuple[str, ...] = ()
    """Problems of the rendering, one sentence each."""


@dataclass(frozen=True, slots=True)
class RenderFailed(EventBase):
    """The prompt could not be rendered."""

    message: str
    """Reason, one plain sentence."""


@dataclass(frozen=True, slots=True)
class ContextTrimmed(EventBase):
    """Old messages were left out to fit the context budget."""

    messages: tuple[Message, ...]
    """The conversation that is left."""

    dropped: int
    """Number of messages that were dropped."""


@dataclass(frozen=True, slots=True)
class ModelCalled(EventBase):
    """A request was sent."""

    attempt: int
    """Which try, from 1."""


@dataclass(frozen=True, slots=True)
class ModelReplied(EventBase):
    """A reply ended."""

    reply: Reply
    """All of it."""

    seconds: float = 0.0
    """Duration in seconds."""

    origin: ResultOrigin = "live"
    """Whether it was asked for, recorded or given."""

    stopped_by: Literal["", "server", "studio", "user"] = ""
    """Whether it ended at a stop sequence sent, was cut by us, or was cut off by the user."""

    first_seconds: float | None = None
    """Seconds from the request to the first piece of the reply; None if not measured."""


@dataclass(frozen=True, slots=True)
class ModelFailed(EventBase):
    """A model call failed."""

    kind: str
    """`ModelError.kind`."""

    message: str
    """Description of the event, one plain sentence."""

    hint: str = ""
    """Advice to the user."""

    retryable: bool = False
    """Whether the same request may succeed later."""

    partial: Reply | None = None
    """Partial reply before the failure."""

    seconds: float = 0.0
    """Duration in seconds."""

    retry_in: float | None = None
    """Seconds until it is tried again by itself; None: it is not."""

    first_seconds: float | None = None
    """Seconds from the request to the first piece of the reply; None where none came."""


@dataclass(frozen=True, slots=True)
class ReplyRead(EventBase):
    """The reply was read."""

    reading: Reading
    """Reading of the reply."""


@dataclass(frozen=True, slots=True)
class CallCheck:
    """The result of checking one call."""

    problems: tuple[str, ...] = ()
    """Problems, one plain sentence each."""

    kind: Literal["", "unknown_tool", "schema", "format", "guardrail"] = ""
    """Kind of the problem; empty for none."""

    needs_approval: bool = False
    """Whether the user is asked first."""

    why: str = ""
    """Reason, where the tool's approval does not say it."""

    bound: tuple[str, ...] = ()
    """Parameters that bindings put in."""

    arguments: JsonObject | None = None
    """The arguments with bindings put in."""

    again: bool = False
    """Whether a call with effects was made before, on this branch or another."""


@dataclass(frozen=True, slots=True)
class CallsChecked(EventBase):
    """The calls were checked against the tools."""

    checks: tuple[CallCheck, ...]
    """One for each call, in order."""

    at_once: bool = True
    """Whether they may run at the same time in a run that allows it: no call waits for the user's
    word."""


@dataclass(frozen=True, slots=True)
class ToolCalled(EventBase):
    """A tool call begins; written before it does, so that a crash leaves a trace of it."""

    call: int
    """Row of the step."""


@dataclass(frozen=True, slots=True)
class ToolEnded(EventBase):
    """A tool call ended."""

    call: int
    """Row of the step."""

    outcome: ToolOutcome
    """Way."""

    origin: ResultOrigin = "live"
    """Whether it ran, was recorded or mocked."""


@dataclass(frozen=True, slots=True)
class OutcomeLost(EventBase):
    """A tool call was interrupted, and it is unknown whether it did its work."""

    call: int
    """Row of the step."""


@dataclass(frozen=True, slots=True)
class AnswerChecked(EventBase):
    """The answer was compared with the declared outputs; the run is done where it fits."""

    value: Json = None
    """The answer as a value, where it fits."""

    problems: tuple[str, ...] = ()
    """Mismatches with the outputs; the run then reaches `ERROR`, unless the answer was accepted."""

    accepted: bool = False
    """Whether an answer that does not fit was passed all the same."""


@dataclass(frozen=True, slots=True)
class Passed(EventBase):
    """A point was passed that no effect follows (`OBSERVATION`, `STEP_END`, `ERROR`, a limit)."""

    place: PausePoint
    """Which."""


@dataclass(frozen=True, slots=True)
class Failed(EventBase):
    """The run cannot go on."""

    error: StepError
    """Reason."""


@dataclass(frozen=True, slots=True)
class Stopped(EventBase):
    """The user (or the end of the program) stopped the run."""

    partial: Reply | None = None
    """Partial reply."""

    interrupted: bool = False
    """Whether the process died and the store closed the run afterwards."""


@dataclass(frozen=True, slots=True)
class Logged(EventBase):
    """A log point or guardrail had something to say; changes nothing."""

    text: str
    """The line."""

    source: str = ""
    """Id of the breakpoint or rule."""


Event: TypeAlias = (
    Started
    | Rendered
    | RenderFailed
    | ContextTrimmed
    | ModelCalled
    | ModelReplied
    | ModelFailed
    | ReplyRead
    | CallsChecked
    | ToolCalled
    | ToolEnded
    | OutcomeLost
    | AnswerChecked
    | Passed
    | Failed
    | Stopped
    | Logged
    | Paused
    | Resumed
    | MessagesEdited
    | ReplyEdited
    | CallEdited
    | CallDecided
    | ObservationEdited
    | ErrorObservationEdited
    | TreatedAsFinal
    | AnswerEdited
    | AnswerReturned
    | OutcomeTold
    | LimitRaised
    | Steered
    | ModelChosen
    | Forked
)
"""Closed: consumers `match` and `assert_never`."""
