"""Whatever a server sends and whatever a conversation holds: no exception, and the same reply."""

from __future__ import annotations

import json
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from studio.core.prompty.document import (
    MediaPart,
    Message,
    ModelDeclaration,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from studio.core.wire.chunks import ChatChunks, chunk_error
from studio.core.wire.events import chunk_reader
from studio.core.wire.reply import Reply, accumulate
from studio.core.wire.request import Provider, to_request
from studio.core.wire.whole import BadReplyError
from tests.support.prompty_results import result_of

_WORDS = [
    "choices",
    "delta",
    "message",
    "content",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "id",
    "index",
    "refusal",
    "usage",
    "prompt_tokens",
    "output",
    "type",
    "text",
    "response",
    "error",
    "item",
    "output_index",
    "content_block",
    "data",
    "embedding",
    "url",
    "finish_reason",
    "function_call",
    "tool_use",
    "input",
    "message_start",
    "content_block_delta",
    "input_json_delta",
    "partial_json",
    "response.output_item.added",
    "response.completed",
    "message_delta",
]
_JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False),
        st.sampled_from(_WORDS),
        st.text(max_size=5),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(_WORDS), inner, max_size=4)
    ),
    max_leaves=14,
)
_OBJECT = st.dictionaries(st.sampled_from(_WORDS), _JSON, max_size=5)


@settings(max_examples=200)
@given(_OBJECT, st.sampled_from(["chat", "embedding", "image", "responses"]), st.booleans())
def test_any_response_is_a_result_or_a_named_error(
    response: Any, api_type: str, has_outputs: bool
) -> None:
    try:
        json.dumps(result_of(response, api_type=api_type, has_outputs=has_outputs))
    except BadReplyError:
        return  # the one error that is meant for the person


@settings(max_examples=200)
@given(st.sampled_from(get_args(Provider)), st.lists(_OBJECT, max_size=4))
def test_any_chunks_make_a_reply(provider: Provider, chunks: list[Any]) -> None:
    reader = chunk_reader(provider)
    reply = Reply()
    for chunk in chunks:
        chunk_error(chunk)
        for delta in reader.read(chunk):
            reply = accumulate(reply, delta)
    for delta in reader.end():
        reply = accumulate(reply, delta)

    assert reply.finish_reason is not None
    assert all(call.id for call in reply.tool_calls)


@settings(max_examples=200)
@given(st.text(max_size=30), st.text(max_size=30), st.lists(st.integers(1, 7), max_size=20))
def test_a_reply_does_not_depend_on_how_it_was_cut(
    text: str, arguments: str, sizes: list[int]
) -> None:
    def reply(pieces: list[int]) -> Reply:
        reader = ChatChunks()
        made = Reply()
        deltas: list[Any] = [{"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f"}}]}]
        deltas += [{"content": piece} for piece in _cut(text, pieces)]
        deltas += [
            {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}
            for piece in _cut(arguments, pieces)
        ]
        for delta in deltas:
            for item in reader.read({"choices": [{"delta": delta}]}):
                made = accumulate(made, item)
        for item in reader.end():
            made = accumulate(made, item)
        return made

    assert reply(sizes) == reply([1000])


def _cut(text: str, sizes: list[int]) -> list[str]:
    pieces = []
    for size in sizes:
        pieces.append(text[:size])
        text = text[size:]
    return [*pieces, text]


_ID = st.sampled_from(["", "a", "b", "c"])
_PART = st.one_of(
    st.text(max_size=5).map(TextPart),
    st.builds(ToolCallPart, _ID, st.just("f"), st.text(max_size=5)),
    st.builds(
        MediaPart,
        st.sampled_from(["image", "file", "audio", "video"]),
        st.text(max_size=8),
        st.dictionaries(
            st.sampled_from(["detail", "quality", "mediaType", "x"]), _JSON, max_size=2
        ),
    ),
    st.text(max_size=5).map(ToolResultPart),
)
_MESSAGE = st.builds(
    Message,
    st.sampled_from(["system", "developer", "user", "assistant", "tool"]),
    st.lists(_PART, max_size=3).map(tuple),
    st.dictionaries(
        st.sampled_from(["tool_call_id", "name", "role", "tool_calls"]),
        st.one_of(_ID, _JSON),
        max_size=2,
    ),
)


@settings(max_examples=300)
@given(st.lists(_MESSAGE, max_size=5), st.sampled_from(get_args(Provider)))
def test_any_conversation_makes_a_body_that_is_json(
    messages: list[Message], provider: Provider
) -> None:
    json.dumps(to_request(messages, (), ModelDeclaration("m"), provider=provider).body)
