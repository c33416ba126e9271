"""Streams of three providers, and the ways in which servers differ."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from studio.core.wire.chunks import ChatChunks, ChunkReader, chunk_error
from studio.core.wire.events import AnthropicEvents, ResponseEvents, chunk_reader
from studio.core.wire.reply import Finished, Reply, ToolCall, Usage, accumulate, read_usage
from studio.core.wire.whole import BadReplyError, read_response
from tests.support.prompty_results import result_of


def _reply(reader: ChunkReader, chunks: Iterable[Any]) -> Reply:
    reply = Reply()
    for chunk in chunks:
        for delta in reader.read(chunk):
            reply = accumulate(reply, delta)
    last = reader.end()
    assert isinstance(last[-1], Finished)
    for delta in last:
        reply = accumulate(reply, delta)
    return reply


def _chat(*deltas: dict[str, Any], reason: str | None = "stop") -> Reply:
    chunks: list[Any] = [{"choices": [{"delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"delta": {}, "finish_reason": reason}]})
    return _reply(ChatChunks(), chunks)


def _call(index: int | None, call_id: str | None, name: str | None, arguments: Any) -> Any:
    call: dict[str, Any] = {"function": {"name": name, "arguments": arguments}}
    if index is not None:
        call["index"] = index
    if call_id is not None:
        call["id"] = call_id
    return {"tool_calls": [call]}


@pytest.mark.parametrize("count", [1e308, float("inf"), float("nan"), -5, True, 10**30, "7"])
def test_a_figure_that_cannot_be_true_is_left_out(count: object) -> None:
    usage = read_usage({"prompt_tokens": 3, "completion_tokens": count, "cost": count})
    assert usage == Usage(3, 0)


def test_text_reasoning_and_usage() -> None:
    reply = _reply(
        ChatChunks(),
        [
            {"choices": [{"delta": {"role": "assistant", "content": ""}}]},
            {"choices": [{"delta": {"reasoning_content": "hm"}}]},
            {"choices": [{"delta": {"content": "He"}}]},
            {"choices": [{"delta": {"content": [{"type": "text", "text": "llo"}]}}]},
            {"choices": [{"delta": {}, "finish_reason": "length"}]},
            {
                "choices": [],
                "usage": {
                    "prompt_tokens": 5,
                    "completion_tokens": 2,
                    "prompt_tokens_details": {"cached_tokens": 3},
                },
            },
        ],
    )

    assert reply == Reply("Hello", "hm", usage=Usage(5, 2, 3), finish_reason="length")


def test_calls_in_pieces_as_openai_sends_them() -> None:
    reply = _chat(
        _call(0, "a", "find", ""),
        _call(0, None, None, '{"q":'),
        _call(1, "b", "read", ""),
        _call(0, None, None, " 1}"),
        _call(1, None, None, "{}"),
        reason="tool_calls",
    )

    assert reply.tool_calls == (ToolCall("a", "find", '{"q": 1}'), ToolCall("b", "read", "{}"))
    assert reply.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param([_call(None, "a", "f", "{}"), _call(None, "b", "f", "[]")], id="no index"),
        pytest.param([_call(0, "a", "f", "{}"), _call(0, "b", "f", "[]")], id="always index 0"),
        pytest.param(
            [
                {
                    "tool_calls": [
                        *_call(0, "a", "f", "{}")["tool_calls"],
                        *_call(0, "b", "f", "[]")["tool_calls"],
                    ]
                }
            ],
            id="both in one piece",
        ),
        pytest.param(
            [_call(0, "a", "f", "{}"), _call(2, "b", "f", "[]")], id="an index is left out"
        ),
        pytest.param(
            [_call(0, "a", "f", "{"), _call(0, "a", None, "}"), _call(1, "b", "f", "[]")],
            id="the id again with each piece",
        ),
        pytest.param(
            [
                _call(None, "a", "f", "{"),
                _call(None, None, None, "}"),
                _call(None, "b", "f", "["),
                _call(None, None, None, "]"),
            ],
            id="pieces without index",
        ),
    ],
)
def test_two_calls_stay_two_however_they_come(deltas: list[Any]) -> None:
    reply = _chat(*deltas)

    assert reply.tool_calls == (ToolCall("a", "f", "{}"), ToolCall("b", "f", "[]"))
    assert reply.finish_reason == "tool_calls"


def test_calls_without_ids_get_one_and_the_same_call_gets_the_same() -> None:
    deltas = [_call(None, None, "f", "{}"), _call(None, None, "g", '{"a": 1}')]
    first, second = _chat(*deltas), _chat(*deltas)

    assert [call.name for call in first.tool_calls] == ["f", "g"]
    ids = [call.id for call in first.tool_calls]
    assert all(ids)
    assert len(set(ids)) == 2
    assert first == second


def test_arguments_as_an_object_and_the_old_function_call() -> None:
    assert _chat(_call(0, "a", "f", {"q": "é"})).tool_calls == (ToolCall("a", "f", '{"q": "é"}'),)
    old = _chat({"function_call": {"name": "f", "arguments": "{}"}}, reason="function_call")
    assert [(call.name, call.arguments) for call in old.tool_calls] == [("f", "{}")]
    assert old.finish_reason == "tool_calls"


def test_a_refusal_and_a_stream_without_an_end() -> None:
    refused = _chat({"refusal": "I "}, {"refusal": "won't"})
    assert (refused.refusal, refused.finish_reason) == ("I won't", "refusal")
    assert _chat({"content": "x"}, reason=None).finish_reason == "unknown"


@pytest.mark.parametrize(
    "chunk",
    [
        {},
        {"choices": None},
        {"choices": [None]},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": {"content": 5, "tool_calls": ["x", 3, None], "refusal": 1}}]},
        {"choices": [{"delta": {"tool_calls": [{"function": None}]}}]},
        {"choices": "x", "usage": "y"},
        {"usage": {"prompt_tokens": "many"}},
        {"type": "response.completed", "response": 5},
        {"type": "response.output_item.added"},
        {"type": "content_block_delta", "delta": 5},
        {"type": "content_block_start"},
        {"type": "message_start", "message": None},
        {"type": "message_delta", "delta": None},
    ],
)
@pytest.mark.parametrize("provider", ["openai-chat", "openai-responses", "anthropic"])
def test_a_malformed_chunk_is_no_exception(provider: Any, chunk: Any) -> None:
    _reply(chunk_reader(provider), [chunk])


def test_responses_events() -> None:
    reply = _reply(
        ResponseEvents(),
        [
            {"type": "response.created", "response": {}},
            {"type": "response.reasoning_summary_text.delta", "delta": "hm"},
            {"type": "response.output_text.delta", "output_index": 0, "delta": "Hi"},
            {
                "type": "response.output_item.added",
                "output_index": 1,
                "item": {
                    "type": "function_call",
                    "call_id": "c",
                    "id": "fc",
                    "name": "f",
                    "arguments": "",
                },
            },
            {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"a"'},
            {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": ":1}"},
            {
                "type": "response.function_call_arguments.done",
                "output_index": 1,
                "arguments": '{"a":1}',
            },
            {
                "type": "response.output_item.added",
                "output_index": 2,
                "item": {"type": "function_call", "call_id": "d", "name": "g", "arguments": ""},
            },
            {"type": "response.function_call_arguments.done", "output_index": 2, "arguments": "{}"},
            {
                "type": "response.completed",
                "response": {
                    "status": "completed",
                    "usage": {
                        "input_tokens": 4,
                        "output_tokens": 2,
                        "input_tokens_details": {"cached_tokens": 1},
                    },
                },
            },
        ],
    )

    assert reply == Reply(
        "Hi",
        "hm",
        "",
        (ToolCall("c", "f", '{"a":1}'), ToolCall("d", "g", "{}")),
        Usage(4, 2, 1),
        "tool_calls",
    )


def test_responses_cut_off() -> None:
    response = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    reply = _reply(ResponseEvents(), [{"type": "response.incomplete", "response": response}])

    assert reply.finish_reason == "length"


def test_anthropic_events() -> None:
    reply = _reply(
        AnthropicEvents(),
        [
            {
                "type": "message_start",
                "message": {
                    "usage": {"input_tokens": 7, "cache_read_input_tokens": 3, "output_tokens": 1}
                },
            },
            {"type": "ping"},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking"}},
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "thinking_delta", "thinking": "hm"},
            },
            {
                "type": "content_block_start",
                "index": 1,
                "content_block": {"type": "text", "text": ""},
            },
            {
                "type": "content_block_delta",
                "index": 1,
                "delta": {"type": "text_delta", "text": "Hi"},
            },
            {
                "type": "content_block_start",
                "index": 2,
                "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": {}},
            },
            {
                "type": "content_block_delta",
                "index": 2,
                "delta": {"type": "input_json_delta", "partial_json": '{"a"'},
            },
            {
                "type": "content_block_delta",
                "index": 2,
                "delta": {"type": "input_json_delta", "partial_json": ": 1}"},
            },
            {
                "type": "message_delta",
                "delta": {"stop_reason": "tool_use"},
                "usage": {"output_tokens": 9},
            },
            {"type": "message_stop"},
        ],
    )

    assert reply == Reply(
        "Hi", "hm", "", (ToolCall("t", "f", '{"a": 1}'),), Usage(10, 9, 3), "tool_calls"
    )


@pytest.mark.parametrize(
    ("chunk", "message"),
    [
        ({"error": {"message": "no"}}, "no"),
        ({"error": "no"}, "no"),
        ({"error": {"code": 5}}, "5"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "no"}}, "no"),
        ({"type": "error", "message": "no"}, "no"),
        ({"type": "response.failed", "response": {"error": {"message": "no"}}}, "no"),
        ({"choices": []}, None),
        ({"error": None, "choices": []}, None),
    ],
)
def test_errors_in_place_of_an_answer(chunk: Any, message: str | None) -> None:
    assert chunk_error(chunk) == message


# --- whole responses ------------------------------------------------------------------------


def test_a_whole_chat_response_is_the_same_reply_as_its_stream() -> None:
    message = {
        "content": "Hi",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        ],
    }
    usage = {"prompt_tokens": 1, "completion_tokens": 2}
    reply = read_response(
        {"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": usage}
    )

    assert reply == Reply(
        "Hi",
        tool_calls=(ToolCall("a", "f", "{}"),),
        usage=Usage(1, 2),
        finish_reason="tool_calls",
    )


def test_whole_responses_of_the_other_two() -> None:
    reply = read_response(
        {
            "object": "response",
            "status": "completed",
            "output": [
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
                {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]},
                {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
            ],
        }
    )
    assert reply == Reply("Hi", "hm", "", (ToolCall("c", "f", "{}"),), None, "tool_calls")

    reply = read_response(
        {
            "content": [
                {"type": "text", "text": "H"},
                {"type": "text", "text": "i"},
                {"type": "tool_use", "id": "t", "name": "f", "input": {"a": "é"}},
            ],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 1, "output_tokens": 2},
        }
    )
    assert reply == Reply(
        "Hi", "", "", (ToolCall("t", "f", '{"a":"é"}'),), Usage(1, 2), "tool_calls"
    )


@pytest.mark.parametrize("text", ["[1]", "5", "null", "not json", '{"a": 1', ""])
def test_an_answer_that_is_no_object_stays_text(text: str) -> None:
    response = {"choices": [{"message": {"content": text}}]}

    assert result_of(response, has_outputs=True) == text


def test_an_answer_that_is_an_object_is_read() -> None:
    response = {"choices": [{"message": {"content": json.dumps({"a": [1]})}}]}

    assert result_of(response, has_outputs=True) == {"a": [1]}
    assert result_of(response) == '{"a": [1]}'


@pytest.mark.parametrize(
    ("response", "api_type", "part"),
    [
        ({}, "chat", "neither"),
        ({"choices": []}, "chat", "no choices"),
        ({"error": {"message": "quota"}}, "chat", "quota"),
        (
            {"object": "response", "error": {"message": "x"}, "output": []},
            "responses",
            "Responses API error: x",
        ),
        ({"data": []}, "embedding", "Empty embedding response"),
        ({"data": []}, "image", "Empty image response"),
    ],
)
def test_a_response_without_an_answer_says_so(response: Any, api_type: str, part: str) -> None:
    with pytest.raises(BadReplyError, match=part):
        result_of(response, api_type=api_type)
