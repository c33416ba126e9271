"""The tools of a window: of the shown document, and of those with runs.

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
from studio.core.tools.mcp.values import AskForInput
from studio.core.tools.openapi.credentials import (
    FindConnection,
    NamedConnection,
    no_connection,
)
from studio.core.tools.openapi.progress import ReadingProgress
from studio.core.tools.registry import ToolRegistry
from studio.core.tools.toolbox import AskUser, Toolbox
from studio.core.tools.trust.store import TrustStore

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
        """Create a session.

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
        self.current = self._make(None)
        """The tools of the document that is shown."""
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
        return self.current.registry

    async def load(
        self, document: PromptDocument, hoisted: Iterable[HoistedTool] = ()
    ) -> ToolRegistry:
        """Show a document's tools, brought up to it; what the user set for it before holds.

        Nothing of an untrusted folder is started: its sources are listed as such.
        """
        path = document.source.path
        tools = self._documents.pop(path, None) or self._make(path)
        self._documents[path] = self.current = tools  # the last one is the newest
        registry = await tools.load(document, hoisted, self._started)
        others = [each for each in self._documents.values() if each is not self.current]
        for other in others[: len(others) - _RESTING]:
            if not other.is_used:
                await other.close()
        return registry

    def leave(self) -> None:
        """No document is shown any more."""
        self.current = self._make(None)

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

    def start_server(self, key: str) -> None:
        """Let a server that no prompt names be started with the next load: it was seen."""
        self._started.add(key)
        self.current.allow_source(key)

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
        tools = self._documents.get(path, self.current) if path else self.current
        return await tools.request_text(tool, arguments, inputs or {})

    async def close(self) -> None:
        """End all sources of all documents."""
        documents = {id(each): each for each in (*self._documents.values(), self.current)}
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
