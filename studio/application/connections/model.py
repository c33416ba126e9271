"""The model of a document and of a run, and the first connection to a provider."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from studio.application.connections.editing import problems_of, with_added, with_changed
from studio.application.trust import is_trusted
from studio.application.words import tr
from studio.core.agent.loop.setup import run_model_of
from studio.core.agent.values.step import RunModel
from studio.core.models.base import ChatModel, ModelError, ModelRequest, WrappingModel
from studio.core.models.choice import ModelChoice, choose_connection, open_model
from studio.core.models.connections import PRESETS, Connection, Connections, Preset, address_of
from studio.core.models.embedded.model import EmbeddedModel, Speed
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.models.probe import Probe
from studio.core.models.secrets import KEYRING, SecretStore, environment_name
from studio.core.paths import user_paths
from studio.core.project_file import SettingsError, sections
from studio.core.prompty.document import ModelDeclaration, PromptDocument
from studio.core.text.naming import free_name
from studio.core.text.values import JsonObject
from studio.core.tools.trust.store import TrustStore
from studio.core.wire.media import MediaReader
from studio.core.wire.reply import ReplyDelta

if TYPE_CHECKING:
    from studio.core.tools.document_tools import ToolSession
    from studio.core.tools.mcp.connection import AskForInput
    from studio.core.tools.openapi.credentials import NamedConnection


@dataclass(frozen=True, slots=True)
class RequestedModel:
    """The model that a document requests."""

    declaration: ModelDeclaration = field(default_factory=ModelDeclaration)
    """The `model:` block of the document."""

    trusted: bool = True
    """Whether its folder is trusted; otherwise its `${env:}` references are not resolved."""

    settled: ModelChoice | None = None
    """A choice made elsewhere, such as by an experiment's variant; None for none."""

    file: Path | None = None
    """Path of the prompt, for the user's choice for a folder; None if unsaved."""


def asked_by(document: PromptDocument, trust: TrustStore) -> RequestedModel:
    """Return the model that a document requests, with the trust in its folder."""
    path = document.source.path
    return RequestedModel(document.model, is_trusted(path, trust), file=path)


def choice_of(
    asked: RequestedModel, connections: Connections, chosen: str = "", model: str = ""
) -> ModelChoice:
    """Return the connection for a document, with the reason.

    Args:
        asked: the document's request.
        connections: the user's connections.
        chosen: name of the user's choice, which takes precedence; empty for none.
        model: model id that overrides the document's and the connection's; empty for none.
    """
    if asked.settled is not None:
        return asked.settled
    found = choose_connection(
        asked.declaration, connections, chosen=chosen, trusted=asked.trusted, file=asked.file
    )
    found = replace(found, denied=denial_of(found.connection.name, asked.file))
    return replace(found, declaration=replace(found.declaration, id=model)) if model else found


def denial_of(connection: str, file: Path | None) -> str:
    """Return why the project of a file forbids a connection; empty if it does not.

    `connections` in each settings file at or above it lists the allowed ones: others are refused,
    and a listed one that the user has not set up is missing. If a file cannot be read, nothing is
    sent.

    Args:
        connection: the name of the connection.
        file: the prompt, or a file beside it; None for one that was never saved.
    """
    try:
        for path, ours in sections(file.resolve().parent) if file is not None else ():
            if "connections" in ours:
                names = ours["connections"]
                if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
                    raise SettingsError(f"{path}: 'connections' is a list of names")
                if connection not in names:
                    allowed = ", ".join(map(repr, names)) or "none"
                    what = f"{path} does not allow the connection {connection!r}"
                    return f"{what}; it allows {allowed}."
    except SettingsError as error:
        return f"{error}. It may restrict the connections, so it must be readable."
    return ""


def choice_words(choice: ModelChoice) -> str:
    """Return the model and the reason as text, shown wherever a run can begin."""
    if choice.refusal:
        return tr("Nothing is sent: {why}").format(why=choice.refusal)
    answers = tr("{name} answers: {reason}.")
    words = answers.format(name=choice.connection.name, reason=choice.reason)
    told = choice.missing or choice.warning
    if choice.instead_of and not told:
        told = tr("The file requests {model}.").format(model=choice.instead_of)
    return " ".join(filter(None, (told, words)))


def media_of(prompt: Path | None, *, trusted: bool) -> MediaReader | None:
    """Return the reader of files beside a prompt; None if none may be read."""
    return MediaReader(prompt.parent) if prompt is not None and trusted else None


@dataclass(frozen=True)
class Answerers:
    """The connections, keys and settings for opening models, shared by all runs."""

    connections: Connections
    """Connections that the user has set up."""

    secrets: SecretStore
    """Store of the keys."""

    embedded: EmbeddedServer | None = None
    """The shared embedded model; None lets each run start its own."""

    def open(
        self,
        choice: ModelChoice,
        prompt: Path | None,
        *,
        trusted: bool,
        allowed: str = "",
        listed: JsonObject | None = None,
        how: str = "",
        project: Path | None = None,
    ) -> ChatModel:
        """Return the model for a run; nothing is sent or started yet.

        Args:
            choice: the choice from `choice_of`.
            prompt: path of the prompt, from whose folder media may be read.
            trusted: whether that folder is trusted.
            allowed: an endpoint in the prompt that the user allowed for this run.
            listed: the server's description of the model.
            how: advice about a missing or forbidden connection.
            project: a file of another project whose settings apply too.

        Raises:
            ModelError: a project forbids the connection ("not-allowed"), the prompt's connection is
                not set up ("missing-connection") or incomplete, or the endpoint was not allowed.
        """
        for file in dict.fromkeys((prompt, project)):
            if denied := denial_of(choice.connection.name, file):
                raise ModelError("not-allowed", denied, tr("Use another, or change the file."))
        if choice.refusal:
            raise ModelError("missing-connection", choice.refusal, how)
        if choice.untrusted and choice.untrusted != allowed:
            words = tr("Nothing was sent to {address}: it is not allowed.")
            raise ModelError("untrusted", words.format(address=choice.untrusted), how)
        return open_model(
            choice,
            secrets=self.secrets,
            embedded=self.embedded,
            connections=self.connections,
            media=media_of(prompt, trusted=trusted),
            listed=listed,
        )

    def open_same(
        self,
        wanted: RunModel,
        choices: Iterable[ModelChoice],
        prompt: Path | None,
        *,
        trusted: bool,
        allowed: str = "",
    ) -> tuple[ChatModel, ModelChoice] | None:
        """Return the model of a run, with the choice that leads to it; None if there is none.

        Args:
            wanted: the model.
            choices: possible choices, in order.
            prompt: as in `open`.
            trusted: as in `open`.
            allowed: as in `open`.
        """
        for choice in choices:
            try:
                model = self.open(choice, prompt, trusted=trusted, allowed=allowed)
            except ModelError:
                continue  # an incomplete connection, so it did not respond the run
            if run_model_of(model).is_same(wanted):
                return model, choice
        return None


def choices_of_run(
    asked: RequestedModel, connections: Connections, wanted: RunModel
) -> Iterator[ModelChoice]:
    """Yield the choices for a run's model: the prompt's own, then each connection.

    Args:
        asked: the prompt's request at the start of the run.
        connections: the user's connections.
        wanted: the model of the run.
    """
    yield choice_of(asked, connections)
    for each in connections.connections:
        declaration = replace(asked.declaration, id=wanted.id or each.model)
        yield ModelChoice(each, declaration, tr("the run has this model"))


class SwitchedModel(WrappingModel[ChatModel]):
    """A model that can be replaced while a run uses it."""

    def __init__(self, model: ChatModel) -> None:
        super().__init__(model)
        self._used: list[ChatModel] = []

    @property
    def speed(self) -> Speed | None:
        """Speed of the embedded model's last reply; None for other models."""
        return self._inner.speed if isinstance(self._inner, EmbeddedModel) else None

    def switch(self, model: ChatModel) -> None:
        """Use another model from the next request on; the current reply continues."""
        self._used.append(self._inner)
        self._inner = model

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Yield the reply.

        Raises:
            ModelError: the model cannot answer.
        """
        deltas = self._inner.stream(request)
        if isinstance(deltas, AsyncGenerator):
            # Closing this generator must end the inner call at once, not at garbage collection.
            async with aclosing(deltas):
                async for delta in deltas:
                    yield delta
        else:
            async for delta in deltas:
                yield delta

    async def close(self) -> None:
        """Close every model that was used."""
        for model in (*self._used, self._inner):
            await model.close()
        self._used.clear()


# The user's choices in the toolbar, by file.


class FilePicks:
    """Connections and models chosen for files; None stands for the unsaved document."""

    def __init__(self) -> None:
        self._connections: dict[Path | None, str] = {}
        self._models: dict[tuple[Path | None, str], str] = {}

    def connection(self, file: Path | None) -> str:
        """Return the name of the connection chosen for a file; empty for none."""
        return self._connections.get(file, "")

    def model(self, file: Path | None, connection: str) -> str:
        """Return the model chosen for a file at a connection; empty for none."""
        return self._models.get((file, connection), "")

    def pick(self, file: Path | None, connection: str) -> None:
        """Choose a connection for a file; an empty name removes the choice."""
        self._connections[file] = connection

    def pick_model(self, file: Path | None, connection: str, model: str) -> None:
        """Choose a model for a file at a connection; an empty id removes the choice."""
        self._models[file, connection] = model

    def follow_move(self, old: Path | None, new: Path) -> None:
        """Move the choice for a document that was saved under another path."""
        if old in self._connections:
            self._connections[new] = self._connections.pop(old)
        for file, name in tuple(self._models):
            if file == old:
                self._models[new, name] = self._models.pop((file, name))

    def rename(self, old: str, new: str) -> None:
        """Update choices after a connection was renamed."""
        for file, name in self._connections.items():
            if name == old:
                self._connections[file] = new

    def keep_known(self, connections: Connections) -> None:
        """Remove choices of connections that no longer exist."""
        for file, name in tuple(self._connections.items()):
            if connections.named(name) is None:
                del self._connections[file]


# The user's connections in tools: `connection: {kind: reference, name: …}`.


def tool_connection(
    connections: Connections, secrets: SecretStore, name: str
) -> NamedConnection | None:
    """Return a tool's connection by name; None if it has no server."""
    found = connections.named(name)
    if found is None or not found.is_remote or not address_of(found):
        return None
    from studio.core.tools.openapi.credentials import NamedConnection

    read_key = partial(_read_key, found, secrets)
    return NamedConnection(address_of(found), bool(found.key), read_key)


def tool_session(
    trust: TrustStore,
    connections: Connections,
    secrets: SecretStore,
    ask_input: AskForInput | None = None,
    allowed: Collection[str] = (),
) -> ToolSession:
    """Create the tools of prompts, with the user's own servers and connections.

    Args:
        trust: the folders that the user trusts.
        connections: the user's connections, which tools may name.
        secrets: store of their keys.
        ask_input: asks the user for input that an MCP server requests.
        allowed: names of tools that may be called without approval.
    """
    # A prompt without tools does not wait for what they need.
    from studio.core.tools.document_tools import ToolSession
    from studio.core.tools.mcp.server_config import OWN_FILE

    own = user_paths().config / OWN_FILE
    session = ToolSession(
        trust, own_servers=own, masker=secrets.masker, ask_input=ask_input, allowed=allowed
    )
    session.find_connection = partial(tool_connection, connections, secrets)
    return session


async def _read_key(connection: Connection, secrets: SecretStore) -> str:
    """Return the connection's key; raise LookupError if there is none."""
    if not connection.key:
        return ""
    looked = await secrets.read(connection.key, connection.name)
    if looked.secret is None:
        raise LookupError(f"the connection {connection.name!r} has no key: {looked.reason}")
    return looked.secret.reveal()


Ask: TypeAlias = Literal["address", "key", "deployment"]
"""Field that the user must fill in before a provider is connected."""

_OFFERED = ("openai", "anthropic", "gemini", "azure", "ollama", "lm-studio", "compatible")
_LOCAL = ("ollama", "lm-studio")
"""Local servers that need no key."""

_LOCAL_SERVERS = ("ollama", "lm-studio", "llama-cpp", "vllm")
"""Servers that are searched on this machine."""

_KEY_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "azure": ("AZURE_OPENAI_API_KEY",),
}
# Variables as read by each provider's own package.
_ADDRESS_VARIABLES: Mapping[str, str] = {
    "openai": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
    "gemini": "GOOGLE_GEMINI_BASE_URL",
    "azure": "AZURE_OPENAI_ENDPOINT",
    "ollama": "OLLAMA_HOST",
}
_NO_CHAT = re.compile(
    "embed|whisper|tts|dall-e|moderation|image|realtime|transcribe|rerank|sora|veo-|speech|lyria"
    "|aqa",
    re.IGNORECASE,
)
_CHAT_METHODS = ("generateContent", "completion")
_ASSIGNED = re.compile(
    r"(?:export\s+|set\s+|\$env:)?\w*(?:key|token|secret)\s*(?:=(?!=)|:\s)\s*", re.IGNORECASE
)
"""Matches `export OPENAI_API_KEY=`, and `api_key: ` in a YAML file."""
_QUOTES = "\"'`“”„‘’«»,;"


@dataclass(frozen=True, slots=True)
class ProviderStart:
    """A provider that the user can connect, with its current settings."""

    id: str
    """Id of its preset."""

    connection: Connection
    """Connection to save, still without a model, under a free name or its earlier one."""

    variable: str
    """Environment variable with a key; empty if none is set."""

    hint: str
    """Action that the user must take first."""

    asks: tuple[Ask, ...]
    """Fields to fill in, in order."""

    is_known: bool
    """Whether the user already has this connection."""


@dataclass(frozen=True, slots=True)
class ProviderAnswers:
    """The user's answers to the fields."""

    address: str = ""
    """Address of the API."""

    key: str = ""
    """Pasted key; empty for the existing one."""

    model: str = ""
    """Model id; for Azure the name of the deployment."""


def provider_starts(
    environment: Mapping[str, str], connections: Connections
) -> tuple[ProviderStart, ...]:
    """Return every offered provider, in order.

    Args:
        environment: the variables of the process.
        connections: the user's connections.
    """
    presets = {preset.id: preset for preset in PRESETS}
    return tuple(_start(presets[each], environment, connections) for each in _OFFERED)


def missing(start: ProviderStart, answers: ProviderAnswers) -> tuple[Ask, str] | None:
    """Return the first field to fill in, and a sentence about it; None if all are filled."""
    address = answers.address.strip()
    if "address" in start.asks:
        if not address:
            return "address", tr("Enter the address first.")
        wrong = problems_of(replace(start.connection, base_url=address), ()).get("base_url")
        if wrong:
            return "address", wrong
    if "key" in start.asks and (wrong := _key_problem(answers.key)):
        return "key", wrong
    has_key = answers.key.strip() or start.variable or start.is_known
    if "key" in start.asks and not has_key and start.id != "compatible":
        return "key", tr("Paste a key first.")
    if "deployment" in start.asks and not answers.model.strip():
        return "deployment", tr(
            "Enter the name of your deployment first: Azure identifies models by it."
        )
    return None


def tidied_key(text: str) -> str:
    """Return a pasted key without quotes, `Bearer` or a variable's name."""
    key = text.strip()
    named = _ASSIGNED.match(key)
    if named is not None and named.end() < len(key):
        key = key[named.end() :]
    key = key.strip().strip(_QUOTES).strip()
    return key[7:].strip() if key[:7].lower() == "bearer " else key


def _key_problem(key: str) -> str:
    """Return why a text cannot be a provider's key; empty if it can."""
    if any(not "!" <= char <= "~" for char in key):
        return tr(
            "This is not a key: keys contain no blanks and no letters such as ü. Copy it again."
        )
    return ""


def connection_of(start: ProviderStart, answers: ProviderAnswers) -> Connection:
    """Build the connection from the user's answers."""
    draft = start.connection
    key = KEYRING if answers.key.strip() else draft.key
    if start.id == "compatible" and not answers.key.strip() and not start.is_known:
        key = ""  # many self-hosted servers need none
    address = answers.address.strip() if "address" in start.asks else draft.base_url
    return replace(draft, key=key, base_url=address, model=answers.model.strip())


def with_provider(connections: Connections, connection: Connection) -> Connections:
    """Return the list with a connected provider, which replaces the embedded default."""
    known = connections.named(connection.name)
    if known is None:
        changed = with_added(connections, connection)
    else:
        changed = with_changed(connections, known.name, connection)
    is_toy = connections.default_connection.kind == "embedded"
    return replace(changed, default=connection.name) if is_toy else changed


def offered_models(probe: Probe) -> tuple[str, ...]:
    """Return the listed models, chat models first, newest first if dates are known."""
    described = {str(each.get("id")): each for each in probe.listed}
    models = sorted(probe.models)
    models.sort(key=lambda model: _made(described.get(model, {})), reverse=True)
    models.sort(key=lambda model: not _chats(model, described.get(model, {})))
    return tuple(models)


def next_step(start: ProviderStart, probe: Probe) -> str:
    """Return the next step after a test, one sentence; empty if a model must be chosen."""
    if not probe.works:
        return ""  # its own hint contains it
    if not probe.models and start.id == "ollama":
        return tr("It has no model yet: run `ollama pull llama3.2`, then connect again.")
    if not probe.models and not start.connection.model:
        return tr("It lists no models: type a model id.")
    return ""


def local_servers(starts: Sequence[ProviderStart]) -> tuple[Connection, ...]:
    """Return the servers to search on this machine, at their default addresses.

    Args:
        starts: providers from `provider_starts`, with addresses from the environment.
    """
    by_id = {preset.id: preset.connection for preset in PRESETS}
    by_id |= {start.id: start.connection for start in starts if not start.is_known}
    return tuple(by_id[each] for each in _LOCAL_SERVERS)


def _start(
    preset: Preset, environment: Mapping[str, str], connections: Connections
) -> ProviderStart:
    variables = _KEY_VARIABLES.get(preset.id, ())
    variable = next((each for each in variables if environment.get(each, "").strip()), "")
    address = _address(preset.id, environment.get(_ADDRESS_VARIABLES.get(preset.id, ""), ""))
    draft = replace(preset.connection, base_url=address or preset.connection.base_url)
    known = next(
        (
            each
            for each in connections.connections
            if each.kind == draft.kind
            and (draft.kind == "azure" or address_of(each) == address_of(draft))
        ),
        None,
    )
    if preset.id == "compatible":
        known = None  # a different server each time
    names = [each.name for each in connections.connections]
    if known is not None:
        draft = replace(known, base_url=draft.base_url or known.base_url)
    else:
        draft = replace(draft, name=free_name(draft.name, names.__contains__))
    if known is not None:
        variable = environment_name(known.key) or ""
    elif variable:
        draft = replace(draft, key=f"${{env:{variable}}}")
    elif preset.id in _KEY_VARIABLES:
        draft = replace(draft, key=KEYRING)
    hint = tr(preset.hint)
    return ProviderStart(preset.id, draft, variable, hint, tuple(_asks(preset.id)), bool(known))


def _asks(identifier: str) -> Iterator[Ask]:
    if identifier in ("azure", "compatible"):
        yield "address"
    if identifier not in _LOCAL:
        yield "key"
    if identifier == "azure":
        yield "deployment"


def _address(identifier: str, written: str) -> str:
    """Return an address from a variable; Ollama's may be only a host, or all interfaces."""
    address = written.strip()
    if identifier != "ollama" or not address:
        return address
    scheme, mark, host = address.rpartition("://")
    host = host.rstrip("/").replace("0.0.0.0", "127.0.0.1")  # the address on which it listens
    if not mark and ":" not in host:
        host += ":11434"
    return f"{scheme or 'http'}://{host}"


def _chats(model: str, described: JsonObject) -> bool:
    for key in ("supportedGenerationMethods", "capabilities"):
        methods = described.get(key)
        if isinstance(methods, Sequence) and not isinstance(methods, str):
            return any(each in methods for each in _CHAT_METHODS)
    return _NO_CHAT.search(model) is None


def _made(described: JsonObject) -> str:
    """Return when a model was created, in a form for sorting within one list."""
    created = described.get("created", described.get("created_at", ""))
    return f"{created:020}" if isinstance(created, int) else str(created)
