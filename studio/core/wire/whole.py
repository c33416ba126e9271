"""A response that came whole, as the pieces in which it would have streamed.

The same readers take both, so that a reply of a batch holds what the streamed one does: the calls,
the figures, and what the provider wants back with the next request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from studio.core.text.values import JsonObject, objects_of
from studio.core.wire.chunks import chunk_error, content_text
from studio.core.wire.events import chunk_reader
from studio.core.wire.process import BadReplyError
from studio.core.wire.reply import ReplyDelta
from studio.core.wire.request import Provider

_NEEDED: Mapping[Provider, str] = {
    "openai-chat": "choices",
    "openai-responses": "output",
    "anthropic": "content",
}


def deltas_of_response(provider: Provider, response: JsonObject) -> tuple[ReplyDelta, ...]:
    """The pieces of a whole response; the last is `Finished`.

    Raises:
        BadReplyError: it holds an error, or no answer.
    """
    error = chunk_error(response)
    if error is not None:
        raise BadReplyError(error)
    needed = _NEEDED.get(provider)
    if needed is not None and not isinstance(response.get(needed), list):
        raise BadReplyError(f"the response holds no {needed!r}")
    reader = chunk_reader(provider)
    made = [
        delta for event in _events(provider, response) for delta in reader.read(event)
    ]  # fmt: skip
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
