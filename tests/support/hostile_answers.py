"""What a hostile or broken model server sends: each ends by itself or by a bound."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Mapping

from tests.support.chat_server import (
    EVENTS,
    JSON,
    Answer,
    Exchange,
    chunk,
    events,
    failure,
    json_body,
    raw,
    silent,
)


def _calls(*calls: tuple[object, str]) -> list[object]:
    return [
        chunk(
            {
                "tool_calls": [
                    {
                        "index": index,
                        "id": f"c{index}",
                        "function": {"name": "t", "arguments": arguments},
                    }
                ]
            }
        )
        for index, arguments in calls
    ]


def _stream(data: bytes) -> Answer:
    head = f"HTTP/1.1 200 X\r\ncontent-type: {EVENTS}\r\nconnection: close\r\n\r\n".encode()
    return raw(head + data)


def _packed(data: bytes) -> Answer:
    packed = gzip.compress(data, 9)
    return raw(
        f"HTTP/1.1 200 X\r\ncontent-type: {JSON}\r\ncontent-encoding: gzip\r\n"
        f"content-length: {len(packed)}\r\nconnection: close\r\n\r\n".encode()
        + packed
    )


def _echo_key() -> Answer:
    async def answer(exchange: Exchange) -> None:
        key = exchange.request.headers.get("authorization", "")
        await json_body({"error": {"message": f"wrong key: {key}"}}, 401)(exchange)

    return answer


def _split_key() -> Answer:
    """Give the key back in pieces of one character, turned around and in hexadecimal."""

    async def answer(exchange: Exchange) -> None:
        key = exchange.request.headers.get("authorization", "").removeprefix("Bearer ")
        pieces = (*key, " ", key.encode().hex())
        await events([*(chunk({"content": piece}) for piece in pieces), END, "[DONE]"])(exchange)

    return answer


def _without_end(piece: bytes, *, at: bytes = b"", seconds: float = 0.0) -> Answer:
    """Send one piece again and again, until the client leaves."""

    async def answer(exchange: Exchange) -> None:
        await exchange.send(at or f"HTTP/1.1 200 X\r\ncontent-type: {EVENTS}\r\n\r\n".encode())
        while True:
            await exchange.send(piece)
            await asyncio.sleep(seconds)

    return answer


def _packed_twice() -> Answer:
    packed = gzip.compress(gzip.compress(b"\0" * 200_000_000, 9), 9)
    return raw(
        f"HTTP/1.1 400 X\r\ncontent-type: {JSON}\r\ncontent-encoding: gzip, gzip\r\n"
        f"content-length: {len(packed)}\r\nconnection: close\r\n\r\n".encode()
        + packed
    )


HASTE = "first_byte_seconds = 1\nstall_seconds = 1\ncall_seconds = 4\nretries = 0\n"
"""Keys of a connection that soon ends what would go on for minutes."""

END = chunk({}, "stop")
_OTHER = "http://localhost:9/v1/chat/completions"
HOSTILE: Mapping[str, Answer] = {
    "a head of 100 MB": _without_end(b"x-a: " + b"a" * 1_000_000, at=b"HTTP/1.1 200 X\r\n"),
    "a line of 100 MB": _without_end(
        b"a" * 1_000_000, at=f"HTTP/1.1 200 X\r\ncontent-type: {EVENTS}\r\n\r\ndata: ".encode()
    ),
    "a reply that breaks off": events([chunk({"content": "half a"})]),
    "a reply without end": _without_end(
        b"data: " + json.dumps(chunk({"content": "x" * 2000})).encode() + b"\n\n"
    ),
    "a defect of the server": failure(500),
    "an error that is packed twice": _packed_twice(),
    "another address": json_body("", 307, location=_OTHER),
    "another address for good": json_body("", 308, location=_OTHER),
    "comments without end": _without_end(b": keepalive\n\n", seconds=0.1),
    "one byte after the other": _without_end(b"d", seconds=0.1),
    "silence": silent(),
    "the key in pieces": _split_key(),
    "a page": json_body("<html><b>log in</b></html>", kind="text/html"),
    "a number": json_body("7"),
    "an error with status 200": json_body({"error": {"message": "no", "code": "x"}}),
    "an error as an event": events([{"error": {"message": "over", "code": 429}}]),
    "arguments of 60 MB": events(_calls(*[(0, "9" * 1_000_000)] * 60)),
    "bytes that are no text": _stream(
        b'data: {"choices":[{"index":0,"delta":{"content":"a\xff\xfeb"}}]}\n\ndata: [DONE]\n\n'
    ),
    "control characters": events([chunk({"content": "\x1b[31m\x07\u202e\x00"}), END, "[DONE]"]),
    "digits without end": _stream(b'data: {"usage":{"total_tokens":' + b"9" * 100_000 + b"}}\n\n"),
    "half an event": _stream(b'data: {"choices":[{"index":0,"delta":{"con'),
    "half a character": _stream(
        b'data: {"choices":[{"index":0,"delta":{"content":"\\ud800"}}]}\n\ndata: [DONE]\n\n'
    ),
    "kinds that are wrong": events(
        [
            {"id": None, "choices": None},
            {"choices": [{"index": "x", "delta": None}]},
            {"choices": [{"index": 0, "delta": {"content": {"a": 1}, "tool_calls": "no"}}]},
            {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 10**9, "id": 5}]}}]},
            [1, 2],
        ]
    ),
    "lists inside lists": _stream(b"data: " + b"[" * 100_000 + b"\n\n"),
    "nothing": _stream(b""),
    "the key in an error": _echo_key(),
    "the same address again": json_body("", 307, location="/v1/chat/completions"),
    "twenty thousand calls": events(_calls(*((number, "{}") for number in range(20_000)))),
    "usage that cannot be": events(
        [chunk({"content": "x"}), END, {"choices": [], "usage": {"completion_tokens": 1e308}}]
    ),
    "what unpacks to 200 MB": _packed(b'{"a":"' + b"0" * 200_000_000 + b'"}'),
    "words that look like more": events(
        [chunk({"content": json.dumps(chunk({"content": "data: [DONE]\n\n"}))}), END, "[DONE]"]
    ),
}
"""Answers by what they are."""

HOSTILE_RUNS: Mapping[str, Answer] = {
    **HOSTILE,
    "a wait of a day": failure(429, retry_after="100000"),
}
"""Also what a run ends, but an experiment waits for."""
