"""A server on loopback that speaks five APIs and notes every byte it gets and sends."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Literal, TypeAlias

from studio.core.models.connections import Connection
from tests.support.chat_server import Answer, ChatServer, Exchange, chat_server

Api: TypeAlias = Literal["chat", "responses", "anthropic", "gemini", "ollama"]
Protocol: TypeAlias = Literal["native", "react", "json_action"]
APIS: tuple[Api, ...] = ("chat", "responses", "anthropic", "gemini", "ollama")
PROTOCOLS: tuple[Protocol, ...] = ("native", "react", "json_action")
CALLS: Mapping[Protocol, str] = {
    "react": 'Thought: look\nAction: search\nArgs: {{"query": "{query}"}}',
    "json_action": '{{"action": "search", "action_input": {{"query": "{query}"}}}}',
}
ENDS: Mapping[Protocol, str] = {
    "native": "Found.",
    "react": "Thought: done\nFinal Answer: Found.",
    "json_action": '{"action": "final_answer", "action_input": "Found."}',
}


class WireServer(ChatServer):
    """Answers with a call of `search` until it has been asked `turns` times, then at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.protocol: Protocol = "native"
        self.turns = 1
        self.asked = 0
        self.always(self.reply)

    async def reply(self, exchange: Exchange) -> None:
        self.asked += 1
        path = exchange.request.path
        api = next((name for part, name in _PARTS if part in path), "chat")
        query = f"q{self.asked}" if self.asked < self.turns else ""
        if self.protocol == "native" and query:
            values = _CALLS[api](query, self.asked)
        else:
            text = CALLS[self.protocol].format(query=query) if query else ENDS[self.protocol]
            values = _TEXTS[api](text, self.asked)
        kind = "application/x-ndjson" if api == "ollama" else "text/event-stream"
        await exchange.head(kind=kind, x_request_id=f"req-{self.asked}")
        for value in values:
            line = json.dumps(value, ensure_ascii=False)
            if api == "ollama":
                await exchange.send(line + "\n")
            elif "type" in value:
                await exchange.send(f"event: {value['type']}\ndata: {line}\n\n")
            else:
                await exchange.send(f"data: {line}\n\n")
        if api == "chat":
            await exchange.send("data: [DONE]\n\n")


def wire_server() -> AbstractContextManager[WireServer]:
    """Run one until the block ends."""
    return chat_server(WireServer)  # type: ignore[return-value]


def connection(server: ChatServer, api: Api) -> Connection:
    """How that API of it is reached."""
    kinds: Mapping[Api, Any] = {"chat": "compatible", "responses": "compatible"}
    address = server.url[:-3] if api == "anthropic" else server.url
    return Connection(
        "Lab",
        kinds.get(api, api),
        base_url=address,
        retries=0,
        api="responses" if api == "responses" else "chat",
        headers={"x-lab-key": "lab-secret-header-value"},
    )


_PARTS: tuple[tuple[str, Api], ...] = (
    ("/responses", "responses"),
    ("/messages", "anthropic"),
    (":streamGenerateContent", "gemini"),
    ("/api/chat", "ollama"),
)


def _chat(delta: dict[str, Any], number: int, finish: str | None = None) -> dict[str, Any]:
    return {
        "id": f"answer-{number}",
        "object": "chat.completion.chunk",
        "model": "served-2026",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def _chat_text(text: str, number: int) -> list[Any]:
    half = len(text) // 2
    return [
        _chat({"role": "assistant", "content": text[:half]}, number),
        _chat({"content": text[half:]}, number),
        _chat({}, number, "stop"),
    ]


def _chat_call(query: str, number: int) -> list[Any]:
    function = {"name": "search", "arguments": json.dumps({"query": query})}
    call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
    return [
        _chat({"role": "assistant", "tool_calls": [call]}, number),
        _chat({}, number, "tool_calls"),
    ]


def _responses(item: dict[str, Any], number: int) -> list[Any]:
    head = {"id": f"answer-{number}", "model": "served-2026"}
    done = {**head, "status": "completed", "output": [item]}
    return [
        {"type": "response.created", "response": {**head, "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    ]


def _responses_text(text: str, number: int) -> list[Any]:
    item = {
        "type": "message",
        "id": f"msg_{number}",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text}],
    }
    events = _responses(item, number)
    delta = {"type": "response.output_text.delta", "output_index": 0, "content_index": 0}
    return [
        events[0],
        {**events[1], "item": {**item, "content": []}},
        {**delta, "delta": text},
        *events[2:],
    ]


def _responses_call(query: str, number: int) -> list[Any]:
    item = {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": "search",
        "arguments": json.dumps({"query": query}),
    }
    return _responses(item, number)


def _anthropic(block: dict[str, Any], delta: dict[str, Any], reason: str, number: int) -> list[Any]:
    message = {
        "id": f"answer-{number}",
        "model": "served-2026",
        "content": [],
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]


def _anthropic_text(text: str, number: int) -> list[Any]:
    delta = {"type": "text_delta", "text": text}
    return _anthropic({"type": "text", "text": ""}, delta, "end_turn", number)


def _anthropic_call(query: str, number: int) -> list[Any]:
    block = {"type": "tool_use", "id": f"call_{number}", "name": "search", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": json.dumps({"query": query})}
    return _anthropic(block, delta, "tool_use", number)


def _gemini(part: dict[str, Any], number: int) -> list[Any]:
    content = {"role": "model", "parts": [part]}
    return [
        {
            "candidates": [{"content": content, "finishReason": "STOP"}],
            "responseId": f"answer-{number}",
            "modelVersion": "served-2026",
        }
    ]


def _ollama(message: dict[str, Any], number: int) -> list[Any]:
    return [
        {"model": "served-2026", "message": {"role": "assistant", **message}, "done": False},
        {
            "model": "served-2026",
            "message": {"content": ""},
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": number,
            "eval_count": 2,
        },
    ]


def _function(query: str) -> dict[str, Any]:
    return {"name": "search", "args": {"query": query}}


_TEXTS: Mapping[Api, Callable[[str, int], list[Any]]] = {
    "chat": _chat_text,
    "responses": _responses_text,
    "anthropic": _anthropic_text,
    "gemini": lambda text, number: _gemini({"text": text}, number),
    "ollama": lambda text, number: _ollama({"content": text}, number),
}
_CALLS: Mapping[Api, Callable[[str, int], list[Any]]] = {
    "chat": _chat_call,
    "responses": _responses_call,
    "anthropic": _anthropic_call,
    "gemini": lambda query, number: _gemini({"functionCall": _function(query)}, number),
    "ollama": lambda query, number: _ollama(
        {"tool_calls": [{"function": {"name": "search", "arguments": {"query": query}}}]}, number
    ),
}

__all__ = ["APIS", "PROTOCOLS", "Answer", "WireServer", "connection", "wire_server"]
