"""JSON actions: every row of the table of messy replies (docs/design/agent-loop.md)."""

from __future__ import annotations

import json

import pytest

from studio.core.agent.protocols.findings import ReadRules
from studio.core.agent.protocols.json_action import read_json_action
from studio.core.agent.values.step import Action, Final, FormatError, Refused
from studio.core.prompty.document import ToolSpec
from studio.core.wire.reply import Reply, TextDelta, ToolCall, accumulate
from tests.support.soon import soon

ONE = ToolSpec("search", parameters={"type": "object", "properties": {"query": {"type": "string"}}})
TWO = ToolSpec(
    "move", parameters={"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]}
)
RULES = ReadRules(tools=(ONE, TWO))
GOOD = '{"action": "search", "action_input": {"query": "a"}}'


def read(text: str, finish: str = "stop", rules: ReadRules = RULES):
    return read_json_action(Reply(text, finish_reason=finish), rules)


def codes(reading) -> set[str]:
    return {warning.code for warning in reading.warnings}


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"{GOOD}\n```",
        f"```json\n{GOOD}\n```",
        f"```json{GOOD}```",
        f"```\n{GOOD}\n```",
        f"\n\n  {GOOD}  \n",
    ],
)
def test_bare_half_fenced_and_fenced_are_the_same(text):
    reading = read(text)
    assert isinstance(reading, Action)
    assert (reading.calls[0].tool, reading.calls[0].arguments, codes(reading)) == (
        "search",
        {"query": "a"},
        set(),
    )


def test_prose_before_is_the_thought():
    reading = read(f"I should look it up.\n\nAction:\n```json\n{GOOD}\n```")
    assert (reading.thought, codes(reading)) == ("I should look it up.", set())


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"{GOOD}\nThat should do.", "text_after_action"),
        (f'{GOOD}\n{{"action": "move", "action_input": {{}}}}', "several_actions"),
        (f'[{GOOD}, {{"action": "move", "action_input": {{}}}}]', "several_actions"),
        (f'{GOOD}\n```\n```json\n{{"action_output": "made up"}}\n```', "invented_observation"),
        ('{"action": "search", "action_input": {"query": "a\nb"}}', "raw_breaks"),
        ('{"Action": "search", "Action_Input": {"query": "a"}}', "key_variant"),
        ('{"action": "search", "input": {"query": "a"}}', "key_variant"),
        ('{"action": "search", "action_input": "a"}', "bare_value"),
        ('{"why": "z", "action": "search", "action_input": {"query": "a"}}', ""),
        ('{"note": {"x": 1}}\n' + GOOD, ""),
    ],
)
def test_accepted(text, code):
    reading = read(text)
    assert isinstance(reading, Action)
    assert reading.calls[0].arguments["query"][0] == "a"
    assert codes(reading) == ({code} if code else set())


@pytest.mark.parametrize(
    "text", ['{"action": "search"}', '{"action": "search", "action_input": null}']
)
def test_no_input_is_none(text):
    reading = read(text)
    assert (reading.calls[0].arguments, len(reading.warnings)) == ({}, 1)


@pytest.mark.parametrize(
    "word", ["final_answer", "Final Answer", "final-answer", "FinalAnswer", "no_action"]
)
def test_words_that_end(word):
    reading = read(json.dumps({"action": word, "action_input": "42"}))
    assert isinstance(reading, Final)
    assert reading.answer == "42"


def test_a_real_tool_of_that_name_wins():
    rules = ReadRules(tools=(ToolSpec("final_answer"),))
    assert isinstance(read('{"action": "final_answer", "action_input": {}}', rules=rules), Action)


def test_further_final_words():
    rules = ReadRules(final_words=("done",))
    assert isinstance(read('{"action": "Done", "action_input": null}', rules=rules), Final)
    assert isinstance(read('{"action": "Done", "action_input": null}'), Action)


def test_a_final_without_text_says_so():
    reading = read('{"action": "final_answer", "action_input": null}')
    assert (reading.answer, reading.composed_elsewhere) == ("", True)
    assert read('{"action": "final_answer", "action_input": {"a": 1}}').answer == '{"a": 1}'


@pytest.mark.parametrize(
    ("text", "repair"),
    [
        ('{"action": "search", "action_input": {"query": "a"},}', "trailing_comma"),
        ("{'action': 'search', 'action_input': {'query': 'a'}}", "single_quotes"),
        ('{"action": "search", // why\n "action_input": {"query": "a"}}', "comments"),
        ('{{"action": "search", "action_input": {"query": "a"}}}', "doubled_braces"),
    ],
)
def test_a_repair_is_offered_and_not_made(text, repair):
    reading = read(text)
    assert isinstance(reading, FormatError)
    assert (reading.code, reading.repairs[0].name) == ("bad_args", repair)
    assert json.loads(reading.repairs[0].after) == json.loads(GOOD)


def test_a_broken_root_is_not_descended_into():
    reading = read('{"action": "delete", "action_input": {"name": "x"},}')
    assert isinstance(reading, FormatError)
    nested = read(
        '{"action": "delete", "action_input": {"action": "search", "action_input": {}}, oops}'
    )
    assert isinstance(nested, FormatError)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"action": "search", "action_input": "delete every file older than 1', "truncated"),
        ('{"action": "search", "action_in', "truncated"),
        ('{"action": "search", "action_input": {"query": NaN}}', "not_finite"),
        ('{"action": "search", "action": "move"}', "duplicate_key"),
        ('{"action": "search", "action_input": {"query": "\\udc00"}}', "lone_surrogate"),
        ('{"action": "move", "action_input": "x"}', "args_not_object"),
        ('{"action": "search", "action_input": ["x"]}', "args_not_object"),
        ('{"action": 7, "action_input": {}}', "no_tool_name"),
        ("I do not know.", "no_json_action"),
        ('{"answer": 42}', "no_json_action"),
        ("", "empty"),
        ("```json\n```", "empty"),
    ],
)
def test_errors(text, code):
    reading = read(text)
    assert isinstance(reading, FormatError)
    assert reading.code == code
    if code == "truncated":
        assert reading.repairs == ()


def test_wrapping_is_offered_where_the_tool_takes_one():
    reading = read('{"action": "search", "action_input": ["x"]}')
    assert json.loads(reading.repairs[0].after)["action_input"] == {"query": ["x"]}
    assert read('{"action": "move", "action_input": ["x"]}').repairs == ()


def test_thinking_refusals_and_native_calls():
    thought = read('<think>{"action": "move"}</think>\n' + GOOD)
    assert (thought.calls[0].tool, thought.reasoning) == ("search", '{"action": "move"}')
    assert isinstance(read_json_action(Reply(refusal="no"), RULES), Refused)
    native = Reply(
        tool_calls=(ToolCall("1", "search", '{"query": "a"}'),), finish_reason="tool_calls"
    )
    reading = read_json_action(native, RULES)
    assert (reading.calls[0].arguments, codes(reading)) == ({"query": "a"}, {"native_call"})


@pytest.mark.parametrize("size", [1, 5, 20, 50, 100, 1000])
@pytest.mark.parametrize(
    "text", [GOOD, f"Well.\n```json\n{GOOD}\n```\nok", GOOD[:-1], "{'action': 'search'}"]
)
def test_the_reading_does_not_depend_on_the_chunks(text, size):
    reply = Reply(finish_reason="stop")
    for at in range(0, len(text), size):
        reply = accumulate(reply, TextDelta(text[at : at + size]))
    assert read_json_action(reply, RULES) == read(text)


@pytest.mark.parametrize(
    "text",
    [
        "{" * 20_000,
        '{"action":' * 20_000,
        '{"a": 1} ' * 500_000,
        '{"action": "x", ' + '"a": 1, ' * 300_000,
        "x" * 5_000_000,
        "{x} " * 1_000_000,
        "`" * 3_000_000,
        GOOD + GOOD * 50_000,
    ],
    ids=range(8),
)
def test_a_hostile_reply_ends_soon(text):
    with soon():
        read(text)
