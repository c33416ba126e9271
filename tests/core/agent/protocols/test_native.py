"""Native tool calls: every row of the table of messy replies (docs/design/agent-loop.md)."""

from __future__ import annotations

import json

import pytest

from studio.core.agent.protocols.findings import ReadRules
from studio.core.agent.protocols.native import read_native
from studio.core.agent.values.step import Action, Final, FormatError, Refused
from studio.core.prompty.document import ToolSpec
from studio.core.wire.reply import Reply, ToolCall
from tests.support.soon import soon

ONE = ToolSpec("search", parameters={"type": "object", "properties": {"query": {"type": "string"}}})
RULES = ReadRules(tools=(ONE,))


def read_args(arguments: str, finish: str = "tool_calls"):
    reply = Reply("", tool_calls=(ToolCall("1", "search", arguments),), finish_reason=finish)
    reading = read_native(reply, RULES)
    assert isinstance(reading, Action)
    return reading.calls[0]


@pytest.mark.parametrize("text", ["", "null", "{}", "  \n"])
def test_no_arguments_are_none_without_a_remark(text):
    assert (read_args(text).arguments, read_args(text).error) == ({}, None)


@pytest.mark.parametrize(
    ("text", "code", "repair"),
    [
        ('{"query": "a",}', "bad_args", "trailing_comma"),
        ("{'query': 'a'}", "bad_args", "single_quotes"),
        ('```json\n{"query": "a"}\n```', "bad_args", "fenced_args"),
        ('{"query": "a"} done', "bad_args", "text_after_json"),
        ('Sure: {"query": "a"}', "bad_args", "text_before_json"),
        ('{"query": "a\nb"}', "bad_args", "raw_breaks"),
        ('"a"', "args_not_object", "wrap_argument"),
        ("[]", "args_not_object", "wrap_argument"),
        ('{"query": "a', "truncated", None),
        ('{"query": NaN}', "not_finite", None),
        ('{"query": 1, "query": 2}', "duplicate_key", None),
        ("bad_json", "bad_args", None),
        ("{42]", "bad_args", None),
    ],
)
def test_arguments_that_cannot_be_read(text, code, repair):
    call = read_args(text)
    assert (call.arguments, call.error) == (None, code)
    assert [item.name for item in call.repairs] == ([repair] if repair else [])
    for item in call.repairs:
        assert (item.span, item.before) == (None, text)
        assert isinstance(json.loads(item.after), dict)


def test_calls_decide_and_not_the_finish_reason():
    for finish in ("stop", "content_filter", "tool_calls", "unknown"):
        assert read_args('{"query": "a"}', finish).arguments == {"query": "a"}


@pytest.mark.parametrize("text", ["", "null", '{"query": "a', '{"query": "a"}'])
def test_the_call_that_the_limit_cut_is_never_run(text):
    # Some servers close the JSON that the model did not: whole arguments prove nothing.
    assert read_args(text, "length").error == "truncated"
    before = ToolCall("1", "search", '{"query": "b"}')
    reading = read_native(
        Reply(tool_calls=(before, ToolCall("2", "search", text)), finish_reason="length"), RULES
    )
    assert [call.error for call in reading.calls] == [None, "truncated"]


def test_parallel_calls_keep_their_order_and_siblings():
    calls = (
        ToolCall("a", "search", '{"query": "1"}'),
        ToolCall("", "search", "{"),
        ToolCall("c", "other", "{}"),
    )
    reading = read_native(Reply("Let me see.", tool_calls=calls), RULES)
    assert [call.id for call in reading.calls] == ["a", "call_2", "c"]
    assert [call.error for call in reading.calls] == [None, "truncated", None]
    assert (reading.thought, reading.kept) == ("Let me see.", "Let me see.")


def test_a_call_without_a_name():
    reading = read_native(Reply(tool_calls=(ToolCall("1", "", "{}"),)), RULES)
    assert (type(reading), reading.code) == (FormatError, "no_tool_name")


@pytest.mark.parametrize(
    ("text", "finish", "kind", "code"),
    [
        ("4", "stop", Final, None),
        ("", "stop", Final, "empty_answer"),
        ("4 and", "length", Final, "cut_answer"),
        ("4 and", "content_filter", Final, "filtered_answer"),
        ("", "length", FormatError, "truncated"),
        ("", "content_filter", FormatError, "filtered"),
        ("No.", "refusal", Refused, None),
    ],
)
def test_replies_without_calls(text, finish, kind, code):
    reading = read_native(Reply(text, finish_reason=finish), RULES)
    assert isinstance(reading, kind)
    got = (
        reading.code
        if isinstance(reading, FormatError)
        else next((item.code for item in reading.warnings), None)
    )
    assert got == code


def test_thinking_is_shown_apart_and_not_sent_back():
    reading = read_native(
        Reply("<think>hm</think>\n4", reasoning="first", finish_reason="stop"), RULES
    )
    assert (reading.answer, reading.reasoning, reading.kept) == ("4", "first\n\nhm", "4")


@pytest.mark.parametrize(
    "text", ["{" * 20_000, '{"a":' * 20_000, "[" * 100_000, '{"a": "' + "x" * 5_000_000]
)
def test_hostile_arguments_end_soon(text):
    with soon():
        assert read_args(text).error is not None
