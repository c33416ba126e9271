"""What a request to a provider is made of, and the one function that makes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, assert_never

from studio.core.prompty.document import InputDeclaration, ModelDeclaration
from studio.core.prompty.front.declarations import output_schema
from studio.core.prompty.messages import Message
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.problem import Problem, Severity
from studio.core.text.values import JsonObject
from studio.core.wire.anthropic import anthropic_body
from studio.core.wire.chat import chat_body
from studio.core.wire.draft import TOOL_NAME, Draft, is_sendable
from studio.core.wire.history import history_problems
from studio.core.wire.media import MediaSource
from studio.core.wire.origins import FoundOrigin, OriginNotes, Place
from studio.core.wire.other import embedding_body, image_body
from studio.core.wire.responses import responses_body
from studio.core.wire.tool_names import name_refusal

Provider: TypeAlias = Literal["openai-chat", "openai-responses", "anthropic"]
"""The form of a request; many servers speak `openai-chat`."""


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A request's body with what had to be changed or left out on the way."""

    body: JsonObject
    """What is sent, as JSON; it holds no key."""

    problems: tuple[Problem, ...] = ()
    """What the provider does not take, media that cannot be read, calls without results."""

    origins: OriginNotes = field(default_factory=OriginNotes, compare=False, repr=False)
    """Where the values of the body were written."""

    def origin(self, place: Place) -> FoundOrigin | None:
        """Where the value at a place of the body was written."""
        return self.origins.find(self.body, place)


def provider_of(model: ModelDeclaration) -> Provider:
    """The form of request that a document's `model:` block asks for."""
    if model.provider.lower() == "anthropic":
        return "anthropic"
    if model.api_type == "responses":
        return "openai-responses"
    return "openai-chat"


def to_request(
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    model: ModelDeclaration,
    *,
    provider: Provider,
    outputs: Sequence[InputDeclaration] = (),
    response_schema: JsonObject | None = None,
    stop: Sequence[str] = (),
    stream: bool = False,
    media: MediaSource | None = None,
) -> WireRequest:
    """Make the body of a request (Prompty spec §7; `model.api_type` may ask for a vector or image).

    Args:
        messages: The conversation; it is sent as it is, and what is not legal in it is reported.
        tools: What the model may call; services that a document only names are left out.
        model: Model id and options, references resolved.
        provider: The form of the body.
        outputs: Declared outputs: the answer is asked for as JSON of that shape.
        response_schema: The same as a JSON schema (`declarations.output_schema`), for who has it.
        stop: Further stop sequences.
        stream: Ask for the answer piece by piece.
        media: Reads local files. Without it paths stay as the author wrote them.
    """
    schema = response_schema if response_schema is not None else output_schema(outputs)
    draft = Draft(model, tuple(tools), schema, tuple(stop), stream, media)
    draft.note_model()
    if not model.id:
        message = "Neither the prompt nor a connection names a model; a run takes its connection's."
        # Most prompts leave the model to the connection: worth knowing, and no fault.
        draft.report("no-model", message, model.span, Severity.HINT)
    if model.api_type == "embedding":
        body = embedding_body(messages, draft)
        return WireRequest(body, tuple(draft.problems), draft.origins)
    if model.api_type == "image":
        body = image_body(messages, draft)
        return WireRequest(body, tuple(draft.problems), draft.origins)
    match provider:
        case "openai-chat":
            body = chat_body(messages, draft)
        case "openai-responses":
            body = responses_body(messages, draft)
        case "anthropic":
            body = anthropic_body(messages, draft)
        case _:
            assert_never(provider)
    for tool in tools:
        refusal = name_refusal(tool.name, provider) if is_sendable(tool) else ""
        if refusal:
            draft.report(TOOL_NAME, refusal, tool.span)
    return WireRequest(body, (*history_problems(messages), *draft.problems), draft.origins)
