"""One open connection to an MCP server, with its lists and results as the studio's values.

The SDK's client must be entered and exited in the same task, so it has its own task; calls may come
from any task of the loop.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from studio import __version__
from studio.core.prompty.document import ToolSpec
from studio.core.text.values import Json, JsonObject, reason_of
from studio.core.tools.mcp.streams import Opener, watched
from studio.core.tools.source import Tell, ToolPicture, ToolSourceError, TrafficLog
from studio.core.whole_imports import MCP, import_packages

if TYPE_CHECKING:
    import mcp_types as types
    from mcp import Client
    from mcp.client.context import ClientRequestContext
    from mcp.client.session import ElicitationFnT


# The lists and results of an MCP server as the studio's values.

_MOST_PICTURES = 20


@dataclass
class HttpNotes:
    """Facts about a server's HTTP responses, beside the protocol."""

    failure: str = ""
    """The last HTTP error, or the limit that the last response exceeded; empty after a success."""

    status: int = 0
    """Status of the last response; 0 before the first."""


class ServerRefusal(Exception):  # noqa: N818 - an answer, not a failure of ours
    """Raised when the server answers a request with a protocol error."""

    def __init__(self, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.message = message
        """The server's message."""
        self.data = data
        """Data of the error."""


class ConnectionLost(Exception):  # noqa: N818 - names the state
    """Raised when the connection ends before the server answers."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a call from a server."""

    text: str
    """Content as text; other content is described in square brackets."""

    is_error: bool = False
    """Whether the tool reports a failure."""

    structured: Json = None
    """Structured content; None if there is none."""

    meta: JsonObject = field(default_factory=dict)
    """`_meta` of the result."""

    pictures: tuple[ToolPicture, ...] = ()
    """Images and audio of the result."""


def is_old_task(tool: types.Tool, version: str) -> bool:
    """Return whether a tool can only be called as a task in the protocol's older form."""
    if version != "2025-11-25" or tool.execution is None:
        return False
    return tool.execution.task_support == "required"


def listed_tool(tool: types.Tool, source: str) -> ToolSpec:
    """Return an SDK tool as a `ToolSpec`; it may have effects unless declared read-only."""
    hint = tool.annotations.read_only_hint if tool.annotations else None
    return ToolSpec(
        tool.name,
        tool.description or "",
        tool.input_schema,
        kind="mcp",
        returns=tool.output_schema or {},
        source=source,
        # MCP: a tool that is not declared read-only may have effects.
        has_effects=not hint,
        reads_only=hint is True,
    )


def block_pictures(blocks: Iterable[object]) -> tuple[ToolPicture, ...]:
    """Return the images and audio in blocks of content, limited to a few."""
    found = []
    for block in blocks:
        if getattr(block, "type", "") == "text":
            continue  # looking up a missing attribute of a pydantic model is slow
        inner = getattr(block, "resource", None) or block
        data = getattr(inner, "data", None) or getattr(inner, "blob", None)
        kind = getattr(inner, "mime_type", None) or ""
        if isinstance(data, str) and kind.startswith(("image/", "audio/", "application/pdf")):
            found.append(ToolPicture(kind, data))
    return tuple(found[:_MOST_PICTURES])


def block_text(block: object) -> str:
    """Return a block of content as text; other content is described in square brackets."""
    text = getattr(block, "text", None)
    if isinstance(text, str):
        return text
    kind = getattr(block, "type", "content")
    resource = getattr(block, "resource", None)
    inner = resource or block
    mime = getattr(inner, "mime_type", None) or "of unknown type"
    data = getattr(inner, "data", None) or getattr(inner, "blob", None)
    if resource is not None and isinstance(getattr(resource, "text", None), str):
        return str(resource.text)
    size = f", {len(data) * 3 // 4:,} bytes" if isinstance(data, str) else ""
    place = getattr(block, "uri", None) or getattr(resource, "uri", None)
    return f"[{kind} {mime}{size}{f' {place}' if place else ''}]"


# Input that a server requests from the user during a call: MCP's elicitation.


@dataclass(frozen=True, slots=True)
class InputWanted:
    """A server's request for input: a form, or a page to open."""

    message: str
    """Text of the question."""

    schema: JsonObject = field(default_factory=dict)
    """Schema of the form: an object of texts, numbers, choices."""

    url: str = ""
    """Page to open; empty for a form."""

    server: str = ""
    """Name of the server, for the user."""


@dataclass(frozen=True, slots=True)
class InputGiven:
    """The user's answer."""

    action: Literal["accept", "decline", "cancel"]
    """Whether the input was given, refused, or canceled."""

    content: Mapping[str, Any] = field(default_factory=dict)
    """Values of the form."""


AskForInput: TypeAlias = Callable[[InputWanted], Awaitable[InputGiven]]
"""Function that asks the user; runs in the loop, and is canceled with the call."""


def asker(ask: AskForInput) -> ElicitationFnT:
    """Return the SDK's callback for a function that asks the user."""

    async def answer(
        context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        import mcp_types as types

        if isinstance(params, types.ElicitRequestURLParams):
            given = await ask(InputWanted(params.message, url=params.url))
            return types.ElicitResult(action=given.action)
        given = await ask(InputWanted(params.message, params.requested_schema))
        content = dict(given.content) if given.action == "accept" else None
        return types.ElicitResult(action=given.action, content=content)

    return answer


class CallTime:
    """The time limits of running calls; a server need not say which call asks a question."""

    def __init__(self, seconds: float, ask: AskForInput | None, server: str = "") -> None:
        """Store the settings.

        Args:
            seconds: maximum time of a call.
            ask: asks the user for input that the server requests.
            server: name of the server, for the user.
        """
        self._server = server
        self._seconds = seconds
        self._ask = ask
        self._running: set[asyncio.Timeout] = set()
        self._asking = 0

    @property
    def ask(self) -> AskForInput | None:
        """Function that asks the user without using up a call's time; None if there is no user."""
        return self._ask_user if self._ask is not None else None

    def limit(self) -> asyncio.Timeout:
        """Return the time limit of a new call, to be entered."""
        return asyncio.timeout(None if self._asking else self._seconds)

    @contextmanager
    def running(self, limit: asyncio.Timeout) -> Iterator[None]:
        """Register a running call; its time limit is suspended while the user is asked."""
        self._running.add(limit)
        try:
            yield
        finally:
            self._running.discard(limit)

    async def _ask_user(self, wanted: InputWanted) -> InputGiven:
        assert self._ask is not None
        self._asking += 1
        for limit in self._running:
            limit.reschedule(None)
        try:
            return await self._ask(replace(wanted, server=self._server))
        finally:
            self._asking -= 1
            if not self._asking:
                end = asyncio.get_running_loop().time() + self._seconds
                for limit in self._running:
                    limit.reschedule(end)


Result = TypeVar("Result")
Page = TypeVar("Page", bound="types.PaginatedResult")

_LONGEST_SAYING = 2_000
_MOST_SAYINGS = 200
_MOST_PAGES = 100
_LONGEST_NAME = 80
_OLD_TASK = (
    "tool {name!r} is left out: it can only be called as a task of protocol 2025-11-25, but "
    "tasks are only supported as the extension of 2026-07-28"
)
_USUAL_VERSION = "2025-11-25"  # the SDK's default before negotiation


class McpConnection:
    """An open connection; create one with `open`."""

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
        """Connect and complete the handshake.

        Args:
            opener: opens the streams.
            seconds: maximum time.
            on_change: called when the server reports changed lists.
            ask: asks the user for input that the server requests; None to refuse such requests.
            is_old: whether its transport only has protocols with a handshake.
            traffic: records each message.

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
        """One sentence for each unreadable entry of its lists."""
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
        """Return every tool, from all pages.

        Raises:
            ServerRefusal: the server returns an error.
            ConnectionLost: the connection ended.
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
            arguments: the arguments.
            tell: receives the server's progress.

        Raises:
            ServerRefusal: the server returns an error.
            ConnectionLost: the connection ended.
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
        """Yield every page of a list, up to a limit for servers that never end."""
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self.request(ask(cursor=cursor, cache_mode="refresh"))
            yield page
            cursor = page.next_cursor
            if not cursor:
                return

    def take_messages(self) -> str:
        """Return the server's log messages in the protocol since the last call."""
        text = "".join(f"{line}\n" for line in self._said)
        self._said.clear()
        return text

    async def close(self) -> None:
        """Close the connection as the protocol requires."""
        self._closing.set()
        if self._task is not None:
            with contextlib.suppress(Exception):
                await asyncio.shield(self._task)

    async def abandon(self) -> None:
        """Close the connection without waiting for the server."""
        self._closing.set()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(BaseException):
                await asyncio.wait({self._task})

    @property
    def client(self) -> Client:
        """The SDK's client for requests.

        Raises:
            ConnectionLost: the connection is closed.
        """
        if self._client is None or self._closing.is_set():
            raise ConnectionLost("the connection is closed")
        return self._client

    async def request(self, request: Awaitable[Result]) -> Result:
        """Return the result of a client's request.

        Raises:
            ServerRefusal: the server returns an error.
            ConnectionLost: the connection ended.
        """
        from mcp import MCPError

        try:
            return await request
        except MCPError as error:
            if "onnection closed" in error.message or not self.is_open:
                raise ConnectionLost(error.message) from error
            raise ServerRefusal(error.message, error.data) from error
        except (RuntimeError, ValueError) as error:
            # A result that violates the tool's output schema, or the protocol.
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
        """Subscribe to list changes at newer servers; older ones report them unasked."""
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
            return  # its lists are requested again after a while

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
    """Return the text of the exception inside a group of exceptions."""
    from mcp import MCPError

    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    if isinstance(error, MCPError) and "onnection closed" not in error.message:
        return f"responds, but not like an MCP server: {error.message}"
    return str(error) or type(error).__name__
