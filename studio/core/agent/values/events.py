"""The journal of a run: a closed union of facts. Folding them gives the run back.

First those that the user makes, then those that the run makes by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from studio.core.agent.values.state import LimitName, PauseReason
from studio.core.agent.values.step import (
    PausePoint,
    Reading,
    ResultOrigin,
    RunModel,
    RunSetup,
    StepError,
)
from studio.core.prompty.document import Message
from studio.core.text.values import Json, JsonObject
from studio.core.tools.source import ToolOutcome
from studio.core.wire.reply import Reply

# Events of the user in a run.


@dataclass(frozen=True, slots=True, kw_only=True)
class EventBase:
    """The common fields of events; the journal sets them when it writes the event."""

    seq: int = 0
    """Place in the run's journal, from 1."""

    at: float = 0.0
    """When, in seconds since 1970 UTC."""

    waited: float | None = None
    """Seconds since the pause that it met began, by a clock that nothing sets; None without a
    pause, or if it began in another process."""

    released: tuple[str, ...] = ()
    """References of secrets that the prompt or the user put in here for the first time; their
    values may be sent from then on."""


@dataclass(frozen=True, slots=True)
class Paused(EventBase):
    """The run has paused."""

    place: PausePoint
    """Place."""

    reason: PauseReason
    """Reason."""

    breakpoints: tuple[str, ...] = ()
    """Ids of the breakpoints that were hit."""

    text: str = ""
    """A sentence for the user."""


@dataclass(frozen=True, slots=True)
class Resumed(EventBase):
    """The run goes on."""

    how: str = "continue"
    """`continue`, `over`, `into`, `out`."""


@dataclass(frozen=True, slots=True)
class MessagesEdited(EventBase):
    """At `BEFORE_REQUEST`: the user changed what will be sent."""

    messages: tuple[Message, ...]
    """All messages."""


@dataclass(frozen=True, slots=True)
class ReplyEdited(EventBase):
    """At `BEFORE_REQUEST`, `REPLY` or `ERROR`: the user changed the reply, or gave one."""

    reply: Reply
    """The whole reply now."""

    repair: str = ""
    """Name of the repair that made it, where one did."""

    given: bool = False
    """Whether the user answered in the model's place."""

    always: bool = False
    """Whether that repair is made without asking from now on."""


@dataclass(frozen=True, slots=True)
class CallEdited(EventBase):
    """At `TOOL_CALL`: the user changed a call; the assistant's message changes with it."""

    call: int
    """Row of the step."""

    tool: str
    """The tool now."""

    arguments: JsonObject
    """The arguments now."""


@dataclass(frozen=True, slots=True)
class CallDecided(EventBase):
    """At `TOOL_CALL`: whether the call runs."""

    call: int
    """Row of the step."""

    decision: Literal["approve", "reject", "answer", "skip"]
    """Decision; `answer`: the text replaces the tool's result."""

    text: str = ""
    """The reason of a rejection, or the answer."""

    by: Literal["person", "rule"] = "rule"
    """Maker of the decision."""


@dataclass(frozen=True, slots=True)
class ObservationEdited(EventBase):
    """At `OBSERVATION`: the user changed the text that the model will get."""

    call: int
    """Row of the step."""

    text: str
    """The observation now."""

    is_error: bool = False
    """Whether it is a failure."""


@dataclass(frozen=True, slots=True)
class ErrorObservationEdited(EventBase):
    """At `ERROR`: the user changed the message to the model about its reply."""

    text: str
    """The observation now."""


@dataclass(frozen=True, slots=True)
class TreatedAsFinal(EventBase):
    """At `REPLY` or `ERROR`: the reply counts as the answer."""

    text: str
    """The answer."""

    always: bool = False
    """Whether replies without labels count as the answer from now on."""


@dataclass(frozen=True, slots=True)
class AnswerEdited(EventBase):
    """At `ANSWER`: the user changed the answer."""

    text: str
    """The answer now."""


@dataclass(frozen=True, slots=True)
class AnswerReturned(EventBase):
    """At `ANSWER`, or after the end: the user says something more and the loop goes on."""

    text: str
    """The next user message."""

    continues: bool = False
    """Whether the next answer is put behind the one that was cut."""


@dataclass(frozen=True, slots=True)
class OutcomeTold(EventBase):
    """The user says what became of a call whose outcome was unknown."""

    call: int
    """Row of the step."""

    fate: Literal["ran", "did-not-run", "result"]
    """`did-not-run` lets it run again; the others give it a result."""

    text: str = ""
    """The result."""


@dataclass(frozen=True, slots=True)
class LimitRaised(EventBase):
    """The user allowed more."""

    limit: LimitName
    """Limit that was raised."""

    to: float | None
    """The new allowance; None for no limit."""


@dataclass(frozen=True, slots=True)
class Steered(EventBase):
    """The user put in a message: for the next step, or for the request about to be sent."""

    text: str
    """The message."""

    joins: bool = False
    """Whether it is added to the current request; journals up to 0.1.0 lack it."""


@dataclass(frozen=True, slots=True)
class ModelChosen(EventBase):
    """The user was asked which of two models the run goes on with."""

    model: RunModel
    """The one that the requests from here on go to."""

    over: RunModel
    """The other one."""


@dataclass(frozen=True, slots=True)
class Forked(EventBase):
    """The run goes on from an earlier checkpoint as a new branch; what was is kept."""

    checkpoint: int
    """Id of the checkpoint."""


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
