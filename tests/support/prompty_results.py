"""Our readers of replies, in the words of Prompty's `process` and `stream` vectors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from studio.core.text.values import Json, JsonObject
from studio.core.wire.chunks import ChatChunks
from studio.core.wire.reply import Reply, TextDelta, accumulate
from studio.core.wire.whole import BadReplyError, read_response


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


def _items(response: JsonObject, what: str) -> list[Mapping[str, Json]]:
    data = response.get("data")
    items = [item for item in data if isinstance(item, Mapping)] if isinstance(data, list) else []
    if not items:
        raise BadReplyError(f"Empty {what} response")
    return items


def _one_or_all(values: list[Json]) -> Json:
    return values[0] if len(values) == 1 else values
