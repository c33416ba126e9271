"""From a source as a document names it to one that runs: its key, name, file and object.

The sources of MCP, OpenAPI and Python files have rooms of their own; that of a plug-in is here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import assert_never, cast

from studio.core.masking.masker import Masker
from studio.core.plugins import fault, installed
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.amounts import counted
from studio.core.text.values import JsonObject
from studio.core.tools.document import McpServer, OpenApi, PluginTool, PythonFile, SourceDeclaration
from studio.core.tools.limits import ToolLimits
from studio.core.tools.mcp.server_config import approval_mode
from studio.core.tools.mcp.values import AskForInput
from studio.core.tools.openapi.choice import read_choice
from studio.core.tools.openapi.credentials import FindConnection, no_connection
from studio.core.tools.openapi.progress import TellProgress, tell_nobody
from studio.core.tools.python_server.cutting import cut
from studio.core.tools.source import ToolOutcome, ToolSource, ToolSourceError, ToolSourceKind
from studio.core.tools.trust.store import Approval


def open_source(
    declaration: SourceDeclaration,
    limits: ToolLimits,
    on_change: Callable[[], None],
    find: FindConnection = no_connection,
    environment: Callable[[], Mapping[str, str]] = lambda: os.environ,
    masker: Masker | None = None,
    ask: AskForInput | None = None,
    tell: TellProgress = tell_nobody,
) -> ToolSource:
    """The source; nothing is started before it is asked for its tools, and no other kind loaded."""
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
            wanted = read_choice(operations)
            from studio.core.tools.openapi.source import OpenApiSource

            return OpenApiSource(
                name, place, connection, limits, environment, find, masker, wanted, tell
            )
        case PluginTool():
            return PluginSource(declaration, limits)
        case _:
            assert_never(declaration)


def source_key(declaration: SourceDeclaration) -> str:
    """Identifier within the registry."""
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
    """Name for people."""
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
    """The file that the source is, or is named by; None without one."""
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
    """The source of a plug-in; what it raises is a failure of this source and is named."""

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
        """The source's name for people."""
        return f"{self._declaration.kind}: {self._declaration.name}"

    def _source(self) -> ToolSource:
        if self._inner is None:
            kind, asked = cast("ToolSourceKind", self._plugin.value), self._declaration
            self._inner = kind.open(asked.name, asked.options, asked.folder)
        return self._inner

    async def list_tools(self) -> tuple[ToolSpec, ...]:
        """Every tool of the source.

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
        """Which package runs its tools; its version is a part of that."""
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
        except Exception as error:  # noqa: BLE001 - foreign code; told as the call's outcome
            return ToolOutcome(fault(self._plugin, error), "error")
        text, truncated = cut(outcome.text, self._limits.characters)
        return replace(outcome, text=text, truncated=truncated or outcome.truncated)

    async def close(self) -> None:
        """Stop what runs behind it."""
        if self._inner is not None:
            await self._inner.close()
