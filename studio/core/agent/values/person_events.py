"""What the person did in a run: the half of the journal that no world makes by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from studio.core.agent.values.stamped import Stamped
from studio.core.agent.values.state import LimitName, PauseReason, Place
from studio.core.prompty.messages import Message
from studio.core.text.values import JsonObject
from studio.core.wire.reply import Reply


@dataclass(frozen=True, slots=True)
class Paused(Stamped):
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
class Resumed(Stamped):
    """The run goes on."""

    how: str = "continue"
    """`continue`, `over`, `into`, `out`."""


@dataclass(frozen=True, slots=True)
class MessagesEdited(Stamped):
    """At P1: the person changed what will be sent."""

    messages: tuple[Message, ...]
    """All messages."""


@dataclass(frozen=True, slots=True)
class ReplyEdited(Stamped):
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
class CallEdited(Stamped):
    """At P3: the person changed a call; the assistant's message changes with it."""

    call: int
    """Row of the step."""

    tool: str
    """The tool now."""

    arguments: JsonObject
    """The arguments now."""


@dataclass(frozen=True, slots=True)
class CallDecided(Stamped):
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
class ObservationEdited(Stamped):
    """At P4: the person changed what the model will be told."""

    call: int
    """Row of the step."""

    text: str
    """The observation now."""

    is_error: bool = False
    """Whether it tells of a failure."""


@dataclass(frozen=True, slots=True)
class ErrorObservationEdited(Stamped):
    """At PX: the person changed what the model will be told about its reply."""

    text: str
    """The observation now."""


@dataclass(frozen=True, slots=True)
class TreatedAsFinal(Stamped):
    """At P2 or PX: the reply counts as the answer."""

    text: str
    """The answer."""

    always: bool = False
    """Whether replies without labels count as the answer from now on."""


@dataclass(frozen=True, slots=True)
class AnswerEdited(Stamped):
    """At P6: the person changed the answer."""

    text: str
    """The answer now."""


@dataclass(frozen=True, slots=True)
class AnswerReturned(Stamped):
    """At P6, or after the end: the person says something more and the loop goes on."""

    text: str
    """The next user message."""


@dataclass(frozen=True, slots=True)
class OutcomeTold(Stamped):
    """The person says what became of a call whose outcome was unknown."""

    call: int
    """Row of the step."""

    fate: Literal["ran", "did-not-run", "result"]
    """`did-not-run` lets it run again; the others give it a result."""

    text: str = ""
    """The result."""


@dataclass(frozen=True, slots=True)
class LimitRaised(Stamped):
    """The person allowed more."""

    limit: LimitName
    """What."""

    to: float | None
    """The new allowance; None for no limit."""


@dataclass(frozen=True, slots=True)
class Steered(Stamped):
    """The person put in a message for the next step."""

    text: str
    """The message."""


@dataclass(frozen=True, slots=True)
class Forked(Stamped):
    """The run goes on from an earlier checkpoint as a new branch; what was is kept."""

    checkpoint: int
    """Id of the checkpoint."""
