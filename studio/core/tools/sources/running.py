"""The sources of one document that run, and what is asked of one of them beside its tools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from studio.core.masking.masker import Masker
from studio.core.text.values import JsonObject
from studio.core.tools.document import SourceDeclaration
from studio.core.tools.limits import ToolLimits
from studio.core.tools.mcp.source import McpSource
from studio.core.tools.mcp.values import AskForInput
from studio.core.tools.openapi.choice import OperationRow
from studio.core.tools.openapi.credentials import FindConnection
from studio.core.tools.openapi.progress import ReadingProgress
from studio.core.tools.openapi.source import OpenApiSource
from studio.core.tools.python.source import PythonFileSource
from studio.core.tools.secrets import ToolSecrets
from studio.core.tools.source import OfferContent, ServerOffer, ToolSource, ToolSourceError
from studio.core.tools.sources.opening import open_source
from studio.core.tools.traffic import TrafficMessage

TellReading: TypeAlias = Callable[[str, ReadingProgress | None], None]
"""Callback for the progress of reading a source's description, from any thread; None at the end."""


class RunningSources:
    """Opens sources, keeps them until they are closed, and asks them."""

    def __init__(
        self,
        secrets: ToolSecrets,
        masker: Masker,
        on_change: Callable[[], None],
        find: FindConnection,
        ask_input: AskForInput | None,
        tell: TellReading,
    ) -> None:
        """Take what sources are opened with; none is opened yet.

        Args:
            secrets: those of the document, without which nothing of a source is shown.
            masker: is told the keys that are sent.
            on_change: called when a server says that its lists changed.
            find: finds the connections that tools name.
            ask_input: asks the user for what an MCP server wants to know.
            tell: is told how far the reading of a large description is, from any thread.
        """
        self.by_key: dict[str, ToolSource] = {}
        """Those that were opened; a run's toolbox has the same mapping."""
        self._secrets = secrets
        self._masker = masker
        self._on_change = on_change
        self._find = find
        self._ask_input = ask_input
        self._tell = tell

    def opened(self, key: str, declaration: SourceDeclaration, limits: ToolLimits) -> ToolSource:
        """The source of a key, opened where it is not yet."""
        source = self.by_key.get(key)
        if source is None:
            self._secrets.note_written(declaration)
            source = self.by_key[key] = open_source(
                declaration,
                limits,
                self._on_change,
                self._find,
                self._secrets.environment(key),
                self._masker,
                self._ask_input,
                partial(self._tell, key),
            )
        return source

    async def open_offer(
        self, key: str, offer: ServerOffer, given: Mapping[str, str]
    ) -> OfferContent:
        """Open a prompt or resource of a server that runs.

        Raises:
            ToolSourceError: it does not run, cannot be reached, or refuses.
        """
        content = await self._server(key).open_offer(offer, given)
        parts = tuple((role, self._secrets.masked(text)) for role, text in content.parts)
        return replace(content, parts=parts)

    async def complete_offer(
        self, key: str, offer: ServerOffer, argument: str, text: str, given: Mapping[str, str]
    ) -> tuple[str, ...]:
        """Return a server's completions for an argument of a prompt or template."""
        return await self._server(key).complete(offer, argument, text, given)

    async def operations(self, key: str) -> tuple[OperationRow, ...]:
        """Every operation of a service's description, wanted or not.

        Raises:
            ToolSourceError: the description cannot be read.
        """
        source = self.by_key.get(key)
        if not isinstance(source, OpenApiSource):
            raise ToolSourceError("the description is not read")
        return await source.overview()

    async def stop_reading(self, key: str) -> None:
        """Stop the reading of a service's description, which is then not read by itself."""
        source = self.by_key.get(key)
        if isinstance(source, OpenApiSource):
            source.stop_reading()

    async def read_again(self) -> None:
        """Let the next load ask every server, and read the descriptions that were stopped."""
        for key, source in [*self.by_key.items()]:
            if isinstance(source, McpSource):
                source.forget_list()
            elif isinstance(source, OpenApiSource) and source.is_stopped:
                await self.restart(key)

    async def read_traffic(self, key: str) -> tuple[TrafficMessage, ...]:
        """Return the messages to and from a source, without secrets."""
        source = self.by_key.get(key)
        if isinstance(source, McpSource | PythonFileSource | OpenApiSource):
            return self._secrets.masked(source.traffic.messages)
        return ()

    def log(self, key: str) -> str | None:
        """Return a server's log so far, without secrets; None for another source."""
        source = self.by_key.get(key)
        return self._secrets.masked(source.log) if isinstance(source, McpSource) else None

    async def request_text(self, key: str, name: str, arguments: JsonObject) -> str:
        """The request that a call of a service would send, key masked; empty of another source.

        Raises:
            ToolSourceError: the request cannot be made.
        """
        source = self.by_key.get(key)
        if not isinstance(source, OpenApiSource):
            return ""
        return await source.request_text(name, arguments)

    async def restart(self, key: str) -> None:
        """End a source's processes; the next question starts them again."""
        source = self.by_key.pop(key, None)
        if source is not None:
            await source.close()

    async def close(self) -> None:
        """End all."""
        sources = [*self.by_key.values()]
        self.by_key.clear()
        await asyncio.gather(*(source.close() for source in sources))

    def _server(self, key: str) -> McpSource:
        source = self.by_key.get(key)
        if not isinstance(source, McpSource):
            raise ToolSourceError("the server does not run any more")
        return source
