"""A server is read within bounds: what unpacks to gigabytes, never ends, or nests without end."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterator, Sequence

import pytest

from studio.core.models.base import ModelError
from tests.core.models.remote_model import ask, model_at
from tests.support.chat_server import JSON, ChatServer, Exchange, chat_server

MEGABYTE = 1024 * 1024


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as made:
        yield made


async def endless(exchange: Exchange, status: int, kind: str, piece: bytes) -> None:
    """Send on until the client leaves; a bound of the test keeps a fault from filling the disk."""
    await exchange.head(status, kind)
    for _ in range(4096):
        await exchange.send(piece)
    raise AssertionError("the client read 256 MB")


async def packed(exchange: Exchange, kind: str, start: bytes) -> None:
    """Send little that unpacks to 4 GB."""
    pack = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    await exchange.head(200, kind, content_encoding="gzip")
    await exchange.send(pack.compress(start))
    for _ in range(4096):
        await exchange.send(pack.compress(b"a" * MEGABYTE))


async def failed(server: ChatServer, **changes: object) -> ModelError:
    _, error = await ask(model_at(server.url, reply_megabytes=1, **changes))
    assert error is not None
    return error


@pytest.mark.parametrize("kind", [JSON, "text/event-stream"])
async def test_what_unpacks_to_gigabytes_is_cut(server: ChatServer, kind: str) -> None:
    start = b'data: {"choices":[{"delta":{"content":"'
    server.always(lambda exchange: packed(exchange, kind, start))
    error = await failed(server)
    assert error.kind == "too-large"
    assert "1,048,576 bytes" in error.message


async def test_a_reply_without_end_is_cut_and_what_came_is_kept(server: ChatServer) -> None:
    event = b'data: {"choices":[{"index":0,"delta":{"content":"' + b"x" * 60_000 + b'"}}]}\n\n'
    server.always(lambda exchange: endless(exchange, 200, "text/event-stream", event))
    reply, error = await ask(model_at(server.url, reply_megabytes=1))
    assert error is not None
    assert error.kind == "too-large"
    assert 60_000 <= len(reply.text) <= MEGABYTE


async def test_an_error_without_end_is_read_to_its_bound(server: ChatServer) -> None:
    server.always(lambda exchange: endless(exchange, 500, "text/html", b"y" * 65_536))
    error = await failed(server)
    assert error.kind == "server-error"
    assert len(error.message) < 10_000


@pytest.mark.parametrize(
    "event",
    [
        "[" * 100_000 + "]" * 100_000,
        '{"choices": [], "usage": {"prompt_tokens": 1' + "0" * 6000 + "}}",
    ],
)
async def test_json_without_end_is_a_bad_reply(server: ChatServer, event: str) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.head(200)
        await exchange.event(event)

    async def whole(exchange: Exchange) -> None:
        await exchange.head(200, JSON)
        await exchange.send(event)

    server.script(answer, whole)
    assert (await failed(server)).kind == "bad-reply"
    assert (await failed(server)).kind == "bad-reply"


async def test_packed_replies_of_every_usual_form_are_read(server: ChatServer) -> None:
    text = b'{"choices":[{"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}'
    forms = {"gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS, "Deflate": -zlib.MAX_WBITS}
    for name, window in forms.items():
        pack = zlib.compressobj(9, zlib.DEFLATED, window)
        data = pack.compress(text) + pack.flush()

        async def answer(exchange: Exchange, name: str = name, data: bytes = data) -> None:
            await exchange.head(200, JSON, content_encoding=name)
            for at in range(len(data)):
                await exchange.send(data[at : at + 1])

        server.script(answer)
        reply, error = await ask(model_at(server.url))
        assert error is None
        assert reply.text == "Hi"


async def test_a_call_ends_after_its_time_whatever_keeps_it_going(server: ChatServer) -> None:
    async def drip(exchange: Exchange) -> None:
        await exchange.head(200)
        while True:
            await exchange.event({"choices": [{"index": 0, "delta": {"content": ""}}]})

    server.always(drip)
    error = await failed(server, call_seconds=0.2)
    assert error.kind in ("timeout", "too-large")


@pytest.mark.parametrize("retries", [0, 1, 2])
async def test_retries_count_for_every_cause(server: ChatServer, retries: int) -> None:
    async def silent(exchange: Exchange) -> None:
        await asyncio.Event().wait()

    server.always(silent)
    model = model_at(server.url, retries=retries, first_byte_seconds=0.05)
    reply, error = await ask(model)
    assert error is not None
    assert error.kind == "timeout"
    assert error.is_exhausted
    tries = [notice for notice in reply.notices if "Try " in notice]
    assert len(tries) == retries
    # So short a time may be over before a busy machine has sent the request.
    assert len(server.requests) <= retries + 1


def called(index: int, arguments: str) -> dict[str, object]:
    call = {"index": index, "id": f"c{index}", "function": {"name": "t", "arguments": arguments}}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}


@pytest.mark.parametrize(
    ("indexes", "arguments", "bound"),
    [
        (range(20_000), "{}", "256 calls"),
        ([0] * 60, "9" * 1_000_000, "4,000,000 characters of arguments"),
    ],
)
async def test_calls_and_their_arguments_are_bounded_while_they_come(
    server: ChatServer, indexes: Sequence[int], arguments: str, bound: str
) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.head(200)
        for index in indexes:
            await exchange.event(called(index, arguments))

    server.always(answer)
    reply, error = await ask(model_at(server.url))
    assert error is not None
    assert (error.kind, error.retryable) == ("too-large", False)
    assert f"more than {bound}" in error.message
    assert sum(len(call.arguments) for call in reply.tool_calls) <= 4_000_000


@pytest.mark.parametrize("field", ["content", "reasoning_content", "refusal"])
async def test_text_is_bounded_while_it_comes(server: ChatServer, field: str) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.head(200)
        while True:
            await exchange.event({"choices": [{"index": 0, "delta": {field: "x" * 200_000}}]})

    server.always(answer)
    reply, error = await ask(model_at(server.url))
    assert error is not None
    assert (error.kind, error.retryable) == ("too-large", False)
    assert "more than 4,000,000 characters of text" in error.message
    assert 0 < len(reply.text + reply.reasoning + reply.refusal) <= 4_000_000


@pytest.mark.parametrize("piece", [b": keepalive\n\n", b"d", b""], ids=["comments", "drip", "none"])
async def test_what_is_no_event_does_not_keep_a_reply_going(
    server: ChatServer, piece: bytes
) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.head(200)
        await exchange.event({"choices": [{"index": 0, "delta": {"content": "Hi"}}]})
        while True:
            await exchange.send(piece)
            await asyncio.sleep(0.01)

    server.always(answer)
    reply, error = await ask(model_at(server.url, stall_seconds=0.2))
    assert error is not None
    assert error.kind == "stalled"
    assert "0.2 s" in error.message
    assert reply.text == "Hi"
