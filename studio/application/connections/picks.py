"""What the user picked in the toolbar, by the file that it was picked for."""

from __future__ import annotations

from pathlib import Path

from studio.core.models.connection_file import Connections


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
