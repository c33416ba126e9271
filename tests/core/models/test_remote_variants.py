"""The ways in which real servers differ, each from a real socket: streams, calls, faults."""

from __future__ import annotations

import asyncio
import json
import time
from email.utils import formatdate
from typing import Any

import pytest

from studio.core.wire.reply import ToolCall
from tests.core.models.remote_model import KEY, ask, model_at
from tests.support.chat_server import (
    ChatServer,
    chunk,
    events,
    failure,
    json_body,
    raw,
    silent,
    streamed,
)

# -- streams ---------------------------------------------------------------------------------------

_HI = json.dumps(chunk({"content": "Hi"}))
_END = json.dumps(chunk({}, "stop"))


@pytest.mark.parametrize(
    "stream",
    [
        f"data: {_HI}\r\n\r\ndata: {_END}\r\n\r\ndata: [DONE]\r\n\r\n",
        f"data:{_HI}\n\ndata:{_END}\n\ndata:[DONE]\n\n",
        f": OPENROUTER PROCESSING\n\ndata: {_HI}\n\n: ping\n\ndata: {_END}\n\ndata: [DONE]\n\n",
        f"id: 1\nevent: message\nretry: 10\ndata: {_HI}\n\ndata: {_END}\n\n",
        f"data: {_HI}\n\ndata: {_END}\n\n",
        f"data: {_HI}\n\ndata: {_END}\n\ndata: [DONE]\n\ndata: <html>after the end\n\n",
        "data: " + _HI.replace(", ", ",\ndata: ", 1) + f"\n\ndata: {_END}\n\n",
    ],
    ids=["crlf", "no space", "comments", "other fields", "no DONE", "more after DONE", "two lines"],
)
async def test_a_stream_may_be_written_like_this(server: ChatServer, stream: str) -> None:
    server.script(events([], then=[raw(stream)]))
    reply, fault = await ask(model_at(server.url))
    assert fault is None
    assert (reply.text, reply.finish_reason) == ("Hi", "stop")


async def test_a_character_may_be_cut_between_two_packets(server: ChatServer) -> None:
    data = f"data: {json.dumps(chunk({'content': 'né 🙂'}), ensure_ascii=False)}\n\n".encode()

    async def pause(_exchange: object) -> None:
        await asyncio.sleep(0.02)

    single = [
        each for at in range(len(data) - 12, len(data)) for each in (raw(data[at : at + 1]), pause)
    ]
    server.script(events([], then=[raw(data[:-12]), *single, raw(f"data: {_END}\n\n")]))
    reply, fault = await ask(model_at(server.url))
    assert fault is None
    assert reply.text == "né 🙂"


async def test_a_server_that_only_pings_has_stalled(server: ChatServer) -> None:
    async def ping(exchange: Any) -> None:
        while True:
            await exchange.send(": ping\n\n")
            await asyncio.sleep(0.02)

    server.script(events([chunk({"content": "Half"})], then=[ping]))
    reply, fault = await ask(model_at(server.url, stall_seconds=0.3))
    assert fault is not None
    assert (fault.kind, reply.text) == ("stalled", "Half")


async def test_a_head_without_a_body_is_no_beginning(server: ChatServer) -> None:
    server.script(events([], then=[silent()]))
    _, fault = await ask(model_at(server.url, first_byte_seconds=0.3))
    assert fault is not None
    assert fault.kind == "timeout"
    assert "did not start" in fault.message


# -- tool calls ------------------------------------------------------------------------------------


def _calls(*pieces: dict[str, Any]) -> list[dict[str, Any]]:
    return [chunk({"tool_calls": [piece]}) for piece in pieces]


def _piece(
    call_id: object = None, name: object = None, arguments: object = "", **more: object
) -> Any:
    made: dict[str, Any] = {**more, "function": {"name": name, "arguments": arguments}}
    return made if call_id is None else {**made, "id": call_id}


@pytest.mark.parametrize(
    "pieces",
    [
        [_piece("a", "lookup", index=0), _piece(None, None, '{"q":1}', index=0)],
        [_piece("a", "lookup", '{"q":'), _piece(None, None, "1}")],
        [_piece("a", "lookup", '{"q":1}')],
        [_piece("a", "lookup", {"q": 1}, index=0)],
        [_piece("a", "lookup", '{"q":', index=0), _piece("a", "lookup", "1}", index=0)],
        [_piece("a", "look", index=0), _piece("a", "up", '{"q":1}', index=0)],
        [_piece(None, "lookup", '{"q":', index=0), _piece("a", None, "1}", index=0)],
        [_piece("", "lookup", '{"q":', index=0), _piece("a", "", "1}", index=0)],
        [_piece("a", "lookup", None, index=0), _piece(None, None, '{"q":1}', index=0)],
        [_piece("a", "lookup", '{"q":1}', index=3)],
        [_piece("a", "lookup", '{"q":1}', index=None)],
    ],
    ids=[
        "as OpenAI",
        "no index",
        "in one piece",
        "arguments as an object",
        "name repeated",
        "name in pieces",
        "id later",
        "empty id and name",
        "arguments null",
        "index begins at 3",
        "index null",
    ],
)
async def test_a_call_may_come_like_this(server: ChatServer, pieces: list[Any]) -> None:
    server.script(events([*_calls(*pieces), chunk({}, "tool_calls"), "[DONE]"]))
    reply, fault = await ask(model_at(server.url))
    assert fault is None
    (call,) = reply.tool_calls
    assert (call.id, call.name, json.loads(call.arguments)) == ("a", "lookup", {"q": 1})
    assert reply.finish_reason == "tool_calls"


@pytest.mark.parametrize("indexes", [(0, 1), (0, 0), (None, None), (1, 2), (1, 0)], ids=str)
async def test_two_calls_stay_two(server: ChatServer, indexes: tuple[int | None, ...]) -> None:
    first, second = ({} if index is None else {"index": index} for index in indexes)
    pieces = [_piece("a", "f", "{}", **first), _piece("b", "f", "[]", **second)]
    server.script(events([*_calls(*pieces), chunk({}, "stop"), "[DONE]"]))
    reply, fault = await ask(model_at(server.url))
    assert fault is None
    assert reply.tool_calls == (ToolCall("a", "f", "{}"), ToolCall("b", "f", "[]"))
    assert reply.finish_reason == "tool_calls"  # whatever the server calls it


async def test_a_megabyte_of_arguments_in_small_pieces(server: ChatServer) -> None:
    text = json.dumps({"text": "äöü 1234 " * 60_000})
    size = 100
    parts = [text[at : at + size] for at in range(0, len(text), size)]
    pieces = [_piece("a", "write", "", index=0)]
    pieces += [_piece(None, None, part, index=0) for part in parts]
    server.script(events([*_calls(*pieces), chunk({}, "tool_calls"), "[DONE]"]))
    reply, fault = await ask(model_at(server.url))
    assert fault is None
    assert reply.tool_calls == (ToolCall("a", "write", text),)


# -- what is tried again ---------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
async def test_what_may_pass_is_tried_again(server: ChatServer, status: int) -> None:
    server.script(failure(status, retry_after_ms="1"), streamed("Now."))
    reply, fault = await ask(model_at(server.url, retries=1))
    assert fault is None
    assert reply.text == "Now."
    assert len(server.requests) == 2
    assert "Try 2 of 2" in reply.notices[0]


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 413, 422])
async def test_what_stays_is_not_tried_again(server: ChatServer, status: int) -> None:
    server.always(failure(status, retry_after_ms="1"))
    _, fault = await ask(model_at(server.url, retries=3))
    assert fault is not None
    assert not fault.retryable
    assert len(server.requests) == 1


async def test_a_date_to_come_back_at_is_kept_to(server: ChatServer) -> None:
    back = int(time.time()) + 2  # a date has whole seconds
    server.script(failure(429, retry_after=formatdate(back, usegmt=True)), streamed("Now."))
    reply, _ = await ask(model_at(server.url, retries=1))
    assert reply.text == "Now."
    assert time.time() > back - 0.05


@pytest.mark.parametrize("value", ["soon", "-5", "1e999", ""])
async def test_nonsense_to_come_back_at_is_no_fault(server: ChatServer, value: str) -> None:
    server.script(failure(503, retry_after=value), streamed("Now."))
    reply, fault = await ask(model_at(server.url, retries=1))
    assert fault is None
    assert reply.text == "Now."


# -- what a server says ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (404, {"error": 'model "m" not found, try pulling it'}, 'model "m" not found, try pulling'),
        (400, [{"error": {"message": "API key not valid"}}], "API key not valid"),
        (400, "The field temperature must be at most 1", "temperature must be at most 1"),
        (403, {"Message": "The security token is invalid"}, "The security token is invalid"),
        (404, {"error": "Not Found", "message": "No route here"}, "No route here"),
        (502, "<html><title>502 Bad Gateway</title></html>", "502 Bad Gateway"),
    ],
)
async def test_what_a_server_says_reaches_the_user(
    server: ChatServer, status: int, body: object, words: str
) -> None:
    server.script(json_body(body, status, x_request_id="req_17"))
    _, fault = await ask(model_at(server.url))
    assert fault is not None
    assert words in fault.message
    assert fault.message.endswith("request req_17)")
    assert fault.message.count(str(status)) >= 1


async def test_an_option_that_a_server_names_by_its_place_is_left_out(server: ChatServer) -> None:
    place = ["body", "stream_options"]
    wrong = {"loc": place, "msg": "Extra inputs are not permitted", "type": "extra_forbidden"}
    server.script(json_body({"detail": [wrong]}, 422), streamed("Hi"))
    reply, fault = await ask(model_at(server.url))
    assert fault is None
    assert reply.text == "Hi"
    assert "stream_options" in server.requests[0].body
    assert "stream_options" not in server.requests[1].body


async def test_an_error_in_a_stream_may_be_a_text(server: ChatServer) -> None:
    server.script(events([chunk({"content": "Hi"}), {"error": "the disk is full"}]))
    reply, fault = await ask(model_at(server.url))
    assert reply.text == "Hi"
    assert fault is not None
    assert "the disk is full" in fault.message


async def test_a_key_at_the_end_of_a_long_message_is_not_cut_in_two(server: ChatServer) -> None:
    server.script(failure(400, "x" * 390 + KEY))
    _, fault = await ask(model_at(server.url))
    assert fault is not None
    assert KEY[:8] not in fault.message
