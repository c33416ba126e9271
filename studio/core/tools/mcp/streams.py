"""The streams of an MCP connection over a child's pipes."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from studio.core.tools.mcp.child import ChildProcess

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCMessage

_LONGEST_UNREAD = 500
_HEAD = 300
_ANSWER = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[^"\\]{1,100}")')

Opener = Callable[[], "AbstractAsyncContextManager[TransportStreams]"]
"""Opens the streams of one transport."""


def over_child(child: ChildProcess, unread: Callable[[str], None] = lambda _: None) -> Opener:
    """Open streams over a child's input and output.

    Args:
        child: the process.
        unread: is told what it wrote that is no message; a banner, mostly.
    """

    @asynccontextmanager
    async def opened() -> AsyncIterator[TransportStreams]:
        yield _ChildReading(child, unread), _ChildWriting(child)

    return opened


class _ChildEnd:
    """One end of a child's pipes; the child itself is ended by who started it."""

    def __init__(self, child: ChildProcess) -> None:
        self._child = child
        self._is_closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Nothing is read or written any more."""
        self._is_closed = True


class _ChildReading(_ChildEnd):
    """The output of a child, without tasks and queues between: a call is twice as fast."""

    def __init__(self, child: ChildProcess, unread: Callable[[str], None]) -> None:
        from mcp.shared.message import SessionMessage

        super().__init__(child)
        self._unread = unread
        self._session_message = SessionMessage

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        import anyio

        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        while not self._is_closed and (line := await self._child.read_line()) is not None:
            message = _message(line, self._unread)
            if message is not None:
                return self._session_message(message)
        raise StopAsyncIteration


class _ChildWriting(_ChildEnd):
    """The input of a child."""

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message."""
        if self._is_closed:
            import anyio

            raise anyio.ClosedResourceError
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        self._child.write(text.encode() + b"\n")


def _message(line: bytes, unread: Callable[[str], None]) -> JSONRPCMessage | None:
    """The message of a line; an answer that cannot be read is one that says so."""
    import mcp_types as types

    try:
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError as error:
        if not line.strip():
            return None
        unread(line[:_LONGEST_UNREAD].decode("utf-8", "replace").strip())
        found = _ANSWER.search(line[:_HEAD]) or _ANSWER.search(line[-_HEAD:])
        if found is None or b'"result"' not in line:
            return None
        lines = str(error).splitlines()[2:3] or [type(error).__name__]
        refusal = types.ErrorData(
            code=types.PARSE_ERROR, message=f"its answer cannot be read: {lines[0].strip()}"
        )
        number = found[1].decode()
        return types.JSONRPCError(
            jsonrpc="2.0", id=number.strip('"') if '"' in number else int(number), error=refusal
        )


def safe_environment() -> dict[str, str]:
    """The variables that a stranger's server inherits: paths and the user's name, no keys."""
    from mcp.client.stdio import get_default_environment

    return get_default_environment()
