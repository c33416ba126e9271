"""The folder that the server works in: its files, the user's permissions, and services."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from mcp.server.mcpserver import Context, Elicit
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

from studio.application.connections.model import Answerers, asked_by, choice_of
from studio.application.document.checked_file import Trial, no_trial, not_a_prompt
from studio.application.document.folder_files import prompt_files
from studio.application.tools.server_content import asks_sources, registry_of
from studio.application.trust import is_trusted
from studio.core.models.choice import ModelChoice
from studio.core.models.connections import Connections, user_connections
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.models.secrets import SecretStore, secret_store
from studio.core.paths import user_paths
from studio.core.prompty.document import PromptDocument, ToolSpec
from studio.core.prompty.parse import parse
from studio.core.runs.database import StoreError
from studio.core.runs.store import RunStore
from studio.core.text.files import read_bounded
from studio.core.text.values import JsonDict, JsonObject, named_reason, reason_of
from studio.core.tools.trust.store import TrustStore


@dataclass(frozen=True)
class ServedFolder:
    """The served folder and the services that its tools need."""

    root: Path
    """Absolute path of the folder with links resolved; no tool reads or writes outside of it."""

    allow_all: bool = False
    """Whether everything that the user would be asked is allowed (`--yes`)."""

    trust: TrustStore = field(default_factory=TrustStore)
    """The folders that the user trusts; no tool adds to them."""

    trial: Trial = no_trial
    """Tries texts before they are read."""

    @cached_property
    def secrets(self) -> SecretStore:
        """Return the store of API keys."""
        return secret_store()

    @cached_property
    def embedded(self) -> EmbeddedServer:
        """The embedded model of the server; it starts with its first request."""
        return EmbeddedServer()

    @cached_property
    def history(self) -> RunStore:
        """The history, which the window also shows.

        Raises:
            ToolError: the history cannot be opened.
        """
        try:
            return RunStore(user_paths().data / "runs.sqlite")
        except (StoreError, OSError) as error:
            raise ToolError(
                f"The history of runs cannot be opened: {named_reason(error)}"
            ) from None

    @property
    def connections(self) -> Connections:
        """Return the user's current connections."""
        return user_connections()

    @property
    def answerers(self) -> Answerers:
        """Return the services that open models."""
        return Answerers(self.connections, self.secrets, self.embedded)

    async def close(self) -> None:
        """Close what was opened."""
        if "embedded" in self.__dict__:
            await self.embedded.stop()
        if "history" in self.__dict__:
            self.history.close()

    # Files ----------------------------------------------------------------------------------------

    def path(self, name: str) -> Path:
        """Return the absolute path of a file that a tool names.

        Raises:
            ToolError: the path is outside the folder, or no file can have that name.
        """
        try:
            path = (self.root / name).resolve()
            path.is_file()  # fails for a name that the system does not take
        except (OSError, ValueError) as error:
            raise ToolError(f"{name[:60]!r} cannot be found: {reason_of(error)}.") from None
        if not path.is_relative_to(self.root):
            raise ToolError(f"{name!r} is outside of the served folder ({self.root}).")
        return path

    def existing(self, name: str) -> Path:
        """Return the absolute path of an existing file.

        Raises:
            ToolError: the file does not exist, or is outside the folder.
        """
        path = self.path(name)
        if not path.is_file():
            raise ToolError(f"There is no file {name!r} in {self.root}.")
        return path

    def name(self, path: Path | None) -> str:
        """Return the name of a file for arguments and results."""
        if path is None:
            return ""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else ""

    def text(self, name: str) -> str:
        """Return the text of a file.

        Raises:
            ToolError: the file cannot be read.
        """
        path = self.existing(name)
        try:
            return read_bounded(path).decode("utf-8")
        except OSError as error:
            raise ToolError(f"{name!r} cannot be read: {error.strerror or error}.") from None
        except UnicodeDecodeError:
            raise ToolError(f"{name!r} is not UTF-8; save it as UTF-8 first.") from None

    def document(self, name: str, text: str | None = None) -> PromptDocument:
        """Parse a prompt file.

        Args:
            name: the file.
            text: unsaved text to parse instead.

        Raises:
            ToolError: there is no such file, or it cannot be read.
        """
        path = self.path(name)
        content = self.text(name) if text is None else text
        (failed,) = self.trial([(content, path)])
        if failed is not None:
            raise ToolError(f"{name!r}: {failed.message}")
        document = parse(content, path)
        words = not_a_prompt(path, document)
        if words:
            raise ToolError(f"{name!r} {words}.")
        return document

    def prompts(self) -> list[Path]:
        """Return the prompt files of the folder, sorted; links that lead out of it are skipped."""
        found = prompt_files([self.root])
        return [path for path in found if path.resolve().is_relative_to(self.root)]

    def tried(self, paths: Iterable[Path]) -> Iterator[tuple[str, Path]]:
        """Yield the readable texts of files after all were tried together, which is faster."""
        texts = []
        for path in paths:
            with suppress(OSError, UnicodeDecodeError):
                texts.append((read_bounded(path).decode("utf-8"), path))
        for item, failed in zip(texts, self.trial(texts), strict=True):
            if failed is None:
                yield item

    # Models and tools -----------------------------------------------------------------------------

    def is_trusted(self, document: PromptDocument) -> bool:
        """Return whether the user trusts a prompt's folder."""
        return is_trusted(document.source.path, self.trust)

    def choice(
        self, document: PromptDocument, connection: str = "", model: str = ""
    ) -> ModelChoice:
        """Choose the connection and model for a prompt, as the window does.

        Args:
            document: the prompt.
            connection: name of a connection that overrides the prompt's.
            model: model id that overrides the prompt's and the connection's.

        Raises:
            ToolError: there is no such connection, the prompt names one that is not configured, or
                the connection has a key and the folder is not trusted.
        """
        connections = self.connections
        if connection and connections.named(connection) is None:
            known = ", ".join(repr(each.name) for each in connections.connections)
            raise ToolError(f"There is no connection {connection!r}; there are {known}.")
        choice = choice_of(asked_by(document, self.trust), connections, connection, model)
        if choice.refusal:
            raise ToolError(
                f"{choice.refusal} Nothing was sent. The user can add the connection in Prompt "
                "Studio, or use one for the folder (`prompt-studio connections use NAME`); "
                "`connection` names another for one call."
            )
        if choice.connection.key and not self.is_trusted(document):
            raise ToolError(
                f"The folder of {self.name(document.source.path)!r} is not trusted, so no key is "
                f"read for it, and {choice.connection.name!r} needs one. The user can trust the "
                "folder in Prompt Studio, or start this server with --trust."
            )
        return choice

    async def offered_tools(self, document: PromptDocument) -> tuple[ToolSpec, ...] | None:
        """Return the tools of a trusted prompt's sources; None if only its own tools are known."""
        if not asks_sources(document, self.trust):
            return None
        registry = await registry_of(document, self.trust, self.connections, self.secrets)
        return registry.specs


def checked_inputs(document: PromptDocument, inputs: JsonObject | None) -> JsonDict:
    """Return the inputs of a call after checking their names.

    Raises:
        ToolError: the prompt has no input with one of the names.
    """
    given = dict(inputs or {})
    known = {item.name for item in document.inputs} | {each.name for each in document.variables}
    known |= {each.name for each in document.parameters}
    known |= {name for tool in document.tools for name in tool.bindings.values()}
    known |= {"question", "input", "thread", "history", "chat_history"}
    strange = sorted(given.keys() - known)
    if strange:
        names = ", ".join(sorted(item.name for item in document.inputs)) or "none"
        raise ToolError(f"The prompt has no input {strange[0]!r}; its inputs are: {names}.")
    return given


# Elicitation: questions to the user before something is sent or a file is changed.


class UserConsent(BaseModel):
    """The user's answer to one question."""

    allow: bool = Field(title="Allow", description="Whether to allow this now")


def ask(folder: ServedFolder, context: Context, question: str) -> Elicit[UserConsent] | UserConsent:
    """Ask the user for consent, unless it was given when the server was started.

    Args:
        folder: the folder, which holds what was allowed.
        context: the call.
        question: the question, which must be the same in each round of a call.

    Raises:
        ToolError: the client cannot ask.
    """
    if folder.allow_all:
        return UserConsent(allow=True)
    capabilities = context.client_capabilities
    asked = capabilities.elicitation if capabilities is not None else None
    if asked is None or (asked.form is None and asked.url is not None):
        raise ToolError(
            f"This needs the user's consent, and this client cannot ask for it: {question} "
            "The user can allow it by starting the server with --yes."
        )
    return Elicit(question, UserConsent)


def needs(consent: UserConsent) -> None:
    """Require the user's consent.

    Raises:
        ToolError: the user did not give it.
    """
    if not consent.allow:
        raise ToolError("The user did not allow it. Nothing was done.")
