"""A reply on its way: the data of its events, by packets of the network."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from studio.core.models.base import ModelError
from studio.core.models.remote.sdk import raised
from studio.core.text.foreign_json import is_json, parse_json
from studio.core.wire.server_events import EventSplitter, LineSplitter, ServerEvent

if TYPE_CHECKING:
    from openai import AsyncStream

_MOST_WAITING = 1000
_LAST_BYTES_SECONDS = 0.05
"""How long the last bytes after `[DONE]` may take; a connection that was read to its end serves
the next request too, without another handshake."""


class EventStream:
    """A reply on its way."""

    def __init__(
        self, stream: AsyncStream[object], fault: Callable[[Exception], ModelError]
    ) -> None:
        """Take what was begun.

        Args:
            stream: the SDK's.
            fault: names what breaks it.
        """
        self._stream = stream
        self._fault = fault
        self._come: list[object] = []
        self._news, self._room = asyncio.Event(), asyncio.Event()
        self._reading: asyncio.Task[None] | None = None
        self.is_done = False
        """Whether the server has said `[DONE]`."""

    @property
    def content_type(self) -> str:
        """What the server says it sends, in lower case."""
        return str(self._stream.response.headers.get("content-type", "")).lower()

    @property
    def is_events(self) -> bool:
        """Whether it is a stream of events, and not one body."""
        return self.content_type.startswith("text/event-stream") or self._is_lines

    @property
    def _is_lines(self) -> bool:
        return self.content_type.startswith("application/x-ndjson")

    async def some(self) -> list[object]:
        """The data of all events that have come by now, at least one; empty at the end.

        A network packet holds dozens of events of a fast model: together they cost one turn of the
        loop instead of one each.

        Raises:
            ModelError: the stream broke or holds something else; what came before was given.
        """
        if self._reading is None:
            self._reading = asyncio.create_task(self._read_on())
        if not self._come and not self.is_done and not self._reading.done():
            self._news.clear()
            await self._news.wait()
        taken, self._come = self._come, []
        self._room.set()
        if not taken and not self.is_done:
            await self._reading  # it is over; what broke it is raised here
        return taken

    async def _read_on(self) -> None:
        """Take every event, but not far ahead of who reads them."""
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
        """All of a reply that is no stream of events.

        Raises:
            ModelError: the connection broke.
        """
        try:
            return (await self._stream.response.aread()).decode(errors="replace")
        except raised() as error:
            raise self._fault(error) from None

    async def close(self) -> None:
        """Break off: the server sees the connection close, unless it has said all."""
        if self._reading is not None:
            if self.is_done:
                await asyncio.wait({self._reading}, timeout=_LAST_BYTES_SECONDS)
            self._reading.cancel()
            await asyncio.wait({self._reading})
            if not self._reading.cancelled():
                self._reading.exception()  # looked at: nobody waits for it any more
        await self._stream.close()
