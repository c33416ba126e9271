"""Anthropic's own API on a loopback server: what is sent, what comes back, and what goes back."""

from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import replace
from functools import reduce
from typing import Any

import pytest

from studio.core.agent.loop.context import exchange
from studio.core.agent.values.step import Action, Call, Step
from studio.core.models.base import ModelError, ModelRequest
from studio.core.models.connections import Connection, address_of
from studio.core.models.probe import probe
from studio.core.models.remote.faults import Endpoint
from studio.core.models.remote.model import RemoteModel
from studio.core.models.remote.openai_client import OpenAIClient
from studio.core.models.secrets import Secret, SecretStore
from studio.core.prompty.document import MediaPart, Message, TextPart, ToolSpec
from studio.core.wire.reply import Reply, accumulate
from tests.core.models.remote_model import KEY
from tests.support.chat_server import Answer, ChatServer, Exchange, json_body

TOOL = ToolSpec(
    "weather", parameters={"type": "object", "properties": {"city": {"type": "string"}}}
)
ASK = Message("user", (TextPart("Rome and Oslo?"),))


def model(server: ChatServer, **changes: Any) -> RemoteModel:
    connection = Connection("Claude", "anthropic", base_url=server.url[:-3], retries=0)
    return RemoteModel(replace(connection, **changes), "claude-x", Secret(KEY))


def said(*events: dict[str, Any]) -> Answer:
    """A stream of Anthropic's, each event with its name."""

    async def answer(exchange: Exchange) -> None:
        await exchange.head()
        for event in events:
            await exchange.send(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n")

    return answer


def start(**usage: int) -> dict[str, Any]:
    figures = {"input_tokens": 10, "output_tokens": 1, **usage}
    return {"type": "message_start", "message": {"content": [], "usage": figures}}


def block(index: int, head: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": head},
        *({"type": "content_block_delta", "index": index, "delta": each} for each in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def end(reason: str | None, **more: Any) -> list[dict[str, Any]]:
    usage = {"output_tokens": 42}
    delta = {"stop_reason": reason, **more}
    return [{"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]


def text(words: str, index: int = 0) -> list[dict[str, Any]]:
    head = {"type": "text", "text": ""}
    return block(index, head, {"type": "text_delta", "text": words})


THOUGHT = block(
    0,
    {"type": "thinking", "thinking": "", "signature": ""},
    {"type": "thinking_delta", "thinking": "Two "},
    {"type": "thinking_delta", "thinking": "towns."},
    {"type": "signature_delta", "signature": "c2ln"},
)
HIDDEN = block(1, {"type": "redacted_thinking", "data": "ZGF0YQ=="})


def use(index: int, name: str, city: str) -> list[dict[str, Any]]:
    head = {"type": "tool_use", "id": name, "name": "weather", "input": {}}
    arguments = json.dumps({"city": city})
    pieces = (arguments[:5], arguments[5:])
    return block(index, head, *({"type": "input_json_delta", "partial_json": p} for p in pieces))


CALLS = (
    start(),
    {"type": "ping"},
    *THOUGHT,
    *HIDDEN,
    *text("Let me see.", 2),
    *use(3, "tu_1", "Rome"),
    *use(4, "tu_2", "Oslo"),
    *end("tool_use"),
)


async def ask(asked: RemoteModel, request: ModelRequest) -> Reply:
    async with aclosing(asked.stream(request)) as deltas:
        reply = reduce(accumulate, [delta async for delta in deltas], Reply())
    await asked.close()
    return reply


async def test_the_body_shown_is_the_body_sent_and_the_key_has_its_own_header(
    server: ChatServer,
) -> None:
    server.always(said(start(), *text("Hello."), *end("end_turn")))
    messages = (
        Message("system", (TextPart("Be brief."),), {"cache_control": "1h"}),
        Message("system", (TextPart("Be kind."),)),
        Message("user", (TextPart("Look: "), MediaPart("image", "data:image/png;base64,aGk="))),
    )
    request = ModelRequest(
        messages,
        (TOOL,),
        {"maxOutputTokens": 99, "additionalProperties": {"top_k": 3}},
        stop=("END",),
        response_schema={"type": "object", "properties": {"a": {"type": "string"}}},
    )
    asked = model(server)
    shown = asked.request_body(request)
    reply = await ask(asked, request)
    assert (reply.text, reply.finish_reason) == ("Hello.", "stop")
    received = server.requests[0]
    assert (received.method, received.path) == ("POST", "/v1/messages")
    assert received.body == shown
    assert received.headers["x-api-key"] == KEY
    assert received.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in received.headers
    assert shown["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert shown["messages"][0]["content"][1]["source"]["media_type"] == "image/png"
    assert shown["output_config"]["format"]["schema"]["additionalProperties"] is False
    assert (shown["stop_sequences"], shown["stream"], shown["max_tokens"]) == (["END"], True, 99)


async def test_thinking_is_shown_and_goes_back_signed_before_the_calls(server: ChatServer) -> None:
    server.script(said(*CALLS))
    asked = model(server)
    reply = await ask(asked, ModelRequest((ASK,), (TOOL,)))
    assert (reply.reasoning, reply.text, reply.finish_reason) == (
        "Two towns.",
        "Let me see.",
        "tool_calls",
    )
    assert [(call.id, json.loads(call.arguments)["city"]) for call in reply.tool_calls] == [
        ("tu_1", "Rome"),
        ("tu_2", "Oslo"),
    ]
    calls = tuple(
        Call(each.id, each.name, {}, each.arguments, observation="mild")
        for each in reply.tool_calls
    )
    step = Step(1, reply=reply, reading=Action(kept=reply.text), calls=calls)
    body = asked.request_body(ModelRequest((ASK, *exchange(step)), (TOOL,)))
    kinds = [each["type"] for each in body["messages"][1]["content"]]
    assert kinds == ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"]
    assert body["messages"][1]["content"][:2] == [
        {"type": "thinking", "thinking": "Two towns.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "ZGF0YQ=="},
    ]
    assert [each["tool_use_id"] for each in body["messages"][2]["content"]] == ["tu_1", "tu_2"]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "stop"),
        ("new_word", "unknown"),
    ],
)
async def test_every_stop_reason_is_an_end(server: ChatServer, word: str, reason: str) -> None:
    server.script(said(start(), *text("Half"), *end(word)))
    reply = await ask(model(server), ModelRequest((ASK,)))
    assert (reply.text, reply.finish_reason) == ("Half", reason)


async def test_a_refusal_says_why(server: ChatServer) -> None:
    why = {"type": "refusal", "category": "cyber", "explanation": "That could do harm."}
    server.script(said(start(), *end("refusal", stop_details=why)))
    reply = await ask(model(server), ModelRequest((ASK,)))
    assert (reply.finish_reason, reply.refusal) == ("refusal", "That could do harm.")


def fault(status: int, kind: str, message: str) -> Answer:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return json_body(body, status=status)


@pytest.mark.parametrize(
    ("status", "kind", "message", "named"),
    [
        (401, "authentication_error", "invalid x-api-key", "unauthorised"),
        (403, "permission_error", "not yours", "forbidden"),
        (404, "not_found_error", "model: claude-x", "unknown-model"),
        (413, "request_too_large", "Request exceeds the maximum size", "too-long"),
        (400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum", "too-long"),
        (400, "invalid_request_error", "Your credit balance is too low to access", "no-quota"),
        (
            400,
            "invalid_request_error",
            "messages: text content blocks must be non-empty",
            "bad-request",
        ),
        (429, "rate_limit_error", "slow down", "rate-limited"),
        (529, "overloaded_error", "Overloaded", "server-error"),
    ],
)
async def test_errors_are_named(
    server: ChatServer, status: int, kind: str, message: str, named: str
) -> None:
    server.script(fault(status, kind, message))
    with pytest.raises(ModelError) as caught:
        await ask(model(server), ModelRequest((ASK,)))
    assert caught.value.kind == named
    assert message in caught.value.message
    assert KEY not in caught.value.message


async def test_an_overloaded_server_is_asked_again_before_and_within_the_stream(
    server: ChatServer,
) -> None:
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    server.script(
        fault(529, "overloaded_error", "Overloaded"),
        said(start(), overloaded),
        said(start()),
        said(start(), *text("Here."), *end("end_turn")),
    )
    reply = await ask(model(server, retries=3), ModelRequest((ASK,)))
    assert (reply.text, len(server.requests)) == ("Here.", 4)


async def test_an_option_that_is_not_permitted_is_left_out(server: ChatServer) -> None:
    server.script(
        fault(400, "invalid_request_error", "top_k: Extra inputs are not permitted"),
        said(start(), *text("Here."), *end("end_turn")),
    )
    reply = await ask(model(server), ModelRequest((ASK,), options={"topK": 3}))
    assert reply.text == "Here."
    assert [("top_k" in each.body) for each in server.requests] == [True, False]


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        ("`temperature` is deprecated for this model.", [{"temperature"}, set()]),
        (
            "`temperature` and `top_p` cannot both be specified for this model. Please use only"
            " one.",
            [{"temperature", "top_p"}, {"top_p"}],
        ),
    ],
)
async def test_sampling_that_newer_models_refuse_is_left_out_and_said(
    server: ChatServer, words: str, sent: list[set[str]]
) -> None:
    server.script(
        fault(400, "invalid_request_error", words), said(start(), *text("Here."), *end("end_turn"))
    )
    options = {"temperature": 0.5, **({"topP": 0.9} if "top_p" in sent[0] else {})}
    reply = await ask(model(server), ModelRequest((ASK,), options=options))
    assert reply.text == "Here."
    assert [{"temperature", "top_p"} & {*each.body} for each in server.requests] == sent
    assert [each.name for each in reply.left_out] == ["temperature"]
    assert (
        reply.left_out[0].sentence == "The server does not accept 'temperature': 0.5 is left out."
    )


async def test_a_whole_reply_is_read_too(server: ChatServer) -> None:
    content = [{"type": "text", "text": "At once."}]
    figures = {"input_tokens": 3, "output_tokens": 2}
    body = {"type": "message", "content": content, "stop_reason": "max_tokens", "usage": figures}
    server.script(json_body(body))
    reply = await ask(model(server), ModelRequest((ASK,)))
    assert (reply.text, reply.finish_reason) == ("At once.", "length")


async def test_the_models_are_listed_by_its_own_list(server: ChatServer) -> None:
    server.models = [{"id": "claude-x", "type": "model", "max_input_tokens": 200000}]
    server.list_answer = json_body({"data": server.models, "has_more": False})
    connection = Connection("Claude", "anthropic", base_url=server.url, model="claude-x")
    found = await probe(connection, SecretStore())
    assert (found.works, found.models) == (True, ("claude-x",))
    assert server.requests[0].path == "/v1/models?limit=1000"


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("", "https://api.anthropic.com/v1/"),
        ("http://localhost:1234", "http://localhost:1234/v1/"),
        ("http://localhost:1234/v1", "http://localhost:1234/v1"),
        ("https://gateway.test/a/anthropic/", "https://gateway.test/a/anthropic/v1/"),
    ],
)
def test_the_address_may_lack_the_version(written: str, address: str) -> None:
    assert address_of(Connection("Claude", "anthropic", base_url=written)) == address


def test_its_faults_name_its_own_api() -> None:
    connection = Connection("Claude", "anthropic")
    client = OpenAIClient(connection, None, Endpoint("Claude", "", "m"))
    assert "Anthropic's API" in client.bad_reply("it is empty").hint
