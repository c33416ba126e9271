"""What the conversation of a preview costs in tokens, by the best counter that is at hand."""

from __future__ import annotations

from dataclasses import dataclass, replace

from studio.application.preview.target import asked_model
from studio.application.preview.value import Preview
from studio.core.agent.protocols.choose import choose_protocol
from studio.core.models.base import ModelRequest
from studio.core.models.capabilities import facts_of
from studio.core.tokens.conversation import ConversationTokens, count_conversation
from studio.core.wire.reply import Usage


def counted_request(preview: Preview) -> ModelRequest:
    """The messages and tools of a preview, as a model that counts by itself takes them."""
    protocol = choose_protocol(preview.shown, preview.job.protocol).protocol
    messages = preview.messages.messages
    return ModelRequest(messages=messages, tools=preview.tools, protocol=protocol)


@dataclass(frozen=True, slots=True)
class PreviewCount:
    """The cost of a preview before anything is sent."""

    preview: Preview
    """The preview that was counted."""

    tokens: ConversationTokens
    """Figures of its messages and tools."""

    model: str = ""
    """Name of the model that would answer; empty where none is known."""

    context_window: int | None = None
    """Tokens that a conversation may have; `None` while unknown."""

    cost: float | None = None
    """US dollars of what is sent; `None` where no price is known."""

    is_by_model: bool = False
    """Whether the model itself counted."""


def count_preview(preview: Preview, counted: ConversationTokens | None = None) -> PreviewCount:
    """Count a preview for its meter; reads tokenizers and prices, so for a worker.

    Args:
        preview: the preview.
        counted: the figures of the model's own tokenizer, where it has answered.
    """
    tokens = counted if counted is not None else count_of(preview)
    target = preview.job.target
    count = PreviewCount(
        preview, tokens, target.name, target.context_window, is_by_model=counted is not None
    )
    model_id = asked_model(preview.prepared.document, target).id
    if target.is_embedded or not model_id:
        return count
    connection = target.connection
    corrections = connection.capabilities if connection is not None else None
    facts = facts_of(model_id, corrections=corrections, connection=connection)
    usage = Usage(input_tokens=tokens.total)
    return replace(
        count,
        model=model_id,
        context_window=target.context_window or facts.capabilities.context_window,
        cost=facts.price.of(usage) if facts.price is not None else None,
    )


def count_of(preview: Preview) -> ConversationTokens:
    """Count a preview's messages and tools; reads tokenizers, so for a worker."""
    target, tokenizers = preview.job.target, preview.job.tokenizers
    request = counted_request(preview)
    if target.is_embedded and target.weights is not None:
        own = tokenizers.embedded(target.weights)
        if own is not None and (counted := own.count(request)) is not None:
            return counted
    model_id = asked_model(preview.prepared.document, target).id
    counter = tokenizers.counter("" if target.is_embedded else model_id)
    tools = request.tools if request.protocol == "native" else ()
    tokens = count_conversation(request.messages, tools, counter)
    failure = tokenizers.failure(model_id)
    return replace(tokens, why_estimated=failure) if failure else tokens
