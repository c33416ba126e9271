"""What the conversation of a preview costs in tokens, by the best counter that is at hand."""

from __future__ import annotations

from dataclasses import dataclass, replace

from studio.application.preview.build import sent_messages
from studio.application.preview.target import asked_model
from studio.application.preview.value import Preview
from studio.core.agent.protocols.choose import choose_protocol
from studio.core.models.base import ModelRequest
from studio.core.models.capabilities import facts_of
from studio.core.models.connections import address_of
from studio.core.models.endpoint_trust import is_local
from studio.core.tokens.conversation import ConversationTokens, count_conversation
from studio.core.wire.reply import Usage


@dataclass(frozen=True, slots=True)
class PreviewCount:
    """The cost of a preview before anything is sent."""

    preview: Preview
    """The preview that was counted."""

    tokens: ConversationTokens | None
    """Figures of each message and input as shown, samples included; `None` while none is seen."""

    request: ModelRequest
    """The messages and tools that a run would send now, without samples."""

    sent: ConversationTokens
    """Figures of `request`."""

    model: str = ""
    """Name of the model that would answer; empty where none is known."""

    context_window: int | None = None
    """Tokens that a conversation may have; `None` while unknown."""

    cost: float | None = None
    """US dollars of `request`, 0 on this machine; `None` where no price is known."""

    is_by_model: bool = False
    """Whether the model itself counted `request`."""

    def by_model(self, sent: ConversationTokens) -> PreviewCount:
        """The count with the figures of the model's own tokenizer."""
        tokens = self.tokens if self.preview.samples or self.tokens is None else sent
        return replace(self, tokens=tokens, sent=sent, is_by_model=True)


def count_preview(preview: Preview, *, shown: bool = True) -> PreviewCount:
    """Count a preview for its meter; reads tokenizers and prices, so for a worker.

    Args:
        preview: the preview.
        shown: whether what is shown is counted too, where that differs from what is sent.
    """
    job, target = preview.job, preview.job.target
    protocol = choose_protocol(preview.shown, job.protocol).protocol
    request = ModelRequest(preview.messages.messages, tools=preview.tools, protocol=protocol)
    tokens = _count(request, preview) if shown else None
    prepared, tools = sent_messages(preview)
    if prepared is not preview.prepared:
        request = replace(request, messages=prepared.messages.messages, tools=tools)
    is_same = prepared is preview.prepared
    sent = tokens if tokens is not None and is_same else _count(request, preview)
    count = PreviewCount(preview, tokens, request, sent, target.name, target.context_window)
    model_id = asked_model(preview.prepared.document, target).id
    connection = target.connection
    is_here = target.is_embedded or (connection is not None and is_local(address_of(connection)))
    if is_here:
        count = replace(count, cost=0.0)
    if target.is_embedded or not model_id:
        return count
    corrections = connection.capabilities if connection is not None else None
    facts = facts_of(model_id, corrections=corrections, connection=connection)
    return replace(
        count,
        model=model_id,
        context_window=target.context_window or facts.capabilities.context_window,
        cost=facts.price.of(Usage(input_tokens=sent.total)) if facts.price else count.cost,
    )


def _count(request: ModelRequest, preview: Preview) -> ConversationTokens:
    """Count by the best tokenizer that is at hand."""
    target, tokenizers = preview.job.target, preview.job.tokenizers
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
