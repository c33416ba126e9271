"""Ollama and Gemini by their own APIs: what leaves, what comes back, what their lists say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import pytest

from studio.core.agent.loop.context import assistant_message
from studio.core.models.base import ModelError, ModelRequest
from studio.core.models.capabilities import facts_of
from studio.core.models.connections import Connection, address_of, provider_at
from studio.core.models.remote.faults import Endpoint
from studio.core.models.remote.model import RemoteModel
from studio.core.models.remote.openai_client import OpenAIClient, listed_models
from studio.core.models.secrets import Secret
from studio.core.prompty.document import (
    MediaPart,
    Message,
    ModelDeclaration,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
)
from studio.core.wire.reply import Reply, accumulate
from studio.core.wire.request import Provider, to_request
from tests.support.chat_server import Answer, ChatServer, Exchange, events, failure, json_body

KEY = "planted-key-0123456789"
PIXEL = "data:image/png;base64,iVBORw0KGgo="
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
TOOL = ToolSpec("weather", "Tells the weather.", SCHEMA)
TALK = (
    Message("system", (TextPart("Be brief."),)),
    Message("user", (TextPart("What is this?"), MediaPart("image", PIXEL))),
    Message("assistant", (ToolCallPart("call_1", "weather", '{"city": "Oslo"}'),)),
    Message("tool", (ToolResultPart("rain"),), attributes={"tool_call_id": "call_1"}),
)
OPTIONS = {
    "temperature": 0.5,
    "maxOutputTokens": 9,
    "topK": 3,
    "stopSequences": ["END"],
    "seed": 1,
    "reasoningEffort": "low",
}


def ollama(server: ChatServer) -> Connection:
    return Connection("Ollama", "ollama", base_url=server.url, retries=0)


def gemini(server: ChatServer) -> Connection:
    return Connection("Gemini", "gemini", base_url=server.url, retries=0)


async def ask(connection: Connection, request: ModelRequest, model: str = "m-1") -> Reply:
    made = RemoteModel(connection, model, Secret(KEY))
    reply = Reply()
    try:
        async with aclosing(made.stream(request)) as deltas:
            async for delta in deltas:
                reply = accumulate(reply, delta)
    finally:
        await made.close()
    return reply


def body_of(connection: Connection, request: ModelRequest) -> Any:
    return RemoteModel(connection, "m-1", None).request_body(request)


def lines(values: Sequence[object]) -> Answer:
    """NDJSON, cut into pieces that end anywhere."""

    async def answer(exchange: Exchange) -> None:
        await exchange.head(kind="application/x-ndjson")
        data = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values).encode()
        for at in range(0, len(data), 7):
            await exchange.send(data[at : at + 7])

    return answer


# Ollama -------------------------------------------------------------------------------------------


async def test_ollama_gets_its_own_body_and_nothing_is_lost(server: ChatServer) -> None:
    further = {"additionalProperties": {"num_ctx": 8192, "keep_alive": "5m", "mirostat": 2}}
    request = ModelRequest(TALK, (TOOL,), {**OPTIONS, **further}, response_schema=SCHEMA)
    server.script(lines([{"message": {"content": "ok"}, "done": True, "done_reason": "stop"}]))
    await ask(ollama(server), request)
    (sent,) = server.requests
    assert sent.path == "/api/chat"
    assert sent.body == body_of(ollama(server), request)
    assert sent.body == {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is this?", "images": ["iVBORw0KGgo="]},
            {
                "role": "assistant",
                "tool_calls": [
                    {"function": {"name": "weather", "arguments": {"city": "Oslo"}}},
                ],
            },
            {"role": "tool", "content": "rain", "tool_name": "weather"},
        ],
        "think": "low",
        "keep_alive": "5m",
        "options": {
            "temperature": 0.5,
            "num_predict": 9,
            "top_k": 3,
            "seed": 1,
            "stop": ["END"],
            "num_ctx": 8192,
            "mirostat": 2,
        },
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "weather",
                    "description": "Tells the weather.",
                    "parameters": SCHEMA,
                },
            }
        ],
        "format": SCHEMA,
        "stream": True,
    }


async def test_ollamas_lines_are_read_wherever_they_are_cut(server: ChatServer) -> None:
    server.script(
        lines(
            [
                {
                    "message": {"role": "assistant", "content": "", "thinking": "Hm, "},
                    "done": False,
                },
                {"message": {"thinking": "Größe."}, "done": False},
                {"message": {"content": "Let me "}, "done": False},
                {"message": {"content": "look."}, "done": False},
                {
                    "message": {
                        "tool_calls": [
                            {"function": {"name": "weather", "arguments": {"city": "Oslo"}}},
                            {"function": {"name": "weather", "arguments": {"city": "Rome"}}},
                        ]
                    },
                    "done": False,
                },
                {
                    "message": {"content": ""},
                    "done": True,
                    "done_reason": "stop",
                    "prompt_eval_count": 26,
                    "eval_count": 7,
                    "eval_duration": 5,
                },
            ]
        )
    )
    reply = await ask(ollama(server), ModelRequest(TALK[:2], (TOOL,)))
    assert (reply.text, reply.reasoning) == ("Let me look.", "Hm, Größe.")
    assert [json.loads(call.arguments)["city"] for call in reply.tool_calls] == ["Oslo", "Rome"]
    assert len({call.id for call in reply.tool_calls}) == 2
    assert reply.finish_reason == "tool_calls"
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (26, 7)
    # Its thinking goes back with the calls that followed from it.
    back = body_of(ollama(server), ModelRequest((assistant_message("Let me look.", reply),)))
    assert back["messages"][0]["thinking"] == "Hm, Größe."


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        (failure(404, "model 'm-1' not found"), "not-found", "m-1"),
        (json_body({"error": "model requires more memory"}, 500), "server-error", "more memory"),
        (lines([{"message": {"content": "Half"}, "done": False}]), "cut-off", "broke off"),
        (
            lines([{"message": {"content": "Half"}}, {"error": "llama runner died"}]),
            "server-error",
            "llama runner died",
        ),
    ],
)
async def test_ollamas_faults_are_named(
    server: ChatServer, answer: Answer, kind: str, said: str
) -> None:
    server.script(answer)
    with pytest.raises(ModelError) as caught:
        await ask(ollama(server), ModelRequest(TALK[:2]))
    assert caught.value.kind in (kind, "unknown-model")
    assert said in caught.value.message


async def test_ollama_says_what_its_models_can(server: ChatServer) -> None:
    server.list_answer = None
    tags = {"models": [{"name": "small:latest", "model": "small:latest"}]}
    show = {
        "capabilities": ["completion", "vision"],
        "model_info": {"llama.context_length": 131072},
        "parameters": 'stop "<|end|>"\nnum_ctx                        8192',
    }
    server.script(json_body(tags), json_body(show))
    client = OpenAIClient(ollama(server), None, Endpoint("Ollama", server.url, ""))
    (listed,) = await listed_models(client)
    await client.close()
    assert [each.path for each in server.requests] == ["/api/tags", "/api/show"]
    able = facts_of("small:latest", listed=listed, connection=ollama(server)).capabilities
    assert (able.tools, able.vision, able.context_window) == (False, True, 8192)


@pytest.mark.parametrize(
    "address", ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/api"]
)
def test_ollamas_address_is_taken_as_people_write_it(address: str) -> None:
    assert address_of(Connection("O", "ollama", base_url=address)) == "http://h:1"


@pytest.mark.parametrize("provider", ["ollama", "gemini"])
@pytest.mark.parametrize("allowed", [True, False])
def test_several_calls_at_once_cannot_be_forbidden_and_that_is_said(
    provider: Provider, allowed: bool
) -> None:
    model = ModelDeclaration(id="m", options={"allowMultipleToolCalls": allowed})
    request = to_request(TALK[:1], (TOOL,), model, provider=provider)
    told = [item for item in request.problems if "allowMultipleToolCalls" in item.message]
    assert bool(told) == (not allowed)


# Gemini -------------------------------------------------------------------------------------------


async def test_gemini_gets_its_own_body_and_nothing_is_lost(server: ChatServer) -> None:
    safety = [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]
    further = {"additionalProperties": {"safetySettings": safety, "responseLogprobs": True}}
    request = ModelRequest(TALK, (TOOL,), {**OPTIONS, **further}, response_schema=SCHEMA)
    answer = {"candidates": [{"content": {"parts": [{"text": "ok"}]}, "finishReason": "STOP"}]}
    server.script(events([answer]))
    assert (await ask(gemini(server), request, "gemini-3.5-pro")).text == "ok"
    (sent,) = server.requests
    assert sent.path == "/v1/models/gemini-3.5-pro:streamGenerateContent?alt=sse"
    assert sent.headers["x-goog-api-key"] == KEY
    assert "authorization" not in sent.headers
    assert sent.body == body_of(gemini(server), request)
    assert sent.body == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {
                "role": "user",
                "parts": [
                    {"text": "What is this?"},
                    {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
                ],
            },
            {
                "role": "model",
                "parts": [
                    {"functionCall": {"id": "call_1", "name": "weather", "args": {"city": "Oslo"}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "id": "call_1",
                            "name": "weather",
                            "response": {"result": "rain"},
                        }
                    }
                ],
            },
        ],
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "weather",
                        "description": "Tells the weather.",
                        "parametersJsonSchema": SCHEMA,
                    }
                ]
            }
        ],
        "safetySettings": safety,
        "generationConfig": {
            "temperature": 0.5,
            "maxOutputTokens": 9,
            "topK": 3,
            "seed": 1,
            "stopSequences": ["END"],
            "responseLogprobs": True,
            "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "LOW"},
            "responseMimeType": "application/json",
            "responseJsonSchema": SCHEMA,
        },
    }


async def test_gemini_thinks_signs_calls_and_counts(server: ChatServer) -> None:
    def part(*parts: object, **more: object) -> dict[str, object]:
        return {
            "candidates": [{"content": {"role": "model", "parts": parts}, **more}],
            "responseId": "r1",
        }

    call = {"name": "weather", "args": {"city": "Oslo"}}
    server.script(
        events(
            [
                part({"text": "Hm.", "thought": True}),
                part({"text": "Let me look.", "thoughtSignature": "c2ln"}),
                part(
                    {"functionCall": call, "thoughtSignature": "Y2FsbA=="},
                    {"functionCall": {**call, "args": {"city": "Rome"}}},
                    finishReason="STOP",
                ),
                {
                    "usageMetadata": {
                        "promptTokenCount": 100,
                        "candidatesTokenCount": 20,
                        "thoughtsTokenCount": 30,
                        "cachedContentTokenCount": 40,
                        "totalTokenCount": 150,
                        "promptTokensDetails": [{"modality": "IMAGE", "tokenCount": 60}],
                    }
                },
            ]
        )
    )
    reply = await ask(gemini(server), ModelRequest(TALK[:2], (TOOL,)))
    assert (reply.text, reply.reasoning) == ("Let me look.", "Hm.")
    assert reply.finish_reason == "tool_calls"
    assert [json.loads(each.arguments)["city"] for each in reply.tool_calls] == ["Oslo", "Rome"]
    usage = reply.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.reasoning_tokens) == (100, 50, 30)
    assert (usage.cached_tokens, usage.input_image_tokens) == (40, 60)
    # Everything that was signed goes back signed; ids that the API did not give do not go at all.
    calls = tuple(ToolCallPart(each.id, each.name, each.arguments) for each in reply.tool_calls)
    said = Message("assistant", (TextPart(reply.text), *calls), carried=reply.carried)
    first = reply.tool_calls[0]
    result = Message("tool", (ToolResultPart('{"sky": 1}'),), attributes={"tool_call_id": first.id})
    back = body_of(gemini(server), ModelRequest((*TALK[:2], said, result)))["contents"]
    assert back[1]["parts"] == [
        {"text": "Let me look.", "thoughtSignature": "c2ln"},
        {"functionCall": call, "thoughtSignature": "Y2FsbA=="},
        {"functionCall": {**call, "args": {"city": "Rome"}}},
    ]
    answered = {"name": "weather", "response": {"sky": 1}}
    assert back[2]["parts"] == [{"functionResponse": answered}]


@pytest.mark.parametrize(
    ("chunk", "reason", "notice"),
    [
        ({"candidates": [{"finishReason": "MAX_TOKENS"}]}, "length", ""),
        ({"candidates": [{"finishReason": "SAFETY"}]}, "content_filter", ""),
        ({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}, "error", ""),
        (
            {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}},
            "content_filter",
            "blocked: PROHIBITED_CONTENT",
        ),
        ({"candidates": [{"finishReason": "NEW_WORD"}]}, "unknown", "NEW_WORD"),
    ],
)
async def test_gemini_says_why_it_ends(
    server: ChatServer, chunk: object, reason: str, notice: str
) -> None:
    server.script(events([chunk]))
    reply = await ask(gemini(server), ModelRequest(TALK[:2]))
    assert reply.finish_reason == reason
    assert notice in " ".join(reply.notices)


async def test_geminis_list_says_the_windows(server: ChatServer) -> None:
    listed = {"models": [{"name": "models/gemini-9", "inputTokenLimit": 99_000}]}
    server.list_answer = json_body(listed)
    client = OpenAIClient(gemini(server), Secret(KEY), Endpoint("Gemini", server.url, ""))
    (found,) = await listed_models(client)
    await client.close()
    assert found["id"] == "gemini-9"
    assert facts_of("gemini-9", listed=found).capabilities.context_window == 99_000


def test_geminis_compatible_address_is_still_spoken_to_in_its_way() -> None:
    old = Connection(
        "G", "gemini", base_url="https://generativelanguage.googleapis.com/v1beta/openai/"
    )
    assert provider_at(old) == "openai-chat"
    assert provider_at(Connection("G", "gemini")) == "gemini"
