"""Whole responses of a provider, and what Prompty makes of them (Prompty spec §8)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from studio.core.text.values import Json, JsonObject
from studio.core.wire.chunks import ChatChunks, chunk_error, content_text
from studio.core.wire.reply import (
    FinishReason,
    Reply,
    TextDelta,
    ToolCall,
    accumulate,
)
from studio.core.wire.usage import finish_reason, read_usage


class BadReplyError(ValueError):
    """A response that holds no answer; the text is meant for the person."""


def read_response(response: JsonObject) -> Reply:
    """The reply in a whole response of chat completions, responses or Anthropic messages.

    Raises:
        BadReplyError: it holds an error, or is none of these.
    """
    error = chunk_error(response)
    if error is not None:
        named = "Responses API error: " if response.get("object") == "response" else ""
        raise BadReplyError(named + error)
    if "choices" in response:
        return _read_chat(response)
    if isinstance(response.get("output"), list):
        return _read_output(response)
    if isinstance(response.get("content"), list):
        return _read_blocks(response)
    raise BadReplyError("the response holds neither choices, nor output, nor content")


def result_of(response: JsonObject, *, api_type: str = "chat", has_outputs: bool = False) -> Json:
    """What Prompty calls the result: text, tool calls, an object, vectors or images.

    Args:
        response: The provider's response as JSON.
        api_type: The document's `model.apiType`.
        has_outputs: Whether outputs are declared: the text is then read as a JSON object, and
            stays text where it is none.

    Raises:
        BadReplyError: there is nothing in it.
    """
    if api_type == "embedding":
        return _one_or_all([item.get("embedding") for item in _items(response, "embedding")])
    if api_type == "image":
        images = _items(response, "image")
        return _one_or_all([item.get("url") or item.get("b64_json") for item in images])
    reply = read_response(response)
    if reply.tool_calls:
        return [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in reply.tool_calls
        ]
    text = reply.text or reply.refusal
    if has_outputs and text:
        try:
            value = json.loads(text)
        except ValueError:
            return text
        return value if isinstance(value, dict) else text
    return text


@dataclass(frozen=True, slots=True)
class StreamResult:
    """How a stream ended, in the words of Prompty's stream vectors."""

    chunks: tuple[JsonObject, ...]
    """`{kind: text, value}` pieces, then a `{kind: failure, failure}` where it failed."""

    partial_text: str
    """All text that came."""

    requires_reconciliation: bool
    """Whether nobody can know what the provider did: the connection broke after it had begun."""

    committed: bool
    """Whether the answer is whole."""


def result_of_stream(events: Iterable[JsonObject]) -> StreamResult:
    """Classify events `{kind: provider, value}` and `{kind: transportError, message}`.

    A refusal is a determinate failure; a broken connection is an indeterminate one, and what had
    come stays.
    """
    reader = ChatChunks()
    reply = Reply()
    chunks: list[JsonObject] = []
    failure: tuple[str, str] | None = None
    for event in events:
        if event.get("kind") == "transportError":
            failure = ("indeterminate", str(event.get("message", "")))
            break
        value = event.get("value")
        for delta in reader.read(value) if isinstance(value, Mapping) else ():
            reply = accumulate(reply, delta)
            if isinstance(delta, TextDelta):
                chunks.append({"kind": "text", "value": delta.text})
    if failure is None and reply.refusal:
        failure = ("determinate", f"Model refused: {reply.refusal}")
    if failure is not None:
        outcome, message = failure
        chunks.append({"kind": "failure", "failure": {"outcome": outcome, "message": message}})
    broken = failure is not None and failure[0] == "indeterminate"
    return StreamResult(tuple(chunks), reply.text, broken, failure is None)


def _read_chat(response: JsonObject) -> Reply:
    choices = response["choices"]
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, Mapping):
        raise BadReplyError("the response has no choices")
    reply = Reply()
    reader = ChatChunks()
    for delta in (*reader.read(response), *reader.end()):
        reply = accumulate(reply, delta)
    return reply


def _read_output(response: JsonObject) -> Reply:
    texts: list[str] = []
    refusals: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    for item in _mappings(response["output"]):
        match item.get("type"):
            case "function_call":
                call_id = item.get("call_id") or item.get("id") or ""
                arguments = item.get("arguments")
                text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
                calls.append(ToolCall(str(call_id), str(item.get("name", "")), text))
            case "message":
                for part in _mappings(item.get("content")):
                    if part.get("type") == "refusal":
                        refusals.append(str(part.get("refusal", "")))
                    else:
                        texts.append(content_text(part.get("text")))
            case "reasoning":
                parts = (*_mappings(item.get("summary")), *_mappings(item.get("content")))
                thoughts += (content_text(part.get("text")) for part in parts)
            case _:
                pass
    text = "".join(texts)
    if not text and isinstance(response.get("output_text"), str):
        text = str(response["output_text"])
    return Reply(
        text,
        "".join(thoughts),
        "".join(refusals),
        tuple(calls),
        read_usage(response.get("usage")),
        _reason_of_output(response, calls, refusals),
    )


def _reason_of_output(
    response: JsonObject, calls: Sequence[ToolCall], refusals: Sequence[str]
) -> FinishReason:
    details = response.get("incomplete_details")
    if response.get("status") == "incomplete" and isinstance(details, Mapping):
        return finish_reason(details.get("reason"))
    if calls:
        return "tool_calls"
    return "refusal" if refusals else finish_reason(response.get("status"))


def _read_blocks(response: JsonObject) -> Reply:
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    for block in _mappings(response["content"]):
        match block.get("type"):
            case "text":
                texts.append(content_text(block.get("text")))
            case "thinking":
                thoughts.append(content_text(block.get("thinking")))
            case "tool_use":
                value = block.get("input")
                compact = json.dumps(
                    {} if value is None else value, ensure_ascii=False, separators=(",", ":")
                )
                arguments = value if isinstance(value, str) else compact
                calls.append(
                    ToolCall(str(block.get("id", "")), str(block.get("name", "")), arguments)
                )
            case _:
                pass
    return Reply(
        "".join(texts),
        "".join(thoughts),
        "",
        tuple(calls),
        read_usage(response.get("usage")),
        finish_reason(response.get("stop_reason")),
    )


def _items(response: JsonObject, what: str) -> list[Mapping[str, Json]]:
    items = _mappings(response.get("data"))
    if not items:
        raise BadReplyError(f"Empty {what} response")
    return items


def _one_or_all(values: list[Json]) -> Json:
    return values[0] if len(values) == 1 else values


def _mappings(value: Json) -> list[Mapping[str, Json]]:
    if not isinstance(value, list | tuple):
        return []
    return [item for item in value if isinstance(item, Mapping)]
