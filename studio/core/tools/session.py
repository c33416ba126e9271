"""The tools of one open document, alive: its sources, its registry, and calls to try.

Everything here runs on the one asyncio loop; `registry` is a frozen value that panes may keep.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from studio.core.prompty.document import PromptDocument
from studio.core.prompty.messages import HoistedTool
from studio.core.text.values import Json, JsonObject
from studio.core.tools.document import (
    McpServer,
    OpenApi,
    PythonFile,
    SourceDeclaration,
    declared_tools,
    named_sources,
    tool_limits,
)
from studio.core.tools.limits import DEFAULT_LIMITS, ToolLimits
from studio.core.tools.mcp_source import McpSource
from studio.core.tools.openapi_source import OpenApiSource
from studio.core.tools.python_source import PythonFileSource, UnusableToolFileError
from studio.core.tools.registry import (
    Approval,
    SourceStatus,
    SourceTools,
    ToolRegistry,
    build_registry,
)
from studio.core.tools.server_config import approval_mode
from studio.core.tools.source import ToolOutcome, ToolSource, ToolSourceError
from studio.core.tools.toolbox import AskPerson, Toolbox
from studio.core.tools.trust import TrustStore


class ToolSession:
    """Keeps the sources of one document running while it is open."""

    def __init__(self, trust: TrustStore, limits: ToolLimits = DEFAULT_LIMITS) -> None:
        self._trust = trust
        self._base_limits = limits
        self._limits = limits
        self._sources: dict[str, ToolSource] = {}
        self._declarations: dict[str, SourceDeclaration] = {}
        self._folder: Path | None = None
        self._loading = asyncio.Lock()
        self.registry = ToolRegistry()
        """The newest registry."""

    async def load(
        self, document: PromptDocument, hoisted: Iterable[HoistedTool] = ()
    ) -> ToolRegistry:
        """Bring sources and registry up to the document; sources that stay are not restarted.

        Nothing of an untrusted folder is started: its sources are listed as such.
        """
        async with self._loading:
            if document.front_matter is not None and not document.data and self._declarations:
                # Nothing of it can be read just now, in the middle of typing: keep what runs.
                return self.registry
            path = document.source.path
            self._folder = path.parent if path else None
            declarations = {_key(item): item for item in named_sources(document)}
            limits, before = tool_limits(document, self._base_limits), self._limits
            self._limits = limits
            for key in [*self._sources]:
                if limits != before or declarations.get(key) != self._declarations.get(key):
                    await self._sources.pop(key).close()
            self._declarations = declarations
            asked = [self._ask(key, item) for key, item in declarations.items()]
            answers = await asyncio.gather(*asked)
            registry = build_registry(
                declared_tools(document, hoisted),
                [tools for _, tools in answers if tools is not None],
                [status for status, _ in answers],
                self.registry,
            )
            self.registry = self._with_chosen_approvals(registry)
            return self.registry

    def toolbox(
        self, inputs: Mapping[str, Json] | None = None, ask: AskPerson | None = None
    ) -> Toolbox:
        """The tools for one run; what the person switches meanwhile holds for its next call."""
        return Toolbox(
            lambda: self.registry, self._sources, inputs=inputs, ask=ask, used=self._note_use
        )

    async def try_tool(
        self,
        name: str,
        arguments: JsonObject,
        inputs: Mapping[str, Json] | None = None,
        ask: AskPerson | None = None,
    ) -> ToolOutcome:
        """Call one tool because the person asked for it: enabled or not, and without approval."""
        box = Toolbox(
            lambda: self.registry.change(name, enabled=True),
            self._sources,
            inputs=inputs,
            ask=ask,
            used=self._note_use,
        )
        return await box.call(name, arguments)

    def change(self, name: str, **changes: object) -> ToolRegistry:
        """Set `enabled`, `approval` or `mock` of a tool; an approval is kept for the folder."""
        self.registry = self.registry.change(name, **changes)
        approval = changes.get("approval")
        if approval is not None and self._folder is not None:
            entry = self.registry.entry(name)
            if entry is not None:
                self._trust.remember_approval(self._folder, name, entry.approval)
        return self.registry

    async def request_text(self, name: str, arguments: JsonObject) -> str:
        """The request that a call of an OpenAPI tool would send, key masked; else empty.

        Raises:
            ToolSourceError: the request cannot be made.
        """
        entry = self.registry.entry(name)
        source = self._sources.get(entry.runner) if entry else None
        return (
            await source.request_text(name, arguments) if isinstance(source, OpenApiSource) else ""
        )

    async def restart(self, key: str) -> None:
        """End a source's processes; the next question starts them again."""
        source = self._sources.pop(key, None)
        if source is not None:
            await source.close()

    async def close(self) -> None:
        """End all sources."""
        async with self._loading:
            sources = [*self._sources.values()]
            self._sources = {}
            await asyncio.gather(*(source.close() for source in sources))

    async def _ask(
        self, key: str, declaration: SourceDeclaration
    ) -> tuple[SourceStatus, SourceTools | None]:
        """How a source fares, and its tools where it could say."""
        label, path = _label(declaration), _path(declaration)
        fault = self._fault(declaration)
        if fault is not None:
            return replace(fault, key=key, label=label, path=path), None
        source = self._sources.get(key) or self._open(declaration)
        self._sources[key] = source
        try:
            specs = await source.list_tools()
            facts = await source.facts() if isinstance(source, McpSource) else {}
        except ToolSourceError as error:
            line = error.line if isinstance(error, UnusableToolFileError) else 0
            log = source.log if isinstance(source, McpSource) else ""
            return SourceStatus(key, label, "failed", str(error), path, line, log=log), None
        status = SourceStatus(key, label, "ready", path=path, tools=len(specs))
        offered = SourceTools(key, label, specs, path=path)
        if isinstance(source, PythonFileSource):
            first = source.problems[0] if source.problems else None
            if first is not None:
                message = "; ".join(problem.message for problem in source.problems)
                status = replace(status, message=message, line=first.line)
            return status, replace(offered, lines=source.lines)
        if isinstance(source, McpSource):
            status = replace(status, facts=facts, log=source.log)
        return status, replace(offered, stands_alone=True, approvals=_approvals(declaration, specs))

    def _fault(self, declaration: SourceDeclaration) -> SourceStatus | None:
        """Why a source may not be started; None where it may. Key and label are filled in later."""
        place = _path(declaration)
        for folder in (self._folder, place.parent if place else None):
            if folder is not None and not self._trust.is_trusted(folder):
                message = f"{folder} is not trusted, so nothing of it is run"
                return SourceStatus("", "", "untrusted", message)
        if place is not None and not self._trust.is_trusted(place):
            message = f"{place} leads out of the trusted folder, so it is not run"
            return SourceStatus("", "", "untrusted", message)
        if isinstance(declaration, McpServer) and declaration.address is None:
            return SourceStatus(
                "", "", "failed",
                f"nothing says how to reach the server {declaration.name!r}: "
                "name it in .mcp.json, or give its connection an endpoint",
            )  # fmt: skip
        return None

    def _open(self, declaration: SourceDeclaration) -> ToolSource:
        match declaration:
            case PythonFile(path):
                return PythonFileSource(path, self._limits)
            case McpServer(name, address, allowed):
                assert address is not None
                return McpSource(name, address, allowed=allowed, limits=self._limits)
            case OpenApi(name, place, connection):
                return OpenApiSource(name, place, connection, self._limits)
            case _:
                assert_never(declaration)

    def _with_chosen_approvals(self, registry: ToolRegistry) -> ToolRegistry:
        if self._folder is None:
            return registry
        trust = self._trust.current
        for entry in registry.entries:
            chosen = trust.approval(self._folder, entry.name)
            if chosen is not None and chosen != entry.approval:
                registry = registry.change(entry.name, approval=chosen)
        return registry

    def _note_use(self, name: str, when: float) -> None:
        entry = self.registry.entry(name)
        if entry is not None:
            self.registry = self.registry.change(name, calls=entry.calls + 1, last_used=when)


def _approvals(declaration: SourceDeclaration, specs: Iterable[object]) -> Mapping[str, Approval]:
    if not isinstance(declaration, McpServer):
        return {}
    found = {}
    for spec in specs:
        name = getattr(spec, "name", "")
        mode = approval_mode(declaration.approval, name)
        if mode is not None:
            found[name] = mode
    return found


def _key(declaration: SourceDeclaration) -> str:
    match declaration:
        case PythonFile(path):
            return f"python:{path}"
        case McpServer(name):
            return f"mcp:{name}"
        case OpenApi(name):
            return f"openapi:{name}"
        case _:
            assert_never(declaration)


def _label(declaration: SourceDeclaration) -> str:
    match declaration:
        case PythonFile(path):
            return path.name
        case McpServer(name):
            return f"mcp: {name}"
        case OpenApi(name):
            return f"openapi: {name}"
        case _:
            assert_never(declaration)


def _path(declaration: SourceDeclaration) -> Path | None:
    match declaration:
        case PythonFile(path):
            return path
        case McpServer(origin=path):
            return path
        case OpenApi(place=place):
            return place if isinstance(place, Path) else None
        case _:
            assert_never(declaration)
