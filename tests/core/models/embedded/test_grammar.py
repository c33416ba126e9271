"""The grammar of a step: what each protocol may say next, at each level."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from studio.core.models.base import ModelRequest, ProtocolName
from studio.core.models.embedded.model import build_grammar
from studio.core.models.embedded.policy import LEVELS, GrammarLevel, is_error, step_choices
from studio.core.prompty.document import ToolSpec
from tests.core.models.embedded.grammar_reader import generates, sample

CALCULATOR = ToolSpec(
    "calculator",
    "Works it out.",
    {
        "type": "object",
        "properties": {
            "expression": {"type": "string", "pattern": r"^[0-9(][0-9 .()+*/%-]{0,60}[0-9)]$"}
        },
        "required": ["expression"],
    },
)
SEARCH = ToolSpec(
    "search",
    "Searches.",
    {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["query"],
    },
)
REQUEST = ModelRequest(
    (), (CALCULATOR, SEARCH), max_iterations=5, question="What is 128 * 46 in the Zürich office?"
)
CALLED = replace(
    REQUEST,
    iteration=2,
    past_calls=(("calculator", '{"expression": "128 * 46"}'),),
    observations=("5888",),
)
PROTOCOLS: tuple[ProtocolName, ...] = ("native", "react", "json_action")


def grammar(request: ModelRequest, level: GrammarLevel) -> str:
    made = build_grammar(request, level)
    assert made is not None
    return made


def call(protocol: ProtocolName, tool: str, arguments: dict[str, object], *, thought: str) -> str:
    written = json.dumps(arguments, ensure_ascii=False)
    match protocol:
        case "native":
            return f'{{"name": "{tool}", "arguments": {written}}}'
        case "react":
            return f"Thought: {thought}\nAction: {tool}\nArgs: {written}"
        case "json_action":
            bare = len(arguments) == 1 and tool == "calculator"
            value = json.dumps(arguments["expression"]) if bare else written
            return f'{{\n    "action": "{tool}",\n    "action_input": {value}\n}}'


def final(protocol: ProtocolName, text: str, *, thought: str) -> str:
    match protocol:
        case "native":
            return text
        case "react":
            return f"Thought: {thought}\nFinal Answer: {text}"
        case "json_action":
            written = json.dumps(text, ensure_ascii=False)
            return f'{{\n    "action": "final_answer",\n    "action_input": {written}\n}}'


def may_call(request: ModelRequest, level: GrammarLevel, tool: str, **arguments: object) -> bool:
    text = call(request.protocol, tool, arguments, thought="I need to work this out.")
    return generates(grammar(request, level), text)


def may_answer(
    request: ModelRequest, level: GrammarLevel, text: str, lead: str = "now know"
) -> bool:
    return generates(
        grammar(request, level), final(request.protocol, text, thought=f"I {lead} the answer.")
    )


def test_off_decides_nothing() -> None:
    assert build_grammar(REQUEST, "off") is None


def test_a_plain_chat_is_free_and_a_schema_is_followed() -> None:
    chat = replace(REQUEST, tools=())
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    for level in LEVELS[1:]:
        assert build_grammar(chat, level) is None
        assert generates(grammar(replace(chat, response_schema=schema), level), '{"n": 3}')


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_syntax_takes_any_legal_step(protocol: ProtocolName) -> None:
    request = replace(REQUEST, protocol=protocol)
    assert may_call(request, "syntax", "calculator", expression="1 + 1")
    assert may_call(request, "syntax", "search", query="anything at all", limit=3)
    assert may_answer(request, "syntax", "I know it already")
    assert not may_call(request, "syntax", "calculator", expression="one")
    assert not may_call(request, "syntax", "delete", query="x")
    assert not may_call(request, "syntax", "search", limit=3)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_policy_asks_for_a_call_first_and_an_answer_last(protocol: ProtocolName) -> None:
    request = replace(REQUEST, protocol=protocol)
    assert may_call(request, "policy", "calculator", expression="1 + 1")
    assert not may_answer(request, "policy", "I know it already")
    called = replace(CALLED, protocol=protocol)
    assert may_call(called, "policy", "search", query="more")
    assert may_answer(called, "policy", "It is 5888")
    last = replace(called, iteration=5)
    assert not may_call(last, "policy", "search", query="more")
    assert may_answer(last, "policy", "It is 5888")
    repeated = replace(called, past_calls=called.past_calls * 2)
    assert not may_call(repeated, "policy", "search", query="more")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_grounded_takes_only_what_was_said(protocol: ProtocolName) -> None:
    request = replace(REQUEST, protocol=protocol)
    assert may_call(request, "grounded", "calculator", expression="128 * 46")
    assert may_call(request, "grounded", "search", query="Zürich office")
    assert not may_call(request, "grounded", "calculator", expression="128")
    assert not may_call(request, "grounded", "search", query="Paris")
    assert not may_answer(request, "grounded", "5888.")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_grounded_answers_with_what_the_tool_said(protocol: ProtocolName) -> None:
    called = replace(CALLED, protocol=protocol)
    assert may_answer(called, "grounded", "128 * 46 = 5888.")
    assert may_answer(called, "grounded", "The answer is 5888.")
    assert not may_answer(called, "grounded", "The answer is 47.")
    assert not may_call(called, "grounded", "calculator", expression="128 * 46")
    # A tool without a pattern of its own has no phrase that asks to be looked up as well.
    assert not may_call(called, "grounded", "search", query="Zürich")


def test_grounded_goes_on_while_the_question_holds_more_to_ask() -> None:
    request = replace(CALLED, question="What are 128 * 46 and 7 * 6?")
    assert may_call(request, "grounded", "calculator", expression="7 * 6")
    assert not may_call(request, "grounded", "calculator", expression="128 * 46")
    both = replace(
        request,
        past_calls=(*request.past_calls, ("calculator", '{"expression": "7 * 6"}')),
        observations=("5888", "42"),
    )
    assert may_answer(both, "grounded", "128 * 46 = 5888. 7 * 6 is 42.")
    assert step_choices(both, "grounded").calls == ()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_when_no_tool_could_tell_that_is_said(protocol: ProtocolName) -> None:
    failed = replace(
        CALLED, protocol=protocol, tools=(CALCULATOR,), observations=("Error: out of order",)
    )
    assert may_answer(failed, "grounded", "I could not find that out.", "could not find")
    assert not may_answer(failed, "grounded", "The answer is 47.", "could not find")


def test_a_question_without_anything_to_look_up_is_answered() -> None:
    request = replace(REQUEST, question="Who are you?", tools=(CALCULATOR,))
    assert may_answer(request, "grounded", "I am a small model")


def test_long_and_quoted_observations() -> None:
    long = replace(CALLED, observations=("x" * 500,))
    assert may_answer(long, "grounded", "It says many things")
    quoted = replace(CALLED, protocol="json_action", observations=('the "big" one \\ here',))
    assert may_answer(quoted, "grounded", 'The answer is the "big" one \\ here.')


def test_a_tool_without_parameters_is_called_once() -> None:
    clock = ToolSpec("clock")
    request = replace(REQUEST, tools=(clock,))
    assert may_call(request, "grounded", "clock")
    called = replace(request, past_calls=(("clock", "{}"),), observations=("Error: broken",))
    assert step_choices(called, "grounded").calls == ()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("level", LEVELS[1:])
@pytest.mark.parametrize("request_", [REQUEST, CALLED, replace(CALLED, iteration=5)])
def test_every_sample_is_a_call_or_an_answer(
    protocol: ProtocolName, level: GrammarLevel, request_: ModelRequest
) -> None:
    expression = grammar(replace(request_, protocol=protocol), level)
    for seed in range(8):
        text = sample(expression, seed)
        match protocol:
            case "json_action":
                assert json.loads(text)["action"] in ("calculator", "search", "final_answer")
            case "react":
                assert text.startswith("Thought: ")
                assert text.count("\nAction: ") + text.count("\nFinal Answer: ") == 1
            case "native":
                assert not text.startswith("{") or json.loads(text)["name"]


@pytest.mark.parametrize(
    ("observation", "error"),
    [
        ("Error: no such thing", True),
        ('{"action_output": "Error: no"}', True),
        ('{"error": "no"}', True),
        ("5888", False),
        ('{"action_output": "fine"}', False),
        ("{not json", False),
        ("Errors are human", False),
        ("Error", True),
    ],
)
def test_errors_are_told_from_results(observation: str, error: bool) -> None:
    assert is_error(observation) is error
