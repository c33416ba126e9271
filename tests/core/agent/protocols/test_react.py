"""ReAct text: every row of the table of messy replies (docs/design/agent-loop.md)."""

from __future__ import annotations

import pytest

from studio.core.agent.protocols.findings import ReadRules
from studio.core.agent.protocols.react import clean_name, read_react
from studio.core.agent.values.step import Action, Final, FormatError, Refused
from studio.core.prompty.document import ToolSpec
from studio.core.wire.reply import Reply, TextDelta, accumulate
from tests.support.soon import soon

ONE = ToolSpec("search", parameters={"type": "object", "properties": {"query": {"type": "string"}}})
RULES = ReadRules(tools=(ONE,))


def read(text: str, finish: str = "stop", rules: ReadRules = RULES):
    return read_react(Reply(text, finish_reason=finish), rules)


def codes(reading) -> set[str]:
    return {warning.code for warning in reading.warnings}


GOOD = 'Thought: look\nAction: search\nArgs: {"query": "a"}'


def test_a_clean_action_has_no_remark():
    reading = read(GOOD)
    assert isinstance(reading, Action)
    assert (reading.thought, reading.calls[0].tool, reading.calls[0].arguments) == (
        "look",
        "search",
        {"query": "a"},
    )
    assert (reading.warnings, reading.kept) == ((), GOOD)


def test_spans_say_what_was_read_as_what():
    text = GOOD + "\nObservation: invented"
    pieces = {(item.label, text[item.span.start : item.span.end]) for item in read(text).spans}
    assert pieces == {
        ("label", "Thought:"),
        ("thought", "look"),
        ("label", "Action:"),
        ("tool", "search"),
        ("label", "Args:"),
        ("args", '{"query": "a"}'),
        ("ignored", "Observation: invented"),
    }


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (GOOD + "\nThat should do.", "text_after_args"),
        (GOOD + "\nObservation: x\nThought: y\nFinal Answer: z", "invented_observation"),
        (GOOD + "\nFinal Answer: z", "answer_after_action"),
        (GOOD + '\nThought: b\nAction: other\nArgs: {"q": 2}', "second_action_ignored"),
        ('Action: search\nArgs: {"query": "two\nlines"}', "raw_breaks"),
        ('**Action:** search\n**Args:** {"query": "a"}', "loose_label"),
        ('1. Action: search\n2. Args: {"query": "a"}', "loose_label"),
        ('ACTION: search\nargs: {"query": "a"}', "loose_label"),
        ('Action： search\nArgs： {"query": "a"}', "loose_label"),
        ('Action: `search`\nArgs: {"query": "a"}', "name_cleaned"),
        ('Action: search (find things)\nArgs: {"query": "a"}', "name_cleaned"),
        ('Action: search\n{"query": "a"}', "missing_args_label"),
        ('Action: search\nI search now.\nArgs: {"query": "a"}', "text_between"),
    ],
)
def test_accepted_with_a_remark(text, code):
    reading = read(text)
    assert isinstance(reading, Action)
    assert reading.calls[0].tool == "search"
    assert reading.calls[0].arguments["query"][:1] in "at"
    assert code in codes(reading)


def test_text_before_the_labels_is_taken_as_it_is():
    reading = read(f"Sure, let me look.\n{GOOD}")
    assert isinstance(reading, Action)
    assert reading.calls[0].arguments == {"query": "a"}


@pytest.mark.parametrize("text", ["Thought: I have all I need.", "Thought: done\n"])
def test_a_thought_alone_is_an_error_that_says_what_is_missing(text):
    reading = read(text)
    assert isinstance(reading, FormatError)
    assert reading.code == "thought_only"
    assert "final answer" in reading.message


@pytest.mark.parametrize("args", ["", "Args:", "Args: {}", "Args: null", "Args: ```json\n```"])
def test_no_arguments_are_none(args):
    reading = read(f"Thought: t\nAction: search\n{args}".rstrip())
    assert isinstance(reading, Action)
    assert reading.calls[0].arguments == {}


@pytest.mark.parametrize(
    "text",
    [
        "```\n" + GOOD + "\n```",
        'Thought: look\nAction: search\nArgs:\n```json\n{"query": "a"}\n```',
        "I will look it up.\n" + GOOD.split("\n", 1)[1],
        "Thought: look\n\nAction: search\n\n\nArgs:\n\n" + '{"query": "a"}',
    ],
)
def test_fences_prose_and_blank_lines_are_no_matter(text):
    reading = read(text)
    assert isinstance(reading, Action)
    assert (reading.calls[0].arguments, codes(reading)) == ({"query": "a"}, set())


def test_nested_json_with_braces_and_labels_inside_strings():
    args = '{"query": "} {\\nFinal Answer: x\\nAction: y", "deep": {"a": [1, {"b": "}"}]}}'
    reading = read(f"Action: search\nArgs: {args}")
    assert reading.calls[0].arguments["deep"] == {"a": [1, {"b": "}"}]}
    assert codes(reading) == set()


@pytest.mark.parametrize("word", ["Action:", "Final Answer:", "Observation:"])
def test_a_label_within_a_line_is_text(word):
    reading = read(f"Thought: the {word} comes next\n" + GOOD.split("\n", 1)[1])
    assert isinstance(reading, Action)
    assert reading.thought == f"the {word} comes next"


@pytest.mark.parametrize(
    ("args", "name", "after"),
    [
        ('{"query": "a",}', "trailing_comma", '{"query": "a"}'),
        ("{'query': 'it's a'}", "single_quotes", '{"query": "it\'s a"}'),
        ("{query: 'a'}", "unquoted+single_quotes", '{"query": "a"}'),
        ('{"query" "a" "n": 1}', "missing_colon+missing_comma", '{"query": "a", "n": 1}'),
        ('{"query": None}', "python_words", '{"query": null}'),
        ("{“query”: “a”}", "smart_quotes", '{"query": "a"}'),
        (r'{"query": "\d+\.\d"}', "bad_escape", r'{"query": "\\d+\\.\\d"}'),
        (r'{"query": "say \"\d\""}', "bad_escape", r'{"query": "say \"\\d\""}'),
        (r'{"query": "\u006e",}', "trailing_comma", '{"query": "n"}'),
        (r'{"query": "it\'s"}', "escaped_quote", '{"query": "it\'s"}'),
        (r"{'query': 'it\'s'}", "single_quotes+escaped_quote", '{"query": "it\'s"}'),
        ('{"query": "a" /* why */, "n": 1,}', "comments+trailing_comma", '{"query": "a", "n": 1}'),
        ('** {"query": "a"}', "text_before_json", '{"query": "a"}'),
    ],
)
def test_a_repair_is_offered_and_not_made(args, name, after):
    reading = read(f"Thought: t\nAction: search\nArgs: {args}")
    assert isinstance(reading, FormatError)
    assert (reading.code, reading.tool) == ("bad_args", "search")
    assert (reading.repairs[0].name, reading.repairs[0].after) == (name, after)
    assert reading.repairs[0].before == args


@pytest.mark.parametrize(
    "args",
    [
        r'{"query": "C:\Users\tom\notes.txt"}',
        r'{"query": "C:\dir", "other": "C:\new"}',
        r'{"query": "\\server\share"}',
    ],
)
def test_a_wrong_escape_beside_a_right_one_gets_no_repair(args):
    reading = read(f"Thought: t\nAction: search\nArgs: {args}")
    assert isinstance(reading, FormatError)
    assert (reading.code, reading.repairs) == ("bad_args", ())


@pytest.mark.parametrize(
    "text",
    [
        'Action: search\nArgs: {"query": "delete every file older than 1',
        'Action: search\nArgs: {"query": "a"',
        'Action: search\nArgs: {"query": tr',
        'Action: search\nArgs: {"query": "a", ',
        "Action: search\nArgs: {'query': 'a",
    ],
)
def test_cut_json_is_never_completed(text):
    for finish in ("stop", "length"):
        reading = read(text, finish)
        assert isinstance(reading, FormatError)
        assert (reading.code, reading.repairs) == ("truncated", ())


@pytest.mark.parametrize(
    "text",
    [
        "Thought: I thi",
        "Thought: t\nAction: sea",
        "Thought: t\nAction: search\nArgs:",
        "Some words",
    ],
)
def test_a_reply_cut_by_the_limit_is_truncated(text):
    assert read(text, "length").code == "truncated"


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ('{"query": NaN}', "not_finite"),
        ('{"query": -Infinity}', "not_finite"),
        ('{"query": 1e999}', "not_finite"),
        ('{"query": "a", "query": "b"}', "duplicate_key"),
        ('{"query": "\\ud800"}', "lone_surrogate"),
        ('["a"]', "args_not_object"),
        ('"a"', "args_not_object"),
        ("42", "args_not_object"),
        ("{invalid json}", "bad_args"),
    ],
)
def test_errors(args, code):
    reading = read(f"Action: search\nArgs: {args}")
    assert isinstance(reading, FormatError)
    assert reading.code == code


def test_a_bare_value_may_be_wrapped_where_the_tool_takes_one():
    reading = read('Action: search\nArgs: "a"')
    assert (reading.repairs[0].name, reading.repairs[0].after) == (
        "wrap_argument",
        '{"query": "a"}',
    )
    assert read('Action: search\nArgs: "a"', rules=ReadRules()).repairs == ()


def test_final_answers_are_verbatim_and_terminal():
    text = "Thought: done\nFinal Answer: # Title\n\n```python\nx = {}\n```\n\nAction: not one"
    reading = read(text)
    assert isinstance(reading, Final)
    assert reading.answer == "# Title\n\n```python\nx = {}\n```\n\nAction: not one"
    assert codes(reading) == {"labels_after_final"}


def test_missing_ends():
    thought = read("Thought: it is 4")
    assert (thought.code, thought.answer) == ("thought_only", "it is 4")
    plain = read("It is 4.")
    assert (plain.code, plain.answer) == ("no_labels", "It is 4.")
    assert read("").code == "empty"
    assert read("Action: ''\nArgs: {}").code == "no_tool_name"


def test_plain_text_is_the_answer_where_the_run_allows_it():
    reading = read("It is 4.", rules=ReadRules(plain_is_final=True))
    assert isinstance(reading, Final)
    assert (reading.answer, codes(reading)) == ("It is 4.", {"plain_answer"})


@pytest.mark.parametrize(
    "text",
    [
        "<think>\nAction: fake\nArgs: {}\n</think>\n" + GOOD,
        "I wonder.\n</think>\n" + GOOD,
        "<THINK>Final Answer: no</THINK>" + GOOD,
    ],
)
def test_thinking_is_reasoning_and_not_parsed(text):
    reading = read(text)
    assert isinstance(reading, Action)
    assert (reading.calls[0].tool, reading.kept) == ("search", GOOD)
    assert reading.reasoning


def test_unicode_is_kept():
    reading = read('Thought: 調べる\nAction: 検索\nArgs: {"クエリ": "東京 🗼"}')
    assert (reading.calls[0].tool, reading.calls[0].arguments) == ("検索", {"クエリ": "東京 🗼"})


def test_a_refusal_is_no_answer():
    assert isinstance(read_react(Reply(refusal="I must not."), RULES), Refused)


TEXTS = [
    GOOD,
    GOOD + "\nObservation: x\nThought: y\nFinal Answer: z",
    "<think>hm\nAction: no</think>\nThought: done\nFinal Answer: a\n\nb",
    'Action: search\nArgs: {"query": "a",}',
    "no labels at all",
]


@pytest.mark.parametrize("size", [1, 5, 20, 50, 100, 1000])
@pytest.mark.parametrize("text", TEXTS)
def test_the_reading_does_not_depend_on_the_chunks(text, size):
    reply = Reply(finish_reason="stop")
    for at in range(0, len(text), size):
        reply = accumulate(reply, TextDelta(text[at : at + size]))
    assert read_react(reply, RULES) == read(text)


@pytest.mark.parametrize("text", TEXTS)
def test_no_prefix_acts_differently(text):
    """While a reply streams in, an action that is shown with its arguments stays that action."""
    whole = read(text)
    for end in range(len(text)):
        part = read_react(Reply(text[:end]), RULES)
        if isinstance(part, Action) and part.calls[0].arguments:
            assert isinstance(whole, Action)
            assert part.calls == whole.calls


@pytest.mark.parametrize(
    "text",
    [
        "Action: search\nArgs: " + "{" * 20_000,
        "Action: search\nArgs: " + '{"a":' * 20_000,
        "Action: search\nArgs: " + "[" * 100_000,
        "Action: search\nArgs: {" + '"a": 1, ' * 300_000,
        " " * 2_000_000 + "x",
        "Thought: " + "\n" * 2_000_000,
        "Action: " + "*" * 1_000_000,
        "Thought:" * 600_000,
        "- " * 1_000_000,
        "<think>" * 500_000,
        "Action: a\nArgs: {'" + "\\" * 150_000,
        "x" * 5_000_000,
        GOOD + "\nObservation:" * 300_000,
    ],
    ids=range(13),
)
def test_a_hostile_reply_ends_soon(text):
    with soon():
        read(text)


@pytest.mark.parametrize(
    "raw",
    [
        "`search` (the tool)",
        '"search" (note)',
        "**`search`**",
        "[`search`]",
        "search (a) (b)",
        "`search (note)`",
        "*search*",
        "“search”",
    ],
)
def test_a_name_loses_whatever_is_wrapped_around_it(raw):
    assert clean_name(raw) == "search"
    assert clean_name("[" * 50_000 + "x" + "]" * 50_000)  # bounded, however hostile
