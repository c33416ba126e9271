"""The journal of a run: a closed union of events. Folding them restores the run.

The first classes are the user's events; then come those of the run itself.
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
    """The common fields of events; set when the event is written."""

    seq: int = 0
    """Number in the run's journal, from 1."""

    at: float = 0.0
    """Time, in seconds since 1970 UTC."""

    waited: float | None = None
    """Seconds since the current pause began, by a monotonic clock; None without a pause, or if it
    began in another process.
    """

    released: tuple[str, ...] = ()
    """References of secrets that the prompt or the user used here for the first time; their values
    may be sent from then on.
    """


@dataclass(frozen=True, slots=True)
class Paused(EventBase):
    """The run has paused."""

    place: PausePoint
    """Pause point."""

    reason: PauseReason
    """Reason."""

    breakpoints: tuple[str, ...] = ()
    """Ids of the breakpoints that were hit."""

    text: str = ""
    """A sentence for the user."""


@dataclass(frozen=True, slots=True)
class Resumed(EventBase):
    """The run continues."""

    how: str = "continue"
    """Kind of command: `continue`, `over`, `into`, `out`."""


@dataclass(frozen=True, slots=True)
class MessagesEdited(EventBase):
    """At `BEFORE_REQUEST`: the user changed the messages of the request."""

    messages: tuple[Message, ...]
    """All messages of the request."""


@dataclass(frozen=True, slots=True)
class ReplyEdited(EventBase):
    """At `BEFORE_REQUEST`, `REPLY` or `ERROR`: the user changed the reply, or wrote one."""

    reply: Reply
    """The whole new reply."""

    repair: str = ""
    """Name of the repair that produced it; empty for none."""

    given: bool = False
    """Whether the user answered in the model's place."""

    always: bool = False
    """Whether the repair is made without asking from now on."""


@dataclass(frozen=True, slots=True)
class CallEdited(EventBase):
    """At `TOOL_CALL`: the user changed a call and, with it, the assistant's message."""

    call: int
    """Row of the call in the step."""

    tool: str
    """The new tool."""

    arguments: JsonObject
    """The new arguments."""


@dataclass(frozen=True, slots=True)
class CallDecided(EventBase):
    """At `TOOL_CALL`: the decision whether the call runs."""

    call: int
    """Row of the call in the step."""

    decision: Literal["approve", "reject", "answer", "skip"]
    """The decision; `answer`: the text replaces the tool's result."""

    text: str = ""
    """The reason of a rejection, or the answer."""

    by: Literal["person", "rule"] = "rule"
    """Whether the user or a rule decided."""


@dataclass(frozen=True, slots=True)
class ObservationEdited(EventBase):
    """At `OBSERVATION`: the user changed the text for the model."""

    call: int
    """Row of the call in the step."""

    text: str
    """The new observation."""

    is_error: bool = False
    """Whether the observation is a failure."""


@dataclass(frozen=True, slots=True)
class ErrorObservationEdited(EventBase):
    """At `ERROR`: the user changed the message to the model about its reply."""

    text: str
    """The new observation."""


@dataclass(frozen=True, slots=True)
class TreatedAsFinal(EventBase):
    """At `REPLY` or `ERROR`: the reply is used as the answer."""

    text: str
    """The answer."""

    always: bool = False
    """Whether replies without labels count as the answer from now on."""


@dataclass(frozen=True, slots=True)
class AnswerEdited(EventBase):
    """At `ANSWER`: the user changed the answer."""

    text: str
    """The new answer."""


@dataclass(frozen=True, slots=True)
class AnswerReturned(EventBase):
    """At `ANSWER`, or after the end: the user adds a message and the loop continues."""

    text: str
    """The next user message."""

    continues: bool = False
    """Whether the next answer continues the one that was cut."""


@dataclass(frozen=True, slots=True)
class OutcomeTold(EventBase):
    """The user tells the outcome of a call for which it was unknown."""

    call: int
    """Row of the call in the step."""

    fate: Literal["ran", "did-not-run", "result"]
    """The outcome; `did-not-run` lets the call run again, the others give it a result."""

    text: str = ""
    """The result."""


@dataclass(frozen=True, slots=True)
class LimitRaised(EventBase):
    """The user raised a limit."""

    limit: LimitName
    """Limit that was raised."""

    to: float | None
    """The new limit; None for no limit."""


@dataclass(frozen=True, slots=True)
class Steered(EventBase):
    """The user added a message: to the next step, or to the request about to be sent."""

    text: str
    """The message."""

    joins: bool = False
    """Whether it is added to the current request; missing in journals up to 0.1.0."""


@dataclass(frozen=True, slots=True)
class ModelChosen(EventBase):
    """The user chose with which of two models the run continues."""

    model: RunModel
    """The model that gets the requests from here on."""

    over: RunModel
    """The model not chosen."""


@dataclass(frozen=True, slots=True)
class Forked(EventBase):
    """The run continues from an earlier checkpoint as a new branch; the old one is kept."""

    checkpoint: int
    """Id of the checkpoint."""


@dataclass(frozen=True, slots=True)
class Started(EventBase):
    """A run begins."""

    setup: RunSetup
    """The run's setup."""


@dataclass(frozen=True, slots=True)
class Rendered(EventBase):
    """The prompt was rendered for a step."""

    messages: tuple[Message, ...]
    """The messages, without segments."""

    problems: tuple[str, ...] = ()
    """Problems of the rendering, one sentence each."""


@dataclass(frozen=True, slots=True)
class RenderFailed(EventBase):
    """The prompt could not be rendered."""

    message: str
    """Reason, one plain sentence."""


@dataclass(frozen=True, slots=True)
class ContextTrimmed(EventBase):
    """Old messages were removed to fit the context budget."""

    messages: tuple[Message, ...]
    """The remaining conversation."""

    dropped: int
    """Number of removed messages."""


@dataclass(frozen=True, slots=True)
class ModelCalled(EventBase):
    """A request was sent."""

    attempt: int
    """Number of the attempt, from 1."""


@dataclass(frozen=True, slots=True)
class ModelReplied(EventBase):
    """A reply is complete."""

    reply: Reply
    """The whole reply."""

    seconds: float = 0.0
    """Duration in seconds."""

    origin: ResultOrigin = "live"
    """Whether the reply was received, recorded or given by the user."""

    stopped_by: Literal["", "server", "studio", "user"] = ""
    """Whether it ended at a sent stop sequence, or was cut by the studio or by the user."""

    first_seconds: float | None = None
    """Seconds from the request to the first piece of the reply; None if not measured."""


@dataclass(frozen=True, slots=True)
class ModelFailed(EventBase):
    """A model call failed."""

    kind: str
    """`ModelError.kind`."""

    message: str
    """Description of the failure, one plain sentence."""

    hint: str = ""
    """Advice to the user; may be empty."""

    retryable: bool = False
    """Whether the same request may succeed later."""

    partial: Reply | None = None
    """Part of the reply received before the failure."""

    seconds: float = 0.0
    """Duration in seconds."""

    retry_in: float | None = None
    """Seconds until the automatic retry; None if there is none."""

    first_seconds: float | None = None
    """Seconds from the request to the first piece of the reply; None if none arrived."""


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
    """Kind of problem; empty for none."""

    needs_approval: bool = False
    """Whether the user must approve the call."""

    why: str = ""
    """Reason for the approval, if the tool's setting does not explain it."""

    bound: tuple[str, ...] = ()
    """Parameters set by bindings."""

    arguments: JsonObject | None = None
    """The arguments including those set by bindings."""

    again: bool = False
    """Whether a call with effects was made before, on any branch."""


@dataclass(frozen=True, slots=True)
class CallsChecked(EventBase):
    """The calls were checked against the tools."""

    checks: tuple[CallCheck, ...]
    """One for each call, in order."""

    at_once: bool = True
    """Whether they may run in parallel if the run allows it: no call waits for approval."""


@dataclass(frozen=True, slots=True)
class ToolCalled(EventBase):
    """A tool call begins; written before the call, so that a crash leaves a trace of it."""

    call: int
    """Row of the call in the step."""


@dataclass(frozen=True, slots=True)
class ToolEnded(EventBase):
    """A tool call ended."""

    call: int
    """Row of the call in the step."""

    outcome: ToolOutcome
    """Outcome of the call."""

    origin: ResultOrigin = "live"
    """Whether the outcome is live, recorded or mocked."""


@dataclass(frozen=True, slots=True)
class OutcomeLost(EventBase):
    """A tool call was interrupted, and whether it ran is unknown."""

    call: int
    """Row of the call in the step."""


@dataclass(frozen=True, slots=True)
class AnswerChecked(EventBase):
    """The answer was checked against the outputs; the run is done if it matches."""

    value: Json = None
    """The answer as a value, if it matches."""

    problems: tuple[str, ...] = ()
    """Mismatches with the outputs; the run then reaches `ERROR`, unless the answer was accepted."""

    accepted: bool = False
    """Whether the user accepted an answer that does not match."""


@dataclass(frozen=True, slots=True)
class Passed(EventBase):
    """A pause point was passed without an effect (`OBSERVATION`, `STEP_END`, `ERROR`, a limit)."""

    place: PausePoint
    """The pause point."""


@dataclass(frozen=True, slots=True)
class Failed(EventBase):
    """The run cannot continue."""

    error: StepError
    """The error that ended it."""


@dataclass(frozen=True, slots=True)
class Stopped(EventBase):
    """The user (or the end of the program) stopped the run."""

    partial: Reply | None = None
    """Part of the current reply received so far."""

    interrupted: bool = False
    """Whether the process ended unexpectedly and the store closed the run afterwards."""


@dataclass(frozen=True, slots=True)
class Logged(EventBase):
    """A line of a log point or guard; does not change the run."""

    text: str
    """The line."""

    source: str = ""
    """Id of the breakpoint or guard."""


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
"""All events, a closed union: consumers use `match` and `assert_never`."""
