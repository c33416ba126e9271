"""The models of an experiment: connections by name, or `provider:model` as promptfoo writes it."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterable
from dataclasses import replace

from studio.application.connections.model import RequestedModel, choice_of
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.provider_config import ENDPOINTS
from studio.application.words import tr
from studio.core.experiments.values import ProviderEntry
from studio.core.models.base import Capabilities, ModelRequest
from studio.core.models.bodies import request_body
from studio.core.models.capabilities import facts_of
from studio.core.models.choice import ModelChoice, provider_connection
from studio.core.models.connection_file import Connections
from studio.core.models.connections import Connection
from studio.core.models.endpoint_trust import BUILT_IN, origin
from studio.core.models.prices import Price
from studio.core.prompty.document import ModelDeclaration, PromptDocument
from studio.core.prompty.messages import TextPart
from studio.core.text.values import Json, JsonObject
from studio.core.wire.reply import Finished, ReplyDelta, TextDelta

ECHO = "echo"
"""promptfoo's provider that answers with the prompt itself: no model, no cost."""

_WAY = re.compile(r"^(?:chat|responses|messages|embeddings?):")
_EMBEDDED = ("embedded", "local")
_ALIASES = {"azureopenai": "azure", "vertex": "gemini", "google": "gemini"}
_VARIABLE = re.compile(r"\{\{\s*env\.(\w+)[^{}]*\}\}")


def choice_for(
    entry: ProviderEntry, document: PromptDocument, connections: Connections, *, trusted: bool
) -> ModelChoice | None:
    """The connection that answers a variant; None for `echo`.

    Raises:
        ExperimentError: there is none: an experiment never takes another model in silence.
    """
    if entry.id == ECHO:
        return None
    declared = document.model
    asked = RequestedModel(declared, trusted, file=document.source.path)
    if not entry.id:
        return _sure(entry, asked, connections)
    named = connections.named(entry.id)
    if named is None and entry.id.lower() in _EMBEDDED:
        named = next(each for each in connections.connections if each.kind == "embedded")
    if named is not None:
        return choice_of(asked, connections, named.name)
    provider, colon, rest = entry.id.partition(":")
    model = _WAY.sub("", rest)
    connection = next(
        (
            each
            for each in connections.connections
            if provider.lower() in (each.name.lower(), each.name.lower().replace(" ", "-"))
        ),
        None,
    )
    if connection is not None and colon:
        return ModelChoice(
            replace(connection, model=model), replace(declared, id=model), "the experiment names it"
        )
    kind = _ALIASES.get(provider.lower(), provider.lower())
    wanted = ModelDeclaration(id=model or "", provider=kind, options=declared.options)
    # What the experiment itself names is compared by its name: no choice for the folder counts.
    asked = replace(asked, declaration=wanted, file=None)
    endpoint = _endpoint(entry.config)
    if endpoint and origin(endpoint) not in BUILT_IN:
        return _at_endpoint(entry, asked, endpoint, connections)
    if provider_connection(kind) is None:
        raise ExperimentError(
            tr(
                "There is no connection {name!r}; add one in the studio, or name one of those that "
                "there are."
            ).format(name=entry.id)
        )
    return _sure(entry, asked, connections)


def _endpoint(config: JsonObject) -> str:
    """The address that a provider's `config` names, as promptfoo reads it; empty for none."""
    named = next((config[name] for name in ENDPOINTS if config.get(name)), "")
    address = _reference(str(named)).strip()
    return address if not address or "://" in address or "${" in address else f"https://{address}"


def _reference(text: str) -> str:
    """A text with promptfoo's `{{env.NAME}}` as the reference that prompt files have."""
    return _VARIABLE.sub(r"${env:\1}", text)


def _at_endpoint(
    entry: ProviderEntry, asked: RequestedModel, endpoint: str, connections: Connections
) -> ModelChoice:
    """The server that the file names: the user's own connection to it where there is one.

    Never another one in its place: what is meant for a local server does not leave the machine.
    """
    place, wanted = origin(endpoint), asked.declaration
    for each in connections.connections:
        if place and origin(each.base_url) == place:
            return ModelChoice(each, replace(wanted, id=wanted.id or each.model), "its address")
    variable = entry.config.get("apiKeyEnvar")
    key = f"${{env:{variable}}}" if variable else _reference(str(entry.config.get("apiKey", "")))
    block: dict[str, Json] = {"kind": "key", "endpoint": endpoint}
    if key.startswith("${env:"):
        block["apiKey"] = key
    described = replace(asked, declaration=replace(wanted, connection=block))
    return _sure(entry, described, connections)


def _sure(entry: ProviderEntry, asked: RequestedModel, connections: Connections) -> ModelChoice:
    """A choice that is what was asked for."""
    choice = choice_of(asked, connections)
    why = choice.refusal or choice.warning
    if why:
        how = tr("Make the connection, or name another under `providers`.")
        if asked.file is not None:
            how = tr("Make the connection, name one under `providers`, or use one for the folder.")
        why = f"{why} {how}"
    elif choice.untrusted:
        how = tr("it is not allowed. Add a connection with this address.")
        why = tr("Nothing is sent to {address}: {how}").format(address=choice.untrusted, how=how)
    if why:
        name = f"{entry.id}: " if entry.id else ""
        raise ExperimentError(f"{name}{why}", asked.file if choice.refusal else None)
    return choice


def without_retries(choice: ModelChoice) -> ModelChoice:
    """The choice for a caller that tries again itself, by the rule of its limiter."""
    return replace(choice, connection=replace(choice.connection, retries=0))


def price_of(choice: ModelChoice | None) -> Price | None:
    """What the tokens of a model cost; None where nobody knows."""
    if choice is None:
        return None
    connection, model = choice.connection, choice.declaration.id
    return facts_of(model, corrections=connection.capabilities, connection=connection).price


def unpriced(choices: Iterable[ModelChoice | None]) -> ModelChoice | None:
    """The first remote model whose price nobody knows; None where there is none."""
    return next(
        (
            each
            for each in choices
            if each is not None and each.connection.is_remote and price_of(each) is None
        ),
        None,
    )


def endpoint_of(connection: Connection) -> str:
    """Where requests go, without a key or a password."""
    from studio.core.models.remote.model import shown_address

    place = shown_address(connection) if connection.is_remote else connection.kind
    return f"{connection.kind} {connection.api} {place}"


class EchoModel:
    """Answers with the text that it is sent, as promptfoo's `echo`."""

    label = "echo"
    capabilities = Capabilities()

    def request_body(self, request: ModelRequest) -> JsonObject:
        """The body that a chat-completions server would get."""
        return request_body(request, model_id="echo", capabilities=self.capabilities)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """The text of one message, or the messages as JSON."""
        yield TextDelta(echoed(request))
        yield Finished("stop")

    async def close(self) -> None:
        """Nothing to let go of."""


def echoed(request: ModelRequest) -> str:
    """What `echo` answers."""
    import json

    texts = [
        "".join(part.text for part in message.parts if isinstance(part, TextPart))
        for message in request.messages
    ]
    if len(texts) == 1:
        return texts[0]
    made = [
        {"role": message.role, "content": text}
        for message, text in zip(request.messages, texts, strict=True)
    ]
    return json.dumps(made, ensure_ascii=False)
