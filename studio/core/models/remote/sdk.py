"""The openai package: its client and its exceptions.

Retries and time limits are not the package's but the studio's: the user sees and can stop each
retry, and a reply may take minutes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any

from studio.core.models.base import ModelError
from studio.core.models.connections import Connection, address_of
from studio.core.models.secrets import Secret
from studio.core.text.values import is_json, parse_json
from studio.core.whole_imports import import_whole
from studio.core.wire.events import EventSplitter, LineSplitter, ServerEvent

if TYPE_CHECKING:
    from httpx2 import AsyncHTTPTransport
    from openai import APIStatusError, AsyncOpenAI, AsyncStream


_CONNECT_SECONDS = 10.0
_ANTHROPIC_VERSION = "2023-06-01"


def raised() -> tuple[type[Exception], ...]:
    """Return the exceptions that the SDK and its layers raise for network and server errors."""
    import_whole("openai", "httpx2")
    import httpx2
    import openai

    return (
        openai.OpenAIError,
        httpx2.HTTPError,
        httpx2.InvalidURL,
        httpx2.StreamError,
        OSError,  # includes TimeoutError
        ValueError,  # no JSON, no UTF-8, or JSON beyond a limit
    )


def option_names(api_type: str) -> Collection[str]:
    """Return the SDK's arguments for a request of chat completions or Responses."""
    import_whole("openai")
    from openai.resources import chat, responses

    create = responses.Responses.create if api_type == "responses" else chat.Completions.create
    return signature(create).parameters.keys()


def whole_body(error: APIStatusError) -> object:
    """Return the server's whole error, since the SDK gives only the part under `error`."""
    if not isinstance(error.body, str):
        return error.body
    try:
        whole = parse_json(error.response.text)
    except (ValueError, RuntimeError):  # no JSON, or the body was not read
        return error.body
    return whole


def make_client(
    connection: Connection, key: Secret | None, transport: AsyncHTTPTransport
) -> AsyncOpenAI:
    """Create the SDK's client, without retries of its own.

    The SDK's organization and project from the environment are sent only to OpenAI.
    """
    import_whole("openai", "httpx2")
    import httpx2
    from openai import AsyncAzureOpenAI, AsyncOpenAI, DefaultAsyncHttpxClient, Omit

    from studio.core.wire.bounded import BoundedTransport, ReplyBounds

    most = int(connection.reply_megabytes * 1024**2)
    bounds = ReplyBounds(
        most,
        min(most, int(connection.event_megabytes * 1024**2)),
        int(connection.error_kilobytes * 1024),
    )
    bounded = BoundedTransport(transport, bounds)
    headers: dict[str, Any] = dict(connection.headers)
    if connection.kind == "anthropic":
        headers = {"anthropic-version": _ANTHROPIC_VERSION, **headers}
    if connection.kind != "openai":
        headers |= {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
    shared: dict[str, Any] = {
        "max_retries": 0,
        "timeout": httpx2.Timeout(None, connect=_CONNECT_SECONDS),
        "default_headers": headers,
        "http_client": DefaultAsyncHttpxClient(transport=bounded),
    }
    value = key.reveal() if key else "none"
    if connection.kind == "azure" and connection.api_version:
        return AsyncAzureOpenAI(
            api_key=value,
            azure_endpoint=connection.base_url,
            api_version=connection.api_version,
            **shared,
        )
    return AsyncOpenAI(api_key=value, base_url=address_of(connection), **shared)


# A stream of events, received in network packets.

_MOST_WAITING = 1000
_LAST_BYTES_SECONDS = 0.05
"""Timeout for the last bytes after `[DONE]`, in seconds; a connection that was read to its end can
be reused without another handshake.
"""


class EventStream:
    """The response to a request, while it is received."""

    def __init__(
        self, stream: AsyncStream[object], fault: Callable[[Exception], ModelError]
    ) -> None:
        """Take an open stream.

        Args:
            stream: the SDK's stream.
            fault: converts its exceptions.
        """
        self._stream = stream
        self._fault = fault
        self._come: list[object] = []
        self._news, self._room = asyncio.Event(), asyncio.Event()
        self._reading: asyncio.Task[None] | None = None
        self.is_done = False
        """Whether the server has sent `[DONE]`."""

    @property
    def content_type(self) -> str:
        """Content type of the response, in lower case."""
        return str(self._stream.response.headers.get("content-type", "")).lower()

    @property
    def is_events(self) -> bool:
        """Whether the response is a stream of events instead of one body."""
        return self.content_type.startswith("text/event-stream") or self._is_lines

    @property
    def _is_lines(self) -> bool:
        return self.content_type.startswith("application/x-ndjson")

    async def some(self) -> list[object]:
        """Return the data of all events received so far, at least one; empty at the end.

        A network packet contains dozens of events of a fast model; returning them together needs
        only one turn of the event loop.

        Raises:
            ModelError: the stream broke or is invalid; earlier events were returned.
        """
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_on())
        if not self._come and not self.is_done and not self._reading.done():
            self._news.clear()
            await self._news.wait()
        taken, self._come = self._come, []
        self._room.set()
        if not taken and not self.is_done:
            await self._reading  # the reading task has ended; its exception is raised here
        return taken

    async def _read_on(self) -> None:
        """Read events into the buffer, up to a limit ahead of the reader."""
        events = LineSplitter() if self._is_lines else EventSplitter()
        try:
            async for piece in self._stream.response.aiter_bytes():
                for event in events.feed(piece):
                    self._take(event)
                if self.is_done:
                    self._news.set()
                elif len(self._come) >= _MOST_WAITING:
                    self._room.clear()
                    await self._room.wait()
            last = events.close()
            if last is not None and (last.data.startswith("[DONE]") or is_json(last.data)):
                self._take(last)
        except raised() as error:
            raise self._fault(error) from None
        finally:
            self._news.set()

    def _take(self, event: ServerEvent) -> None:
        if self.is_done:
            return
        if event.data.startswith("[DONE]"):
            self.is_done = True
            return
        value: object = parse_json(event.data)
        if event.name == "error" and not (isinstance(value, Mapping) and value.get("error")):
            value = {"error": value}
        self._come.append(value)
        self._news.set()

    async def body(self) -> str:
        """Return the whole body of a reply that is not a stream of events.

        Raises:
            ModelError: the connection broke.
        """
        try:
            return (await self._stream.response.aread()).decode(errors="replace")
        except raised() as error:
            raise self._fault(error) from None

    async def close(self) -> None:
        """Close the stream; the server sees this unless it has sent everything."""
        if self._reading is not None:
            if self.is_done and not self._reading.done():
                await asyncio.wait({self._reading}, timeout=_LAST_BYTES_SECONDS)
            if not self._reading.done():
                self._reading.cancel()
                await asyncio.wait({self._reading})
            if not self._reading.cancelled():
                self._reading.exception()  # retrieved, so that asyncio does not report it
        await self._stream.close()
