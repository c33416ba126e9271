"""The providers' own client packages as judges: of the bodies that leave, and of what is read.

Each package is given what our body says, sends it to a server on loopback, and reads the same
stream. What it sends and reads must be what we send and read.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

from studio.core.models.base import ModelRequest
from studio.core.models.connections import Connection
from studio.core.models.remote.model import RemoteModel
from studio.core.models.secrets import Secret
from studio.core.prompty.document import (
    MediaPart,
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
)
from studio.core.text.values import Json
from studio.core.wire.reply import Reply, accumulate
from tests.interop.environments import LIMIT, build
from tests.support.chat_server import Answer, ChatServer, Exchange, chat_server, chunk, events

_PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGA"
    "hKmMIQAAAABJRU5ErkJggg=="
)
_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Where."}},
    "required": ["city"],
}
_TALK = (
    Message("system", (TextPart("Be brief."),)),
    Message("user", (TextPart("What is this, and is it raining?"), MediaPart("image", _PIXEL))),
    Message("assistant", (ToolCallPart("call_1", "weather", '{"city": "Oslo"}'),)),
    Message("tool", (ToolResultPart("rain"),), attributes={"tool_call_id": "call_1"}),
    Message("user", (TextPart("And tomorrow? Größe ✓"),)),
)
_TOOL = ToolSpec("weather", "Tells the weather.", _SCHEMA)
_SAID = "Tomorrow: sun ✓"

MISSING = "not installed here"
"""Said of a client that cannot be had."""


@dataclass(frozen=True)
class ApiClient:
    """One API and the package that its provider publishes for it."""

    connection: Connection
    """How we reach it; the address is the server's."""

    stream: Answer
    """What the server answers."""

    code: str
    """Reads `{address, body, model}` from standard input; prints the text that was read."""


def _json_lines(*values: object) -> Answer:
    async def answer(exchange: Exchange) -> None:
        await exchange.head(kind="application/x-ndjson")
        for value in values:
            await exchange.send(json.dumps(value) + "\n")

    return answer


def _named(*values: Mapping[str, object]) -> Answer:
    async def answer(exchange: Exchange) -> None:
        await exchange.head()
        for value in values:
            await exchange.send(f"event: {value['type']}\ndata: {json.dumps(value)}\n\n")

    return answer


_HEAD = """
import json, sys
given = json.load(sys.stdin)
body, address = given["body"], given["address"]
"""
_MESSAGE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "m-1",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 5, "output_tokens": 1},
}
_RESPONSE = {
    "id": "r",
    "object": "response",
    "created_at": 1,
    "model": "m-1",
    "output": [],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}

CLIENTS: Mapping[str, ApiClient] = {
    "openai chat": ApiClient(
        Connection("OpenAI", "openai"),
        events([chunk({"content": _SAID}), chunk({}, "stop"), "[DONE]"]),
        """
import openai
client = openai.OpenAI(base_url=address, api_key="k", max_retries=0)
chunks = client.chat.completions.create(**body)
print("".join(each.choices[0].delta.content or "" for each in chunks if each.choices))
""",
    ),
    "openai responses": ApiClient(
        Connection("OpenAI", "openai", api="responses"),
        _named(
            {
                "type": "response.created",
                "sequence_number": 0,
                "response": {**_RESPONSE, "status": "in_progress"},
            },
            {
                "type": "response.output_text.delta",
                "sequence_number": 1,
                "output_index": 0,
                "content_index": 0,
                "item_id": "i",
                "delta": _SAID,
                "logprobs": [],
            },
            {
                "type": "response.completed",
                "sequence_number": 2,
                "response": {**_RESPONSE, "status": "completed"},
            },
        ),
        """
import openai
client = openai.OpenAI(base_url=address, api_key="k", max_retries=0)
news = client.responses.create(**body)
print("".join(each.delta for each in news if each.type == "response.output_text.delta"))
""",
    ),
    "anthropic": ApiClient(
        Connection("Anthropic", "anthropic"),
        _named(
            {"type": "message_start", "message": _MESSAGE},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "text", "text": ""},
            },
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": _SAID},
            },
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                "usage": {"output_tokens": 7},
            },
            {"type": "message_stop"},
        ),
        """
import anthropic, inspect
client = anthropic.Anthropic(base_url=address.removesuffix("/v1"), api_key="k", max_retries=0)
# Its newest version has no arguments for sampling, which newer models do not take.
known = inspect.signature(client.messages.create).parameters
more = {key: body.pop(key) for key in [*body] if key not in known}
assert set(more) <= {"temperature"}, more
news = client.messages.create(**body, extra_body=more)
print("".join(each.delta.text for each in news if each.type == "content_block_delta"))
""",
    ),
    "ollama": ApiClient(
        Connection("Ollama", "ollama"),
        _json_lines(
            {
                "model": "m-1",
                "created_at": "2026-11-22T00:00:00Z",
                "message": {"role": "assistant", "content": _SAID},
                "done": False,
            },
            {
                "model": "m-1",
                "created_at": "2026-11-22T00:00:00Z",
                "done": True,
                "message": {"role": "assistant", "content": ""},
                "done_reason": "stop",
            },
        ),
        """
import ollama
client = ollama.Client(host=address.removesuffix("/v1"))
print("".join(each.message.content or "" for each in client.chat(**body)))
""",
    ),
    "google-genai": ApiClient(
        Connection("Gemini", "gemini"),
        events(
            [
                {"candidates": [{"content": {"role": "model", "parts": [{"text": _SAID}]}}]},
                {
                    "candidates": [{"finishReason": "STOP"}],
                    "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2},
                },
            ]
        ),
        """
from google import genai
client = genai.Client(api_key="k", http_options={
    "base_url": address.removesuffix("/v1"), "api_version": "v1",
})
config = dict(body.get("generationConfig", {}), tools=body["tools"],
              systemInstruction=body["systemInstruction"],
              automaticFunctionCalling={"disable": True})
chunks = client.models.generate_content_stream(
    model=given["model"], contents=body["contents"], config=config)
print("".join(each.text or "" for each in chunks))
""",
    ),
}
"""Each API that is spoken natively, with the judge of it."""


def compared() -> Iterator[tuple[str, str]]:
    """Each client, and what it sent or read differently; empty where nothing."""
    python = build("clients")
    for name, client in CLIENTS.items():
        if python is None:
            yield name, MISSING
            continue
        with chat_server() as server:
            yield name, _differs(client, server, python)


def _differs(client: ApiClient, server: ChatServer, python: Path) -> str:
    connection = replace(client.connection, base_url=server.url, retries=0)
    options = {"temperature": 0.5, "maxOutputTokens": 64}
    request = ModelRequest(_TALK, (_TOOL,), options, response_schema=_SCHEMA)
    server.script(client.stream, client.stream)
    ours = asyncio.run(_asked(connection, request))
    given = {"address": server.url, "body": server.requests[0].body, "model": "m-1"}
    done = subprocess.run(
        [str(python), "-I", "-c", _HEAD + client.code],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
        encoding="utf-8",
    )
    if done.returncode:
        return done.stderr.strip().rpartition("\n")[2]
    first, second = server.requests[0], server.requests[1]
    if first.path != second.path:
        return f"the path is {second.path} instead of {first.path}"
    if _plain(first.body) != _plain(second.body):
        return f"the body is {json.dumps(second.body)} instead of {json.dumps(first.body)}"
    if done.stdout.strip() != ours.text:
        return f"{done.stdout.strip()!r} is read instead of {ours.text!r}"
    return "" if ours.text == _SAID and ours.finish_reason == "stop" else f"{ours!r} is read"


def _plain(value: Json) -> Json:
    """JSON with its keys in one spelling: Google's servers take both, and its client mixes them."""
    if isinstance(value, Mapping):
        return {_camel(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _camel(key: str) -> str:
    first, *more = key.split("_")
    return first + "".join(word.capitalize() for word in more)


async def _asked(connection: Connection, request: ModelRequest) -> Reply:
    model, reply = RemoteModel(connection, "m-1", Secret("k")), Reply()
    try:
        async with aclosing(model.stream(request)) as deltas:
            async for delta in deltas:
                reply = accumulate(reply, delta)
    finally:
        await model.close()
    return reply
