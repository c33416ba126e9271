"""The streams of an MCP connection over a child's pipes, which record each message."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeAlias, TypeVar

from studio.core.tools.mcp.child import ChildProcess
from studio.core.tools.source import TrafficLog

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCMessage


_LONGEST_UNREAD = 500
_HEAD = 300
_ANSWER = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[^"\\]{1,100}")')

Opener = Callable[[], "AbstractAsyncContextManager[TransportStreams]"]
"""Function that opens the streams of a transport."""


def over_child(child: ChildProcess, unread: Callable[[str], None] = lambda _: None) -> Opener:
    """Open streams over a child's input and output.

    Args:
        child: the process.
        unread: receives output that is no message, usually a banner.
    """

    @asynccontextmanager
    async def opened() -> AsyncIterator[TransportStreams]:
        yield _ChildReading(child, unread), _ChildWriting(child)

    return opened


class _ChildEnd:
    """One end of a child's pipes; the child itself is ended by its owner."""

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
        """Close this end; reading and writing stop."""
        self._is_closed = True


class _ChildReading(_ChildEnd):
    """The output of a child, without further tasks and queues: a call takes half the time."""

    def __init__(self, child: ChildProcess, unread: Callable[[str], None]) -> None:
        from mcp.shared.message import SessionMessage

        super().__init__(child)
        self._unread = unread
        self._session_message = SessionMessage

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
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
    """Return the message in a line; an unreadable answer becomes an error message."""
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
    """Return the variables that a third-party server inherits: paths and user name, no keys."""
    from mcp.client.stdio import get_default_environment

    return get_default_environment()


# The streams of an MCP connection, which record each message.

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, TransportStreams, WriteStream
    from mcp.shared.message import SessionMessage

    Reading: TypeAlias = ReadStream[SessionMessage | Exception]
else:
    Reading = object  # the SDK is imported only with the first connection

_LISTS = {
    "tools": ("tools/list", "tool"),
    "prompts": ("prompts/list", "prompt"),
    "resources": ("resources/list", "resource"),
    "resourceTemplates": ("resources/templates/list", "template of resources"),
}

_LONGEST_NAME = 80


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
    """A stream that is opened and closed with an inner one."""

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


def without_bad_entries(
    result: Mapping[str, object], version: str
) -> tuple[dict[str, object], tuple[str, ...]]:
    """Return a result without unreadable list entries, and a sentence for each of them.

    Args:
        result: the result as received.
        version: version of the protocol.
    """
    kept = dict(result)
    remarks: list[str] = []
    for key, (method, kind) in _LISTS.items():
        listed = kept.get(key)
        if not isinstance(listed, list) or not listed:
            continue
        if not _fault(method, version, kept, key):
            continue
        if _fault(method, version, {**kept, key: []}, key):
            continue  # the error concerns no single entry
        good = []
        for place, entry in enumerate(listed, 1):
            fault = _fault(method, version, {**kept, key: [entry]}, key)
            if not fault:
                good.append(entry)
                continue
            name = entry.get("name") if isinstance(entry, Mapping) else None
            shown = repr(str(name)[:_LONGEST_NAME]) if name else f"number {place}"
            remarks.append(f"{kind} {shown} is left out: {fault}")
        kept[key] = good
    return kept, tuple(remarks)


def _fault(method: str, version: str, result: Mapping[str, object], key: str) -> str:
    """Return why a list is unreadable, in a few words; empty if it can be read."""
    from mcp_types import methods
    from pydantic import ValidationError

    try:
        methods.parse_server_result(method, version, result)
    except KeyError:
        return ""  # a list that this version does not know
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        steps = [str(step) for step in first["loc"]]
        at = steps[steps.index(key) + 2 :] if key in steps else steps
        return f"{'.'.join(at)}: {first['msg']}" if at else first["msg"]
    except ValueError as error:
        return str(error)
    return ""


class WatchedReading(StreamAround[Reading]):
    """The incoming messages of a transport: recorded, and without invalid list entries."""

    def __init__(
        self,
        inner: ReadStream[SessionMessage | Exception],
        log: TrafficLog,
        version: Callable[[], str],
        leave_out: Callable[[str], None],
    ) -> None:
        """Wrap a stream.

        Args:
            inner: the transport's stream.
            log: records each message.
            version: returns the version of the protocol, if it is negotiated.
            leave_out: receives a sentence for each removed entry.
        """
        super().__init__(inner)
        self._log = log
        self._version = version
        self._leave_out = leave_out

    @property
    def last_context(self) -> object:
        """The context of the newest message, which the SDK reads."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        return self._passed(await self._inner.receive())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return self._passed(await self._inner.__anext__())

    def _passed(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if isinstance(item, Exception):
            self._log.received(type(item).__name__, str(item), 0)
            return item
        text, given = _written(item), vars(item.message)
        method = given.get("method", "")
        title = method or ("error" if "error" in given else "")
        self._log.received(title, text, len(text.encode()), None if method else given.get("id"))
        result = given.get("result", {})
        return item if _LISTS.keys().isdisjoint(result) else self._sifted(item, result)

    def _sifted(self, item: SessionMessage, result: Mapping[str, object]) -> SessionMessage:
        kept, remarks = without_bad_entries(result, self._version())
        if not remarks:
            return item
        for text in remarks:
            self._leave_out(text)
        return replace(item, message=item.message.model_copy(update={"result": kept}))


class WatchedWriting(StreamAround["WriteStream[SessionMessage]"]):
    """The outgoing messages of a transport."""

    def __init__(self, inner: WriteStream[SessionMessage], log: TrafficLog) -> None:
        super().__init__(inner)
        self._log = log

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message."""
        text, given = _written(item), vars(item.message)
        method = given.get("method", "")
        question = given.get("id") if method else None
        self._log.sent(method or "answer", text, len(text.encode()), question)
        await self._inner.send(item)


@asynccontextmanager
async def watched(
    opener: Opener,
    version: Callable[[], str],
    leave_out: Callable[[str], None],
    traffic: TrafficLog,
) -> AsyncIterator[TransportStreams]:
    """Wrap both streams of a transport.

    Args:
        opener: opens the streams.
        version: returns the version of the protocol.
        leave_out: receives a sentence for each unreadable list entry.
        traffic: records each message.
    """
    async with opener() as (read, write):
        yield WatchedReading(read, traffic, version, leave_out), WatchedWriting(write, traffic)


def _written(item: SessionMessage) -> str:
    """Return a message as sent."""
    return item.message.model_dump_json(by_alias=True, exclude_unset=True)
