"""The streams of an MCP connection, with each message noted as it passes."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from studio.core.tools.traffic import TrafficLog

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, WriteStream
    from mcp.shared.message import SessionMessage


class WatchedReading:
    """What a transport reads."""

    def __init__(self, inner: ReadStream[SessionMessage | Exception], log: TrafficLog) -> None:
        self._inner = inner
        self._log = log

    @property
    def last_context(self) -> object:
        """The context that the newest message was sent in; the SDK looks for it."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        return self._note(await self._inner.receive())

    def __aiter__(self) -> WatchedReading:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return self._note(await self._inner.__anext__())

    async def __aenter__(self) -> WatchedReading:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, trace)

    async def aclose(self) -> None:
        """Close it."""
        await self._inner.aclose()

    def _note(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if isinstance(item, Exception):
            self._log.received(type(item).__name__, str(item), 0)
            return item
        message, text = item.message, _written(item)
        method = getattr(message, "method", "")
        title = method or ("error" if hasattr(message, "error") else "")
        question = None if method else getattr(message, "id", None)
        self._log.received(title, text, len(text.encode()), question)
        return item


class WatchedWriting:
    """What a transport writes."""

    def __init__(self, inner: WriteStream[SessionMessage], log: TrafficLog) -> None:
        self._inner = inner
        self._log = log

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message."""
        message, text = item.message, _written(item)
        method = getattr(message, "method", "")
        question = getattr(message, "id", None) if method else None
        self._log.sent(method or "answer", text, len(text.encode()), question)
        await self._inner.send(item)

    async def __aenter__(self) -> WatchedWriting:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, trace)

    async def aclose(self) -> None:
        """Close it."""
        await self._inner.aclose()


def _written(item: SessionMessage) -> str:
    """A message as it is on the wire."""
    return item.message.model_dump_json(by_alias=True, exclude_unset=True)
