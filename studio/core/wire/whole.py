"""Read unstreamed responses: as a reply, or as the deltas of a stream."""

import json
from collections.abc import Iterator, Mapping, Sequence

from studio.core.text.values import JsonObject, objects_of
from studio.core.wire.chunks import ChatChunks, ChunkReader, chunk_error, content_text
from studio.core.wire.events import chunk_reader
from studio.core.wire.gemini import GeminiChunks
from studio.core.wire.ollama import OllamaChunks
from studio.core.wire.reply import (
    FinishReason,
    Reply,
    ReplyDelta,
    ToolCall,
    accumulate,
    finish_reason,
    read_usage,
)
from studio.core.wire.request import Provider

_NEEDED: Mapping[Provider, str] = {
    "openai-chat": "choices",
    "openai-responses": "output",
    "anthropic": "content",
}


class BadReplyError(ValueError):
    """Raised when a response contains no answer; the text is for the user."""


def deltas_of_response(provider: Provider, response: JsonObject) -> tuple[ReplyDelta, ...]:
    """Return the deltas of a whole response; the last is `Finished`.

    The same readers as for streams are used, so that a reply of a batch has the same content:
    calls, usage, and data to send back.

    Raises:
        BadReplyError: it contains an error, or no answer.
    """
    error = chunk_error(response)
    if error is not None:
        raise BadReplyError(error)
    needed = _NEEDED.get(provider)
    if needed is not None and not isinstance(response.get(needed), list):
        raise BadReplyError(f"the response contains no {needed!r}")
    reader = chunk_reader(provider)
    made = [delta for event in _events(provider, response) for delta in reader.read(event)]
    return (*made, *reader.end())


def _events(provider: Provider, response: JsonObject) -> Iterator[JsonObject]:
    match provider:
        case "openai-responses":
            yield from _of_responses(response)
        case "anthropic":
            yield from _of_anthropic(response)
        case _:
            yield response


def _of_responses(response: JsonObject) -> Iterator[JsonObject]:
    for index, item in enumerate(objects_of(response.get("output"))):
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        for part in (*objects_of(item.get("summary")), *objects_of(item.get("content"))):
            refused = part.get("type") == "refusal"
            if item.get("type") == "reasoning":
                kind = "response.reasoning_summary_text.delta"
            else:
                kind = "response.refusal.delta" if refused else "response.output_text.delta"
            text = part.get("refusal") if refused else part.get("text")
            yield {"type": kind, "output_index": index, "delta": content_text(text)}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": response}


def _of_anthropic(message: JsonObject) -> Iterator[JsonObject]:
    for index, block in enumerate(objects_of(message.get("content"))):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": message, "usage": message.get("usage")}
    yield {"type": "message_stop"}


def read_response(response: JsonObject) -> Reply:
    """Read a whole response of chat completions, responses or Anthropic messages as a reply.

    Raises:
        BadReplyError: it contains an error, or is none of these.
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
    if isinstance(response.get("message"), Mapping) and "done" in response:
        return _read_pieces(response, OllamaChunks())
    if isinstance(response.get("candidates"), list) or "promptFeedback" in response:
        return _read_pieces(response, GeminiChunks())
    raise BadReplyError("the response contains neither choices nor output nor content")


def _read_chat(response: JsonObject) -> Reply:
    choices = response["choices"]
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, Mapping):
        raise BadReplyError("the response has no choices")
    return _read_pieces(response, ChatChunks())


def _read_pieces(response: JsonObject, reader: ChunkReader) -> Reply:
    """Read a whole response of an API whose chunks have the same form."""
    reply = Reply()
    for delta in (*reader.read(response), *reader.end()):
        reply = accumulate(reply, delta)
    return reply


def _read_output(response: JsonObject) -> Reply:
    texts: list[str] = []
    refusals: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    for item in objects_of(response["output"]):
        match item.get("type"):
            case "function_call":
                call_id = item.get("call_id") or item.get("id") or ""
                arguments = item.get("arguments")
                text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
                calls.append(ToolCall(str(call_id), str(item.get("name", "")), text))
            case "message":
                for part in objects_of(item.get("content")):
                    if part.get("type") == "refusal":
                        refusals.append(str(part.get("refusal", "")))
                    else:
                        texts.append(content_text(part.get("text")))
            case "reasoning":
                parts = (*objects_of(item.get("summary")), *objects_of(item.get("content")))
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
    for block in objects_of(response["content"]):
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
