"""A network of ours on loopback: each byte comes late, in order, or not at all."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class Link:
    """A port, and what it leads to."""

    to: int
    held_until: float = 0.0
    ends: set[asyncio.StreamWriter] = field(default_factory=set)


class Network:
    """Delays all that passes its links; stalls them and cuts them when it is told to."""

    def __init__(self, least: float, most: float, seed: int) -> None:
        """Take the seconds that a piece takes, one way."""
        self._least, self._most = least, most
        self._draw = random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._links: dict[int, Link] = {}
        self.carried = 0
        """Bytes that were carried so far."""

    def link(self, to: int) -> int:
        """Open a port that leads to another; gives its number."""
        return asyncio.run_coroutine_threadsafe(self._open(to), self._loop).result()

    def stall(self, port: int, seconds: float) -> None:
        """Let nothing pass for a while; the connections stay."""
        self._links[port].held_until = self._loop.time() + seconds

    def cut(self, port: int) -> None:
        """End all connections of a link at both ends; new ones are taken."""
        self._loop.call_soon_threadsafe(self._cut, self._links[port])

    def run(self) -> None:
        """Carry until `stop`; for a thread."""
        self._loop.run_forever()
        left = asyncio.all_tasks(self._loop)
        for each in left:
            each.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.close()

    def stop(self) -> None:
        """Carry nothing more."""
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _open(self, to: int) -> int:
        link = Link(to)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(asyncio.CancelledError):  # `stop`; the streams would log it
                await self._connection(link, reader, writer)

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = int(server.sockets[0].getsockname()[1])
        self._links[port] = link
        return port

    def _cut(self, link: Link) -> None:
        for each in link.ends:
            each.transport.abort()

    async def _connection(
        self, link: Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", link.to)
        except OSError:
            writer.close()
            return
        link.ends |= {writer, far_writer}
        await asyncio.gather(
            self._one_way(link, reader, far_writer), self._one_way(link, far_reader, writer)
        )
        link.ends -= {writer, far_writer}

    async def _one_way(
        self, link: Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Carry from one end to the other; either's end is the other's."""
        late: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        going = asyncio.create_task(self._deliver(link, late, writer))
        with suppress(OSError):
            while piece := await reader.read(65536):
                self._put(late, piece)
        self._put(late, b"")
        await going

    def _put(self, late: asyncio.Queue[tuple[float, bytes]], piece: bytes) -> None:
        late.put_nowait((self._loop.time() + self._draw.uniform(self._least, self._most), piece))

    async def _deliver(
        self, link: Link, late: asyncio.Queue[tuple[float, bytes]], writer: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError):
            while True:
                due, piece = await late.get()
                while (wait := max(due, link.held_until) - self._loop.time()) > 0:
                    await asyncio.sleep(wait)
                if not piece:
                    break
                self.carried += len(piece)
                writer.write(piece)
                await writer.drain()
        writer.close()


@contextmanager
def slow_network(least: float, most: float, seed: int) -> Iterator[Network]:
    """A network in a thread of its own."""
    network = Network(least, most, seed)
    thread = threading.Thread(target=network.run, name="network", daemon=True)
    thread.start()
    try:
        yield network
    finally:
        network.stop()
        thread.join()
