"""What an MCP server sends is read within bounds, over pipes and HTTP, and the bound is said."""

from __future__ import annotations

import asyncio
import json
import sys
import time
import zlib
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from studio.core.tools.mcp.server_config import HttpServer, StdioServer
from studio.core.tools.mcp.source import McpSource
from studio.core.tools.source import ToolLimits, ToolSourceError
from tests.support import patience
from tests.support.serving import serving

MEGABYTE = 1024**2
LIMITS = ToolLimits(patience.SECONDS, patience.SECONDS, answer_megabytes=1.0)
JSON, EVENTS = "application/json", "text/event-stream"
Send = Callable[[bytes], Awaitable[None]]
Answer = Callable[[Send, int], Awaitable[None]]

STDIO = """
import json, sys
print("Welcome to the server!", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    head = '{"jsonrpc": "2.0", "id": ' + json.dumps(asked["id"]) + ', "result": '
    if asked["method"] == "initialize":
        print(head + json.dumps({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
              "serverInfo": {"name": "s", "version": "1"}}) + "}", flush=True)
    elif asked["method"] == "tools/list":
        print(head + json.dumps({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]})
              + "}", flush=True)
    elif asked["method"] == "tools/call":
        print(head + ANSWER + "}", flush=True)
    else:
        print('{"jsonrpc": "2.0", "id": ' + json.dumps(asked["id"])
              + ', "error": {"code": -32601, "message": "no"}}', flush=True)
"""
HUGE = '{"structuredContent": {"n": 1%s}, "content": []}'
TEXT = '{"content": [{"type": "text", "text": "%s"}]}'


def over_pipes(tmp_path: Path, answer: str) -> McpSource:
    """A server whose calls are answered by an expression of Python."""
    path = tmp_path / "server.py"
    path.write_text(STDIO.replace("ANSWER", f"({answer})"), encoding="utf-8")
    return McpSource("s", StdioServer(sys.executable, (str(path),)), limits=LIMITS)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (f"{TEXT!r}.replace('%s', 'x' * 2_000_000)", "an answer of more than 1 MB"),
        ("'[' * 100_000 + ']' * 100_000", "cannot be read"),
        (
            '\'{"structuredContent": {"n": 1\' + "0" * 5000 + \'}, "content": []}\'',
            "cannot be read",
        ),
    ],
)
async def test_an_answer_over_pipes_beyond_a_bound_ends_the_call(
    tmp_path: Path, answer: str, said: str
) -> None:
    source = over_pipes(tmp_path, answer)
    try:
        outcome = await source.call("t", {})
        assert outcome.status in ("crashed", "error")
        assert said in outcome.text
    finally:
        await source.close()


async def test_a_banner_on_the_output_is_passed_over_and_told(tmp_path: Path) -> None:
    source = over_pipes(tmp_path, repr(TEXT % "fine"))
    try:
        assert (await source.call("t", {})).text == "fine"
        assert "Welcome to the server!" in source.log
    finally:
        await source.close()


async def test_a_program_that_is_no_server_is_told_with_its_words(tmp_path: Path) -> None:
    path = tmp_path / "server.py"
    path.write_text("print('usage: server PORT', flush=True)\ninput()\n", encoding="utf-8")
    began = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(path), stdin=PIPE, stdout=PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"usage: server PORT\n"
    process.kill()
    await process.communicate()
    # What a start takes here and now, and more: a busy machine needs longer.
    limits = ToolLimits(start_seconds=1 + 4 * (time.monotonic() - began))
    source = McpSource("s", StdioServer(sys.executable, (str(path),)), limits=limits)
    with pytest.raises(ToolSourceError, match="usage: server PORT"):
        await source.list_tools()
    await source.close()


@asynccontextmanager
async def http_server(kind: str, answer: Answer, head: str = "") -> AsyncIterator[str]:
    """A server of MCP over HTTP as small as can be, whose calls are answered by a function."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def send(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        try:
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    (
                        int(line[15:])
                        for line in request.lower().split(b"\r\n")
                        if line.startswith(b"content-length:")
                    ),
                    0,
                )
                asked = json.loads(await reader.readexactly(length) or b"{}")
                await respond(send, asked)
                if asked.get("method") == "tools/call":
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def respond(send: Send, asked: dict[str, object]) -> None:
        number = asked.get("id")
        results = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "s", "version": "1"},
            },
            "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]},
        }
        method = str(asked.get("method"))
        if method == "tools/call":
            await send(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{head}\r\n".encode())
            assert isinstance(number, int)
            await answer(send, number)
            return
        if number is None:
            await send(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
            return
        said: dict[str, object] = {"jsonrpc": "2.0", "id": number}
        if method in results:
            said["result"] = results[method]
        else:
            said["error"] = {"code": -32601, "message": "no"}
        body = json.dumps(said).encode()
        about = f"Content-Type: {JSON}\r\nContent-Length: {len(body)}\r\n\r\n"
        await send(f"HTTP/1.1 200 OK\r\n{about}".encode() + body)

    async with serving(serve) as port:
        yield f"http://127.0.0.1:{port}/mcp"


def result(number: int, text: str) -> bytes:
    return b'{"jsonrpc": "2.0", "id": %d, "result": %s}' % (number, (TEXT % text).encode())


async def endless(send: Send, _: int) -> None:
    await send(b'{"jsonrpc": "2.0", "result": "')
    for _ in range(4096):
        await send(b"x" * 65_536)
    raise AssertionError("the client read 256 MB")


async def endless_event(send: Send, _: int) -> None:
    await send(b"data: ")
    for _ in range(4096):
        await send(b"x" * 65_536)
    raise AssertionError("the client read 256 MB")


async def packed(send: Send, _: int) -> None:
    pack = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    await send(pack.compress(b'{"jsonrpc": "2.0", "result": "'))
    for _ in range(64):
        await send(pack.compress(b"x" * MEGABYTE) + pack.flush(zlib.Z_SYNC_FLUSH))
    raise AssertionError("the client unpacked 64 MB")


@pytest.mark.parametrize(
    ("kind", "head", "answer"),
    [
        (JSON, "", endless),
        (JSON, "Content-Encoding: gzip\r\n", packed),
        (EVENTS, "", endless_event),
        (EVENTS, "Content-Encoding: gzip\r\n", packed),
    ],
)
async def test_an_answer_over_http_without_end_is_cut(kind: str, head: str, answer: Answer) -> None:
    async with http_server(kind, answer, head) as url:
        source = McpSource("s", HttpServer(url), limits=LIMITS)
        try:
            outcome = await source.call("t", {})
            assert outcome.status in ("error", "crashed")
            assert "more than 1,048,576 bytes" in outcome.text
        finally:
            await source.close()


async def test_a_stream_of_many_events_may_be_longer_than_one_answer() -> None:
    async def chatty(send: Send, number: int) -> None:
        note = {
            "jsonrpc": "2.0",
            "method": "notifications/message",
            "params": {"level": "info", "data": "y" * 60_000},
        }
        for _ in range(40):
            await send(b"data: " + json.dumps(note).encode() + b"\n\n")
        await send(b"data: " + result(number, "z" * 500_000) + b"\n\n")

    async with http_server(EVENTS, chatty) as url:
        source = McpSource("s", HttpServer(url), limits=LIMITS)
        try:
            outcome = await source.call("t", {})
            assert outcome.status == "ok"
            assert outcome.text.startswith("zzz")
        finally:
            await source.close()


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("401 Unauthorized", "HTTP 401 Unauthorized: it needs a login"),
        ("405 Method Not Allowed", "HTTP 405 Method Not Allowed"),
        ("500 Internal Server Error", "HTTP 500 Internal Server Error: out of coffee"),
    ],
)
async def test_a_refusal_is_told_with_its_status(status: str, said: str) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 13\r\n\r\nout of coffee".encode())
        await writer.drain()
        writer.close()

    async with serving(serve) as port:
        source = McpSource("s", HttpServer(f"http://127.0.0.1:{port}/mcp"), limits=LIMITS)
        with pytest.raises(ToolSourceError, match=said):
            await source.list_tools()
        await source.close()
