"""The tools of a window: of the document that is shown, and of those whose runs still stand.

Everything here runs on the one asyncio loop; `registry` is a frozen value that panes may keep.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from pathlib import Path

from studio.core.masking.masker import Masker
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.messages import HoistedTool
from studio.core.prompty.tool_spec import ToolId
from studio.core.text.values import Json, JsonObject
from studio.core.tools.document_tools import DocumentTools
from studio.core.tools.limits import DEFAULT_LIMITS, ToolLimits
from studio.core.tools.mcp.asking import AskForInput
from studio.core.tools.openapi.named_connection import (
    FindConnection,
    NamedConnection,
    no_connection,
)
from studio.core.tools.openapi.overview import OperationRow
from studio.core.tools.openapi.progress import ReadingProgress
from studio.core.tools.registry import ToolRegistry
from studio.core.tools.source import OfferContent, ServerOffer, ToolOutcome
from studio.core.tools.toolbox import AskUser, Toolbox
from studio.core.tools.traffic import TrafficMessage
from studio.core.tools.trust.store import TrustStore
from studio.core.tools.trust.wants import Approval

_RESTING = 1
"""Documents that keep their processes although another is shown: who looks at a tool's file and
comes back finds all as it was."""


class ToolSession:
    """Keeps the tools of each document apart: a run goes on with its own while another is shown."""

    def __init__(
        self,
        trust: TrustStore,
        limits: ToolLimits = DEFAULT_LIMITS,
        own_servers: Path | None = None,
        masker: Masker | None = None,
        ask_input: AskForInput | None = None,
        allowed: Collection[str] = (),
    ) -> None:
        """Make a session.

        Args:
            trust: which folders may run code.
            limits: bounds of a call, where the document names none.
            own_servers: the user's own MCP servers (`server_config.OWN_FILE`).
            masker: knows the secrets that may turn up; told those that sources are given.
            ask_input: asks the user for what an MCP server wants to know; without it none may ask.
            allowed: names of the tools that this command may call without a question.
        """
        self._allowed = allowed
        self._ask_input = ask_input
        self._masker = masker
        self.find_connection: FindConnection = no_connection
        """Finds the connection that a tool names; called in the loop, at each call."""
        self._trust = trust
        self._limits = limits
        self._own_servers = own_servers
        self._started: set[str] = set()
        self._documents: dict[Path | None, DocumentTools] = {}
        self._current = self._make(None)
        self.on_reading: Callable[[Path | None, str, ReadingProgress | None], None] = (
            lambda path, key, progress: None
        )
        """Called from any thread with a document's file and the key of one of its sources: how far
        the reading of its large description is; None at the end."""
        self.on_change: Callable[[], None] = lambda: None
        """Called in the loop when a server says that its lists changed."""

    @property
    def registry(self) -> ToolRegistry:
        """The newest registry of the document that is shown."""
        return self._current.registry

    @property
    def watched(self) -> tuple[Path, ...]:
        """Files to load again when they are saved."""
        return self._current.watched

    async def load(
        self, document: PromptDocument, hoisted: Iterable[HoistedTool] = ()
    ) -> ToolRegistry:
        """Show a document's tools, brought up to it; what the user set for it before holds.

        Nothing of an untrusted folder is started: its sources are listed as such.
        """
        path = document.source.path
        tools = self._documents.pop(path, None) or self._make(path)
        self._documents[path] = self._current = tools  # the last one is the newest
        registry = await tools.load(document, hoisted, self._started)
        others = [each for each in self._documents.values() if each is not self._current]
        for other in others[: len(others) - _RESTING]:
            if not other.is_used:
                await other.close()
        return registry

    def leave(self) -> None:
        """No document is shown any more."""
        self._current = self._make(None)

    async def open_toolbox(
        self,
        document: PromptDocument,
        hoisted: Iterable[HoistedTool] = (),
        inputs: Mapping[str, Json] | None = None,
        ask: AskUser | None = None,
    ) -> Toolbox:
        """The tools of a run, brought up to its document, whichever document is shown."""
        path = document.source.path
        tools = self._documents.setdefault(path, self._make(path))
        box = tools.toolbox(inputs, ask)  # first: from now on its sources are in use
        await tools.load(document, hoisted, self._started)
        return box

    def toolbox(
        self, inputs: Mapping[str, Json] | None = None, ask: AskUser | None = None
    ) -> Toolbox:
        """The tools for one run; what the user switches meanwhile holds for its next call."""
        return self._current.toolbox(inputs, ask)

    async def try_tool(
        self,
        tool: ToolId,
        arguments: JsonObject,
        inputs: Mapping[str, Json] | None = None,
        ask: AskUser | None = None,
    ) -> ToolOutcome:
        """Call one tool because the user asked for it: enabled or not, and without approval."""
        return await self._current.try_tool(tool, arguments, inputs, ask)

    async def read_live_output(self) -> str:
        """What the call that is tried has said so far, without secrets."""
        return await self._current.read_live_output()

    def change(self, tool: ToolId, **changes: object) -> ToolRegistry:
        """Set `enabled`, `approval` or `mock` of a tool; an approval is kept with its folder."""
        return self._current.change(tool, **changes)

    def approve_folder(self, approval: Approval | None) -> ToolRegistry:
        """Set the approval of all tools of the folder that have none of their own; None: as usual.

        Returns:
            The registry, in which it holds already.
        """
        return self._current.approve_folder(approval)

    def start_server(self, key: str) -> None:
        """Let a server that no prompt names be started with the next load: it was seen."""
        self._started.add(key)
        self._current.allow_source(key)

    def allow_source(self, key: str) -> None:
        """Allow what waits (`SourceStatus.doubt`) as it is, from the next load on."""
        self._current.allow_source(key)

    def allow_tools(self, *tools: ToolId) -> ToolRegistry:
        """Allow tools as they are now: they no longer ask for what they are."""
        return self._current.allow_tools(*tools)

    def allow_own_tools(self) -> ToolRegistry:
        """Allow the functions of the folder's Python files as they are now."""
        return self._current.allow_own_tools()

    async def read_logs(self) -> ToolRegistry:
        """The registry with what the servers wrote to their logs by now."""
        return await self._current.read_logs()

    async def request_text(
        self,
        tool: ToolId,
        arguments: JsonObject,
        inputs: Mapping[str, Json] | None = None,
        path: Path | None = None,
    ) -> str:
        """The request that a call of an OpenAPI tool would send, key masked; else empty.

        Args:
            tool: the tool.
            arguments: as the model or the user gave them.
            inputs: values for bound parameters.
            path: the document whose tool it is; by default the one that is shown.

        Raises:
            ToolSourceError: the request cannot be made.
        """
        tools = self._documents.get(path, self._current) if path else self._current
        return await tools.request_text(tool, arguments, inputs or {})

    async def open_offer(
        self, key: str, offer: ServerOffer, given: Mapping[str, str]
    ) -> OfferContent:
        """Open a prompt or resource of a server that runs.

        Raises:
            ToolSourceError: it does not run, cannot be reached, or refuses.
        """
        return await self._current.sources.open_offer(key, offer, given)

    async def complete_offer(
        self, key: str, offer: ServerOffer, argument: str, text: str, given: Mapping[str, str]
    ) -> tuple[str, ...]:
        """What a server proposes for an argument of a prompt or template."""
        return await self._current.sources.complete_offer(key, offer, argument, text, given)

    async def operations(self, key: str) -> tuple[OperationRow, ...]:
        """Every operation of a service's description, wanted or not.

        Raises:
            ToolSourceError: the description cannot be read.
        """
        return await self._current.sources.operations(key)

    async def stop_reading(self, key: str) -> None:
        """Stop the reading of a service's description, which is then not read by itself."""
        await self._current.sources.stop_reading(key)

    async def read_again(self) -> None:
        """Let the next load ask every server, and read the descriptions that were stopped."""
        await self._current.sources.read_again()

    async def read_traffic(self, key: str) -> tuple[TrafficMessage, ...]:
        """What went to a source and came from it, without secrets; the newest part."""
        return await self._current.sources.read_traffic(key)

    async def restart(self, key: str) -> None:
        """End a source's processes; the next question starts them again."""
        await self._current.sources.restart(key)

    async def close(self) -> None:
        """End all sources of all documents."""
        documents = {id(each): each for each in (*self._documents.values(), self._current)}
        await asyncio.gather(*(each.close() for each in documents.values()))

    def _make(self, path: Path | None) -> DocumentTools:
        return DocumentTools(
            path,
            self._trust,
            self._limits,
            self._own_servers,
            self._tell_of_change,
            self._find,
            self._masker,
            self._ask_input,
            partial(self._tell_of_reading, path),
            self._allowed,
        )

    def _find(self, name: str) -> NamedConnection | None:
        return self.find_connection(name)  # as it is at that time

    def _tell_of_change(self) -> None:
        self.on_change()

    def _tell_of_reading(
        self, path: Path | None, key: str, progress: ReadingProgress | None
    ) -> None:
        self.on_reading(path, key, progress)  # whoever hears it at that time
