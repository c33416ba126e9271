"""The journal of a run: a closed union of facts. Folding them gives the run back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from studio.core.agent.reading import Reading
from studio.core.agent.state import (
    LimitName,
    Origin,
    PauseReason,
    Place,
    RunSetup,
    StepError,
)
from studio.core.prompty.messages import Message
from studio.core.text.values import Json, JsonObject
from studio.core.tools.source import ToolOutcome
from studio.core.wire.reply import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stamped:
    """What every event has; the journal gives it when it writes the event."""

    seq: int = 0
    """Place in the run's journal, from 1."""

    at: float = 0.0
    """When, in seconds since 1970 UTC."""


# What the world did -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Started(_Stamped):
    """A run begins."""

    setup: RunSetup
    """Everything it is started with."""


@dataclass(frozen=True, slots=True)
class Rendered(_Stamped):
    """The prompt was rendered for a step."""

    messages: tuple[Message, ...]
    """The messages, segments left out."""

    problems: tuple[str, ...] = ()
    """Problems of the rendering, one sentence each."""


@dataclass(frozen=True, slots=True)
class RenderFailed(_Stamped):
    """The prompt could not be rendered."""

    message: str
    """Why, one plain sentence."""


@dataclass(frozen=True, slots=True)
class ContextTrimmed(_Stamped):
    """Old messages were left out to fit the context budget."""

    messages: tuple[Message, ...]
    """The conversation that is left."""

    dropped: int
    """How many messages were dropped."""


@dataclass(frozen=True, slots=True)
class ModelCalled(_Stamped):
    """A request was sent."""

    attempt: int
    """Which try, from 1."""


@dataclass(frozen=True, slots=True)
class ModelReplied(_Stamped):
    """A reply ended."""

    reply: Reply
    """All of it."""

    seconds: float = 0.0
    """How long it took."""

    origin: Origin = "live"
    """Whether it was asked for, recorded or given."""

    stopped_by: Literal["", "server", "studio"] = ""
    """Whether it ended at a stop sequence sent, or was cut by us."""


@dataclass(frozen=True, slots=True)
class ModelFailed(_Stamped):
    """A model call failed."""

    kind: str
    """`ModelError.kind`."""

    message: str
    """What happened, one plain sentence."""

    hint: str = ""
    """What to do about it."""

    retryable: bool = False
    """Whether the same request may succeed later."""

    partial: Reply | None = None
    """What had come before it broke."""

    seconds: float = 0.0
    """How long it took."""

    retry_in: float | None = None
    """Seconds until it is tried again by itself; None: it is not."""


@dataclass(frozen=True, slots=True)
class ReplyRead(_Stamped):
    """The reply was read."""

    reading: Reading
    """What it says."""


@dataclass(frozen=True, slots=True)
class CallCheck:
    """What checking one call gave."""

    problems: tuple[str, ...] = ()
    """What is wrong, one plain sentence each."""

    kind: Literal["", "unknown_tool", "schema", "format", "guardrail"] = ""
    """What sort of wrong; empty for none."""

    needs_approval: bool = False
    """Whether the person is asked first."""

    bound: tuple[str, ...] = ()
    """Parameters that bindings put in."""

    arguments: JsonObject | None = None
    """The arguments with bindings put in."""

    again: bool = False
    """Whether a call with effects was made before, on this branch or another."""


@dataclass(frozen=True, slots=True)
class CallsChecked(_Stamped):
    """The calls were checked against the tools."""

    checks: tuple[CallCheck, ...]
    """One for each call, in order."""


@dataclass(frozen=True, slots=True)
class ToolCalled(_Stamped):
    """A tool call begins; written before it does, so that a crash leaves a trace of it."""

    call: int
    """Row of the step."""


@dataclass(frozen=True, slots=True)
class ToolEnded(_Stamped):
    """A tool call ended."""

    call: int
    """Row of the step."""

    outcome: ToolOutcome
    """How."""

    origin: Origin = "live"
    """Whether it ran, was recorded or mocked."""


@dataclass(frozen=True, slots=True)
class OutcomeLost(_Stamped):
    """A tool call was interrupted and nobody knows whether it did its work."""

    call: int
    """Row of the step."""


@dataclass(frozen=True, slots=True)
class AnswerChecked(_Stamped):
    """The answer was compared with the declared outputs; the run is done where it fits."""

    value: Json = None
    """The answer as a value, where it fits."""

    problems: tuple[str, ...] = ()
    """Where it does not fit; the run then comes to PX, unless it was accepted as it is."""

    accepted: bool = False
    """Whether an answer that does not fit was passed all the same."""


@dataclass(frozen=True, slots=True)
class Passed(_Stamped):
    """A place was passed that no effect of its own follows (P4, P5, PX, a limit)."""

    place: Place
    """Which."""


@dataclass(frozen=True, slots=True)
class Failed(_Stamped):
    """The run cannot go on."""

    error: StepError
    """Why."""


@dataclass(frozen=True, slots=True)
class Stopped(_Stamped):
    """The person (or the end of the program) stopped the run."""

    partial: Reply | None = None
    """What had come of a reply."""

    interrupted: bool = False
    """Whether the process died and the store closed the run afterwards."""


@dataclass(frozen=True, slots=True)
class Logged(_Stamped):
    """A log point or guardrail had something to say; changes nothing."""

    text: str
    """The line."""

    source: str = ""
    """Id of the breakpoint or rule."""


# What the person did ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Paused(_Stamped):
    """The run stands still."""

    place: Place
    """Where."""

    reason: PauseReason
    """Why."""

    breakpoints: tuple[str, ...] = ()
    """Ids of the breakpoints that were hit."""

    text: str = ""
    """A sentence for the person."""


@dataclass(frozen=True, slots=True)
class Resumed(_Stamped):
    """The run goes on."""

    how: str = "continue"
    """`continue`, `over`, `into`, `out`."""


@dataclass(frozen=True, slots=True)
class MessagesEdited(_Stamped):
    """At P1: the person changed what will be sent."""

    messages: tuple[Message, ...]
    """All messages."""


@dataclass(frozen=True, slots=True)
class ReplyEdited(_Stamped):
    """At P1, P2 or PX: the person changed the reply, or gave one in the model's place."""

    reply: Reply
    """The whole reply now."""

    repair: str = ""
    """Name of the repair that made it, where one did."""

    given: bool = False
    """Whether the person answered in the model's place."""

    always: bool = False
    """Whether that repair is made without asking from now on."""


@dataclass(frozen=True, slots=True)
class CallEdited(_Stamped):
    """At P3: the person changed a call; the assistant's message changes with it."""

    call: int
    """Row of the step."""

    tool: str
    """The tool now."""

    arguments: JsonObject
    """The arguments now."""


@dataclass(frozen=True, slots=True)
class CallDecided(_Stamped):
    """At P3: whether the call runs."""

    call: int
    """Row of the step."""

    decision: Literal["approve", "reject", "answer", "skip"]
    """`answer`: the text stands for the tool's result."""

    text: str = ""
    """The reason of a rejection, or the answer."""

    by: Literal["person", "rule"] = "rule"
    """Who decided."""


@dataclass(frozen=True, slots=True)
class ObservationEdited(_Stamped):
    """At P4: the person changed what the model will be told."""

    call: int
    """Row of the step."""

    text: str
    """The observation now."""

    is_error: bool = False
    """Whether it tells of a failure."""


@dataclass(frozen=True, slots=True)
class ErrorObservationEdited(_Stamped):
    """At PX: the person changed what the model will be told about its reply."""

    text: str
    """The observation now."""


@dataclass(frozen=True, slots=True)
class TreatedAsFinal(_Stamped):
    """At P2 or PX: the reply counts as the answer."""

    text: str
    """The answer."""

    always: bool = False
    """Whether replies without labels count as the answer from now on."""


@dataclass(frozen=True, slots=True)
class AnswerEdited(_Stamped):
    """At P6: the person changed the answer."""

    text: str
    """The answer now."""


@dataclass(frozen=True, slots=True)
class AnswerReturned(_Stamped):
    """At P6, or after the end: the person says something more and the loop goes on."""

    text: str
    """The next user message."""


@dataclass(frozen=True, slots=True)
class OutcomeTold(_Stamped):
    """The person says what became of a call whose outcome was unknown."""

    call: int
    """Row of the step."""

    fate: Literal["ran", "did-not-run", "result"]
    """`did-not-run` lets it run again; the others give it a result."""

    text: str = ""
    """The result."""


@dataclass(frozen=True, slots=True)
class LimitRaised(_Stamped):
    """The person allowed more."""

    limit: LimitName
    """What."""

    to: float | None
    """The new allowance; None for no limit."""


@dataclass(frozen=True, slots=True)
class Steered(_Stamped):
    """The person put in a message for the next step."""

    text: str
    """The message."""


@dataclass(frozen=True, slots=True)
class Forked(_Stamped):
    """The run goes on from an earlier checkpoint as a new branch; what was is kept."""

    checkpoint: int
    """Id of the checkpoint."""


Event: TypeAlias = (
    Started | Rendered | RenderFailed | ContextTrimmed | ModelCalled | ModelReplied | ModelFailed
    | ReplyRead | CallsChecked | ToolCalled | ToolEnded | OutcomeLost | AnswerChecked | Passed
    | Failed | Stopped | Logged | Paused | Resumed | MessagesEdited | ReplyEdited | CallEdited
    | CallDecided | ObservationEdited | ErrorObservationEdited | TreatedAsFinal | AnswerEdited
    | AnswerReturned | OutcomeTold | LimitRaised | Steered | Forked
)  # fmt: skip
"""Closed: consumers `match` and `assert_never`."""
