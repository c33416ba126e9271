"""A response that came whole says what the streamed one says."""

from __future__ import annotations

import pytest

from studio.core.text.values import JsonObject
from studio.core.wire.reply import Reply, ToolCall, accumulate
from studio.core.wire.request import Provider
from studio.core.wire.whole import BadReplyError, deltas_of_response


def reply_of(provider: Provider, response: JsonObject) -> Reply:
    reply = Reply()
    for delta in deltas_of_response(provider, response):
        reply = accumulate(reply, delta)
    return reply


def test_signed_thoughts_of_anthropic_go_back_as_they_came() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    reply = reply_of(
        "anthropic",
        {
            "type": "message",
            "role": "assistant",
            "stop_reason": "tool_use",
            "content": [
                thought,
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "find", "input": {"q": "x"}},
            ],
            "usage": {"input_tokens": 7, "output_tokens": 3},
        },
    )
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("I look.", "Hm.", "tool_calls")
    (call,) = reply.tool_calls
    assert (call.id, call.name) == ("t1", "find")
    assert reply.carried[0] == thought
    assert reply.usage is not None
    assert reply.usage.total_tokens == 10


def test_encrypted_thoughts_of_responses_go_back_as_they_came() -> None:
    thought = {
        "type": "reasoning",
        "id": "r",
        "encrypted_content": "enc",
        "summary": [{"type": "summary_text", "text": "Hm."}],
    }
    reply = reply_of(
        "openai-responses",
        {
            "object": "response",
            "status": "completed",
            "output": [
                thought,
                {"type": "message", "content": [{"type": "output_text", "text": "Yes"}]},
                {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}"},
            ],
            "usage": {"input_tokens": 7, "output_tokens": 3},
        },
    )
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("Yes", "Hm.", "tool_calls")
    assert reply.tool_calls == (ToolCall("c1", "find", "{}"),)
    assert reply.carried[0] == thought


def test_a_refusal_is_one() -> None:
    reply = reply_of(
        "openai-responses",
        {
            "status": "completed",
            "output": [{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}],
        },
    )
    assert (reply.refusal, reply.finish_reason) == ("No.", "refusal")


@pytest.mark.parametrize(
    "response",
    [
        {"error": {"message": "broken"}},
        {},
        {"choices": "none"},
        {"object": "response"},
    ],
)
def test_what_is_no_answer_is_refused(response: JsonObject) -> None:
    with pytest.raises(BadReplyError):
        deltas_of_response("openai-chat", response)
