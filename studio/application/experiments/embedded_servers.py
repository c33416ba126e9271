"""One embedded server for each model file, however many variants it answers for."""

from __future__ import annotations

from dataclasses import replace

from studio.core.models.choice import ModelChoice
from studio.core.models.embedded.server import EmbeddedServer, EmbeddedSettings
from studio.core.models.factory import embedded_settings


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
        """How a server runs; the processor is shared where the connection names no threads."""
        found = embedded_settings(choice.connection)
        if "threads" in choice.connection.settings:
            return found
        return replace(found, threads=max(1, found.threads // self._sharers))

    async def close(self) -> None:
        """Stop those that were started here."""
        for server in self._started.values():
            await server.stop()
        self._started.clear()
