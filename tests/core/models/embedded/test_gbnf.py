"""Grammars of schemas make JSON that the schema allows."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from studio.core.models.embedded import gbnf
from tests.core.models.embedded.gbnf_reader import generates, sample

SCHEMAS: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "string", "minLength": 3, "maxLength": 5},
    {"type": "string", "pattern": "^[A-Z][a-z]+$"},
    {"type": "integer"},
    {"type": "number"},
    {"type": "boolean"},
    {"type": "null"},
    {"type": ["string", "null"]},
    {"enum": ["a", 'b "quoted"', 3, None, True]},
    {"const": {"x": [1, 2]}},
    {"anyOf": [{"type": "integer"}, {"const": "none"}]},
    {"type": "array", "items": {"type": "integer"}},
    {"type": "array", "items": {"enum": ["x"]}, "minItems": 2, "maxItems": 3},
    {"type": "object"},
    {"type": "object", "properties": {}},
    {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["city"],
    },
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "null"}}},
    {
        "type": "object",
        "properties": {"inner": {"type": "object", "properties": {"ü": {"type": "boolean"}}}},
        "required": ["inner"],
    },
    {},
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_everything_made_is_valid_json_of_the_schema(schema: dict[str, Any]) -> None:
    expression = gbnf.schema_expression(schema)
    for seed in range(40):
        text = sample(expression, seed)
        jsonschema.validate(json.loads(text), schema)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "Zürich, at noon"),
        ({"type": "string"}, "東京"),
        ({"type": "string"}, "(3 + 4) * 5"),
        ({"type": "number"}, -12.75),
        ({"enum": ['b "quoted"']}, 'b "quoted"'),
        (SCHEMAS[15], {"city": "Rome", "days": 3}),
        (SCHEMAS[15], {"city": "Rome", "tags": ["a", "b"]}),
        (SCHEMAS[16], {}),
        (SCHEMAS[16], {"b": None}),
    ],
)
def test_what_is_meant_can_be_made(schema: dict[str, Any], value: object) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert generates(gbnf.schema_expression(schema), text)


@pytest.mark.parametrize("start", [".", ",", "}", " ", "-", "\\"])
def test_a_string_does_not_begin_with_what_the_vocabulary_merges(start: str) -> None:
    assert not generates(gbnf.free_string(), f'"{start}47"')


def test_a_schema_that_holds_itself_ends() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {}, "required": ["next"]}
    schema["properties"]["next"] = schema
    assert len(gbnf.schema_expression(schema)) < 2000


def test_a_literal_is_exactly_its_text() -> None:
    for text in ('a "b" \\ c', "line\nline", "ünï 🎉", "\x01", "tab\t"):
        assert sample(gbnf.literal(text), 0) == text


def test_alternatives_need_one() -> None:
    with pytest.raises(ValueError, match="at least one"):
        gbnf.one_of([])
