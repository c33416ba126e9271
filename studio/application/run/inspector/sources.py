"""What a step sent and received, as it is kept; for the step that waits, what it will send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from studio.application.run.text import Block, Piece, json_text
from studio.application.words import tr
from studio.core.agent.loop.steps import request_of
from studio.core.agent.past.replay import RecordedModel
from studio.core.agent.protocols.loops import loop_of, rules_of
from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.reading import Reading
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Step
from studio.core.models.base import ChatModel, ModelError, answering_model
from studio.core.models.remote.model import RemoteModel
from studio.core.text.foreign_json import parse_json
from studio.core.text.values import Json, JsonObject
from studio.core.wire.reply import RefusedOption, Reply
from studio.core.wire.wire_call import CallLookup, WireCall, no_call

_READ_WHILE_STREAMING = 8_000
"""Characters up to which a growing reply is read again for its colors. Beyond, all of it is drawn
once more without them: 20,000 characters at once took 45 ms (bench_stream)."""

StepRequest: TypeAlias = WireCall | JsonObject | Block | None
"""The request of a step: as it was sent, as it will be sent, or a sentence in its place; None
where there is nothing to send yet."""


@dataclass(frozen=True, slots=True)
class InspectionSources:
    """Where the pieces that a `RunState` does not hold come from."""

    call_of: CallLookup = no_call
    """Returns what a model call sent and received."""

    model: ChatModel | None = None
    """Model that is called next; None for a run of the past."""

    def call(self, step: Step) -> WireCall | None:
        """Return what the step's model call sent and received; None where it is not kept."""
        return self.call_of(step.called) if step.called else None

    def request(self, state: RunState, step: Step) -> StepRequest:
        """Return the request of a step."""
        waits = step is state.step and state.place == PausePoint.BEFORE_REQUEST
        sent = None if waits and self.model is not None else self.call(step)
        if sent is not None:
            return sent
        if step is state.step and step.reply is None and self.model is not None:
            return self._next(state) if step.messages else None
        if step.called:
            return Block("note", (Piece(not_kept(), "muted"),))
        return None

    def refused(self, state: RunState, step: Step) -> tuple[RefusedOption, ...]:
        """Return the options that the server did not take, or is known not to take."""
        reply, model = step.reply or step.partial, answering_model(self.model)
        if reply is not None or step is not state.step or not step.messages:
            return reply.refused_options if reply is not None else ()
        return model.sent_body(request_of(state))[1] if isinstance(model, RemoteModel) else ()

    def _next(self, state: RunState) -> JsonObject | Block:
        """Return the body that the model would be sent now."""
        assert self.model is not None
        if isinstance(self.model, RecordedModel):
            text = tr("A replay sends nothing: the reply comes from the recorded run.")
            return Block("note", (Piece(text, "muted"),))
        try:
            return self.model.request_body(request_of(state))
        except ModelError as error:
            return Block("error", (Piece(f"{error.message} {error.hint}".strip()),))


def not_kept() -> str:
    """Return the sentence in place of a request or reply of which nothing is kept."""
    return tr(
        "Not kept: an older version wrote the run, or its model answered in this program or in a "
        "batch."
    )


def body_of(request: StepRequest) -> Json:
    """Return a request's body as JSON; None where there is none."""
    if not isinstance(request, WireCall):
        return None if isinstance(request, Block) else request
    try:
        value: Json = parse_json(request.body)
    except ValueError:
        return request.body
    return value


def body_text(request: StepRequest) -> str:
    """Return a request's body as indented text for reading and comparing."""
    if isinstance(request, Block):
        return request.text
    body = body_of(request)
    return body if isinstance(body, str) else "" if body is None else json_text(body)


def tools_in(body: Json) -> frozenset[str]:
    """Return the names of the tools that a request's body declares, in the shape of any API."""
    items = body.get("tools") if isinstance(body, Mapping) else None
    names: set[str] = set()
    for item in items if isinstance(items, list) else ():
        held = item if isinstance(item, Mapping) else {}
        listed = held.get("functionDeclarations")
        for each in listed if isinstance(listed, list) else [held.get("function", held)]:
            names.add(str(each.get("name", "")) if isinstance(each, Mapping) else "")
    return frozenset(names)


def reading_for_display(state: RunState, reply: Reply | None) -> Reading | None:
    """What a reply reads as so far, for its colors only; the run reads it again when it is whole.

    The result does not depend on how the text was chunked, so nothing is lost by reading anew.
    """
    if reply is None or len(reply.text) > _READ_WHILE_STREAMING:
        return None
    return loop_of(state.setup.protocol).read(reply, rules_of(state))
