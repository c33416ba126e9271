"""The lists and results of an MCP server as values of ours."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json, JsonObject
from studio.core.tools.source import ToolPicture

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.client.context import ClientRequestContext
    from mcp.client.session import ElicitationFnT


_MOST_PICTURES = 20


@dataclass
class HttpNotes:
    """The HTTP responses of a server, beside the protocol."""

    failure: str = ""
    """Its last refusal, or the bound that its last answer passed; empty after a good answer."""

    status: int = 0
    """The status of its last answer; 0 before there is one."""


class ServerRefusal(Exception):  # noqa: N818 - an answer, not a failure of ours
    """The server answered a request with a protocol error."""

    def __init__(self, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.message = message
        """The server's words."""
        self.data = data
        """Data of the error."""


class ConnectionLost(Exception):  # noqa: N818 - names the state
    """The server went away before it answered."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a call from a server."""

    text: str
    """The content as text; anything but text is described in square brackets."""

    is_error: bool = False
    """Whether the tool says that it failed."""

    structured: Json = None
    """Structured content, where the server sent some."""

    meta: JsonObject = field(default_factory=dict)
    """The result's `_meta`."""

    pictures: tuple[ToolPicture, ...] = ()
    """Its pictures and audio."""


def is_old_task(tool: types.Tool, version: str) -> bool:
    """Whether a tool can only be called as a task of the protocol that had tasks of its own."""
    if version != "2025-11-25" or tool.execution is None:
        return False
    return tool.execution.task_support == "required"


def listed_tool(tool: types.Tool, source: str) -> ToolSpec:
    """A tool of the SDK as ours; one that does not say that it only reads may have effects."""
    hint = tool.annotations.read_only_hint if tool.annotations else None
    return ToolSpec(
        tool.name,
        tool.description or "",
        tool.input_schema,
        kind="mcp",
        returns=tool.output_schema or {},
        source=source,
        # MCP: a tool that does not say that it only reads may change something.
        has_effects=not hint,
        reads_only=hint is True,
    )


def block_pictures(blocks: Iterable[object]) -> tuple[ToolPicture, ...]:
    """The pictures and the audio among blocks of content, at most a few."""
    found = []
    for block in blocks:
        if getattr(block, "type", "") == "text":
            continue  # a model of pydantic is slow to say what it does not have
        inner = getattr(block, "resource", None) or block
        data = getattr(inner, "data", None) or getattr(inner, "blob", None)
        kind = getattr(inner, "mime_type", None) or ""
        if isinstance(data, str) and kind.startswith(("image/", "audio/", "application/pdf")):
            found.append(ToolPicture(kind, data))
    return tuple(found[:_MOST_PICTURES])


def block_text(block: object) -> str:
    """A block of content as text; anything but text is described in square brackets."""
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


# What a server wants to know of the user while a tool works: elicitation, in MCP's word.


@dataclass(frozen=True, slots=True)
class InputWanted:
    """A server asks: by a form, or by a page to be opened."""

    message: str
    """Text of the question."""

    schema: JsonObject = field(default_factory=dict)
    """Schema of the form: an object of texts, numbers, choices."""

    url: str = ""
    """The page to open; empty for a form."""

    server: str = ""
    """Which server asks, for people."""


@dataclass(frozen=True, slots=True)
class InputGiven:
    """The user's answer."""

    action: Literal["accept", "decline", "cancel"]
    """Given, refused, or neither."""

    content: Mapping[str, Any] = field(default_factory=dict)
    """Contents of the form."""


AskForInput: TypeAlias = Callable[[InputWanted], Awaitable[InputGiven]]
"""Asks the user; runs in the loop, and is cancelled with the call."""


def asker(ask: AskForInput) -> ElicitationFnT:
    """The SDK's callback for a way to ask."""

    async def answer(
        context: ClientRequestContext,
        params: types.ElicitRequestParams,
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
    """The limits of the calls that run; which call a question is of, a server need not say."""

    def __init__(self, seconds: float, ask: AskForInput | None, server: str = "") -> None:
        """Make them.

        Args:
            seconds: the longest time of a call.
            ask: asks the user for what the server wants to know.
            server: which server it is, for people.
        """
        self._server = server
        self._seconds = seconds
        self._ask = ask
        self._running: set[asyncio.Timeout] = set()
        self._asking = 0

    @property
    def ask(self) -> AskForInput | None:
        """Asks the user, without using up a call's time; None if there is no user to ask."""
        return self._ask_user if self._ask is not None else None

    def limit(self) -> asyncio.Timeout:
        """The limit of a call that begins; to be entered."""
        return asyncio.timeout(None if self._asking else self._seconds)

    @contextmanager
    def running(self, limit: asyncio.Timeout) -> Iterator[None]:
        """Run a call; its time limit is suspended while the user is asked."""
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
