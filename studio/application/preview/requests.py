"""Build a preview's request in each API shape, as a run would send it, and count its tokens."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from studio.application.connections.model import choice_words
from studio.application.preview.build import sent_now
from studio.application.preview.variables import Preview, PreviewTarget, mask_secrets
from studio.application.words import tr
from studio.core.agent.loop.setup import stop_sequences
from studio.core.agent.protocols.loops import choose_protocol
from studio.core.models.base import ModelError, ModelRequest, ProtocolName
from studio.core.models.bodies import fitting
from studio.core.models.capabilities import facts_of
from studio.core.models.choice import ModelChoice, embedded_settings
from studio.core.models.connections import address_of, provider_at
from studio.core.models.embedded.server import EmbeddedSettings
from studio.core.models.embedded.weights import bundled_weights
from studio.core.models.remote.faults import LearnedRefusal, kept_refusals, without_refused
from studio.core.models.remote.model import refusals_of
from studio.core.prompty.document import ModelDeclaration, PromptDocument, ToolSpec
from studio.core.prompty.front.declarations import output_schema
from studio.core.prompty.inputs import resolve_inputs
from studio.core.prompty.loop_format import sent_options
from studio.core.prompty.prepare import Prepared
from studio.core.text.amounts import money
from studio.core.text.values import JsonObject
from studio.core.tokens.conversation import ConversationTokens, count_conversation
from studio.core.wire.media import MediaData, MediaFault, MediaReader
from studio.core.wire.reply import Usage
from studio.core.wire.request import Provider, WireRequest, provider_of, to_request

# The target model of a preview, from the connection that a run would use.


def preview_target(choice: ModelChoice) -> PreviewTarget:
    """Return the known facts about the model that would answer."""
    words, is_refused = choice_words(choice), bool(choice.refusal)
    return replace(
        _target(choice),
        chosen=words,
        is_described=choice.is_described or is_refused,
        is_refused=is_refused,
    )


def _target(choice: ModelChoice) -> PreviewTarget:
    connection, model_id = choice.connection, choice.declaration.id
    if connection.kind == "embedded":
        settings = embedded_settings(connection)
        return PreviewTarget(
            "", connection.name, settings.context, is_embedded=True, weights=_weights(settings)
        )
    if not connection.is_remote:
        return PreviewTarget(model_id, connection.name)
    # The price table may have the context window; it is not loaded here, the token count reads it.
    capabilities = facts_of(
        model_id, corrections=connection.capabilities, connection=connection, priced=False
    ).capabilities
    address = address_of(connection) if connection.kind != "azure" else ""
    return PreviewTarget(
        model_id,
        connection.name,
        capabilities.context_window,
        base_url=address,
        provider=provider_at(connection),
        capabilities=capabilities,
        connection=connection,
    )


def asked_model(document: PromptDocument, target: PreviewTarget) -> ModelDeclaration:
    """Return the model of a document, with the id that the target uses for it."""
    model = document.model
    return replace(model, id=target.model_id) if target.model_id else model


def _weights(settings: EmbeddedSettings) -> Path | None:
    try:
        return settings.weights or bundled_weights().path
    except ModelError:  # not installed: a run reports it, and the count remains an estimate
        return None


PROVIDERS: Mapping[Provider, str] = {
    "openai-chat": "OpenAI chat completions",
    "openai-responses": "OpenAI responses",
    "anthropic": "Anthropic messages",
    "ollama": "Ollama chat",
    "gemini": "Gemini generateContent",
}
"""The API shapes with their display names, in the order of the menu."""


@dataclass(frozen=True, slots=True)
class RequestPreview:
    """The request body for one provider."""

    provider: Provider
    """Provider whose API shape the body has."""

    text: str
    """The body as indented JSON, secrets masked; empty if none could be built."""

    body: JsonObject = field(default_factory=dict)
    """The body as a value, secrets masked."""

    size: int = 0
    """Size of the body as sent, with the content of files, in bytes."""

    model: str = ""
    """Id of the model, for APIs that have it in the URL."""

    api: str = "chat"
    """API of the request: `chat`, `responses`, `embedding` or `image`."""

    base_url: str = ""
    """Base URL of the connection's API; empty for the provider's own."""

    whole: Callable[[], JsonObject] | None = field(default=None, compare=False, repr=False)
    """Function that builds the body with the content of files; `body` has only their sizes."""

    made: WireRequest | None = field(default=None, compare=False, repr=False)
    """The request itself, which records the origin of its values."""

    notes: tuple[str, ...] = ()
    """Notes on what the API does not support and what was omitted, one sentence each."""

    samples: tuple[str, ...] = ()
    """Names of the inputs that have only a sample, which is not in the body."""


_ANY = PreviewTarget()
"""The document's own model, at any server."""


def provider_for(preview: Preview) -> Provider:
    """Return the API shape in which a run would send a preview."""
    target = preview.job.target
    return target.provider or provider_of(asked_model(preview.prepared.document, target))


def request_of(preview: Preview, provider: Provider) -> RequestPreview:
    """Return the request of a run that starts now. Reads file sizes, so call it in a worker."""
    job, (prepared, tools) = preview.job, sent_now(preview)
    found = resolve_inputs(preview.shown, job.inputs)
    samples = (name for name in preview.samples if found.origins.get(name) == "sample")
    made = request_preview(provider, prepared, tools, job.target, job.protocol)
    if names := ", ".join(item.name for item in found.missing):
        words = tr("Nothing is sent until these have a value: {names}.").format(names=names)
        made = replace(made, notes=(words, *made.notes))
    return replace(made, samples=tuple(sorted(samples)))


def request_preview(
    provider: Provider,
    prepared: Prepared,
    tools: Sequence[ToolSpec],
    target: PreviewTarget = _ANY,
    protocol: ProtocolName | None = None,
) -> RequestPreview:
    """Build a request as a run would send it, with the sizes of files in place of their content.

    Args:
        provider: its API shape.
        prepared: the messages; only the native protocol sends tools separately.
        tools: the tools that the model receives.
        target: the model that would receive the run's requests.
        protocol: the protocol chosen for the run; `None` for the document's own.
    """
    document = prepared.document
    model = asked_model(document, target)
    choice = choose_protocol(document, protocol)
    path = document.source.path
    reader = MediaReader(path.parent if path else None)
    described = _DescribedMedia(replace(reader, describe_only=True))
    able = target.capabilities
    stop = stop_sequences(document, choice.protocol)
    schema = output_schema(document.outputs)
    taken = tools if choice.protocol == "native" else ()
    sent = taken if able.tools else ()
    notes = []
    if len(taken) < len(tools):
        words = tr("The tools are in the prompt and are not sent separately: {reason}.")
        notes.append(words.format(reason=choice.reason))
    unable = {
        tr("tools"): len(sent) < len(taken),
        tr("schema for its answer"): schema is not None and not able.json_schema,
        tr("stop sequences"): bool(stop) and not able.stop,
    }
    words = tr("The model does not accept {name}: left out.")
    notes += [words.format(name=name) for name, is_left_out in unable.items() if is_left_out]
    if names := ", ".join(sorted(prepared.samples)):
        notes.append(tr("Samples, not sent by a run: {names}.").format(names=names))
    options = fitting(sent_options(document, model.options), sent, able)
    make = partial(
        to_request,
        prepared.messages.messages,
        sent,
        replace(model, options=options),
        provider=provider,
        response_schema=schema if able.json_schema else None,
        stop=stop if able.stop else (),
        stream=True,
        keeps_nothing=True,
    )
    request = make(media=described)
    is_own = _FAMILIES.get(provider, provider) == _FAMILIES.get(target.provider, target.provider)
    refusals: tuple[LearnedRefusal, ...] = ()
    if is_own and target.connection is not None:
        refusals = refusals_of(kept_refusals(), target.connection, model.id)
    sent_body, refused = without_refused(request.body, refusals)
    notes += [each.sentence for each in refused]
    body = mask_secrets(sent_body)
    compact = json.dumps(sent_body, ensure_ascii=False, separators=(",", ":"))
    return RequestPreview(
        provider,
        json.dumps(body, ensure_ascii=False, indent=2),
        body,
        size=len(compact.encode()) + described.left_out,
        notes=tuple(dict.fromkeys((*notes, *(each.message for each in request.problems)))),
        api=model.api_type,
        base_url=target.base_url if is_own else "",
        whole=partial(_whole, make, reader, refusals),
        made=request,
        model=target.model_id or model.id,
    )


_FAMILIES: Mapping[Provider | None, Provider | None] = {
    None: "openai-chat",
    "openai-responses": "openai-chat",
}
"""API shapes that are available at the same base URL."""


@dataclass(slots=True)
class _DescribedMedia:
    """A reader that describes files and adds up the bytes that the descriptions omit."""

    reader: MediaReader
    left_out: int = 0

    def read(self, source: str) -> MediaData | MediaFault:
        """Read the start of a file."""
        found = self.reader.read(source)
        self.left_out += found.left_out if isinstance(found, MediaData) else 0
        return found


def _whole(
    make: Callable[..., WireRequest], reader: MediaReader, refusals: tuple[LearnedRefusal, ...]
) -> JsonObject:
    return mask_secrets(without_refused(make(media=reader).body, refusals)[0])


@dataclass(frozen=True, slots=True)
class PreviewCount:
    """Token count and cost of a preview before anything is sent."""

    preview: Preview
    """The counted preview."""

    tokens: ConversationTokens | None
    """Token counts of each shown message and input, samples included; `None` if none is shown."""

    request: ModelRequest
    """The messages and tools that a run would send, without samples; an untrusted folder must be
    trusted first.
    """

    sent: ConversationTokens
    """Token counts of `request`."""

    model: str = ""
    """Name of the model that would answer; empty if none is known."""

    context_window: int | None = None
    """Size of the context window in tokens; `None` if unknown."""

    is_by_model: bool = False
    """Whether `request` was counted by the model itself."""

    change: str = ""
    """Difference in tokens and price from the shown run; empty if there is none."""

    def by_model(self, sent: ConversationTokens) -> PreviewCount:
        """Return the count with the token counts of the model's own tokenizer."""
        tokens = self.tokens if self.preview.samples or self.tokens is None else sent
        return replace(self, tokens=tokens, sent=sent, is_by_model=True)


def count_preview(preview: Preview, *, shown: bool = True) -> PreviewCount:
    """Count a preview for its meter. Reads tokenizers and prices, so call it in a worker.

    Args:
        preview: the preview.
        shown: whether to count the shown messages too, if they differ from those sent.
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
    """Count with the best available tokenizer."""
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


# Texts of the token count: number, detail, and how full the model's context window is.

Fullness: TypeAlias = Literal["free", "close", "over"]

_CLOSE = 0.8
_MOST_INPUTS = 5


@dataclass(frozen=True, slots=True)
class Meter:
    """The token count of a preview, ready for display."""

    text: str
    """The count with its unit, prefixed with `≈` if it is not the model's own."""

    detail: str
    """Parts of the count and the tokenizer used, in a few lines."""

    share: float | None = None
    """Used share of the context window, from 0 to 1; `None` if unknown."""

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
