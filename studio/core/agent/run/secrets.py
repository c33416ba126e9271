"""The secrets of one run: none becomes a fact of it, and those that its prompt sends are sent.

A run holds references (`${env:NAME}`) in the place of values, in memory as on disk: what shows,
keeps or exports it has none to hide. The values come in again at its two ways out, the request to a
model and the arguments of a call.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from studio.core.agent.values.events import (
    AnswerEdited,
    AnswerReturned,
    CallDecided,
    CallEdited,
    ErrorObservationEdited,
    Event,
    MessagesEdited,
    ObservationEdited,
    Rendered,
    ReplyEdited,
    Started,
    Steered,
)
from studio.core.agent.values.state import RunState
from studio.core.masking.masker import MaskedStream, Masker
from studio.core.masking.walk import masked
from studio.core.models.base import ModelError, ModelRequest
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.tools.document import public_variables
from studio.core.wire.reply import (
    Finished,
    Notice,
    ReasoningDelta,
    RefusalDelta,
    ReplyDelta,
    TextDelta,
    ToolCallDelta,
    UsageDelta,
)

_GIVEN = (
    Started | Rendered | MessagesEdited | ReplyEdited | CallEdited | CallDecided | ObservationEdited
    | ErrorObservationEdited | AnswerEdited | AnswerReturned | Steered
)  # fmt: skip
"""Facts that hold what the prompt or the user put in; all others tell what came back."""


@dataclass(frozen=True)
class RunSecrets:
    """Masks what becomes a fact, and reveals what is sent."""

    masker: Masker = field(default_factory=Masker)
    """Knows the values; those that the document says are no secret are left out."""

    references: ReferenceContext | None = None
    """Where values are looked up that a run of the past sent, and this process has not seen yet."""

    def fact(self, event: Event, state: RunState) -> Event:
        """The event as it may be known to anybody."""
        found: set[str] = set()
        made: Event = masked(event, self.masker, found)
        if found and isinstance(made, _GIVEN):
            released = sorted((found | {*made.released}) - state.released)
            made = replace(made, released=tuple(released))
        return made

    def request(self, request: ModelRequest, released: AbstractSet[str]) -> ModelRequest:
        """The request, able to give the values where it is really sent."""
        if not released:
            return request
        self.look_up(released)
        return replace(
            request,
            reveal=lambda text, spell: self.masker.reveal(text, released, spell),
        )

    def look_up(self, released: AbstractSet[str]) -> None:
        """See that values are known where they can be; those that cannot are missed when sent."""
        for reference in released:
            name = reference.removeprefix("${env:").removesuffix("}")
            if self.references is None or name == reference:
                continue
            value = self.references.variable(name)
            if value is not None:
                self.masker.note(reference, value)

    def stream(self) -> ReplyMask:
        """What masks a reply piece by piece."""
        return ReplyMask(self.masker)


class ReplyMask:
    """Masks the pieces of one reply, also where a secret is split between them."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._streams: dict[tuple[type, int], MaskedStream] = {}

    def feed(self, delta: ReplyDelta) -> tuple[ReplyDelta, ...]:
        """What can be shown by now."""
        match delta:
            case TextDelta(text) | ReasoningDelta(text) | RefusalDelta(text):
                shown = self._stream(type(delta)).feed(text)
                if shown == text:
                    return (delta,)
                return (type(delta)(shown),) if shown else ()
            case ToolCallDelta():
                shown = self._stream(ToolCallDelta, delta.index).feed(delta.arguments)
                return (delta if shown == delta.arguments else replace(delta, arguments=shown),)
            case Notice(text):
                return (Notice(self._masker.mask(text)),)
            case Finished():
                return (*self.close(), delta)
            case UsageDelta():
                return (delta,)

    def close(self) -> tuple[ReplyDelta, ...]:
        """What was held, now that nothing follows."""
        made: list[ReplyDelta] = []
        for (kind, index), stream in self._streams.items():
            text = stream.close()
            if text:
                made.append(
                    ToolCallDelta(index, arguments=text) if kind is ToolCallDelta else kind(text)
                )
        self._streams.clear()
        return tuple(made)

    def _stream(self, kind: type, index: int = 0) -> MaskedStream:
        stream = self._streams.get((kind, index))
        if stream is None:
            stream = self._streams[kind, index] = self._masker.stream()
        return stream


def missing_value(reference: str) -> ModelError:
    """The fault of a request that holds a secret which cannot be looked up here."""
    name = reference.removeprefix("${env:").removesuffix("}")
    if name == reference:
        return ModelError(
            "no-value",
            f"The request holds the key {reference}, which this studio has not read yet.",
            "Use its connection once, or edit the message.",
        )
    return ModelError(
        "no-value",
        f"The request holds the value of the variable {name!r}, which is not set here.",
        f"Set {name}, or give its value, and try again.",
    )


def run_secrets(
    masker: Masker | None, references: ReferenceContext | None, document: PromptDocument
) -> RunSecrets:
    """The secrets of a run of a document; one that is not trusted decides nothing about them."""
    known = masker if masker is not None else Masker()
    if references is None or references.trusted:
        known = known.without(public_variables(document))
    return RunSecrets(known, references)
