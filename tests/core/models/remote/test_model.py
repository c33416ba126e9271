"""A model on a real loopback server that answers well, badly, late, or not at all."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
import threading
import time
import traceback
from contextlib import aclosing
from dataclasses import replace
from functools import reduce
from pathlib import Path

import pytest

from studio.core.models.base import Capabilities, ModelError, ModelRequest
from studio.core.models.connections import Connection
from studio.core.models.remote.model import RemoteModel
from studio.core.models.secrets import Secret, SecretLookup
from studio.core.prompty.document import Message, TextPart, ToolSpec
from studio.core.wire.reply import Reply, ReplyDelta, ReplyNotice, TextDelta, ToolCall, accumulate
from tests.core.models.remote_model import ask
from tests.support import patience
from tests.support.chat_server import (
    ChatServer,
    Exchange,
    chunk,
    cut_body,
    events,
    failure,
    json_body,
    raw,
    silent,
    streamed,
    text_chunks,
)
from tests.support.ports import refusing_port
from tests.support.serving import serving

KEY = "sk-test-9f31c7d2aa-very-secret"
HELLO = ModelRequest((Message("user", (TextPart("Hello"),)),))


def model_at(url: str, **changes: object) -> RemoteModel:
    connection = Connection("Test server", "compatible", base_url=url, retries=0)
    return RemoteModel(replace(connection, **changes), "scripted-1", Secret(KEY))


async def collect(model: RemoteModel, request: ModelRequest, into: list[ReplyDelta]) -> None:
    try:
        async with aclosing(model.stream(request)) as deltas:
            async for delta in deltas:
                into.append(delta)
    finally:
        await model.close()


async def answer(model: RemoteModel, request: ModelRequest = HELLO) -> Reply:
    deltas: list[ReplyDelta] = []
    await collect(model, request, deltas)
    reply = Reply()
    for delta in deltas:
        reply = accumulate(reply, delta)
    return reply


async def failing(model: RemoteModel, request: ModelRequest = HELLO) -> tuple[ModelError, str]:
    """The error, and the text that came before it."""
    deltas: list[ReplyDelta] = []
    with pytest.raises(ModelError) as caught:
        await collect(model, request, deltas)
    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    assert caught.value.message.strip()
    assert caught.value.hint.strip()
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return caught.value, text


async def test_a_streamed_reply_with_usage(server: ChatServer) -> None:
    reply = await answer(model_at(server.url))
    assert reply.text == "Hello from the server."
    assert reply.finish_reason == "stop"
    assert reply.usage is not None
    assert reply.usage.input_tokens == 11
    sent = server.requests[0]
    assert sent.path == "/v1/chat/completions"
    assert sent.headers["authorization"] == f"Bearer {KEY}"


async def test_what_is_shown_is_what_is_sent(server: ChatServer) -> None:
    request = ModelRequest(
        HELLO.messages,
        tools=(ToolSpec("lookup", "Looks it up."),),
        options={"temperature": 0.5, "maxOutputTokens": 50},
        stop=("Observation:",),
    )
    model = model_at(server.url)
    shown = model.request_body(request)
    await answer(model, request)
    assert server.requests[0].body == json.loads(json.dumps(shown))
    assert shown["temperature"] == 0.5
    assert KEY not in json.dumps(shown)


async def test_only_native_sends_tools_beside_the_prompt(server: ChatServer) -> None:
    tools = (ToolSpec("lookup"),)
    model = model_at(server.url)
    assert "tools" in model.request_body(replace(HELLO, tools=tools))
    assert "tools" not in model.request_body(replace(HELLO, tools=tools, protocol="react"))


def test_what_a_model_does_not_take_is_not_sent() -> None:
    request = replace(
        HELLO, tools=(ToolSpec("a"),), stop=("x",), response_schema={"type": "object"}
    )
    connection = Connection("Server", "compatible", base_url="http://127.0.0.1:1/v1")
    nothing = Capabilities(tools=False, stop=False, json_schema=False)
    body = RemoteModel(connection, "m", None, capabilities=nothing).request_body(request)
    assert body.keys() & {"tools", "stop", "response_format"} == set()


async def test_without_a_key_no_authorization_is_sent(server: ChatServer) -> None:
    connection = Connection("Local", "compatible", base_url=server.url)
    await answer(RemoteModel(connection, "m", None))
    assert "authorization" not in server.requests[0].headers


async def test_another_servers_request_says_nothing_of_openai_accounts(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-mine")
    await answer(model_at(server.url))
    assert "mine" not in json.dumps(server.requests[0].headers)


async def test_tool_calls_come_together_from_their_pieces(server: ChatServer) -> None:
    def call(**piece: object) -> dict[str, object]:
        return chunk({"tool_calls": [piece]})

    server.script(
        events(
            [
                call(index=0, id="a", function={"name": "look", "arguments": ""}),
                call(index=0, function={"name": "up", "arguments": '{"q": '}),
                call(index=1, id="b", function={"name": "add", "arguments": "{}"}),
                call(index=0, id=None, function={"arguments": '"x"}'}),
                chunk({}, "tool_calls"),
                "[DONE]",
            ]
        )
    )
    reply = await answer(model_at(server.url))
    assert reply.tool_calls == (ToolCall("a", "lookup", '{"q": "x"}'), ToolCall("b", "add", "{}"))
    assert reply.finish_reason == "tool_calls"


@pytest.mark.parametrize("reason", ["length", "content_filter"])
async def test_endings_are_told(server: ChatServer, reason: str) -> None:
    server.script(streamed("As far as it", finish=reason))
    reply = await answer(model_at(server.url))
    assert (reply.text, reply.finish_reason) == ("As far as it", reason)


async def test_a_refusal(server: ChatServer) -> None:
    server.script(events([chunk({"refusal": "I will not."}), chunk({}, "stop"), "[DONE]"]))
    reply = await answer(model_at(server.url))
    assert (reply.refusal, reply.finish_reason) == ("I will not.", "refusal")


async def test_a_megabyte_in_one_event_and_in_many(server: ChatServer) -> None:
    text = "äöü 1234 " * 120_000
    server.script(
        events([chunk({"content": text}), chunk({}, "stop"), "[DONE]"]), streamed(text, 2000)
    )
    assert (await answer(model_at(server.url))).text == text
    assert (await answer(model_at(server.url))).text == text


async def test_a_server_that_does_not_stream(server: ChatServer) -> None:
    message = {"role": "assistant", "content": "All at once."}
    server.script(json_body({"choices": [{"message": message, "finish_reason": "stop"}]}))
    reply = await answer(model_at(server.url))
    assert reply.text == "All at once."
    assert reply.finish_reason == "stop"
    assert "does not stream" in reply.notices[0]


async def test_the_responses_api(server: ChatServer) -> None:
    done = {"status": "completed", "usage": {"input_tokens": 3, "output_tokens": 2}}
    server.script(
        events(
            [
                {"type": "response.created"},
                {"type": "response.output_text.delta", "delta": "Hi "},
                {"type": "response.output_text.delta", "delta": "there."},
                {"type": "response.completed", "response": done},
            ]
        )
    )
    reply = await answer(model_at(server.url, api="responses"))
    assert (reply.text, reply.finish_reason) == ("Hi there.", "stop")
    assert server.requests[0].path == "/v1/responses"
    assert "input" in server.requests[0].body


async def test_azure_addresses_the_deployment(server: ChatServer) -> None:
    connection = Connection(
        "Azure", "azure", base_url=server.url[: -len("/v1")], api_version="2024-10-21"
    )
    model = RemoteModel(connection, "my-deployment", Secret(KEY))
    assert (await answer(model)).text == "Hello from the server."
    sent = server.requests[0]
    assert sent.path.startswith("/openai/deployments/my-deployment/chat/completions?api-version=")
    assert sent.headers["api-key"] == KEY


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (301, "moved"),
        (400, "bad-request"),
        (401, "unauthorised"),
        (403, "forbidden"),
        (404, "not-found"),
        (408, "timeout"),
        (413, "too-long"),
        (422, "bad-request"),
        (429, "rate-limited"),
        (500, "server-error"),
        (503, "server-error"),
        (529, "server-error"),
    ],
)
async def test_a_status_is_named(server: ChatServer, status: int, kind: str) -> None:
    server.always(failure(status, f"Some trouble, and your key was {KEY}."))
    error, _ = await failing(model_at(server.url))
    assert error.kind == kind
    assert KEY not in error.message + error.hint + repr(error)


async def test_an_error_page_instead_of_json(server: ChatServer) -> None:
    server.script(json_body("<html>Bad gateway</html>", 502, "text/html"))
    error, _ = await failing(model_at(server.url))
    assert error.kind == "server-error"


@pytest.mark.parametrize(
    ("message", "code", "kind"),
    [
        ("This model's maximum context length is 8192 tokens.", "", "too-long"),
        ("Something.", "context_length_exceeded", "too-long"),
        ("Flagged.", "content_filter", "content-filter"),
    ],
)
async def test_refused_requests_are_told_apart(
    server: ChatServer, message: str, code: str, kind: str
) -> None:
    server.script(failure(400, message, code))
    assert (await failing(model_at(server.url)))[0].kind == kind


async def test_no_money_left_is_not_tried_again(server: ChatServer) -> None:
    server.always(failure(429, "You exceeded your quota.", "insufficient_quota"))
    error, _ = await failing(model_at(server.url, retries=3))
    assert (error.kind, error.retryable, len(server.requests)) == ("no-quota", False, 1)


async def test_busy_servers_are_asked_again_and_it_is_said(server: ChatServer) -> None:
    server.script(failure(429, retry_after="0"), failure(503), streamed("At last."))
    reply = await answer(model_at(server.url, retries=3))
    assert reply.text == "At last."
    assert [notice[-40:].count("Try") for notice in reply.notices] == [1, 1]
    assert len(server.requests) == 3
    assert server.requests[0].body == server.requests[2].body


async def test_what_the_server_asks_to_wait_is_waited(server: ChatServer) -> None:
    server.script(failure(429, retry_after_ms="300"), streamed("Now."))
    start = time.monotonic()
    await answer(model_at(server.url, retries=1))
    assert time.monotonic() - start >= 0.3


async def test_an_hour_is_not_waited(server: ChatServer) -> None:
    server.always(failure(429, retry_after="3600"))
    error, _ = await failing(model_at(server.url, retries=3))
    assert (error.kind, len(server.requests)) == ("rate-limited", 1)


async def test_retries_end(server: ChatServer) -> None:
    server.always(failure(500, retry_after="0"))
    await failing(model_at(server.url, retries=2))
    assert len(server.requests) == 3


async def test_a_stop_interrupts_the_wait_for_a_retry(server: ChatServer) -> None:
    server.always(failure(429, retry_after="30"))
    model = model_at(server.url, retries=3)
    noticed = asyncio.Event()

    async def listen() -> None:
        async for delta in model.stream(HELLO):
            assert isinstance(delta, ReplyNotice)
            noticed.set()

    await cancelled(asyncio.create_task(listen()), noticed)
    await model.close()
    assert len(server.requests) == 1


async def test_an_unsupported_parameter_is_left_out_from_then_on(server: ChatServer) -> None:
    server.script(
        failure(
            400,
            "Unsupported parameter: 'stop' is not supported with this model.",
            "unsupported_parameter",
            "stop",
        )
    )
    model = model_at(server.url)
    request = replace(HELLO, stop=("Observation:",))
    assert model.request_body(request)["stop"] == ["Observation:"]
    reply = await answer(model, request)
    assert reply.text == "Hello from the server."
    assert [each.name for each in reply.left_out] == ["stop"]
    assert "stop" not in server.requests[1].body
    assert "stop" not in model.request_body(request)
    again = await answer(model, request)
    assert [each.name for each in again.left_out] == ["stop"], "said each time"
    assert len(server.requests) == 3, "and not asked wrong again"


async def test_a_renamed_parameter_keeps_its_value(server: ChatServer) -> None:
    model = model_at(server.url)
    request = replace(HELLO, options={"maxOutputTokens": 77})
    (name,) = model.request_body(request).keys() & {"max_tokens", "max_completion_tokens"}
    other = {"max_tokens": "max_completion_tokens"}.get(name, "max_tokens")
    server.script(failure(400, f"Unsupported parameter: '{name}'. Use '{other}' instead."))
    await answer(model, request)
    assert server.requests[1].body[other] == 77
    assert name not in server.requests[1].body


async def test_a_parameter_that_is_needed_is_not_left_out(server: ChatServer) -> None:
    server.always(failure(400, "Unsupported value", "unsupported_value", "messages[0].role"))
    error, _ = await failing(model_at(server.url, retries=3))
    assert (error.kind, len(server.requests)) == ("unsupported-parameter", 1)


async def test_nothing_there_is_refused() -> None:
    with refusing_port() as port:
        error, _ = await failing(model_at(f"http://127.0.0.1:{port}/v1"))
    assert error.kind == "refused"
    assert str(port) in error.message


async def test_no_such_machine() -> None:
    error, _ = await failing(model_at("http://no-such-machine.invalid/v1"))
    assert error.kind == "dns"


@pytest.mark.parametrize("address", ["ftp://127.0.0.1/v1", "not an address"])
async def test_no_address(address: str) -> None:
    error, _ = await failing(model_at(address))
    assert error.kind == "bad-address"


async def test_no_tls_where_it_is_asked_for(server: ChatServer) -> None:
    error, _ = await failing(model_at(server.url.replace("http:", "https:")))
    assert error.kind == "tls"


async def test_a_certificate_that_nobody_vouches_for(own_certificate: ssl.SSLContext) -> None:
    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with serving(greet, own_certificate) as port:
        error, _ = await failing(model_at(f"https://127.0.0.1:{port}/v1"))
    assert error.kind == "tls"
    assert "SSL_CERT_FILE" in error.hint


async def test_a_slow_first_byte_ends_in_time(server: ChatServer) -> None:
    server.script(silent())
    error, _ = await failing(model_at(server.url, first_byte_seconds=0.2))
    assert (error.kind, error.retryable) == ("timeout", True)


async def test_a_late_reply_is_announced(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.core.models.remote.model._SLOW_SECONDS", 0.05)
    told = threading.Event()

    async def once_told(exchange: Exchange) -> None:
        assert await asyncio.to_thread(told.wait, patience.SECONDS)
        await streamed("Here.")(exchange)

    server.script(once_told)
    model = model_at(server.url)
    deltas: list[ReplyDelta] = []
    async for delta in model.stream(HELLO):
        deltas.append(delta)
        if isinstance(delta, ReplyNotice):
            told.set()
    await model.close()
    reply = reduce(accumulate, deltas, Reply())
    assert reply.text == "Here."
    assert "Waiting for Test server" in reply.notices[0]


async def test_a_stall_in_the_middle_keeps_what_came(server: ChatServer) -> None:
    server.script(events([chunk({"content": "Half of "})], then=[silent()]))
    error, text = await failing(model_at(server.url, stall_seconds=0.2, retries=3))
    assert (error.kind, text) == ("stalled", "Half of ")
    assert len(server.requests) == 1


@pytest.mark.parametrize("cut", [cut_body, events])
async def test_a_cut_stream_keeps_what_came(server: ChatServer, cut: object) -> None:
    assert callable(cut)
    server.script(cut([chunk({"content": "Half "}), chunk({"content": "of it"})]))
    error, text = await failing(model_at(server.url, retries=3))
    assert (error.kind, text) == ("cut-off", "Half of it")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "junk",
    [
        'data: {"choices": [{"delta": \n\n',
        "data: <html>\n\n",
        "data: [1, 2\n\n",
        "data: 17\n\n",
        b"data: \xff\xfe\xfa\n\n",
    ],
)
async def test_a_malformed_stream(server: ChatServer, junk: str | bytes) -> None:
    server.script(events([chunk({"content": "Good "})], then=[raw(junk)]))
    error, text = await failing(model_at(server.url))
    assert (error.kind, text) == ("bad-reply", "Good ")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<html>Welcome to the router</html>", "text/html"),
        ("plain", "text/plain"),
        ("{not json", "application/json"),
        ("[]", "application/json"),
        ('{"choices": []}', "application/json"),
        ("{}", "application/json"),
    ],
)
async def test_something_else_than_a_reply(server: ChatServer, body: str, kind: str) -> None:
    server.script(json_body(body, kind=kind))
    assert (await failing(model_at(server.url)))[0].kind == "bad-reply"


@pytest.mark.parametrize("values", [[{"choices": []}, "[DONE]"], ["[DONE]"]])
async def test_an_empty_stream(server: ChatServer, values: list[object]) -> None:
    server.script(events(values))
    assert (await failing(model_at(server.url)))[0].kind == "bad-reply"


@pytest.mark.parametrize("values", [[], [{"choices": []}], [chunk({"role": "assistant"})]])
async def test_a_stream_that_dies_before_its_first_text_is_tried_again(
    server: ChatServer, values: list[object]
) -> None:
    server.script(events(values))
    reply, error = await ask(model_at(server.url, retries=1))
    assert error is None
    assert reply.text == "Hello from the server."
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("word", "reason", "remarks"),
    [("eos_token", "stop", 0), ("gone-fishing", "unknown", 1), (None, "unknown", 1)],
)
async def test_any_word_or_done_is_an_end(
    server: ChatServer, word: str | None, reason: str, remarks: int
) -> None:
    server.script(events([chunk({"content": "Whole."}), chunk({}, word), "[DONE]"]))
    reply, error = await ask(model_at(server.url, retries=3))
    assert error is None
    assert (reply.text, reply.finish_reason, len(reply.notices)) == ("Whole.", reason, remarks)
    assert len(server.requests) == 1


async def test_the_choices_are_kept_apart(server: ChatServer) -> None:
    def piece(index: int, text: str, finish: str | None = None) -> dict[str, object]:
        choice = {"index": index, "delta": {"content": text}, "finish_reason": finish}
        return {"choices": [choice]}

    said = [piece(1, "b"), piece(0, "A"), piece(1, "b"), piece(0, "A", "stop")]
    both = {"choices": [said[0]["choices"][0], said[1]["choices"][0]]}  # type: ignore[index]
    server.script(events([piece(0, "A"), *said, both, piece(2, "c", "stop"), "[DONE]"]))
    reply, _ = await ask(model_at(server.url))
    assert (reply.text, reply.further_choices) == ("AAAA", ("bbb", "c"))


async def test_an_error_event_without_an_error_key_says_its_words(server: ChatServer) -> None:
    bad = 'event: error\ndata: {"message": "the engine is out of memory"}\n\n'
    server.script(events([chunk({"content": "Half"})], then=[raw(bad)]))
    error, text = await failing(model_at(server.url))
    assert (error.kind, text) == ("server-error", "Half")
    assert "out of memory" in error.message


async def test_an_error_inside_the_stream(server: ChatServer) -> None:
    said = {"error": {"message": f"Engine is gone, key {KEY}", "type": "server_error"}}
    server.script(events([chunk({"content": "Half"}), said]))
    error, text = await failing(model_at(server.url))
    assert (error.kind, text) == ("server-error", "Half")
    assert "Engine is gone" in error.message
    assert KEY not in error.message


async def cancelled(task: asyncio.Task[None], going: asyncio.Event) -> None:
    await asyncio.wait_for(going.wait(), patience.SECONDS)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, patience.SECONDS)


@pytest.mark.parametrize("begun", [True, False])
async def test_a_stop_frees_the_server_at_once(server: ChatServer, begun: bool) -> None:
    first = [chunk({"content": "Once upon"})] if begun else []
    server.script(events(first, then=[silent()]) if begun else silent())
    model = model_at(server.url)
    going = asyncio.Event()

    async def listen() -> None:
        async for _ in model.stream(HELLO):
            going.set()

    task = asyncio.create_task(listen())
    if not begun:
        await asyncio.to_thread(wait_for_request, server)
        going.set()
    await cancelled(task, going)
    left = await asyncio.to_thread(server.requests[0].client_left.wait, patience.SECONDS)
    await model.close()
    assert left


def wait_for_request(server: ChatServer) -> None:
    assert server.arrived.wait(patience.SECONDS)


async def test_leaving_the_loop_frees_the_server_too(server: ChatServer) -> None:
    server.script(events(text_chunks("Once upon a time")[:-2], then=[silent()]))
    model = model_at(server.url)
    async with aclosing(model.stream(HELLO)) as deltas:
        async for delta in deltas:
            if isinstance(delta, TextDelta):
                break
    assert await asyncio.to_thread(server.requests[0].client_left.wait, patience.SECONDS)
    await model.close()


async def test_the_key_is_nowhere_but_in_the_header(
    server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.script(failure(401, f"Incorrect API key provided: {KEY}"))
    model = model_at(server.url)
    error, _ = await failing(model)
    shown = [repr(model), str(model), model.label, caplog.text, repr(error), error.message]
    shown += [repr(vars(model)), repr(model._client), json.dumps(model.request_body(HELLO))]
    assert all(KEY not in text for text in shown)
    assert KEY in server.requests[0].headers["authorization"]


async def test_the_systems_proxy_is_used(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url.removesuffix("/v1"))
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert (await answer(model_at("http://api.example.test/v1"))).text == "Hello from the server."
    assert server.requests[0].path == "http://api.example.test/v1/chat/completions"


async def test_an_authority_of_ones_own_is_trusted_by_its_file(
    own_certificate: ssl.SSLContext, own_authority: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(own_authority))
    answering = ChatServer()
    async with serving(answering.serve, own_certificate) as port:
        reply = await answer(model_at(f"https://localhost:{port}/v1"))
    assert reply.text == "Hello from the server."


async def test_a_redirect_is_not_followed(server: ChatServer) -> None:
    server.script(failure(307, location=f"{server.url}/elsewhere"))
    error, _ = await failing(model_at(server.url, retries=3))
    assert error.kind == "moved"
    assert "/elsewhere" in error.message
    assert len(server.requests) == 1


async def test_a_model_is_opened_before_it_is_asked(server):
    read: list[str] = []
    connection = Connection("Test server", "compatible", base_url=server.url, retries=0)

    async def key() -> SecretLookup:
        read.append("key")
        return SecretLookup(Secret(KEY), "session")

    model = RemoteModel(connection, "scripted-1", key, price=lambda: read.append("price"))
    await model.prepare(read.append)
    await model.prepare(read.append)
    assert (read, server.requests) == (["key", "price"], [])
    assert (await answer(model)).text
    assert read == ["key", "price"]


async def test_calls_that_begin_together_open_one_client(server: ChatServer) -> None:
    looked_up: list[str] = []
    connection = Connection("Test server", "compatible", base_url=server.url, retries=0)

    async def key() -> SecretLookup:
        looked_up.append("key")
        await asyncio.sleep(0)  # a keyring asks the user meanwhile
        return SecretLookup(Secret(KEY), "session")

    model = RemoteModel(connection, "scripted-1", key)
    replies = await asyncio.gather(*(said(model) for _ in range(4)))
    await model.close()
    assert replies == ["Hello from the server."] * 4
    assert looked_up == ["key"]


async def said(model: RemoteModel) -> str:
    reply = Reply()
    async for delta in model.stream(HELLO):
        reply = accumulate(reply, delta)
    return reply.text
