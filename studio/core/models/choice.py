"""Choose the connection for a document, with the reason, and open its model."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import assert_never

from studio.core.models.base import ChatModel, ModelError
from studio.core.models.capabilities import facts_of
from studio.core.models.connections import (
    EMBEDDED,
    PRESETS,
    Connection,
    ConnectionKind,
    Connections,
    address_of,
    is_trusted,
    origin,
)
from studio.core.models.embedded.model import DEFAULT_LEVEL, EmbeddedModel
from studio.core.models.embedded.policy import LEVELS, GrammarLevel
from studio.core.models.embedded.server import EmbeddedServer, EmbeddedSettings
from studio.core.models.remote.faults import kept_refusals
from studio.core.models.remote.model import RemoteModel
from studio.core.models.scripted import RecordingModel, ReplayModel, ScriptedModel, read_script
from studio.core.models.secrets import SecretStore, environment_name
from studio.core.prompty.document import ModelDeclaration
from studio.core.prompty.reference_values import find_references, whole_reference
from studio.core.text.values import JsonObject
from studio.core.wire.media import MediaSource

_PROVIDERS: Mapping[str, ConnectionKind] = {
    "openai": "openai",
    "azure": "azure",
    "azure_openai": "azure",
    "azure-openai": "azure",
    "foundry": "azure",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "google": "gemini",
    "ollama": "ollama",
}
_ADDRESS_VARIABLES: Mapping[ConnectionKind, str] = {
    "openai": "OPENAI_BASE_URL",
    "azure": "AZURE_OPENAI_ENDPOINT",
    "anthropic": "ANTHROPIC_BASE_URL",
    "ollama": "OLLAMA_BASE_URL",
}
_VENDORS: Mapping[str, tuple[str, str]] = {
    "cerebras": ("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    "deepseek": ("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "groq": ("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": ("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "perplexity": ("https://api.perplexity.ai", "PERPLEXITY_API_KEY"),
    "togetherai": ("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "xai": ("https://api.x.ai/v1", "XAI_API_KEY"),
}
"""Providers with OpenAI's API under promptfoo's names: address, and variable of the key."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The connection and model chosen for a document."""

    connection: Connection
    """Chosen connection."""

    declaration: ModelDeclaration
    """The document's model block, with the id to request."""

    reason: str
    """Reason for the choice, for the status bar."""

    warning: str = ""
    """Part of the document's request that was not met; empty if it was met."""

    asked_id: str = ""
    """Model id that the document names; empty if there is none."""

    asked_place: str = ""
    """Name of the connection that the document names; empty if there is none."""

    missing: str = ""
    """Sentence on names in the document that are not set up; empty if all are."""

    folder: str = ""
    """Folder for which the user chose this connection; empty if something else decided."""

    untrusted: str = ""
    """Endpoint from the file that the user has not allowed yet; ask before sending."""

    denied: str = ""
    """Sentence about the project's file that forbids the connection; empty if it is allowed."""

    is_described: bool = False
    """Whether the document itself describes the connection."""

    @property
    def refusal(self) -> str:
        """The reason why nothing may be sent: a forbidden connection, or a missing one."""
        return self.denied or ("" if self.folder else self.missing)

    @property
    def instead_of(self) -> str:
        """The model or connection that the document names if another one answers; else empty."""
        is_elsewhere = self.asked_place not in ("", self.connection.name)
        is_another = self.asked_id not in ("", self.declaration.id)
        return (self.asked_id or self.asked_place) if is_elsewhere or is_another else ""


def provider_connection(provider: str) -> Connection | None:
    """Return a provider's default connection; None for an unknown name."""
    name = provider.lower()
    kind = _PROVIDERS.get(name)
    if kind is not None:
        return next(each.connection for each in PRESETS if each.connection.kind == kind)
    if name not in _VENDORS:
        return None
    address, variable = _VENDORS[name]
    return Connection(provider, "compatible", base_url=address, key=f"${{env:{variable}}}")


def choose_connection(
    declaration: ModelDeclaration,
    connections: Connections,
    *,
    chosen: str = "",
    environment: Mapping[str, str] | None = None,
    trusted: bool = True,
    file: Path | None = None,
) -> ModelChoice:
    """Choose the connection for a document.

    In this order: the user's choice for the document; the user's choice for its folder; the one
    that its `connection` block names or describes; one for its `provider`, from the file of
    connections or the environment; the default. A document that names a connection that is not set
    up gets a choice with a `refusal`, never the default.

    Args:
        declaration: the document's `model:` block, references unresolved.
        connections: the user's connections.
        chosen: name of the user's choice, which takes precedence.
        environment: variables; the process's own by default.
        trusted: whether the document's folder is trusted; otherwise no `${env:}` is read.
        file: the document's file; None for one that was never saved.
    """
    variables = os.environ if environment is None else environment
    declaration = _with_id(declaration, variables if trusted else {})
    named = _named(declaration, connections, variables, trusted=trusted)
    picked = connections.named(chosen)
    folder = "" if picked is not None else connections.folder_of(file)
    taken = picked or connections.named(connections.folders.get(folder, ""))
    if taken is None:
        choice = _with_api(named) if named else _default(declaration, connections)
    else:
        reason = f"you selected it for the folder {folder}" if folder else "you chose it"
        is_own = named is not None and named.connection == taken
        choice = _choice(taken, declaration, reason, prefer_document=is_own)
    if taken is not None and folder:
        model = connections.folder_models.get(folder) or choice.declaration.id
        choice = replace(
            choice,
            declaration=replace(choice.declaration, id=model),
            missing=named.missing if named is not None else "",
            folder=folder,
        )
    place = named.connection.name if named is not None else ""
    return replace(choice, asked_id=declaration.id, asked_place=place)


def _named(
    declaration: ModelDeclaration,
    connections: Connections,
    variables: Mapping[str, str],
    *,
    trusted: bool,
) -> ModelChoice | None:
    """Return the choice that the document names; None if it names no connection or provider."""
    block = declaration.connection
    if str(block.get("kind", "")) == "reference" or ("name" in block and "endpoint" not in block):
        return _by_name(str(block.get("name", "")), declaration, connections)
    endpoint = block.get("endpoint")
    if isinstance(endpoint, str) and endpoint.strip():
        return _by_endpoint(endpoint, declaration, connections, variables if trusted else None)
    known = provider_connection(declaration.provider)
    if known is not None:
        return _by_provider(known, declaration, connections, variables)
    if declaration.provider:
        sentence = f"The prompt requests {declaration.written!r}, which is not configured here."
        return _missing(Connection(declaration.provider, "compatible"), declaration, sentence)
    return None


def _with_api(choice: ModelChoice) -> ModelChoice:
    """Return the choice with the API that the document requests, if its server has two.

    A connection of the user's that the document names speaks the API that the user chose.
    """
    asks = choice.declaration.api_type == "responses"
    is_named = choice.declaration.connection.get("kind") == "reference"
    if not asks or is_named or choice.connection.kind not in ("openai", "azure", "compatible"):
        return choice
    return replace(choice, connection=replace(choice.connection, api="responses"))


def _missing(connection: Connection, declaration: ModelDeclaration, sentence: str) -> ModelChoice:
    """Return a refused choice; its connection has no address, or its key is not set."""
    return ModelChoice(connection, declaration, sentence, missing=sentence)


def _with_id(declaration: ModelDeclaration, variables: Mapping[str, str]) -> ModelDeclaration:
    """Return the declaration with its id resolved from a variable; unchanged if it is not set."""
    reference = whole_reference(declaration.id)
    if reference is None or reference.protocol != "env":
        return declaration
    found = variables.get(reference.argument) or reference.default
    return replace(declaration, id=found) if found else declaration


def _by_name(name: str, declaration: ModelDeclaration, connections: Connections) -> ModelChoice:
    found = connections.named(name)
    if found is not None:
        return _choice(found, declaration, f"the prompt names the connection {name!r}")
    sentence = f"The prompt names the connection {name!r}, which is not configured here."
    return _missing(Connection(name, "compatible"), declaration, sentence)


def _by_endpoint(
    endpoint: str,
    declaration: ModelDeclaration,
    connections: Connections,
    variables: Mapping[str, str] | None,
) -> ModelChoice:
    """Return the choice for an endpoint; without `variables` no reference in it is resolved."""
    variable, default, path = "", endpoint, ""
    found = next(find_references(endpoint), None)
    # Anything else after a variable could turn it into another host.
    if found is not None and found.protocol == "env" and found.span.start == 0:
        rest = endpoint[found.span.end :].strip()
        if rest[:1] in ("", "/"):
            variable, default, path = found.argument, found.default or "", rest
    if variable and variables is None and not default:
        sentence = f"The folder is not trusted, so the variable {variable} is not read."
        return _missing(Connection(variable, "compatible"), declaration, sentence)
    of_variable = (variables or {}).get(variable, "") if variable else ""
    address = of_variable or default
    if not address:
        sentence = f"The prompt's endpoint is in the variable {variable}, which is not set."
        return _missing(Connection(variable, "compatible"), declaration, sentence)
    address = f"{address.rstrip('/')}{path}" if path else address
    key = declaration.connection.get("apiKey", declaration.connection.get("api_key", ""))
    named = isinstance(key, str) and environment_name(key) is not None
    reference = key if isinstance(key, str) and named and variables is not None else ""
    kind = _PROVIDERS.get(declaration.provider.lower(), "compatible")
    if kind == "openai":
        kind = "compatible"  # its address is explicit; nothing else differs
    made = Connection(
        f"endpoint of {origin(address) or address}", kind, base_url=address, key=reference
    )
    choice = _choice(made, declaration, "the prompt names this endpoint")
    choice = replace(choice, is_described=True)
    if named and not reference:
        choice = replace(
            choice,
            warning="The folder is not trusted, so the key that the prompt names is not read.",
        )
    elif key and not reference:
        choice = replace(
            choice, warning="The key written in the prompt is not used: name it as ${env:NAME}."
        )
    # An address from the user's environment or connections was not chosen by the file.
    own = [origin(each.base_url) for each in connections.connections if each.base_url]
    allowed = bool(of_variable) or is_trusted(address, (*connections.trusted, *own))
    return choice if allowed else replace(choice, untrusted=origin(address) or address)


def _by_provider(
    usual: Connection,
    declaration: ModelDeclaration,
    connections: Connections,
    variables: Mapping[str, str],
) -> ModelChoice:
    """Return the user's connection for the provider, otherwise its default one."""
    is_vendor = usual.kind == "compatible"
    for each in connections.connections:
        if (
            origin(each.base_url) == origin(usual.base_url)
            if is_vendor
            else each.kind == usual.kind
        ):
            return _choice(each, declaration, f"the prompt's provider is {declaration.written!r}")
    variable = environment_name(usual.key) or ""
    address = variables.get(_ADDRESS_VARIABLES.get(usual.kind, ""), "") or usual.base_url
    made = replace(usual, base_url=address)
    if not variable:  # a local server, which needs no key
        reason = f"the prompt's provider is {declaration.written!r}, at {address}"
        return _choice(made, declaration, reason)
    return _by_key(variable, made, declaration, variables)


def _by_key(
    variable: str, made: Connection, declaration: ModelDeclaration, variables: Mapping[str, str]
) -> ModelChoice:
    """Return a connection for a provider if the variable of its key is set."""
    name = declaration.written
    if variables.get(variable):
        reason = f"the prompt's provider is {name!r} and {variable} is set"
        return _choice(made, declaration, reason)
    sentence = f"The prompt requests {name!r}: add a connection, or set {variable}."
    return _missing(made, declaration, sentence)


def _default(declaration: ModelDeclaration, connections: Connections) -> ModelChoice:
    choice = _choice(
        connections.default_connection, declaration, "the default", prefer_document=False
    )
    if declaration.id and choice.declaration.id != declaration.id:
        warning = f"The prompt requests the model {declaration.id!r} but names no connection."
        return replace(choice, warning=warning)
    return choice


def _choice(
    connection: Connection,
    declaration: ModelDeclaration,
    reason: str,
    *,
    prefer_document: bool = True,
) -> ModelChoice:
    """Return a choice with its model id.

    A connection that the document names uses the document's model; one chosen otherwise uses its
    own, because model ids differ between servers.
    """
    ids = (declaration.id, connection.model)
    model = next(filter(None, ids if prefer_document else reversed(ids)), "")
    if not connection.is_remote:
        model = connection.model
    return ModelChoice(connection, replace(declaration, id=model), reason)


def needs_address(connection: Connection) -> bool:
    """Return whether a connection needs an address before it can be used."""
    return connection.is_remote and not address_of(connection)


# Opens the model of a chosen connection, and the servers of embedded models.


def open_model(
    choice: ModelChoice,
    *,
    secrets: SecretStore | None = None,
    embedded: EmbeddedServer | None = None,
    connections: Connections | None = None,
    media: MediaSource | None = None,
    listed: JsonObject | None = None,
) -> ChatModel:
    """Create the model for a document; nothing is sent or started yet.

    Args:
        choice: connection and declaration, from `choose_connection`.
        secrets: store of the keys; by default a new one.
        embedded: the studio's shared embedded server; without it the model starts its own, which
            `close` stops.
        connections: needed only to record through another connection.
        media: reads the prompt's local files.
        listed: the server's description of the model, from its list.

    Raises:
        ModelError: the connection is incomplete ("no-model", "no-address", "no-script", …).
    """
    connection = choice.connection
    match connection.kind:
        case "embedded":
            return EmbeddedModel(
                embedded, settings=embedded_settings(connection), level=grammar_level(connection)
            )
        case "scripted":
            path = _path(connection, "script", "no-script", "Choose a script in the connection.")
            return ScriptedModel(read_script(path), label=f"Script {path.name}", repeat=True)
        case "manual":
            raise ModelError(
                "no-person",
                "Connections of the kind 'I am the model' were removed.",
                "Choose another one; at a pause, 'Answer in its place' uses your own reply.",
            )
        case "replay":
            path = _path(connection, "recording", "no-recording", "Choose its file.")
            through = _through(connection, choice.declaration, connections)
            if through is None:
                return ReplayModel(path)
            inner = open_model(through, secrets=secrets, embedded=embedded, media=media)
            return RecordingModel(inner, path, secrets.masker if secrets is not None else None)
        case "openai" | "azure" | "compatible" | "anthropic" | "gemini" | "ollama":
            return _remote(choice, secrets or SecretStore(), media, listed)
        case _:
            assert_never(connection.kind)


def grammar_level(connection: Connection) -> GrammarLevel:
    """Return the level of an embedded model's grammar.

    The bundled model gets the highest level; the user's own model may need less and only gets a
    syntax.
    """
    default: GrammarLevel = "syntax" if connection.settings.get("weights") else DEFAULT_LEVEL
    setting = connection.settings.get("grammar")
    return next((level for level in LEVELS if level == setting), default)


def embedded_settings(connection: Connection) -> EmbeddedSettings:
    """Return the settings of an embedded connection."""
    defaults = EmbeddedSettings()
    weights = connection.settings.get("weights")
    context = connection.settings.get("context")
    threads = connection.settings.get("threads")
    return EmbeddedSettings(
        Path(weights).expanduser() if isinstance(weights, str) and weights else None,
        context if isinstance(context, int) and context >= 256 else defaults.context,
        threads if isinstance(threads, int) and threads >= 1 else defaults.threads,
    )


def _remote(
    choice: ModelChoice, secrets: SecretStore, media: MediaSource | None, listed: JsonObject | None
) -> RemoteModel:
    connection, model_id = choice.connection, choice.declaration.id
    if needs_address(connection):
        raise ModelError(
            "no-address",
            f"The connection {connection.name!r} has no address.",
            "Enter the address of its API in the connection.",
        )
    if whole_reference(model_id) is not None:
        raise ModelError(
            "no-model",
            f"The prompt names its model by {model_id}, which has no value here.",
            "Set the variable and trust the prompt's folder, or choose a model.",
        )
    if not model_id:
        raise ModelError(
            "no-model",
            f"Neither the prompt nor the connection {connection.name!r} names a model.",
            "Choose one in the connection, or write `model: {id: …}` in the prompt.",
        )
    facts = partial(
        facts_of,
        model_id,
        corrections=connection.capabilities,
        listed=listed,
        connection=connection,
    )
    return RemoteModel(
        connection,
        model_id,
        lambda: secrets.read(connection.key, connection.name),
        capabilities=facts(priced=False).capabilities,
        price=lambda: facts().price,
        media=media,
        refusals=kept_refusals(),
    )


def _path(connection: Connection, key: str, kind: str, hint: str) -> Path:
    value = connection.settings.get(key)
    if not isinstance(value, str) or not value:
        raise ModelError(kind, f"The connection {connection.name!r} names no {key}.", hint)
    return Path(value).expanduser()


def _through(
    connection: Connection, declaration: ModelDeclaration, connections: Connections | None
) -> ModelChoice | None:
    """Return the connection through which a recording is made; None if it is only replayed."""
    name = connection.settings.get("through")
    if not isinstance(name, str) or not name:
        return None
    found = connections.named(name) if connections else None
    if found is None and name == EMBEDDED.name:
        found = EMBEDDED
    if found is None or found.kind == "replay":
        raise ModelError(
            "no-recording",
            f"The connection {connection.name!r} records through {name!r}, which is not there.",
            "Choose another connection to record.",
        )
    return ModelChoice(found, declaration, f"recorded through {name!r}")


class EmbeddedServers:
    """The embedded servers of one experiment in one process; each starts with its first request."""

    def __init__(self, shared: EmbeddedServer | None, sharers: int = 1) -> None:
        """Use the studio's embedded server for everything, if there is one.

        Args:
            shared: the studio's embedded server.
            sharers: number of processes on this machine that start servers at the same time.
        """
        self._shared = shared
        self._sharers = sharers
        self._started: dict[EmbeddedSettings, EmbeddedServer] = {}

    def of(self, choice: ModelChoice) -> EmbeddedServer | None:
        """Return the server for a choice; None if it is not embedded."""
        if choice.connection.kind != "embedded":
            return None
        if self._shared is not None:
            return self._shared
        settings = self.settings(choice)
        if settings not in self._started:
            self._started[settings] = EmbeddedServer(settings)
        return self._started[settings]

    def settings(self, choice: ModelChoice) -> EmbeddedSettings:
        """Return a server's settings; processes share the processor if no threads are set."""
        found = embedded_settings(choice.connection)
        if "threads" in choice.connection.settings:
            return found
        return replace(found, threads=max(1, found.threads // self._sharers))

    async def close(self) -> None:
        """Stop the servers that were started here."""
        for server in self._started.values():
            await server.stop()
        self._started.clear()
