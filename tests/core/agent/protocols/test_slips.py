"""Slips of small models: each is named, its repair is offered, and the repaired reply is read."""

from __future__ import annotations

import pytest

from studio.core.agent.protocols.findings import ReadRules
from studio.core.agent.protocols.json_action import read_json_action
from studio.core.agent.protocols.native import read_native
from studio.core.agent.protocols.react import read_react
from studio.core.agent.run.requests import repaired
from studio.core.agent.values.step import Action, Final, FormatError
from studio.core.prompty.document import ToolSpec
from studio.core.wire.reply import Reply, ToolCall


def tool(name: str, *parameters: str) -> ToolSpec:
    properties = {each: {"type": "string"} for each in parameters}
    return ToolSpec(name, parameters={"type": "object", "properties": properties})


RULES = ReadRules(tools=(tool("calculator", "expression"), tool("get_weather", "city", "day")))
READERS = {"react": read_react, "json": read_json_action, "native": read_native}


def read(kind, text, finish="stop", rules=RULES):
    return READERS[kind](Reply(text, finish_reason=finish), rules)


def mended(kind, text):
    """What the reply reads as after its first repair, and the name of that."""
    reading = read(kind, text)
    offered = reading.repairs if isinstance(reading, FormatError) else reading.calls[0].repairs
    again = READERS[kind](repaired(Reply(text, finish_reason="stop"), offered[0]), RULES)
    return again, offered[0].name


SUM = ("calculator", {"expression": "2*3"})
ROME = ("get_weather", {"city": "Rome", "day": "today"})


@pytest.mark.parametrize(
    ("kind", "text", "call", "name"),
    [
        ("react", 'Action: calculator(expression="2*3")', SUM, "call_syntax"),
        ("react", "Action: calculator('2*3')", SUM, "call_syntax"),
        ("react", "Thought: x\nAction: calculator[2*3]\n", SUM, "call_syntax"),
        ("react", 'Action: Calculator({"expression": "2*3"})', SUM, "call_syntax"),
        ("react", "Action: `get_weather(city='Rome', day='today')`", ROME, "call_syntax"),
        ("react", 'Action: get_weather(\n  city="Rome",\n  day="today",\n)', ROME, "call_syntax"),
        ("react", "Action: calculator()", ("calculator", {}), "call_syntax"),
        ("react", 'Action: calculator {"expression": "2*3"}', SUM, "one_line_action"),
        ("react", 'Action: calculator: {"expression": "2*3",}', SUM, "one_line_action"),
        ("react", 'Action: Calculator\nArgs: {"expression": "2*3"}', SUM, "tool_name"),
        ("react", 'Action: functions.calculator\nArgs: {"expression": "2*3"}', SUM, "tool_name"),
        ("react", 'Action: get-weather\nArgs: {"city": "Rome", "day": "today"}', ROME, "tool_name"),
        (
            "react",
            r"Action: calculator" "\n" r'Args: "{\"expression\": \"2*3\"}"',
            SUM,
            "unwrapped_string",
        ),
        ("react", 'Action: calculator\nAction Input: expression="2*3"', SUM, "named_values"),
        ("react", 'Action: calculator\nParams: {"expression": "2*3"}', SUM, "args_label"),
        (
            "react",
            '<think>\nhm\nAction: calculator\nArgs: {"expression": "2*3"}',
            SUM,
            "unclosed_think",
        ),
        ("json", '{"action": "calculator", "params": {"expression": "2*3"}}', SUM, "argument_keys"),
        (
            "json",
            '{"action": "calculator", "action_inputs": {"expression": "2*3"}}',
            SUM,
            "argument_keys",
        ),
        (
            "json",
            '{"action": "get_weather", "city": "Rome", "day": "today"}',
            ROME,
            "argument_keys",
        ),
        (
            "json",
            '{"action": "calculator", "action_input": null, "expression": "2*3"}',
            SUM,
            "argument_keys",
        ),
        (
            "json",
            '{"action": "calculator", "action_input": "{\\"expression\\": \\"2*3\\"}"}',
            SUM,
            "unwrapped_string",
        ),
        (
            "json",
            '{"action": "calculator", "action_input": "expression=\\"2*3\\""}',
            SUM,
            "named_values",
        ),
        (
            "json",
            '{"action": "Calculator", "action_input": {"expression": "2*3"}}',
            SUM,
            "tool_name",
        ),
        (
            "json",
            '{"action":\u00a0"calculator", "action_input": {"expression": "2*3"}}',
            SUM,
            "odd_blanks",
        ),
        (
            "native",
            '<tool_call>\n{"name": "calculator", "arguments": {"expression": "2*3"}}\n</tool_call>',
            SUM,
            "text_call",
        ),
        (
            "native",
            '```json\n{"name": "calculator", "parameters": {"expression": "2*3"}}\n```',
            SUM,
            "text_call",
        ),
        (
            "native",
            '{"name": "functions.calculator", "arguments": "{\\"expression\\": \\"2*3\\"}"}',
            SUM,
            "text_call",
        ),
        (
            "native",
            '[TOOL_CALLS][{"name": "calculator", "arguments": {"expression": "2*3"}}]',
            SUM,
            "text_call",
        ),
        ("native", '[TOOL_CALLS]calculator[ARGS]{"expression": "2*3"}', SUM, "text_call"),
        (
            "native",
            'Sure.\n<function=calculator>{"expression": "2*3"}</function>',
            SUM,
            "text_call",
        ),
        (
            "native",
            "<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n"
            "<parameter=day>today</parameter>\n</function>",
            ROME,
            "text_call",
        ),
        (
            "native",
            '<|python_tag|>{"name": "calculator", "parameters": {"expression": "2*3"}}',
            SUM,
            "text_call",
        ),
        ("native", '<|python_tag|>calculator.call(expression="2*3")', SUM, "text_call"),
        ("native", '[get_weather(city="Rome", day="today")]', ROME, "text_call"),
    ],
)
def test_a_slip_is_an_error_and_its_repair_reads_as_meant(kind, text, call, name):
    reading, made = mended(kind, text)
    assert isinstance(reading, Action), reading
    assert (made, (reading.calls[0].tool, reading.calls[0].arguments)) == (name, call)
    assert reading.calls[0].error is None


@pytest.mark.parametrize(
    ("kind", "text", "answer", "name"),
    [
        ("react", "Thought: done\nAction: Final Answer\nArgs: 42", "42", "action_final"),
        ("react", 'Action: Final Answer\nAction Input: {"answer": "42"}', "42", "action_final"),
        ("react", "Thought: t\nAction: None\nFinal Answer: 6", "6", "no_action"),
        ("react", "Action: No action needed.\nFinal Answer: 6", "6", "no_action"),
        ("react", "<think>well\nFinal Answer: 6", "6", "unclosed_think"),
        ("json", '{"action": "Final Answer", "answer": "6"}', "6", "argument_keys"),
        ("native", "<think>two and four\n\nSix.", "Six.", "unclosed_think"),
        ("native", "<thinking>Six.", "Six.", "unclosed_think"),
    ],
)
def test_an_answer_in_the_wrong_place_is_offered(kind, text, answer, name):
    reading, made = mended(kind, text)
    assert isinstance(reading, Final), reading
    assert (made, reading.answer) == (name, answer)


def test_several_calls_in_text_are_one_repair():
    one = '<tool_call>{"name": "calculator", "arguments": {"expression": "%s"}}</tool_call>'
    reading, _ = mended("native", f"{one % '1'}\n{one % '2'}")
    assert [call.arguments["expression"] for call in reading.calls] == ["1", "2"]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("react", "Action: calculator\nAction Input: 2*3+10"),
        ("react", 'Action: calculator\nAction Input: {"expression": "2*'),
        ("react", 'Action: calculator {"expression": "2*'),
        ("react", 'Action: calculator(expression="2*'),
        ("react", 'Action: calculator\nParams: {"expression": "2*'),
        ("react", "Action: Final Answer\nArgs: The capi"),
        ("react", "<think>so far"),
        ("json", '{"action": "calculator", "action_input": {"expression": "2*'),
        ("native", '<tool_call>{"name": "calculator", "arguments": {"expr'),
        ("native", '<tool_call>{"name": "calculator", "arguments": {"expression": "2"}}'),
        ("native", "<think>so far"),
        ("native", "<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n<param"),
        ("native", '<function=calculator>{"expression": "2*'),
    ],
)
@pytest.mark.parametrize("free_text", [False, True])
def test_what_the_limit_cut_is_never_acted_on(kind, text, free_text):
    rules = ReadRules(tools=RULES.tools, free_text=free_text)
    reading = read(kind, text, "length", rules)
    assert isinstance(reading, FormatError)
    assert (reading.code, reading.repairs) == ("truncated", ())


@pytest.mark.parametrize(
    "text",
    [
        "<function=get_weather>\n<parameter=city>\nRome\n</parameter>",
        "<function=get_weather>\n<parameter=city>\nRome",
        "<function=get_weather>",
        '<function=calculator>{"expression": "2*',
    ],
)
def test_a_call_without_its_end_has_no_arguments_to_offer(text):
    reading = read("native", text)
    offered = reading.repairs if isinstance(reading, FormatError) else ()
    assert offered == ()


def test_json_that_breaks_off_is_no_text_even_where_text_is_allowed():
    rules = ReadRules(tools=RULES.tools, free_text=True)
    reading = read("react", 'Action: calculator\nAction Input: {"expression": "2*', rules=rules)
    assert (reading.code, reading.repairs) == ("truncated", ())


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("react", "Action: calculator\nAction Input: x = 5"),
        ("react", 'Action: calculator (the tool)\nArgs: {"expression": "2"}'),
        ("react", "Final Answer: use calculator(expression='2')"),
        ("json", '{"thought": "hm", "action": "calculator", "action_input": {"expression": "2"}}'),
        ("json", '{"action": "final_answer", "action_input": null}'),
        ("native", "Call `calculator(expression='2')` in your program."),
        ("native", '{"answer": 6}'),
        ("native", "The tag <b> is bold."),
        ("native", "Is calculator(x) fine?"),
    ],
)
def test_what_is_meant_so_stays_as_it_is(kind, text):
    assert isinstance(read(kind, text), Action | Final)


def test_text_that_looks_like_a_call_is_an_answer_where_no_tools_are_offered():
    text = '<tool_call>{"name": "calculator", "arguments": {}}</tool_call>'
    assert isinstance(read_native(Reply(text, finish_reason="stop"), ReadRules()), Final)


def test_a_native_name_that_is_nearly_right_is_offered():
    calls = (ToolCall("1", "functions.Calculator", '{"expression": "2*3"}'),)
    reply = Reply(tool_calls=calls, finish_reason="tool_calls")
    repair = read_native(reply, RULES).calls[0].repairs[0]
    assert (repair.title, repair.name) == ("Use the tool 'calculator'", "tool_name")
    assert read_native(repaired(reply, repair), RULES).calls[0].tool == "calculator"
