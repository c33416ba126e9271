"""Faults of servers, each as it looks in the three APIs that the studio speaks."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from tests.support.chat_server import JSON, Answer, Exchange

Api: TypeAlias = Literal["chat", "responses", "anthropic"]
APIS: tuple[Api, ...] = ("chat", "responses", "anthropic")
KEY = "sk-planted-0123456789abcdef"
Event: TypeAlias = dict[str, Any]


def begin(api: Api) -> list[Event]:
    match api:
        case "chat":
            return [{"choices": [{"index": 0, "delta": {"role": "assistant"}}]}]
        case "responses":
            return [{"type": "response.created", "response": {"status": "in_progress"}}]
        case "anthropic":
            return [{"type": "message_start", "message": {"usage": {"input_tokens": 3}}}]


def text(api: Api, words: str) -> Event:
    match api:
        case "chat":
            return {"choices": [{"index": 0, "delta": {"content": words}}]}
        case "responses":
            return {"type": "response.output_text.delta", "delta": words}
        case "anthropic":
            delta = {"type": "text_delta", "text": words}
            return {"type": "content_block_delta", "index": 0, "delta": delta}


_WORDS: dict[str, tuple[str, Event, str]] = {
    "stop": ("stop", {"status": "completed"}, "end_turn"),
    "length": (
        "length",
        {
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
        },
        "max_tokens",
    ),
    "content_filter": (
        "content_filter",
        {
            "status": "incomplete",
            "incomplete_details": {"reason": "content_filter"},
        },
        "content_filter",
    ),
    "unlisted": ("eos_of_mine", {"status": "mine"}, "mine_too"),
}


def end(api: Api, why: str = "stop") -> list[Event]:
    chat, response, anthropic = _WORDS[why]
    match api:
        case "chat":
            return [{"choices": [{"index": 0, "delta": {}, "finish_reason": chat}]}]
        case "responses":
            kind = "incomplete" if response["status"] == "incomplete" else "completed"
            return [{"type": f"response.{kind}", "response": response}]
        case "anthropic":
            return [{"type": "message_delta", "delta": {"stop_reason": anthropic}}]


def data(*events: Event) -> bytes:
    return b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in events)


@dataclass(frozen=True)
class Fault:
    """One way in which a server goes wrong, and what must come of it."""

    name: str
    make: Callable[[Api], Answer]
    end: str
    """Kind of the error, or the finish reason of the reply."""
    tries: int = 1
    """Requests that may be made, where the connection allows two more."""
    kept: str = ""
    """Text that must not be lost."""
    apis: Sequence[Api] = field(default=APIS)


def stream(*pieces: Callable[[Api], bytes], one_by_one: bool = False) -> Callable[[Api], Answer]:
    """A stream of what the pieces are in an API."""

    def make(api: Api) -> Answer:
        async def answer(exchange: Exchange) -> None:
            await exchange.head()
            whole = b"".join(piece(api) for piece in pieces)
            for at in range(0, len(whole), 1 if one_by_one else len(whole) or 1):
                await exchange.send(whole[at : at + 1] if one_by_one else whole)

        return answer

    return make


def status(code: int, body: object, kind: str = JSON, **headers: str) -> Callable[[Api], Answer]:
    """A refusal, the same in each API."""

    async def answer(exchange: Exchange) -> None:
        await exchange.head(code, kind, **headers)
        await exchange.send(body if isinstance(body, str | bytes) else json.dumps(body))

    return lambda _: answer


def said(number: int, message: str = "trouble", /, **more: Any) -> Callable[[Api], Answer]:
    return status(number, {"error": {"message": f"{message}, key {KEY}", **more}})


_PACKED = gzip.compress(b"data: " + b"x" * 50_000_000, 1)


def _bomb(_: Api) -> Answer:
    async def answer(exchange: Exchange) -> None:
        await exchange.head(200, content_encoding="gzip")
        await exchange.send(_PACKED)

    return answer


def _endless_error(_: Api) -> Answer:
    async def answer(exchange: Exchange) -> None:
        await exchange.head(500, JSON)
        while True:
            await exchange.send(b"x" * 65536)

    return answer


def _open(api: Api) -> bytes:
    return data(*begin(api))


def _half(api: Api) -> bytes:
    return data(*begin(api), text(api, "Hello "))


def _whole(api: Api) -> bytes:
    return data(*begin(api), text(api, "Hello "), text(api, "world."))


def _ended(why: str) -> Callable[[Api], bytes]:
    return lambda api: data(*end(api, why))


def raw(piece: bytes) -> Callable[[Api], bytes]:
    return lambda _: piece


DEEP = b'data: {"a": ' + b"[" * 100_000 + b"\n\n"
HELLO = "Hello world."
FAULTS: tuple[Fault, ...] = (
    Fault("ok", stream(_whole, _ended("stop"), raw(b"data: [DONE]\n\n")), "stop", 1, HELLO),
    Fault("byte by byte", stream(_whole, _ended("stop"), one_by_one=True), "stop", 1, HELLO),
    Fault("no [DONE]", stream(_whole, _ended("stop")), "stop", 1, HELLO),
    Fault("unlisted reason", stream(_whole, _ended("unlisted")), "unknown", 1, HELLO),
    Fault("[DONE] alone", stream(_whole, raw(b"data: [DONE]\n\n")), "unknown", 1, HELLO),
    Fault("length", stream(_half, _ended("length")), "length", 1, "Hello "),
    Fault("filter", stream(_half, _ended("content_filter")), "content_filter", 1, "Hello "),
    Fault("nothing at all", stream(raw(b"")), "cut-off", 3),
    Fault("dies before the text", stream(_open), "cut-off", 3),
    Fault("dies in the text", stream(_half), "cut-off", 1, "Hello "),
    Fault("dies in an event", stream(_half, raw(b'data: {"cho')), "cut-off", 1, "Hello "),
    Fault("no JSON before the text", stream(_open, raw(b"data: <html>\n\n")), "bad-reply", 3),
    Fault("no JSON in the text", stream(_half, raw(b"data: {\n\n")), "bad-reply", 1, "Hello "),
    Fault("no UTF-8", stream(_half, raw(b"data: \xff\xfe\n\n")), "bad-reply", 1, "Hello "),
    Fault("no object", stream(_half, raw(b"data: 17\n\n")), "bad-reply", 1, "Hello "),
    Fault("nested without end", stream(_half, raw(DEEP)), "bad-reply", 1, "Hello "),
    Fault(
        "huge number",
        stream(_half, raw(b'data: {"a": ' + b"9" * 6000 + b"}\n\n")),
        "bad-reply",
        1,
        "Hello ",
    ),
    Fault(
        "error event",
        stream(_half, raw(b'event: error\ndata: {"message": "out"}\n\n')),
        "server-error",
        1,
        "Hello ",
    ),
    Fault(
        "error before the text",
        stream(_open, raw(b'data: {"error": "busy"}\n\n')),
        "server-error",
        3,
    ),
    Fault("a page", status(200, "<html>It works!</html>", "text/html"), "bad-reply"),
    Fault("no body", status(200, "", JSON), "bad-reply"),
    Fault("half of a body", status(200, '{"choices": [{"mess', JSON), "bad-reply"),
    Fault("bomb", _bomb, "too-large"),
    Fault("endless error", _endless_error, "server-error", 3),
    Fault("moved", status(302, "", location="http://127.0.0.1:9/v1"), "moved"),
    Fault("400", said(400), "bad-request"),
    Fault(
        "400 text", status(400, f"temperature must be at most 1 {KEY}", "text/plain"), "bad-request"
    ),
    Fault("401", said(401), "unauthorised"),
    Fault("402", said(402), "no-quota"),
    Fault("403", said(403), "forbidden"),
    Fault("404 model", said(404, "The model `m` does not exist"), "unknown-model"),
    Fault("404 page", status(404, {"detail": "Not Found"}), "not-found"),
    Fault("405", status(405, {"detail": "Method Not Allowed"}), "not-found"),
    Fault("408", said(408), "timeout", 3),
    Fault("409", said(409), "timeout", 3),
    Fault("413", said(413), "too-long"),
    Fault("too long", said(400, "maximum context length is 4096 tokens"), "too-long"),
    Fault(
        "422", status(422, {"detail": [{"loc": ["body", "messages"], "msg": "bad"}]}), "bad-request"
    ),
    Fault("425", said(425), "timeout", 3),
    Fault(
        "429",
        status(429, {"error": {"message": f"slow {KEY}"}}, retry_after="0"),
        "rate-limited",
        3,
    ),
    Fault("429 tomorrow", status(429, {"error": "slow"}, retry_after="86400"), "rate-limited"),
    Fault("429 quota", said(429, code="insufficient_quota"), "no-quota"),
    Fault("451", said(451), "bad-request"),
    Fault("500", said(500), "server-error", 3),
    Fault(
        "502 page",
        status(502, "<html><title>502 Bad Gateway</title></html>", "text/html"),
        "server-error",
        3,
    ),
    Fault("503", said(503), "server-error", 3),
    Fault("529", said(529), "server-error", 3),
)
