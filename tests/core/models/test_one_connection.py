"""What was read to its end leaves the connection open for the next request."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

import pytest

from studio.core.wire.reply import Reply, accumulate
from tests.core.models.remote_model import HELLO, model_at
from tests.support.chat_server import text_chunks

_BODY = "".join(f"data: {json.dumps(each)}\n\n" for each in text_chunks("Hello")).encode()
_DONE = b"data: [DONE]\n\n"
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(("ends", "connections"), [(True, 1), (False, 3)])
async def test_requests_share_a_connection_where_a_reply_is_over(
    ends: bool, connections: int
) -> None:
    """A server that says `[DONE]` and holds the reply open is not waited for."""
    met: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met.append(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                await reader.readexactly(size)
                data = _BODY + _DONE
                last = b"\r\n0\r\n\r\n" if ends else b"\r\n"  # in one packet with the rest
                writer.write(_HEAD + f"{len(data):x}\r\n".encode() + data + last)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    model = model_at(f"http://127.0.0.1:{port}/v1")
    for _ in range(3):
        reply = Reply()
        async for delta in model.stream(HELLO):
            reply = accumulate(reply, delta)
        assert (reply.text, reply.finish_reason) == ("Hello", "stop")
    await model.close()
    assert len(met) == connections
    server.close()
    await asyncio.gather(*(each.wait_closed() for each in met), return_exceptions=True)
