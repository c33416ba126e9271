"""What `{examples}` stands for in a JSON-action prompt."""

from __future__ import annotations

import json
import re

import pytest
from jsonschema import Draft202012Validator

from studio.core.agent.loop.setup import first_step_values
from studio.core.prompty.document import MOST_EXAMPLES, ToolSpec, example_actions, example_of
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.text.values import Json, JsonObject

FENCED = re.compile(r"```json\n(.*?)\n```", re.DOTALL)

SCHEMAS: list[JsonObject] = [
    {"type": "object", "properties": {}},
    {"type": "object", "properties": {"q": {"type": "string", "examples": ["tea"]}}},
    {
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "unit": {"enum": ["km", "mi"]},
            "exact": {"type": "boolean", "default": False},
            "note": {"type": "string"},
        },
        "required": ["n", "unit", "exact"],
    },
    {
        "type": "object",
        "properties": {
            "places": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["x"],
                    "properties": {"x": {"type": "number"}},
                },
            },
            "or": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["places", "or"],
    },
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_each_tool_has_an_action_that_fits_its_schema(schema: JsonObject) -> None:
    (text,) = FENCED.findall(example_actions([ToolSpec("look", parameters=schema)]))
    action = json.loads(text)
    assert action["action"] == "look"
    Draft202012Validator(schema).validate(action["action_input"] or {})


def test_a_tools_own_example_is_taken() -> None:
    assert example_of(SCHEMAS[1]) == {"q": "tea"}
    assert example_of({"type": "object", "properties": {"a": {}}, "example": {"a": 9}}) == {"a": 9}


def test_there_are_no_more_than_can_be_read_and_none_without_tools() -> None:
    assert example_actions(()) == ""
    many = [ToolSpec(f"t{number}") for number in range(20)]
    assert len(FENCED.findall(example_actions(many))) == MOST_EXAMPLES


def test_a_schema_without_end_ends() -> None:
    endless: dict[str, Json] = {"type": "object", "required": ["a"]}
    endless["properties"] = {"a": endless}
    json.dumps(example_of(endless))


def test_a_value_of_the_user_counts_over_them() -> None:
    text = (
        "---\ntemplate: {format: {kind: fstring}, parser: {kind: section}}\n---\n"
        '"action_input" {tool_names}\n{examples}\n{chat_history}'
    )
    document, tool = parse(text), ToolSpec("look", parameters=SCHEMAS[1])
    for given in ({}, {"examples": "Look before you leap."}):
        inputs: dict[str, Json] = {"question": "Why?", **given}
        values = {**first_step_values(document, inputs, [tool]), **inputs}
        (message,) = prepare(document, values).messages.messages
        assert ("tea" in message.text) is not bool(given)
        assert ("Look before" in message.text) is bool(given)
