"""From a chosen connection to a model that answers, and the servers of embedded ones."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import assert_never

from studio.core.models.base import ChatModel, ModelError
from studio.core.models.capabilities import facts_of
from studio.core.models.choice import ModelChoice, needs_address
from studio.core.models.connection_file import Connections
from studio.core.models.connections import EMBEDDED, Connection
from studio.core.models.embedded.model import DEFAULT_LEVEL, EmbeddedModel
from studio.core.models.embedded.policy import LEVELS, GrammarLevel
from studio.core.models.embedded.server import EmbeddedServer, EmbeddedSettings
from studio.core.models.refused_options import kept_refusals
from studio.core.models.remote.model import RemoteModel
from studio.core.models.replay import RecordingModel, ReplayModel
from studio.core.models.scripted import ScriptedModel, read_script
from studio.core.models.secrets import SecretStore
from studio.core.prompty.document import ModelDeclaration
from studio.core.prompty.reference_values import whole_reference
from studio.core.text.values import JsonObject
from studio.core.wire.media import MediaSource


def open_model(
    choice: ModelChoice,
    *,
    secrets: SecretStore | None = None,
    embedded: EmbeddedServer | None = None,
    connections: Connections | None = None,
    media: MediaSource | None = None,
    listed: JsonObject | None = None,
) -> ChatModel:
    """Make the model that a document will be answered by; nothing is sent or started yet.

    Args:
        choice: connection and declaration, from `choose_connection`.
        secrets: where keys are; a store of its own by default.
        embedded: the studio's one embedded server, which outlives the model; without it the model
            starts its own and `close` stops it.
        connections: needed only where a recording is made through another connection.
        media: reads the prompt's local files.
        listed: what the server was found to say of the model, from its list.

    Raises:
        ModelError: the connection lacks something ("no-model", "no-address", "no-script", …).
    """
    connection = choice.connection
    match connection.kind:
        case "embedded":
            return _embedded(connection, embedded)
        case "scripted":
            path = _path(connection, "script", "no-script", "Choose a script in the connection.")
            return ScriptedModel(read_script(path), label=f"Script {path.name}", repeat=True)
        case "manual":
            raise ModelError(
                "no-person",
                "Connections of the kind 'I am the model' were removed.",
                "Choose another one; at a pause, 'Answer in its place' takes your own reply.",
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

    All of it for the bundled one; a model of the user's own may be better than that, and only
    gets what a syntax needs.
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


def _embedded(connection: Connection, server: EmbeddedServer | None) -> EmbeddedModel:
    return EmbeddedModel(
        server, settings=embedded_settings(connection), level=grammar_level(connection)
    )


def _remote(
    choice: ModelChoice,
    secrets: SecretStore,
    media: MediaSource | None,
    listed: JsonObject | None,
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
    """The connection that a recording is made through; `None` when it is only replayed."""
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
    """The servers of one experiment in one process; each starts with its first request."""

    def __init__(self, shared: EmbeddedServer | None, sharers: int = 1) -> None:
        """Take the studio's own, which answers for all where there is one.

        Args:
            shared: the studio's own.
            sharers: processes of this machine that start servers of their own at the same time.
        """
        self._shared = shared
        self._sharers = sharers
        self._started: dict[EmbeddedSettings, EmbeddedServer] = {}

    def of(self, choice: ModelChoice) -> EmbeddedServer | None:
        """The server that answers; None for a choice that is not embedded."""
        if choice.connection.kind != "embedded":
            return None
        if self._shared is not None:
            return self._shared
        settings = self.settings(choice)
        if settings not in self._started:
            self._started[settings] = EmbeddedServer(settings)
        return self._started[settings]

    def settings(self, choice: ModelChoice) -> EmbeddedSettings:
        """Return a server's settings; the processor is shared if the connection sets no threads."""
        found = embedded_settings(choice.connection)
        if "threads" in choice.connection.settings:
            return found
        return replace(found, threads=max(1, found.threads // self._sharers))

    async def close(self) -> None:
        """Stop those that were started here."""
        for server in self._started.values():
            await server.stop()
        self._started.clear()
