"""The streams of an MCP connection over HTTP: streamable, or with events.

HTTP errors of a server are recorded, since the SDK's client does not pass them on. This module
imports the SDK, so import it only after `import_packages`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from studio.core.tools.mcp.connection import HttpNotes
from studio.core.tools.mcp.streams import Opener
from studio.core.wire.bounded import BoundedTransport, ReplyBounds, TooMuchError

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_CONNECT_SECONDS = 30.0
_READ_SECONDS = 300.0
_LONGEST_QUOTE = 300
_HINTS = {
    401: "it needs a login: set a key in the headers of the server's settings",
    403: "its key does not allow this",
    404: "nothing responds at this address; an old server may have another one for events (/sse)",
    405: "this address accepts no messages; an old server may have another one for events (/sse)",
    406: "it does not support streamable HTTP",
}


def over_http(
    url: str,
    headers: Mapping[str, str],
    most: int,
    notes: HttpNotes,
    auth: httpx2.Auth | None = None,
) -> Opener:
    """Open streams over streamable HTTP.

    Args:
        url: address of the endpoint.
        headers: headers of each request.
        most: maximum size of an answer or an event after decompression, in bytes.
        notes: records what the SDK does not pass on.
        auth: adds a token to each request.
    """

    @asynccontextmanager
    async def opened() -> AsyncIterator[TransportStreams]:
        # A server may keep a response open while a tool works: the call has its own time limit.
        timeout = httpx2.Timeout(_CONNECT_SECONDS, read=_READ_SECONDS)
        transport = _NotedTransport(url, most, notes)
        async with (
            httpx2.AsyncClient(
                headers=dict(headers), timeout=timeout, transport=transport, auth=auth
            ) as http,
            streamable_http_client(url, http_client=http, max_sse_event_size=None) as streams,
        ):
            yield streams

    return opened


def over_events(
    url: str,
    headers: Mapping[str, str],
    most: int,
    notes: HttpNotes,
    auth: httpx2.Auth | None = None,
) -> Opener:
    """Open streams over HTTP with server-sent events, the transport of MCP before 2025-03-26.

    Args:
        url: the address of the events.
        headers: headers of each request.
        most: maximum size of an event after decompression, in bytes.
        notes: records what the SDK does not pass on.
        auth: adds a token to each request.
    """

    @asynccontextmanager
    async def opened() -> AsyncIterator[TransportStreams]:
        def client(
            headers: dict[str, str] | None = None,
            timeout: httpx2.Timeout | None = None,
            auth: httpx2.Auth | None = None,
        ) -> httpx2.AsyncClient:
            transport = _NotedTransport(url, most, notes)
            return httpx2.AsyncClient(
                headers=headers, timeout=timeout, auth=auth, transport=transport
            )

        async with sse_client(
            url, dict(headers), _CONNECT_SECONDS, _READ_SECONDS, client, auth
        ) as streams:
            yield streams

    return opened


class AnswerTooLargeError(httpx2.StreamError):
    """Raised when a limit is exceeded, as an error that the SDK handles."""

    def __init__(self, error: TooMuchError) -> None:
        super().__init__(str(error))


class _NotedTransport(httpx2.AsyncBaseTransport):
    """A transport with limits that records the content of HTTP errors."""

    def __init__(self, url: str, most: int, notes: HttpNotes) -> None:
        bounds = ReplyBounds(body=most, event=most, is_endless=True)
        self._inner = BoundedTransport(_transport_to(url), bounds)
        self._notes = notes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, and inspect the response."""
        try:
            answer = await self._inner.handle_async_request(request)
        except httpx2.HTTPError as error:
            self._notes.failure = f"cannot be reached: {error}"
            raise
        assert isinstance(answer.stream, httpx2.AsyncByteStream)
        stream = _NotedStream(answer.stream, self._notes)
        made = httpx2.Response(
            answer.status_code,
            headers=answer.headers.raw,
            stream=stream,
            extensions=answer.extensions,
        )
        self._notes.failure = ""
        self._notes.status = made.status_code
        if made.status_code >= 400:
            self._notes.failure = await _refusal(made)
        return made

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class _NotedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, notes: HttpNotes) -> None:
        self._inner = inner
        self._notes = notes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._inner:
                yield piece
        except TooMuchError as error:
            self._notes.failure = f"its answer was not read: {error}"
            raise AnswerTooLargeError(error) from error

    async def aclose(self) -> None:
        """Close the connection."""
        await self._inner.aclose()


def _transport_to(url: str) -> httpx2.AsyncHTTPTransport:
    """Return the transport to a server, through the system's proxy if there is one."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    proxies = getproxies()
    way = proxies.get(parts.scheme) or proxies.get("all")
    is_direct = not way or proxy_bypass(host) or host in ("localhost", "127.0.0.1", "::1")
    return httpx2.AsyncHTTPTransport(proxy=None if is_direct else way)


async def _refusal(answer: httpx2.Response) -> str:
    """Return status, meaning and message of an HTTP error, reading the body up to a limit."""
    text = " ".join((await answer.aread()).decode("utf-8", "replace").split())
    status = f"HTTP {answer.status_code} {answer.reason_phrase}".strip()
    hint = _HINTS.get(answer.status_code, "")
    is_page = text[:1] == "<"
    words = text[:_LONGEST_QUOTE] if text and not is_page else ""
    return ": ".join(part for part in (status, hint, words) if part)
