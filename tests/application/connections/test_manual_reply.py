"""A typed reply is checked before it is sent, and sent as typed."""

from __future__ import annotations

import json

import pytest

from studio.application.connections.manual_reply import example_arguments, reply_of, reply_problem


@pytest.mark.parametrize(
    ("text", "tool", "arguments", "is_right"),
    [
        ("Hello", "", "", True),
        ("  ", "", "", False),
        ("", "look", '{"a": 1}', True),
        ("", "look", "", True),
        ("Text too", "look", "{}", True),
        ("", "look", '{"a": ', False),
        ("", "look", "[1]", False),
    ],
)
def test_what_can_be_sent(text: str, tool: str, arguments: str, is_right: bool) -> None:
    assert (reply_problem(text, tool, arguments) == "") == is_right


def test_arguments_go_as_they_were_typed() -> None:
    reply = reply_of("", "look", '{ "a" :1}')
    assert reply.tool_calls[0].arguments == '{ "a" :1}'
    assert reply_of("Hello", "", "ignored").tool_calls == ()


def test_a_beginning_for_the_arguments() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "array"}},
        "required": ["a", "b"],
    }
    assert json.loads(example_arguments(schema)) == {"a": "", "b": 0}
    assert example_arguments({}) == "{}"
