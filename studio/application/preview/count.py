"""Count the tokens of a preview's conversation with the best counter at hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from studio.application.preview.requests import asked_model
from studio.application.preview.value import Preview
from studio.application.words import tr
from studio.core.agent.protocols.loops import choose_protocol
from studio.core.models.base import ModelRequest
from studio.core.models.capabilities import facts_of
from studio.core.text.amounts import money
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
    """The messages and tools that a run would send, without samples; a folder that is not trusted
    must be trusted before."""

    sent: ConversationTokens
    """Figures of `request`."""

    model: str = ""
    """Name of the model that would answer; empty where none is known."""

    context_window: int | None = None
    """Tokens that a conversation may have; `None` while unknown."""

    is_by_model: bool = False
    """Whether the model itself counted `request`."""

    change: str = ""
    """Tokens and price more or less than those of the shown run; empty where nothing changed."""

    def by_model(self, sent: ConversationTokens) -> PreviewCount:
        """Return the count with the figures of the model's own tokenizer."""
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
    is_same = preview.sent is preview.prepared
    if not is_same:
        messages = preview.sent.messages.messages
        request = replace(request, messages=messages, tools=preview.sent_tools)
    sent = tokens if tokens is not None and is_same else _count(request, preview)
    count = PreviewCount(preview, tokens, request, sent, target.name, target.context_window)
    model_id = asked_model(preview.prepared.document, target).id
    asked, difference = preview.job.asked, 0
    if any(card.new for card in preview.cards):
        difference = sent.total - _count(replace(request, messages=asked), preview).total
        count = replace(count, change=tr("{count:+,} tokens").format(count=difference))
    if target.is_embedded or not model_id:
        return count
    connection = target.connection
    corrections = connection.capabilities if connection is not None else None
    facts = facts_of(model_id, corrections=corrections, connection=connection)
    cost = facts.price.of(Usage(input_tokens=abs(difference))) if facts.price is not None else None
    if cost and count.change:
        price = f"{'+' if difference > 0 else '-'}{money(cost * 1000)}"
        words = tr("{change}, {amount} per 1,000 runs")
        count = replace(count, change=words.format(change=count.change, amount=price))
    return replace(
        count,
        model=model_id,
        context_window=target.context_window or facts.capabilities.context_window,
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


# How the token count is said: figure, detail, and how full the model's context window is.

Fullness: TypeAlias = Literal["free", "close", "over"]

_CLOSE = 0.8
_MOST_INPUTS = 5


@dataclass(frozen=True, slots=True)
class Meter:
    """The token count of a preview, ready to be shown."""

    text: str
    """The figure with its unit; `≈` before it where it is not the model's own."""

    detail: str
    """Composition of the count and the counter, in a few lines."""

    share: float | None = None
    """Part of the context window that is taken, 1 being all; `None` while that is unknown."""

    fullness: Fullness = "free"
    """Whether there is room for a reply."""


def meter(count: PreviewCount) -> Meter:
    """Return the meter of a preview."""
    tokens = count.sent
    about = "" if tokens.total_is_exact else "≈"
    words = tr("1 token") if tokens.total == 1 else tr("{count:,} tokens")
    text = about + words.format(count=tokens.total)
    window = count.context_window
    share = tokens.total / window if window else None
    if share is None:
        fullness: Fullness = "free"
    else:
        fullness = "over" if share > 1 else "close" if share > _CLOSE else "free"
    if fullness != "free":
        text += f" · {share:.0%}"
    return Meter(text, "\n".join(_detail(count, share)), share, fullness)


def _detail(count: PreviewCount, share: float | None) -> list[str]:
    tokens = count.sent
    name = count.model or tr("the model")
    if tokens.is_exact:
        lines = [
            tr("Counted with {tokenizer} for {name}.").format(tokenizer=tokens.tokenizer, name=name)
        ]
    elif count.preview.job.target.is_embedded:
        lines = [tr("Estimated from the length: exact once the embedded model runs.")]
    else:
        why = tokens.why_estimated or tr("there is no tokenizer for {name} here.").format(name=name)
        lines = [tr("Estimated from the length: {why}").format(why=why)]
    lines.append(tr("Messages: {sum:,}").format(sum=sum(tokens.messages)))
    if tokens.frame:
        lines.append(tr("Message framing: {frame:,}").format(frame=tokens.frame))
    if tokens.tools:
        lines.append(tr("Tools: ≈{tools:,}").format(tools=tokens.tools))
    largest = sorted(tokens.by_input.items(), key=lambda item: -item[1])[:_MOST_INPUTS]
    if named := [f"{name} {figure:,}" for name, figure in largest if figure]:
        lines.append(tr("Of these, inputs: {names}").format(names=", ".join(named)))
    if samples := ", ".join(sorted(count.preview.samples)):
        more = tr("Not counted, as a run does not send samples: {names}")
        lines.append(more.format(names=samples))
    if tokens.is_exact and tokens.doubts:
        lines.append(tr("Only estimated: {names}.").format(names="; ".join(tokens.doubts)))
    if share is not None and count.context_window:
        lines.append(
            tr("{share:.1%} of the context window of {context_window:,} tokens.").format(
                share=share, context_window=count.context_window
            )
        )
    else:
        lines.append(tr("The size of the model's context window is not known."))
    return lines
