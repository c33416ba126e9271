"""Events of the user in a run.

What every event has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.run_setup import RunModel
from studio.core.agent.values.state import LimitName, PauseReason
from studio.core.prompty.messages import Message
from studio.core.text.values import JsonObject
from studio.core.wire.reply import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class EventBase:
    """The common fields of events; the journal sets them when it writes the event."""

    seq: int = 0
    """Place in the run's journal, from 1."""

    at: float = 0.0
    """When, in seconds since 1970 UTC."""

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
