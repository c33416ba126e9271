"""The model that a document asks for, and the one of a run, whose settings may change."""

from collections.abc import AsyncGenerator, Collection, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from studio.application.trust import is_trusted
from studio.application.words import tr
from studio.core.agent.loop.setup import run_model_of
from studio.core.agent.values.step import RunModel
from studio.core.models.base import ChatModel, ModelError, ModelRequest, WrappingModel
from studio.core.models.choice import ModelChoice, choose_connection, open_model
from studio.core.models.connections import Connection, Connections, address_of
from studio.core.models.embedded.model import EmbeddedModel, Speed
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.models.secrets import SecretStore
from studio.core.paths import user_paths
from studio.core.project_file import SettingsError, sections
from studio.core.prompty.document import ModelDeclaration, PromptDocument
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
        model = self._inner
        deltas = model.stream(request)
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
