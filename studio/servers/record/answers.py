"""Bodies in the format of an API: requests with edited messages, and replies from the user."""

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from typing import TypeAlias, assert_never

from studio.core.agent.values.json_text import json_text
from studio.core.prompty.document import Message, ModelDeclaration
from studio.core.text.values import (
    Json,
    JsonDict,
    list_of,
    object_of,
    objects_of,
    parse_json,
    reason_of,
)
from studio.core.wire.reply import Reply, Usage
from studio.core.wire.request import to_request
from studio.servers.record.exchange import Exchange

_LISTS = ("messages", "input", "contents")
_SYSTEMS = ("system", "instructions", "systemInstruction")


def edited_body(exchange: Exchange, before: Sequence[Message], now: Sequence[Message]) -> bytes:
    """Return the request body of the program with the user's changes of messages and options.

    An unchanged item stays as the program wrote it, including fields that only its API has.

    Args:
        exchange: the request.
        before: its messages as shown in the run.
        now: the messages to send.
    """
    model = ModelDeclaration(id=exchange.model)
    was = to_request(before, (), model, provider=exchange.api).body
    is_now = to_request(now, (), model, provider=exchange.api).body
    made = {**exchange.data, **exchange.edited}
    for key in [key for key, value in exchange.edited.items() if value is None]:
        del made[key]
    for key in _LISTS:
        if key in is_now and was[key] != is_now[key]:
            made[key] = _changed(exchange.data.get(key), list_of(was[key]), list_of(is_now[key]))
    for key in _SYSTEMS:
        if was.get(key) != is_now.get(key):
            made.pop(key, None)
            if key in is_now:
                made[key] = is_now[key]
    return json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode()


def set_options(exchange: Exchange, text: str) -> str:
    """Set options of a request from a JSON object; return an error message, or ""."""
    try:
        given = parse_json(text)
    except ValueError as error:
        return f"the options are not JSON: {reason_of(error)}"
    if not isinstance(given, Mapping):
        return 'the options are one JSON object, such as {"temperature": 0}'
    if own := [key for key in (*_LISTS, *_SYSTEMS) if key in given]:
        return f"{own[0]} is not an option: edit the messages"
    if "stream" in given:
        return "stream cannot be set: the program expects the format that it requested"
    exchange.edited = {**exchange.edited, **given}
    return ""


def _changed(own: Json, was: Sequence[Json], now: Sequence[Json]) -> list[Json]:
    """Return the items of `now`; unchanged ones stay as the program wrote them."""
    items = list_of(own)
    if len(items) != len(was):
        return list(now)
    kept = {json_text(item): items[at] for at, item in enumerate(was)}
    return [kept.get(json_text(item), item) for item in now]


def answer_of(exchange: Exchange, reply: Reply) -> tuple[str, bytes]:
    """Return the media type and the body of a response that holds a reply.

    Sources: the API references of the five providers; a stream has the fewest legal events.
    """
    model = exchange.model
    match exchange.api:
        case "openai-chat":
            return _framed(exchange, _chat(model, reply), _chat_chunks)
        case "openai-responses":
            return _framed(exchange, _response(model, reply), _response_events)
        case "anthropic":
            return _framed(exchange, _message(model, reply), _message_events)
        case "gemini":
            whole = _candidate(reply)
            if exchange.streams and b"alt=sse" not in exchange.target:
                return "application/json", _json([whole])
            return _framed(exchange, whole, _plain)
        case "ollama":
            kind = "application/x-ndjson" if exchange.streams else "application/json"
            return kind, _json(_ollama(model, reply)) + b"\n"
        case _:
            assert_never(exchange.api)


_Events: TypeAlias = Callable[[JsonDict], Iterator[tuple[str, Json]]]
"""Generates the name and data of each event of a stream; an empty name is not written."""


def _framed(exchange: Exchange, whole: JsonDict, events: _Events) -> tuple[str, bytes]:
    if not exchange.streams:
        return "application/json", _json(whole)
    lines = [
        (f"event: {name}\n" if name else "") + f"data: {_json(data).decode()}\n\n"
        for name, data in events(whole)
    ]
    if exchange.api == "openai-chat":
        lines.append("data: [DONE]\n\n")
    return "text/event-stream", "".join(lines).encode()


def _plain(body: JsonDict) -> Iterator[tuple[str, Json]]:
    yield "", body


def _json(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _id(prefix: str) -> str:
    return f"{prefix}{uuid.uuid4().hex}"


def _arguments(text: str) -> Json:
    try:
        return parse_json(text or "{}")
    except ValueError:
        return {}


def _chat(model: str, reply: Reply) -> JsonDict:
    message: JsonDict = {"role": "assistant", "content": reply.text or None}
    if reply.tool_calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in reply.tool_calls
        ]
    reason = "tool_calls" if reply.tool_calls else "stop"
    usage = reply.usage or Usage()
    return {
        "id": _id("chatcmpl-"),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.total_tokens,
        },
    }


def _chat_chunks(body: JsonDict) -> Iterator[tuple[str, Json]]:
    head = {**body, "object": "chat.completion.chunk"}
    usage = head.pop("usage")
    choice = objects_of(body["choices"])[0]
    delta = dict(object_of(choice["message"]))
    if "tool_calls" in delta:
        calls = objects_of(delta["tool_calls"])
        delta["tool_calls"] = [{"index": at, **call} for at, call in enumerate(calls)]
    yield "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    end: Json = [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]
    yield "", {**head, "choices": end, "usage": usage}


def _response(model: str, reply: Reply) -> JsonDict:
    output: list[Json] = []
    if reply.text:
        part: Json = {"type": "output_text", "text": reply.text, "annotations": []}
        output.append(
            {
                "type": "message",
                "id": _id("msg_"),
                "status": "completed",
                "role": "assistant",
                "content": [part],
            }
        )
    output += (
        {
            "type": "function_call",
            "id": _id("fc_"),
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
            "status": "completed",
        }
        for call in reply.tool_calls
    )
    usage = reply.usage or Usage()
    return {
        "id": _id("resp_"),
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed",
        "model": model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": usage.input_tokens,
            "input_tokens_details": {"cached_tokens": usage.cached_tokens},
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
            "total_tokens": usage.total_tokens,
        },
    }


def _response_events(body: JsonDict) -> Iterator[tuple[str, Json]]:
    numbers = count()

    def event(name: str, **values: Json) -> tuple[str, Json]:
        return name, {"type": name, "sequence_number": next(numbers), **values}

    yield event("response.created", response={**body, "status": "in_progress", "output": []})
    for at, item in enumerate(objects_of(body["output"])):
        place: JsonDict = {"output_index": at, "item_id": item["id"]}
        if item["type"] == "message":
            (part,) = objects_of(item["content"])
            place["content_index"] = 0
            begun: Json = {**item, "content": [], "status": "in_progress"}
            yield event("response.output_item.added", output_index=at, item=begun)
            empty: Json = {**part, "text": ""}
            yield event("response.content_part.added", **place, part=empty)
            yield event("response.output_text.delta", **place, delta=part["text"], logprobs=[])
            yield event("response.output_text.done", **place, text=part["text"], logprobs=[])
            yield event("response.content_part.done", **place, part=part)
        else:
            begun = {**item, "arguments": "", "status": "in_progress"}
            yield event("response.output_item.added", output_index=at, item=begun)
            given = item["arguments"]
            yield event("response.function_call_arguments.delta", **place, delta=given)
            yield event("response.function_call_arguments.done", **place, arguments=given)
        yield event("response.output_item.done", output_index=at, item=item)
    yield event("response.completed", response=body)


def _message(model: str, reply: Reply) -> JsonDict:
    content: list[Json] = [{"type": "text", "text": reply.text}] if reply.text else []
    content += (
        {"type": "tool_use", "id": call.id, "name": call.name, "input": _arguments(call.arguments)}
        for call in reply.tool_calls
    )
    usage = reply.usage or Usage()
    return {
        "id": _id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if reply.tool_calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
    }


def _message_events(body: JsonDict) -> Iterator[tuple[str, Json]]:
    begun: Json = {**body, "content": [], "stop_reason": None}
    yield "message_start", {"type": "message_start", "message": begun}
    for at, block in enumerate(objects_of(body["content"])):
        is_text = block["type"] == "text"
        empty: Json = {**block, "text": ""} if is_text else {**block, "input": {}}
        delta: Json = (
            {"type": "text_delta", "text": block["text"]}
            if is_text
            else {"type": "input_json_delta", "partial_json": _json(block["input"]).decode()}
        )
        start: Json = {"type": "content_block_start", "index": at, "content_block": empty}
        yield "content_block_start", start
        yield "content_block_delta", {"type": "content_block_delta", "index": at, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": at}
    why: Json = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    usage: Json = {"output_tokens": object_of(body["usage"])["output_tokens"]}
    yield "message_delta", {"type": "message_delta", "delta": why, "usage": usage}
    yield "message_stop", {"type": "message_stop"}


def _candidate(reply: Reply) -> JsonDict:
    parts: list[Json] = [{"text": reply.text}] if reply.text else []
    parts += (
        {"functionCall": {"name": call.name, "args": _arguments(call.arguments)}}
        for call in reply.tool_calls
    )
    usage = reply.usage or Usage()
    content: Json = {"role": "model", "parts": parts}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": usage.input_tokens,
            "candidatesTokenCount": usage.output_tokens,
            "totalTokenCount": usage.total_tokens,
        },
    }


def _ollama(model: str, reply: Reply) -> JsonDict:
    message: JsonDict = {"role": "assistant", "content": reply.text}
    if reply.tool_calls:
        message["tool_calls"] = [
            {"function": {"name": call.name, "arguments": _arguments(call.arguments)}}
            for call in reply.tool_calls
        ]
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    return {
        "model": model,
        "created_at": now,
        "message": message,
        "done": True,
        "done_reason": "stop",
    }
