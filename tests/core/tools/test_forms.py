"""What each protocol sees of a tool."""

from __future__ import annotations

import json
from dataclasses import replace

from studio.core.prompty.document import ToolSpec
from studio.core.tools.forms import (
    json_action_line,
    native_function,
    react_lines,
    tool_forms,
    tool_items,
    tools_text,
    type_words,
)

WEATHER = ToolSpec(
    "weather",
    "The weather\nin a city.",
    {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Name of the city."},
            "unit": {"enum": ["C", "F"]},
        },
        "required": ["city"],
    },
    strict=True,
)
CLOCK = ToolSpec("clock", "The time.")
SEARCH = ToolSpec(
    "search",
    "Search.",
    {"type": "object", "properties": {"q": {"type": "string", "description": "Words."}}},
)


def test_template_items() -> None:
    assert tool_items([WEATHER]) == [
        {
            "name": "weather",
            "description": "The weather in a city.",
            "arguments": [
                {
                    "name": "city",
                    "type": "string",
                    "description": "Name of the city.",
                    "required": True,
                },
                {"name": "unit", "type": 'one of "C", "F"', "description": "", "required": False},
            ],
            "parameters": WEATHER.parameters,
        }
    ]


def test_react_list() -> None:
    assert react_lines(WEATHER) == (
        "- **weather**: The weather in a city.\n"
        '  - Required: `"city"` (string): Name of the city.\n'
        '  - Optional: `"unit"` (one of "C", "F")'
    )


def test_lines_of_text() -> None:
    assert json_action_line(CLOCK) == '- "clock": The time.'
    assert json_action_line(SEARCH) == '- "search": Search. Input: "q" (string, optional): Words.'
    assert json_action_line(WEATHER) == (
        '- "weather": The weather in a city. Input: "city" (string): Name of the city., '
        '"unit" (one of "C", "F", optional)'
    )
    assert tools_text([CLOCK, SEARCH], quoted=False).startswith("- clock: The time.\n- search: ")


def test_native_function() -> None:
    assert native_function(CLOCK) == {
        "type": "function",
        "function": {"name": "clock", "description": "The time."},
    }
    function = native_function(WEATHER)["function"]
    assert isinstance(function, dict)
    assert function["strict"] is True


def test_every_form_is_what_is_sent() -> None:
    forms = {form.title: form for form in tool_forms(SEARCH)}
    assert list(forms) == [
        "OpenAI chat completions, and servers like it",
        "OpenAI responses",
        "Anthropic messages",
        "ReAct list line",
        "JSON action line",
    ]
    chat, responses, anthropic = (json.loads(form.text) for form in [*forms.values()][:3])
    assert chat == native_function(SEARCH)
    assert responses == {"type": "function", **chat["function"]}
    assert anthropic["input_schema"] == SEARCH.parameters
    assert all(form.remark == "" for form in forms.values())


def test_a_name_that_a_provider_refuses_is_said() -> None:
    dotted = replace(SEARCH, name="files.read")
    remarks = [form.remark for form in tool_forms(dotted)]
    assert "OpenAI refuses the name 'files.read'" in remarks[0]
    assert "Anthropic refuses" in remarks[2]
    assert remarks[3:] == ["", ""]
    long = [form.remark for form in tool_forms(replace(SEARCH, name="a" * 65))]
    assert (bool(long[0]), bool(long[2])) == (True, False)


def test_a_service_that_is_only_named_is_sent_to_nobody() -> None:
    named = ToolSpec("maps", kind="mcp", source="document")
    form = tool_forms(named)[0]
    assert form.text == ""
    assert "is not sent" in form.remark


def test_type_words() -> None:
    assert type_words({"type": "array", "items": {"type": "integer"}}) == "array of integer"
    assert type_words({"anyOf": [{"type": "string"}, {"type": "null"}]}) == "string or null"
    assert type_words({"type": ["string", "null"]}) == "string or null"
    assert type_words({"const": 3}) == "3"
    assert type_words({}) == "any"
