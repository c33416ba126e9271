"""Which model answers the open document: connections, keys, and the one embedded server."""

from __future__ import annotations

from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.bridge.background import Background
from studio.core.models.base import ChatModel
from studio.core.models.choice import ModelChoice, choose_connection
from studio.core.models.connection_file import (
    Connections,
    read_connections,
    write_connections,
)
from studio.core.models.embedded.policy import GrammarLevel
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.models.factory import grammar_level, open_model
from studio.core.models.secrets import SecretStore
from studio.core.prompty.document import ModelDeclaration, PromptDocument
from studio.core.wire.media import MediaReader

_CLOSE_SECONDS = 2.0


class ConnectionsController(QObject):
    """Keeps the connections, and opens the model that a document is answered by."""

    changed = Signal(object)  # ModelChoice for the open document

    def __init__(self, background: Background, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = background
        self._path = path
        self._connections = read_connections(path)
        self._chosen = ""
        self._level: GrammarLevel | None = None
        self._declaration = ModelDeclaration()
        self._server = EmbeddedServer()
        self.secrets = SecretStore()
        """Where keys are."""

    @property
    def connections(self) -> Connections:
        """What the person has set up."""
        return self._connections

    @property
    def choice(self) -> ModelChoice:
        """The connection for the open document, and why."""
        choice = choose_connection(self._declaration, self._connections, chosen=self._chosen)
        if self._level is not None and choice.connection.kind == "embedded":
            settings = {**choice.connection.settings, "grammar": self._level}
            choice = replace(choice, connection=replace(choice.connection, settings=settings))
        return choice

    @property
    def chosen(self) -> str:
        """Name of the connection that the person picked; empty while the document decides."""
        return self._chosen

    @property
    def level(self) -> GrammarLevel:
        """How much the grammar decides for the embedded model."""
        return grammar_level(self.choice.connection)

    def set_document(self, document: PromptDocument | None) -> None:
        """Follow the document's `model:` block."""
        declaration = document.model if document is not None else ModelDeclaration()
        if declaration != self._declaration:
            self._declaration = declaration
            self.changed.emit(self.choice)

    def choose(self, name: str) -> None:
        """Take a connection over the document's own; empty lets the document decide again."""
        self._chosen = name
        self.changed.emit(self.choice)

    def set_level(self, level: GrammarLevel) -> None:
        """Choose how much the grammar decides for the embedded model."""
        self._level = level
        self.changed.emit(self.choice)

    def save(self, connections: Connections) -> None:
        """Keep other connections, in their file too.

        Raises:
            OSError: the file cannot be written.
        """
        write_connections(self._path, connections)
        self._connections = connections
        self.changed.emit(self.choice)

    def open(self, folder: Path | None) -> ChatModel:
        """The model for the document, nothing started yet.

        Args:
            folder: the prompt's folder, which its media may be read from.

        Raises:
            ModelError: the connection lacks something.
        """
        return open_model(
            self.choice,
            secrets=self.secrets,
            embedded=self._server,
            connections=self._connections,
            media=MediaReader(folder) if folder is not None else None,
        )

    def close(self) -> None:
        """End the embedded model; waits for it, at most two seconds."""
        if self._background.is_running:
            with suppress(TimeoutError, CancelledError):
                self._background.start(self._server.stop()).result(_CLOSE_SECONDS)
