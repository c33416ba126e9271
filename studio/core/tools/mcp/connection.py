"""One live connection to an MCP server.

The SDK's client must be entered and left in one task, so a task of its own holds it; calls may come
from any task of the loop.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from studio import __version__
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.reason import reason_of
from studio.core.text.values import JsonObject
from studio.core.tools.mcp.streams import Opener
from studio.core.tools.mcp.values import (
    AskForInput,
    CallResult,
    ConnectionLost,
    ServerRefusal,
    asker,
    block_pictures,
    block_text,
    is_old_task,
    listed_tool,
)
from studio.core.tools.mcp.watched_streams import watched
from studio.core.tools.source import Tell, ToolSourceError
from studio.core.tools.traffic import TrafficLog
from studio.core.whole_imports import MCP, import_packages

if TYPE_CHECKING:
    import mcp_types as types
    from mcp import Client

Result = TypeVar("Result")
Page = TypeVar("Page", bound="types.PaginatedResult")

_LONGEST_SAYING = 2_000
_MOST_SAYINGS = 200
_MOST_PAGES = 100
_LONGEST_NAME = 80
_OLD_TASK = (
    "tool {name!r} is left out: it can only be called as a task of the protocol of 2025-11-25, "
    "and tasks are spoken as the extension of 2026-07-28"
)
_USUAL_VERSION = "2025-11-25"  # as the SDK takes it before it is settled


class McpConnection:
    """A connection that is open; make one with `open`."""

    def __init__(
        self,
        on_change: Callable[[], None] | None = None,
        ask: AskForInput | None = None,
        *,
        is_old: bool = False,
        traffic: TrafficLog | None = None,
    ) -> None:
        self._traffic = traffic if traffic is not None else TrafficLog()
        self._on_change = on_change
        self._ask = ask
        self._mode: Literal["auto", "legacy"] = "legacy" if is_old else "auto"
        self._left_out: dict[str, None] = {}
        self._client: Client | None = None
        self._said: list[str] = []
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        opener: Opener,
        seconds: float,
        on_change: Callable[[], None] | None = None,
        ask: AskForInput | None = None,
        *,
        is_old: bool = False,
        traffic: TrafficLog | None = None,
    ) -> McpConnection:
        """Connect and shake hands.

        Args:
            opener: makes the streams.
            seconds: the longest time for it.
            on_change: called when the server says that its lists changed.
            ask: asks the user for what the server wants to know; without it no server may ask.
            is_old: whether its transport is older than protocols without a handshake.
            traffic: notes each message.

        Raises:
            ToolSourceError: no connection within the time, or the other side is no MCP server.
        """
        await import_packages(MCP)
        connection = cls(on_change, ask, is_old=is_old, traffic=traffic)
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        connection._task = asyncio.create_task(connection._hold(opener, ready))
        try:
            await asyncio.wait_for(asyncio.shield(ready), seconds)
        except TimeoutError:
            await connection.abandon()
            raise ToolSourceError(f"did not answer within {seconds:g} s") from None
        except BaseException:
            await connection.abandon()
            raise
        return connection

    @property
    def is_open(self) -> bool:
        """Whether requests can still be sent."""
        return self._client is not None and not self._closing.is_set()

    @property
    def left_out(self) -> tuple[str, ...]:
        """A sentence for each entry of its lists that cannot be read."""
        return tuple(self._left_out)

    @property
    def facts(self) -> dict[str, str]:
        """Return the server's description: name, version, protocol, capabilities, instructions."""
        if self._client is None:
            return {}
        info, able = self._client.server_info, self._client.server_capabilities
        return {
            "name": info.name if info else "",
            "version": info.version if info else "",
            "protocol": self._client.protocol_version,
            "capabilities": ", ".join(sorted(able.model_dump(exclude_none=True))),
            "instructions": self._client.instructions or "",
        }

    async def list_tools(self, source: str) -> tuple[ToolSpec, ...]:
        """Return every tool, of all pages.

        Raises:
            ServerRefusal: the server refuses.
            ConnectionLost: it went away.
        """
        found: list[ToolSpec] = []
        self._left_out.clear()
        async for page in self.pages(self.client.list_tools):
            for tool in page.tools:
                if is_old_task(tool, self._version()):
                    self._leave_out(_OLD_TASK.format(name=tool.name[:_LONGEST_NAME]))
                else:
                    found.append(listed_tool(tool, source))
        return tuple(found)

    async def call(self, name: str, arguments: JsonObject, tell: Tell | None = None) -> CallResult:
        """Call a tool; cancelling the task stops the call at the server.

        Args:
            name: the tool.
            arguments: what it is called with.
            tell: is told how far the server says that it is.

        Raises:
            ServerRefusal: the server refuses the call.
            ConnectionLost: it went away.
        """
        given = dict(arguments)
        if tell is None:
            result = await self.request(self.client.call_tool(name, given))
        else:
            result = await self.request(self._told_call(name, given, tell))
        return CallResult(
            "\n".join(block_text(block) for block in result.content),
            result.is_error,
            result.structured_content,
            result.meta or {},
            block_pictures(result.content),
        )

    async def _told_call(
        self, name: str, arguments: dict[str, Any], tell: Tell
    ) -> types.CallToolResult:
        from studio.core.tools.mcp.tasks import TELL

        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            part = f"{progress:g} of {total:g}" if total else f"{progress:g}"
            tell(f"{part}: {message}\n" if message else f"{part}\n")

        mark = TELL.set(tell)
        try:
            return await self.client.call_tool(name, arguments, progress_callback=progressed)
        finally:
            TELL.reset(mark)

    async def pages(self, ask: Callable[..., Awaitable[Page]]) -> AsyncIterator[Page]:
        """Every page of a list; a server that never ends is not followed for ever."""
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self.request(ask(cursor=cursor, cache_mode="refresh"))
            yield page
            cursor = page.next_cursor
            if not cursor:
                return

    def take_messages(self) -> str:
        """Return the server's log messages over the protocol since the last call."""
        text = "".join(f"{line}\n" for line in self._said)
        self._said.clear()
        return text

    async def close(self) -> None:
        """Say goodbye and let go."""
        self._closing.set()
        if self._task is not None:
            with contextlib.suppress(Exception):
                await asyncio.shield(self._task)

    async def abandon(self) -> None:
        """Let go without waiting for the other side."""
        self._closing.set()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(BaseException):
                await asyncio.wait({self._task})

    @property
    def client(self) -> Client:
        """The SDK's client, for requests.

        Raises:
            ConnectionLost: the connection is closed.
        """
        if self._client is None or self._closing.is_set():
            raise ConnectionLost("the connection is closed")
        return self._client

    async def request(self, request: Awaitable[Result]) -> Result:
        """Return the result of a client's request.

        Raises:
            ServerRefusal: the server refuses.
            ConnectionLost: it went away.
        """
        from mcp import MCPError

        try:
            return await request
        except MCPError as error:
            if "onnection closed" in error.message or not self.is_open:
                raise ConnectionLost(error.message) from error
            raise ServerRefusal(error.message, error.data) from error
        except (RuntimeError, ValueError) as error:
            # An answer that does not keep the tool's own output schema, or the protocol.
            raise ServerRefusal(str(error)) from error
        except OSError as error:
            raise ConnectionLost(reason_of(error)) from error

    async def _hold(self, opener: Opener, ready: asyncio.Future[None]) -> None:
        from mcp import Client, Implementation

        from studio.core.tools.mcp.tasks import TasksExtension

        who = Implementation(name="prompt-studio", version=__version__)
        try:
            async with Client(
                watched(opener, self._version, self._leave_out, self._traffic),
                client_info=who,
                mode=self._mode,
                elicitation_callback=asker(self._ask) if self._ask is not None else None,
                message_handler=self._heard,
                logging_callback=self._logged,
                extensions=(TasksExtension(),),
            ) as client:
                self._client = client
                if not ready.done():
                    ready.set_result(None)
                listening = asyncio.create_task(self._listen(client))
                try:
                    await self._closing.wait()
                finally:
                    listening.cancel()
                    await asyncio.wait({listening})
        except Exception as error:  # noqa: BLE001 - the SDK raises groups of many kinds
            if not ready.done():
                ready.set_exception(ToolSourceError(_innermost(error)))
                ready.exception()
        finally:
            self._closing.set()
            if not ready.done():
                ready.cancel()

    def _version(self) -> str:
        return self._client.protocol_version if self._client is not None else _USUAL_VERSION

    def _leave_out(self, remark: str) -> None:
        if len(self._left_out) < _MOST_SAYINGS:
            self._left_out[remark] = None

    async def _listen(self, client: Client) -> None:
        """Subscribe to changed lists at newer servers; older ones report unasked."""
        from mcp import MCPError
        from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost

        able = client.server_capabilities
        try:
            async with client.listen(
                tools_list_changed=able.tools is not None,
                prompts_list_changed=able.prompts is not None,
                resources_list_changed=able.resources is not None,
            ) as changes:
                async for _ in changes:
                    self._tell()
        except (ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError, OSError):
            return  # asked again for its lists after a while, then

    async def _heard(self, message: object) -> None:
        if str(getattr(message, "method", "")).endswith("/list_changed"):
            self._tell()

    async def _logged(self, params: types.LoggingMessageNotificationParams) -> None:
        source = f" {params.logger}" if params.logger else ""
        self._said.append(f"[{params.level}{source}] {params.data}"[:_LONGEST_SAYING])
        del self._said[:-_MOST_SAYINGS]

    def _tell(self) -> None:
        if self._on_change is not None:
            self._on_change()


def _innermost(error: BaseException) -> str:
    """The text of the exception that a group of exceptions is about."""
    from mcp import MCPError

    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    if isinstance(error, MCPError) and "onnection closed" not in error.message:
        return f"answers, but not as an MCP server does: {error.message}"
    return str(error) or type(error).__name__
