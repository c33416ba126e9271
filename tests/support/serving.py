"""A server on loopback in the test's own loop that leaves no connection open."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

Serve: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""Answers one connection."""

_ACCEPTING = 4
"""Turns of the loop from a connection that was accepted to the one that is served."""


@asynccontextmanager
async def serving(answer: Serve, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Listen on a free port until the block ends; gives the port.

    Every connection is over then, also one that came a moment before. A task that is canceled
    before its first step runs no `finally`, so an answer cannot see to it alone.
    """
    met: list[asyncio.StreamWriter] = []
    tasks: list[asyncio.Future[None]] = []

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met.append(writer)
        tasks.append(asyncio.ensure_future(answer(reader, writer)))

    listening = await asyncio.start_server(begin, "127.0.0.1", 0, ssl=tls)
    try:
        yield int(listening.sockets[0].getsockname()[1])
    finally:
        # Before 3.13 `close` leaves a socket open that was accepted in the same turn of the loop.
        for each in listening.sockets:
            with suppress(NotImplementedError):  # the loop of Windows has no readers
                asyncio.get_running_loop().remove_reader(each.fileno())
        for _ in range(_ACCEPTING):
            await asyncio.sleep(0)
        listening.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in met:
            writer.transport.abort()
        await asyncio.gather(*(each.wait_closed() for each in met), return_exceptions=True)
