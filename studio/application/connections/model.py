"""The model that a document asks for, the one of a run, and the first connection to a provider."""

import re
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

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
from studio.core.tools.document_tools import ToolSession
from studio.core.tools.mcp.connection import AskForInput
from studio.core.tools.mcp.server_config import OWN_FILE
from studio.core.tools.openapi.credentials import NamedConnection
from studio.core.tools.trust.store import TrustStore
from studio.core.wire.media import MediaReader
from studio.core.wire.reply import ReplyDelta


@dataclass(frozen=True, slots=True)
class RequestedModel:
    """The model that a document asks for."""

    declaration: ModelDeclaration = field(default_factory=ModelDeclaration)
    """Its `model:` block."""

    trusted: bool = True
    """Whether its folder is trusted: only then are its `${env:}` references read."""

    settled: ModelChoice | None = None
    """The choice that was made elsewhere, as by a column of an experiment; None where none was."""

    file: Path | None = None
    """The prompt's file, above which the user may have chosen a connection; None where unsaved."""


def asked_by(document: PromptDocument, trust: TrustStore) -> RequestedModel:
    """Return the model that a document asks for, as far as its folder is trusted."""
    path = document.source.path
    return RequestedModel(document.model, is_trusted(path, trust), file=path)


def choice_of(
    asked: RequestedModel, connections: Connections, chosen: str = "", model: str = ""
) -> ModelChoice:
    """Return the connection that a document gets, and why.

    Args:
        asked: what it says of its model.
        connections: what the user has set up.
        chosen: name of the connection that the user picked over all; empty for none.
        model: a model's id, over the document's and the connection's own; empty for none.
    """
    if asked.settled is not None:
        return asked.settled
    found = choose_connection(
        asked.declaration, connections, chosen=chosen, trusted=asked.trusted, file=asked.file
    )
    found = replace(found, denied=denial_of(found.connection.name, asked.file))
    return replace(found, declaration=replace(found.declaration, id=model)) if model else found


def denial_of(connection: str, file: Path | None) -> str:
    """Return why the project of a file keeps a connection from being used; empty if it does not.

    `connections` of each file of settings at or above it names the ones that may be used: what one
    of them leaves out is refused, and what it names and the user has not set up stays missing. A
    file that cannot be read could name any, so nothing is sent.

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
        return f"{error}. It may say which connections are allowed, so it must be readable."
    return ""


def choice_words(choice: ModelChoice) -> str:
    """Return what answers and why, as it is shown wherever a run can begin."""
    if choice.refusal:
        return tr("Nothing is sent: {why}").format(why=choice.refusal)
    answers = tr("{name} answers: {reason}.")
    words = answers.format(name=choice.connection.name, reason=choice.reason)
    told = choice.missing or choice.warning
    if choice.instead_of and not told:
        told = tr("The file asks for {model}.").format(model=choice.instead_of)
    return " ".join(filter(None, (told, words)))


def media_of(prompt: Path | None, *, trusted: bool) -> MediaReader | None:
    """Return the reader of files beside a prompt; None if none may be read."""
    return MediaReader(prompt.parent) if prompt is not None and trusted else None


@dataclass(frozen=True)
class Answerers:
    """Connections, keys and settings with which models are opened, shared by all runs."""

    connections: Connections
    """Connections that the user has set up."""

    secrets: SecretStore
    """Store of the keys."""

    embedded: EmbeddedServer | None = None
    """The one embedded model; None lets each run start its own."""

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
        """Return the model that answers; nothing is sent or started yet.

        Args:
            choice: of `choice_of`.
            prompt: the prompt's file, whose folder its media may be read from.
            trusted: whether that folder is trusted.
            allowed: an endpoint of the prompt's that the user has allowed for this run.
            listed: what the server was found to say of the model.
            how: what the user can do about a connection that is not there or not allowed.
            project: a file of a further project that says which connections may be used.

        Raises:
            ModelError: a project does not allow the connection ("not-allowed"), the prompt names
                what is not set up here ("missing-connection"), the connection lacks something, or
                the endpoint was not allowed.
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
        """Return the model that a run has, with the choice that leads to it; None where none does.

        Args:
            wanted: the model.
            choices: where it may be, in order.
            prompt: as in `open`.
            trusted: as in `open`.
            allowed: as in `open`.
        """
        for choice in choices:
            try:
                model = self.open(choice, prompt, trusted=trusted, allowed=allowed)
            except ModelError:
                continue  # it lacks something, so it is not what answered
            if run_model_of(model).is_same(wanted):
                return model, choice
        return None


def choices_of_run(
    asked: RequestedModel, connections: Connections, wanted: RunModel
) -> Iterator[ModelChoice]:
    """List the models a run can use: the prompt's own, then each connection with its model id.

    Args:
        asked: what the prompt said of its model when the run was made.
        connections: what the user has set up.
        wanted: the model of the run.
    """
    yield choice_of(asked, connections)
    for each in connections.connections:
        declaration = replace(asked.declaration, id=wanted.id or each.model)
        yield ModelChoice(each, declaration, tr("the run has this model"))


class SwitchedModel(WrappingModel[ChatModel]):
    """A model whose settings can be changed while a run goes on with it."""

    def __init__(self, model: ChatModel) -> None:
        super().__init__(model)
        self._used: list[ChatModel] = []

    @property
    def speed(self) -> Speed | None:
        """Return the speed of the embedded model's last reply; `None` for any other model."""
        return self._inner.speed if isinstance(self._inner, EmbeddedModel) else None

    def switch(self, model: ChatModel) -> None:
        """Answer by this one from the next request on; a reply under way is not touched."""
        self._used.append(self._inner)
        self._inner = model

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Answer.

        Raises:
            ModelError: the model cannot answer.
        """
        deltas = self._inner.stream(request)
        if isinstance(deltas, AsyncGenerator):
            # Closing the outer one must end the call inside at once, not when it is collected.
            async with aclosing(deltas):
                async for delta in deltas:
                    yield delta
        else:
            async for delta in deltas:
                yield delta

    async def close(self) -> None:
        """Let go of every model that answered."""
        for model in (*self._used, self._inner):
            await model.close()
        self._used.clear()


# What the user picked in the toolbar, by the file that it was picked for.


class FilePicks:
    """Connections and models picked for files; None is the document that was never saved."""

    def __init__(self) -> None:
        self._connections: dict[Path | None, str] = {}
        self._models: dict[tuple[Path | None, str], str] = {}

    def connection(self, file: Path | None) -> str:
        """Return the name of the connection picked for a file; empty for none."""
        return self._connections.get(file, "")

    def model(self, file: Path | None, connection: str) -> str:
        """Return the model picked for a file at a connection; empty for none."""
        return self._models.get((file, connection), "")

    def pick(self, file: Path | None, connection: str) -> None:
        """Take a connection for a file; an empty name takes the pick back."""
        self._connections[file] = connection

    def pick_model(self, file: Path | None, connection: str, model: str) -> None:
        """Take a model for a file at a connection; an empty id takes the pick back."""
        self._models[file, connection] = model

    def follow_move(self, old: Path | None, new: Path) -> None:
        """Keep what was picked for a document that was saved under another path."""
        if old in self._connections:
            self._connections[new] = self._connections.pop(old)
        for file, name in tuple(self._models):
            if file == old:
                self._models[new, name] = self._models.pop((file, name))

    def rename(self, old: str, new: str) -> None:
        """Let picks follow a connection's new name."""
        for file, name in self._connections.items():
            if name == old:
                self._connections[file] = new

    def keep_known(self, connections: Connections) -> None:
        """Drop picks of connections that are gone."""
        for file, name in tuple(self._connections.items()):
            if connections.named(name) is None:
                del self._connections[file]


# The studio's connections as tools name them: `connection: {kind: reference, name: …}`.


def tool_connection(
    connections: Connections, secrets: SecretStore, name: str
) -> NamedConnection | None:
    """Return a tool's connection by name; None where no server is configured for it."""
    found = connections.named(name)
    if found is None or not found.is_remote or not address_of(found):
        return None
    read_key = partial(_read_key, found, secrets)
    return NamedConnection(address_of(found), bool(found.key), read_key)


def tool_session(
    trust: TrustStore,
    connections: Connections,
    secrets: SecretStore,
    ask_input: AskForInput | None = None,
    allowed: Collection[str] = (),
) -> ToolSession:
    """Open the tools of prompts together with the user's own servers and connections.

    Args:
        trust: the folders that the user trusts.
        connections: what the user has set up; a tool may name one.
        secrets: where their keys are.
        ask_input: asks the user for what an MCP server wants to know.
        allowed: names of tools that may be called without a question.
    """
    own = user_paths().config / OWN_FILE
    session = ToolSession(
        trust, own_servers=own, masker=secrets.masker, ask_input=ask_input, allowed=allowed
    )
    session.find_connection = partial(tool_connection, connections, secrets)
    return session


async def _read_key(connection: Connection, secrets: SecretStore) -> str:
    """Read the connection's key; raises LookupError where there is none."""
    if not connection.key:
        return ""
    looked = await secrets.read(connection.key, connection.name)
    if looked.secret is None:
        raise LookupError(f"the connection {connection.name!r} has no key: {looked.reason}")
    return looked.secret.reveal()


Ask: TypeAlias = Literal["address", "key", "deployment"]
"""Something that the user is asked for before a provider can be connected."""

_OFFERED = ("openai", "anthropic", "gemini", "azure", "ollama", "lm-studio", "compatible")
_LOCAL = ("ollama", "lm-studio")
"""Servers of this machine that are asked for without a key."""

_LOCAL_SERVERS = ("ollama", "lm-studio", "llama-cpp", "vllm")
"""Servers that are looked for on this machine."""

_KEY_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "azure": ("AZURE_OPENAI_API_KEY",),
}
# As each provider's own package reads them.
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
"""`export OPENAI_API_KEY=`, and `api_key: ` of a YAML file."""
_QUOTES = "\"'`“”„‘’«»,;"


@dataclass(frozen=True, slots=True)
class ProviderStart:
    """A provider that the user can connect, and how far that is settled already."""

    id: str
    """Identifier of its preset."""

    connection: Connection
    """Connection to be saved, still without a model, under a free name or its earlier one."""

    variable: str
    """The environment variable that holds a key; empty where none is set."""

    hint: str
    """Prerequisite that the user must meet."""

    asks: tuple[Ask, ...]
    """Fields to fill in, in order."""

    is_known: bool
    """Whether the user has this connection already."""


@dataclass(frozen=True, slots=True)
class ProviderAnswers:
    """Answers of the user to the fields."""

    address: str = ""
    """Address of the API."""

    key: str = ""
    """A pasted key; empty for the one that is there."""

    model: str = ""
    """Id of the model; of Azure the name of the deployment."""


def provider_starts(
    environment: Mapping[str, str], connections: Connections
) -> tuple[ProviderStart, ...]:
    """Return every provider that is offered, in order.

    Args:
        environment: the variables of the process.
        connections: what the user has set up.
    """
    presets = {preset.id: preset for preset in PRESETS}
    return tuple(_start(presets[each], environment, connections) for each in _OFFERED)


def missing(start: ProviderStart, answers: ProviderAnswers) -> tuple[Ask, str] | None:
    """Return the first thing that is still to be written, and the sentence that says so."""
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
            "Enter the name of your deployment first: Azure calls a model by it."
        )
    return None


def tidied_key(text: str) -> str:
    """Remove quotes, `Bearer` or a variable's name around a pasted key."""
    key = text.strip()
    named = _ASSIGNED.match(key)
    if named is not None and named.end() < len(key):
        key = key[named.end() :]
    key = key.strip().strip(_QUOTES).strip()
    return key[7:].strip() if key[:7].lower() == "bearer " else key


def _key_problem(key: str) -> str:
    """Return why a text cannot be the key of any provider; empty if it can."""
    if any(not "!" <= char <= "~" for char in key):
        return tr(
            "This is not a key: keys have no blanks, and no letters such as ü. Copy it again."
        )
    return ""


def connection_of(start: ProviderStart, answers: ProviderAnswers) -> Connection:
    """Build the connection that is tried and saved from the user's answers."""
    draft = start.connection
    key = KEYRING if answers.key.strip() else draft.key
    if start.id == "compatible" and not answers.key.strip() and not start.is_known:
        key = ""  # many servers of one's own ask for none
    address = answers.address.strip() if "address" in start.asks else draft.base_url
    return replace(draft, key=key, base_url=address, model=answers.model.strip())


def with_provider(connections: Connections, connection: Connection) -> Connections:
    """Return the list with a connected provider, which takes the place of the embedded default."""
    known = connections.named(connection.name)
    if known is None:
        changed = with_added(connections, connection)
    else:
        changed = with_changed(connections, known.name, connection)
    is_toy = connections.default_connection.kind == "embedded"
    return replace(changed, default=connection.name) if is_toy else changed


def offered_models(probe: Probe) -> tuple[str, ...]:
    """Sort the listed models: chat models first, then the newest first if dates are known."""
    described = {str(each.get("id")): each for each in probe.listed}
    models = sorted(probe.models)
    models.sort(key=lambda model: _made(described.get(model, {})), reverse=True)
    models.sort(key=lambda model: not _chats(model, described.get(model, {})))
    return tuple(models)


def next_step(start: ProviderStart, probe: Probe) -> str:
    """Return the next step after a trial, in one sentence; empty if a model is to be chosen."""
    if not probe.works:
        return ""  # its own hint says it
    if not probe.models and start.id == "ollama":
        return tr("It has no model yet: run `ollama pull llama3.2`, then connect again.")
    if not probe.models and not start.connection.model:
        return tr("It lists no models: type the id of one.")
    return ""


def local_servers(starts: Sequence[ProviderStart]) -> tuple[Connection, ...]:
    """Return the servers of this machine that are looked for, at their usual addresses.

    Args:
        starts: of `provider_starts`; they know the addresses in the environment.
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
        known = None  # another server each time
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
    """Return an address as written in a variable; Ollama's may be a host alone, or all."""
    address = written.strip()
    if identifier != "ollama" or not address:
        return address
    scheme, mark, host = address.rpartition("://")
    host = host.rstrip("/").replace("0.0.0.0", "127.0.0.1")  # where it listens
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
    """Return when a model was made, in a form to compare within one list."""
    created = described.get("created", described.get("created_at", ""))
    return f"{created:020}" if isinstance(created, int) else str(created)
