"""The secrets of one run: events contain references, requests and calls the values.

A run holds references (`${env:NAME}`) in place of values, in memory and on disk, so views, files
and exports have nothing to hide. The values are inserted in only two places: the request to a model
and the arguments of a call.
"""

import os
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from studio.core.agent.past.replay import Reenactment
from studio.core.agent.values import events
from studio.core.agent.values.state import RunState
from studio.core.masking.masker import Masker, MissingValueError
from studio.core.masking.walk import changed, masked
from studio.core.models.base import ModelError, ModelRequest
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.reference_values import ReferenceContext, find_references
from studio.core.text.values import JsonObject
from studio.core.tools.document import public_variables
from studio.core.wire.reply import ReplyMask

NO_VALUE = "no-value"
"""Kind of the error of a request with a secret that has no value."""

_GIVEN = (
    events.Started
    | events.Rendered
    | events.MessagesEdited
    | events.ReplyEdited
    | events.CallEdited
    | events.CallDecided
    | events.ObservationEdited
    | events.ErrorObservationEdited
    | events.AnswerEdited
    | events.AnswerReturned
    | events.Steered
)
"""Events with content of the prompt or the user; all others contain results."""


@dataclass(frozen=True)
class RunSecrets:
    """A masker of events that reveals the values in requests."""

    masker: Masker = field(default_factory=Masker)
    """Masker with the values, without those that the document declares as not secret."""

    references: ReferenceContext | None = None
    """Resolver of the prompt's `${…}`."""

    sent_before: frozenset[str] = frozenset()
    """References of the secrets that the reenacted run sent."""

    def fact(self, event: events.Event, state: RunState) -> events.Event:
        """Return the event without secret values."""
        found: set[str] = set()
        made: events.Event = masked(event, self.masker, found)
        if found and isinstance(made, _GIVEN):
            released = sorted((found | {*made.released}) - state.released)
            made = replace(made, released=tuple(released))
        return made

    def rendering(self, released: AbstractSet[str]) -> ReferenceContext | None:
        """Return the resolver for a rendering; secrets without a value stay as written.

        Such a request cannot be sent, but a past run can still be viewed.
        """
        references = self.references
        if references is None or not (released or self.sent_before):
            return references
        named = {_variable(each): each for each in (*released, *self.sent_before)}
        gone = {
            name: each for name, each in named.items() if name and references.variable(name) is None
        }
        if not gone:
            return references
        held = os.environ if references.environment is None else references.environment
        return replace(references, environment={**held, **gone})

    def request(self, request: ModelRequest, released: AbstractSet[str]) -> ModelRequest:
        """Return the request that can reveal the secrets when it is sent."""
        if self.references is not None and "${" in str(request.options):
            request = replace(request, resolve_option=self.option)
        if not released:
            return request
        self.look_up(released)
        return replace(
            request, reveal=lambda text, spell: self.masker.reveal(text, released, spell)
        )

    def option(self, text: str) -> str:
        """Return an option of the prompt with the values of the variables that it names.

        Raises:
            MissingValueError: a variable has no value, or the folder is not trusted.
        """
        made = text
        for reference in find_references(text):
            if reference.protocol != "env":
                continue
            assert self.references is not None
            found = self.references.variable(reference.argument) or reference.default
            written = text[reference.span.start : reference.span.end]
            if found is None:
                raise MissingValueError(f"${{env:{reference.argument}}}")
            made = made.replace(written, found)
        return made

    def look_up(self, released: AbstractSet[str]) -> None:
        """Look up the values of references; missing values are reported when they are sent."""
        for reference in released:
            name = _variable(reference)
            if self.references is not None and name:
                self.references.variable(name)

    def stream(self) -> ReplyMask:
        """Return a masker for the pieces of a reply."""
        return ReplyMask(self.masker)


def _variable(reference: str) -> str:
    """Return the variable that a reference names; empty for a key of the key store."""
    name = reference.removeprefix("${env:")
    return name.removesuffix("}") if name != reference else ""


def missing_value(reference: str) -> ModelError:
    """Return the error of a request with a secret that cannot be looked up here."""
    name = _variable(reference)
    if not name:
        return ModelError(
            NO_VALUE,
            f"The request contains the key {reference}, which this studio has not read yet.",
            "Use its connection once, or edit the message.",
        )
    return ModelError(
        NO_VALUE,
        f"The request contains the value of the variable {name!r}, which is not set here.",
        f"Set {name}, or give its value, and try again.",
    )


def revealed_inputs(
    inputs: JsonObject, released: AbstractSet[str], references: ReferenceContext | None
) -> JsonObject:
    """Return the inputs of a past run with secret values, for a new run.

    Raises:
        ModelError: an input was a secret that has no value here.
    """
    if not released or references is None or references.masker is None:
        return inputs
    masker = references.masker
    RunSecrets(masker, references).look_up(released)
    try:
        return changed(inputs, lambda text: masker.reveal(text, released))
    except MissingValueError as missing:
        raise missing_value(missing.reference) from missing


def run_secrets(
    references: ReferenceContext | None,
    document: PromptDocument,
    reenactment: Reenactment | None = None,
) -> RunSecrets:
    """Return the secrets of a document's run; an untrusted document cannot declare any public."""
    known = references.masker if references is not None else None
    known = known if known is not None else Masker()
    if references is None or references.trusted:
        known = known.without(public_variables(document))
    released = reenactment.released if reenactment is not None else frozenset[str]()
    return RunSecrets(known, references, released)
