"""Messages and request bodies of any step, also of one that is finished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from studio.application.run.inspector.tabs import InspectionSources
from studio.core.agent.loop.steps import request_of
from studio.core.agent.past.replay import RecordedModel
from studio.core.agent.protocols.loops import loop_of, rules_of
from studio.core.agent.values.reading import Reading
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Step
from studio.core.models.base import Capabilities, ChatModel, ModelError
from studio.core.models.bodies import request_body
from studio.core.prompty.messages import Message
from studio.core.text.values import JsonObject
from studio.core.wire.reply import Reply

_READ_WHILE_STREAMING = 8_000
"""Characters up to which a growing reply is read again for its colors. Beyond, all of it is drawn
once more without them: 20,000 characters at once took 45 ms (bench_stream)."""


def messages_of(state: RunState, step: Step) -> Sequence[Message]:
    """The messages that a step sent; finished `native` steps share the run's conversation."""
    return step.messages or state.conversation[: step.sent]


def sources_for(model: ChatModel | None) -> InspectionSources:
    """Where the inspector finds messages and bodies.

    Args:
        model: whose body is shown; None for a run of the past, whose body is made as for a
            chat-completions server.
    """
    if isinstance(model, RecordedModel) and model.then is None:
        model = None  # a replay sends nothing; its body is shown as for a run of the past

    def body_of(state: RunState, step: Step) -> JsonObject | str | None:
        messages = messages_of(state, step)
        if not messages:
            return None
        then = replace(
            state,
            step=step,
            iteration=step.number,
            past_calls=state.past_calls.upto(step.calls_before),
            observations=state.observations.upto(step.calls_before),
        )
        request = request_of(then)
        if model is not None:
            try:
                return model.request_body(request)
            except ModelError as error:
                return f"{error.message} {error.hint}".strip()
        return request_body(request, model_id=state.setup.model, capabilities=Capabilities())

    return InspectionSources(messages_of, body_of)


def reading_for_display(state: RunState, reply: Reply | None) -> Reading | None:
    """What a reply reads as so far, for its colors only; the run reads it again when it is whole.

    The result does not depend on how the text was chunked, so nothing is lost by reading anew.
    """
    if reply is None or len(reply.text) > _READ_WHILE_STREAMING:
        return None
    return loop_of(state.setup.protocol).read(reply, rules_of(state))
