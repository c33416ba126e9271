"""The streams that an MCP connection speaks over: a child's pipes, or streamable HTTP.

With `mcp_connection.py` and `server.py` one of the three files that know the `mcp` SDK.
"""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from studio.core.tools.mcp.child import ChildProcess

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

Opener = Callable[[], "AbstractAsyncContextManager[TransportStreams]"]
"""Opens the streams of one transport."""


def over_child(child: ChildProcess) -> Opener:
    """Streams over a child's input and output; lines that are no messages are left out."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[TransportStreams]:
        import anyio
        from mcp.shared.message import SessionMessage

        incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)

        async def reader() -> None:
            import mcp_types as types

            async with incoming:
                while (line := await child.read_line()) is not None:
                    try:
                        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError:
                        continue
                    await incoming.send(SessionMessage(message))

        async def writer() -> None:
            async with outgoing:
                async for item in outgoing:
                    text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                    child.write(text.encode() + b"\n")

        async with anyio.create_task_group() as group:
            group.start_soon(reader)
            group.start_soon(writer)
            try:
                yield read, write
            finally:
                group.cancel_scope.cancel()
                for stream in (read, write, incoming, outgoing):
                    stream.close()

    return opened


def over_http(url: str, headers: Mapping[str, str]) -> Opener:
    """Streams over streamable HTTP."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[TransportStreams]:
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        # A server may hold a response open while a tool works: the call has its own limit.
        timeout = httpx2.Timeout(30.0, read=300.0)
        async with (
            httpx2.AsyncClient(headers=dict(headers), timeout=timeout) as http,
            streamable_http_client(url, http_client=http) as streams,
        ):
            yield streams

    return opened


def safe_environment() -> dict[str, str]:
    """The variables that a stranger's server inherits: paths and the person's name, no keys."""
    from mcp.client.stdio import get_default_environment

    return get_default_environment()


def command_line(command: str, arguments: Sequence[str]) -> str:
    """A command as a person reads it, in messages."""
    return shlex.join([command, *arguments])
