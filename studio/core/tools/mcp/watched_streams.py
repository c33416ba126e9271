"""The streams of an MCP connection, with each message noted as it passes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from studio.core.tools.mcp.sifting import SiftedStream
from studio.core.tools.mcp.stream_around import ReadingAround, StreamAround
from studio.core.tools.mcp.streams import Opener
from studio.core.tools.traffic import TrafficLog

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, TransportStreams, WriteStream
    from mcp.shared.message import SessionMessage


class WatchedReading(ReadingAround):
    """What a transport reads."""

    def __init__(self, inner: ReadStream[SessionMessage | Exception], log: TrafficLog) -> None:
        super().__init__(inner)
        self._log = log

    def passed(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        """The same; it is noted."""
        if isinstance(item, Exception):
            self._log.received(type(item).__name__, str(item), 0)
            return item
        message, text = item.message, _written(item)
        method = getattr(message, "method", "")
        title = method or ("error" if hasattr(message, "error") else "")
        question = None if method else getattr(message, "id", None)
        self._log.received(title, text, len(text.encode()), question)
        return item


class WatchedWriting(StreamAround["WriteStream[SessionMessage]"]):
    """What a transport writes."""

    def __init__(self, inner: WriteStream[SessionMessage], log: TrafficLog) -> None:
        super().__init__(inner)
        self._log = log

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message."""
        message, text = item.message, _written(item)
        method = getattr(message, "method", "")
        question = getattr(message, "id", None) if method else None
        self._log.sent(method or "answer", text, len(text.encode()), question)
        await self._inner.send(item)


@asynccontextmanager
async def watched(
    opener: Opener,
    version: Callable[[], str],
    leave_out: Callable[[str], None],
    traffic: TrafficLog,
) -> AsyncIterator[TransportStreams]:
    """Both streams of a transport.

    Args:
        opener: makes them.
        version: of the protocol that is spoken.
        leave_out: told what of a list cannot be read.
        traffic: notes each message.
    """
    async with opener() as (read, write):
        sifted = SiftedStream(WatchedReading(read, traffic), version, leave_out)
        yield sifted, WatchedWriting(write, traffic)


def _written(item: SessionMessage) -> str:
    """A message as it is on the wire."""
    return item.message.model_dump_json(by_alias=True, exclude_unset=True)
