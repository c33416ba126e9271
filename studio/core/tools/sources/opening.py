"""Open the sources that a document declares, and forward calls to them.

The sources of MCP, OpenAPI and Python files have their own packages; that of a plug-in is here.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias, assert_never, cast

from studio.core.masking.masker import Masker
from studio.core.plugins import fault, installed
from studio.core.prompty.document import ToolSpec
from studio.core.text.amounts import counted
from studio.core.text.values import JsonObject
from studio.core.tools.document import McpServer, OpenApi, PluginTool, PythonFile, SourceDeclaration
from studio.core.tools.mcp.connection import AskForInput
from studio.core.tools.mcp.server_config import approval_mode
from studio.core.tools.mcp.source import McpSource
from studio.core.tools.openapi import loading
from studio.core.tools.openapi.credentials import FindConnection, no_connection
from studio.core.tools.openapi.source import OpenApiSource
from studio.core.tools.python.source import PythonFileSource
from studio.core.tools.python_server.tool_file import cut
from studio.core.tools.secrets import ToolSecrets
from studio.core.tools.source import (
    OfferContent,
    ServerOffer,
    ToolLimits,
    ToolOutcome,
    ToolSource,
    ToolSourceError,
    ToolSourceKind,
    TrafficMessage,
)
from studio.core.tools.trust.store import Approval


def open_source(
    declaration: SourceDeclaration,
    limits: ToolLimits,
    on_change: Callable[[], None],
    find: FindConnection = no_connection,
    environment: Callable[[], Mapping[str, str]] = lambda: os.environ,
    masker: Masker | None = None,
    ask: AskForInput | None = None,
    tell: loading.TellProgress = loading.tell_nobody,
) -> ToolSource:
    """Return the source, importing only its kind; it starts nothing before its tools are listed."""
    match declaration:
        case PythonFile(path, variables, python):
            from studio.core.tools.python.source import PythonFileSource

            return PythonFileSource(path, limits, variables, environment, python)
        case McpServer(name, address, allowed):
            assert address is not None
            from studio.core.tools.mcp.source import McpSource

            return McpSource(
                name,
                address,
                allowed=allowed,
                limits=limits,
                environment=environment,
                on_change=on_change,
                ask=ask,
            )
        case OpenApi(name, place, connection, operations):
            wanted = loading.read_choice(operations)
            from studio.core.tools.openapi.source import OpenApiSource

            return OpenApiSource(
                name, place, connection, limits, environment, find, masker, wanted, tell
            )
        case PluginTool():
            return PluginSource(declaration, limits)
        case _:
            assert_never(declaration)


def source_key(declaration: SourceDeclaration) -> str:
    """Return the source's id within the registry."""
    match declaration:
        case PythonFile(path):
            return f"python:{path}"
        case McpServer(name):
            return f"mcp:{name}"
        case OpenApi(name):
            return f"openapi:{name}"
        case PluginTool(kind=kind, name=name):
            return f"{kind}:{name}"
        case _:
            assert_never(declaration)


def source_label(declaration: SourceDeclaration) -> str:
    """Return the source's name for the user."""
    match declaration:
        case PythonFile(path):
            return path.name
        case McpServer(name):
            return f"mcp: {name}"
        case OpenApi(name):
            return f"openapi: {name}"
        case PluginTool(kind=kind, name=name):
            return f"{kind}: {name}"
        case _:
            assert_never(declaration)


def source_path(declaration: SourceDeclaration) -> Path | None:
    """Return the file that is or names the source; None without one."""
    match declaration:
        case PythonFile(path):
            return path
        case McpServer(origin=path):
            return path
        case OpenApi(place=place):
            return place if isinstance(place, Path) else None
        case PluginTool():
            return None
        case _:
            assert_never(declaration)


def declared_approvals(
    declaration: SourceDeclaration, specs: Iterable[ToolSpec]
) -> Mapping[str, Approval]:
    """Return the approval rules of the document, by tool."""
    if not isinstance(declaration, McpServer):
        return {}
    modes = {spec.name: approval_mode(declaration.approval, spec.name) for spec in specs}
    return {name: mode for name, mode in modes.items() if mode is not None}


class PluginSource:
    """The source of a plug-in; its exceptions are reported as failures of this source."""

    def __init__(self, declaration: PluginTool, limits: ToolLimits) -> None:
        self._declaration = declaration
        self._limits = limits
        self._inner: ToolSource | None = None
        self._plugin = next(
            each
            for each in installed("tool_sources")
            if getattr(each.value, "kind", "") == declaration.kind
        )

    @property
    def label(self) -> str:
        """Name of the source, for the user."""
        return f"{self._declaration.kind}: {self._declaration.name}"

    def _source(self) -> ToolSource:
        if self._inner is None:
            kind, asked = cast("ToolSourceKind", self._plugin.value), self._declaration
            self._inner = kind.open(asked.name, asked.options, asked.folder)
        return self._inner

    async def list_tools(self) -> tuple[ToolSpec, ...]:
        """Return every tool of the source.

        Raises:
            ToolSourceError: the plug-in failed.
        """
        try:
            return tuple(await self._source().list_tools())
        except ToolSourceError:
            raise
        except Exception as error:
            raise ToolSourceError(fault(self._plugin, error)) from error

    def place_of(self, name: str) -> str:
        """Return the package that runs its tools, including its version."""
        return f"{self._plugin.package}: {self._declaration.kind}"

    async def call(self, name: str, arguments: JsonObject) -> ToolOutcome:
        """Call one tool; a failure of the plug-in is the outcome."""
        try:
            async with asyncio.timeout(self._limits.seconds):
                outcome = await self._source().call(name, arguments)
        except TimeoutError:
            return ToolOutcome(
                f"no answer within {counted(self._limits.seconds, 'second')}", "timeout"
            )
        except Exception as error:  # noqa: BLE001 - foreign code; reported as the call's outcome
            return ToolOutcome(fault(self._plugin, error), "error")
        text, truncated = cut(outcome.text, self._limits.characters)
        return replace(outcome, text=text, truncated=truncated or outcome.truncated)

    async def close(self) -> None:
        """Close the plug-in's source."""
        if self._inner is not None:
            await self._inner.close()


# The open sources of one document, and requests to them besides tool calls.

TellReading: TypeAlias = Callable[[str, loading.ReadingProgress | None], None]
"""Callback for the progress of reading a source's description, from any thread; None at the end."""


class RunningSources:
    """The open sources of tools, which it opens, sends requests to, and closes."""

    def __init__(
        self,
        secrets: ToolSecrets,
        masker: Masker,
        on_change: Callable[[], None],
        find: FindConnection,
        ask_input: AskForInput | None,
        tell: TellReading,
    ) -> None:
        """Store the settings; no source is opened yet.

        Args:
            secrets: the document's secrets, which are masked in everything from a source.
            masker: receives the sent keys.
            on_change: called when a server reports changed lists.
            find: returns the connection for a name.
            ask_input: asks the user for input that an MCP server requests.
            tell: receives the progress of reading a large description, from any thread.
        """
        self.by_key: dict[str, ToolSource] = {}
        """The open sources by key, shared with the toolboxes of runs."""
        self._secrets = secrets
        self._masker = masker
        self._on_change = on_change
        self._find = find
        self._ask_input = ask_input
        self._tell = tell

    def opened(self, key: str, declaration: SourceDeclaration, limits: ToolLimits) -> ToolSource:
        """Return the source for a key, opening it if needed."""
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
        """Return the content of a prompt or resource of a running server.

        Raises:
            ToolSourceError: the server does not run, cannot be reached, or returns an error.
        """
        content = await self._server(key).open_offer(offer, given)
        parts = tuple((role, self._secrets.masked(text)) for role, text in content.parts)
        return replace(content, parts=parts)

    async def complete_offer(
        self, key: str, offer: ServerOffer, argument: str, text: str, given: Mapping[str, str]
    ) -> tuple[str, ...]:
        """Return a server's completions for an argument of a prompt or template."""
        return await self._server(key).complete(offer, argument, text, given)

    async def operations(self, key: str) -> tuple[loading.OperationRow, ...]:
        """Return every operation in a service's description, selected or not.

        Raises:
            ToolSourceError: the description cannot be read.
        """
        source = self.by_key.get(key)
        if not isinstance(source, OpenApiSource):
            raise ToolSourceError("the description is not read")
        return await source.overview()

    async def stop_reading(self, key: str) -> None:
        """Stop reading a service's description, which then does not restart by itself."""
        source = self.by_key.get(key)
        if isinstance(source, OpenApiSource):
            source.stop_reading()

    async def read_again(self) -> None:
        """Update every server's lists at the next load, and read stopped descriptions again."""
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
        """Return the request that a service call would send, key masked; empty for other sources.

        Raises:
            ToolSourceError: the request cannot be built.
        """
        source = self.by_key.get(key)
        if not isinstance(source, OpenApiSource):
            return ""
        return await source.request_text(name, arguments)

    async def restart(self, key: str) -> None:
        """End a source's processes; the next request starts them again."""
        source = self.by_key.pop(key, None)
        if source is not None:
            await source.close()

    async def close(self) -> None:
        """Close all sources."""
        sources = [*self.by_key.values()]
        self.by_key.clear()
        await asyncio.gather(*(source.close() for source in sources))

    def _server(self, key: str) -> McpSource:
        source = self.by_key.get(key)
        if not isinstance(source, McpSource):
            raise ToolSourceError("the server is no longer running")
        return source
