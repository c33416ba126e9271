"""What the model is held to is JSON that the schema allows, and never without a bound."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.core.models.embedded.policy import bounded, is_followed, json_rule
from tests.core.models.embedded.grammar_reader import generates, sample

SCHEMAS: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "string", "minLength": 3, "maxLength": 5},
    {"type": "string", "pattern": "^[A-Z][a-z]+$"},
    {"type": "string", "pattern": "[a-z]+", "maxLength": 4},
    {"type": "string", "minLength": 5, "maxLength": 3},
    {"type": "integer"},
    {"type": "integer", "minimum": 3, "exclusiveMaximum": 9},
    {"type": "integer", "multipleOf": 5},
    {"type": "number"},
    {"type": "number", "minimum": 0, "maximum": 1},
    {"type": "number", "maximum": -3},
    {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5},
    {"type": "boolean"},
    {"type": "null"},
    {"type": ["string", "null"]},
    {"enum": ["a", 'b "quoted"', 3, None, True]},
    {"const": {"x": [1, 2]}},
    {"anyOf": [{"type": "integer"}, {"const": "none"}]},
    {"oneOf": [{"type": "integer"}, {"const": "none"}]},
    {"type": "array", "items": {"type": "integer"}},
    {"type": "array", "items": {"enum": ["x"]}, "minItems": 2, "maxItems": 3},
    {"type": "object"},
    {"type": "object", "properties": {}},
    {
        "type": "object",
        "properties": {
            "days": {"type": "integer"},
            "city": {"type": "string"},
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
    {"type": "string", "format": "unknown"},
    {},
]
UNSATISFIABLE = SCHEMAS[4]
TRIP = SCHEMAS[23]
OPTIONAL = SCHEMAS[24]


def grammar(schema: dict[str, Any]) -> str:
    return f"%llguidance {{}}\nstart: {json_rule(bounded(schema))}"


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_everything_made_is_valid_json_of_the_schema(schema: dict[str, Any]) -> None:
    held = grammar(schema)
    for seed in range(12):
        value = json.loads(sample(held, seed))
        if schema is not UNSATISFIABLE:
            jsonschema.validate(value, schema)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "Zürich, at noon"),
        ({"type": "string"}, "東京"),
        ({"type": "string"}, "(3 + 4) * 5"),
        ({"type": "number"}, -12.75),
        ({"type": "integer", "minimum": 3}, 3),
        ({"enum": ['b "quoted"']}, 'b "quoted"'),
        (TRIP, {"city": "Rome", "days": 3}),
        (TRIP, {"city": "Rome", "tags": ["a", "b"]}),
        (OPTIONAL, {}),
        (OPTIONAL, {"b": None}),
    ],
)
def test_what_is_meant_can_be_made(schema: dict[str, Any], value: object) -> None:
    assert generates(grammar(schema), json.dumps(value, ensure_ascii=False))


@pytest.mark.parametrize("start", [".", ",", "}", " ", "-", "\\"])
def test_a_string_does_not_begin_with_what_the_vocabulary_merges(start: str) -> None:
    assert not generates(grammar({"type": "string"}), f'"{start}47"')


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "string"}, '"' + "x" * 81 + '"'),
        ({"type": "string", "pattern": "x+"}, '"' + "x" * 81 + '"'),
        ({"type": "integer"}, "12345678901"),
        ({"type": "number"}, "1.1234567"),
        ({"type": "array", "items": {"type": "null"}}, json.dumps([None] * 9)),
        ({"type": "object", "properties": {"a": {"type": "null"}}}, '{"b": null}'),
        ({"type": "object", "properties": {"a": {"type": "null"}}}, '{"a":null}'),
        ({"type": "integer", "maximum": 3}, "4"),
        ({"type": "string", "pattern": "^[A-Z]{2}$"}, '"us"'),
        ({"type": "string", "pattern": r"\d{4}-\d\d"}, '"on 2026-11"'),
    ],
)
def test_nothing_goes_on_for_ever_or_beside_the_schema(schema: dict[str, Any], text: str) -> None:
    assert not generates(grammar(schema), text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^[0-9(][0-9 .()+*/%-]{0,60}[0-9)]$", "128 * 46"),
        (r"^[0-9(][0-9 .()+*/%-]{0,60}[0-9)]$", "(3 + 4) * 5.25 - 1"),
        (r"^(capital|currency) of [A-Z][a-z]+( [A-Z][a-z]+)?$", "capital of New Zealand"),
        (r"\d{4}-\d\d-\d\d", "2026-11-21"),
        (r"^a|b$", "b"),
        (r"^a$|^b$", "a"),
        (r"(?:https?)://[\w.]+", "https://example.org"),
        (r"^(?P<year>\d+)$", "2026"),
        (r"[\]\-^]", "]"),
        (r"[-a]b", "-b"),
        (r"a\.b\\c", "a.b\\c"),
        (r"cost: 5\$", "cost: 5$"),
        (r'say "hi"', 'say "hi"'),
        (r".", "é"),
    ],
)
def test_what_matches_a_pattern_can_be_made(pattern: str, text: str) -> None:
    held = grammar({"type": "string", "pattern": pattern})
    assert generates(held, json.dumps(text, ensure_ascii=False))
    assert not generates(held, '"something else"')


@pytest.mark.parametrize(
    "pattern", [r"(?=a)b", r"(?!x)y", r"\bword\b", r"(a)\1", "a(", "[", "*", "a^b", "a{100000}"]
)
def test_a_pattern_that_no_grammar_follows_is_left_free(pattern: str) -> None:
    assert bounded({"type": "string", "pattern": pattern}) == bounded({"type": "string"})


def test_deep_patterns_end() -> None:
    deep = "(" * 5000 + "a" + ")" * 5000
    assert bounded({"type": "string", "pattern": deep}) == bounded({"type": "string"})


def test_a_schema_that_holds_itself_ends() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {}, "required": ["next"]}
    schema["properties"]["next"] = schema
    assert len(json_rule(bounded(schema))) < 3000


_SCHEMA = st.recursive(
    st.sampled_from(SCHEMAS),
    lambda inner: st.one_of(
        st.dictionaries(st.text(max_size=3), inner, max_size=3).map(
            lambda found: {"type": "object", "properties": found, "required": list(found)[:1]}
        ),
        inner.map(lambda found: {"type": "array", "items": found, "minItems": 1}),
        st.lists(inner, min_size=1, max_size=3).map(lambda found: {"anyOf": found}),
    ),
    max_leaves=6,
)


@given(
    st.one_of(
        _SCHEMA,
        st.text(max_size=30).map(lambda pattern: {"type": "string", "pattern": pattern}),
        st.dictionaries(
            st.sampled_from(["type", "enum", "items", "minimum", "maxLength", "anyOf", "required"]),
            st.sampled_from([None, 1, -1, 2.5, "string", "array", [], ["object"], {}, True]),
        ),
    )
)
@settings(max_examples=100, deadline=None)
def test_the_server_understands_whatever_schema_it_gets(schema: dict[str, Any]) -> None:
    assert is_followed(grammar(schema))
