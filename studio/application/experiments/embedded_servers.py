"""One embedded server for each model file, however many variants it answers for."""

from __future__ import annotations

from studio.core.models.choice import ModelChoice
from studio.core.models.embedded.server import EmbeddedServer, EmbeddedSettings
from studio.core.models.factory import embedded_settings


class EmbeddedServers:
    """The servers of one experiment in one process; each starts with its first request."""

    def __init__(self, shared: EmbeddedServer | None) -> None:
        """Take the studio's own, which answers for all where there is one."""
        self._shared = shared
        self._started: dict[EmbeddedSettings, EmbeddedServer] = {}

    def of(self, choice: ModelChoice) -> EmbeddedServer | None:
        """The server that answers; None for a choice that is not embedded."""
        if choice.connection.kind != "embedded":
            return None
        if self._shared is not None:
            return self._shared
        settings = embedded_settings(choice.connection)
        if settings not in self._started:
            self._started[settings] = EmbeddedServer(settings)
        return self._started[settings]

    async def close(self) -> None:
        """Stop those that were started here."""
        for server in self._started.values():
            await server.stop()
        self._started.clear()
