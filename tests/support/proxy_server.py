"""A proxy on loopback: it tunnels and forwards to one port, whatever it was asked for."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from tests.support.serving import serving


@dataclass
class ProxyServer:
    """What a proxy saw; handed to the test by `proxy_server`."""

    to: int
    """Port on this machine that everything goes on to."""

    login: str = ""
    """`name:password` that it wants; empty for nobody's."""

    refuse: str = ""
    """Status line with which it refuses all tunnels, such as `403 Forbidden`."""

    port: int = 0
    asked: list[str] = field(default_factory=list)
    """First lines of HTTP requests, or `SOCKS host:port`."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection."""
        try:
            first = await reader.readexactly(1)
            if first == b"\x05":
                await self._socks(reader, writer)
            else:
                await self._http(first, reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            return  # the client went away
        finally:
            writer.close()

    async def _http(
        self, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        head = first + await reader.readuntil(b"\r\n\r\n")
        line = head.decode().partition("\r\n")[0]
        self.asked.append(line)
        wanted = b"basic " + base64.b64encode(self.login.encode()).lower()
        if self.login and wanted not in head.lower():
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
        elif line.startswith("CONNECT") and self.refuse:
            writer.write(f"HTTP/1.1 {self.refuse}\r\ncontent-length: 0\r\n\r\n".encode())
        elif line.startswith("CONNECT"):
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await self._carry(b"", reader, writer)
        else:
            await self._carry(head, reader, writer)
        await writer.drain()

    async def _socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """RFC 1928, and RFC 1929 for the login."""
        methods = await reader.readexactly((await reader.readexactly(1))[0])
        method = 2 if self.login else 0
        writer.write(bytes((5, method if method in methods else 255)))
        if method not in methods:
            await writer.drain()
            return
        if self.login:
            await reader.readexactly(1)
            name = await reader.readexactly((await reader.readexactly(1))[0])
            password = await reader.readexactly((await reader.readexactly(1))[0])
            is_right = f"{name.decode()}:{password.decode()}" == self.login
            writer.write(bytes((1, 0 if is_right else 1)))
            if not is_right:
                await writer.drain()
                return
        kind = (await reader.readexactly(4))[3]
        assert kind == 3, "a name is looked up by the proxy"
        host = await reader.readexactly((await reader.readexactly(1))[0])
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.asked.append(f"SOCKS {host.decode()}:{port}")
        writer.write(bytes((5, 0, 0, 1, 127, 0, 0, 1, 0, 0)))
        await self._carry(b"", reader, writer)

    async def _carry(
        self, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        there, onward = await asyncio.open_connection("127.0.0.1", self.to)
        onward.write(first)
        try:
            await asyncio.gather(_copy(reader, onward), _copy(there, writer))
        finally:
            onward.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof() if writer.can_write_eof() else writer.close()


@asynccontextmanager
async def proxy_server(to: int, login: str = "", refuse: str = "") -> AsyncIterator[ProxyServer]:
    """Run a proxy in the test's own loop until the block ends."""
    proxy = ProxyServer(to, login, refuse)
    async with serving(proxy.serve) as proxy.port:
        yield proxy
