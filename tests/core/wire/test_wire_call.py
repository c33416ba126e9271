"""What is kept of one model call: paths, headers, marks, and what a server calls its answer."""

from __future__ import annotations

import json

import pytest

from studio.core.masking.masker import Masker
from studio.core.models.embedded.server import Address, LlamaClient
from studio.core.wire.wire_call import KeptCall, WireCall, WireRecorder, identity_of
from tests.support.chat_server import chat_server, events

KEY = "planted-key-0123456789"


def recorded(
    path: str = "/v1", headers: tuple[tuple[str, str], ...] = (), body: str = "{}"
) -> WireCall:
    kept: list[WireCall | KeptCall] = []
    masker = Masker()
    masker.note("${key:Lab}", KEY)
    recorder = WireRecorder(kept.append, masker)
    recorder.sent(path.encode(), headers, body.encode())
    (call,) = kept
    assert isinstance(call, WireCall)
    return call


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/v1/models/m:stream?alt=sse", "/v1/models/m:stream?alt=sse"),
        ("/v1?key=abc&alt=sse", "/v1?key=••••••&alt=sse"),
        (f"/v1/{KEY}/chat?x={KEY}", "/v1/${key:Lab}/chat?x=${key:Lab}"),
        ("/v1?flag", "/v1?flag"),
    ],
)
def test_a_query_is_masked_like_headers(path: str, shown: str) -> None:
    assert recorded(path).path == shown


def test_headers_with_the_names_of_secrets_are_hidden() -> None:
    headers = (
        ("Authorization", "Bearer anything"),
        ("x-goog-api-key", "anything"),
        ("X-Trace", KEY),
        ("api-key", "anything"),
        ("accept", "*/*"),
        ("X-Other", f"sk-{KEY * 2}"),
    )
    assert recorded(headers=headers).headers == (
        ("Authorization", "••••••"),
        ("x-goog-api-key", "••••••"),
        ("X-Trace", "${key:Lab}"),
        ("api-key", "••••••"),
        ("accept", "*/*"),
        ("X-Other", "sk-${key:Lab}${key:Lab}"),
    )


def test_a_mark_is_told_from_the_same_words_in_the_body() -> None:
    call = recorded(body=f'{{"a":"${{secret:1}} ${{secret-:1}} {KEY} {KEY}"}}')
    assert call.mark == "secret--"
    assert call.body == '{"a":"${secret:1} ${secret-:1} ${secret--:1} ${secret--:1}"}'
    assert call.secrets == ("${key:Lab}",)


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        ('data: {"id":"c-1","model":"m"}\n\n', ("m", "c-1")),
        ('event: x\ndata: {"type":"ping"}\n\ndata: {"message":{"id":"a","model":"m"}}', ("m", "a")),
        ('data: {"response":{"id":"r","model":"m"}}', ("m", "r")),
        ('data: {"modelVersion":"g","responseId":"x"}', ("g", "x")),
        ('{"model":"o","done":false}\n{"model":"o","done":true}', ("o", "")),
        ('{\n "id": "whole",\n "model": "m"\n}', ("m", "whole")),
        ("<html>", ("", "")),
        ('data: {"model": 3}\n\ndata: [1]\n\ndata: {', ("", "")),
        ("", ("", "")),
    ],
)
def test_an_answer_names_its_model_and_its_id(raw: str, named: tuple[str, str]) -> None:
    assert identity_of(raw) == named


async def test_what_the_embedded_model_is_sent_is_kept() -> None:
    kept: list[WireCall | KeptCall] = []
    recorder = WireRecorder(kept.append)
    with chat_server() as server:
        server.script(events([{"content": "Hi"}, {"content": "", "stop": True}]))
        async with LlamaClient(Address(server.port, KEY)) as client:
            body = {"prompt": "Größe?", "n_predict": 3}
            text = [piece.text async for piece in client.complete(body, recorder)]
        recorder.end()
        (request,) = server.requests
    assert "".join(text) == "Hi"
    call = kept[-1]
    assert isinstance(call, WireCall)
    assert call.body.encode() == request.data
    assert json.loads(call.body) == body
    assert call.raw.encode() == bytes(request.answered).partition(b"\r\n\r\n")[2]
    assert KEY not in repr(call)
