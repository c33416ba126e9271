"""A stream of an MCP connection inside of another one, as the SDK wants its streams to be."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeAlias, TypeVar

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream
    from mcp.shared.message import SessionMessage

    Reading: TypeAlias = ReadStream[SessionMessage | Exception]
else:
    Reading = object  # the SDK is imported with the first connection only


class _Stream(Protocol):
    async def __aenter__(self) -> object: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> bool | None: ...

    async def aclose(self) -> None: ...


Stream = TypeVar("Stream", bound=_Stream)


class StreamAround(Generic[Stream]):
    """Opened and closed with the one inside."""

    def __init__(self, inner: Stream) -> None:
        """Wrap a stream."""
        self._inner = inner

    async def __aenter__(self) -> Self:
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


class ReadingAround(StreamAround[Reading]):
    """What a transport reads, each item looked at as it passes."""

    @property
    def last_context(self) -> object:
        """The context that the newest message was sent in; the SDK looks for it."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        return self.passed(await self._inner.receive())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return self.passed(await self._inner.__anext__())

    def passed(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        """What goes on in the place of an item."""
        return item
