from __future__ import annotations

from studio.application.inputs.fields import (
    ABSENT,
    FieldSpec,
    input_fields,
    schema_fields,
    show_value,
)
from studio.core.prompty.parse import parse

DOC = """---
template:
  parser: {kind: section}
inputs:
  city: {kind: string, description: Where to, required: true, sample: Lisbon}
  days: {kind: integer, default: 2}
  mood: {kind: string, enum: [calm, busy]}
  tags: {kind: array, items: {kind: string}}
  place:
    kind: object
    properties:
      street: {kind: string}
  loose: {kind: object}
  chat: {kind: thread}
---
system:
{{ city }} {{ other }} {{ history }}
"""


def fields() -> dict[str, FieldSpec]:
    return {spec.name: spec for spec in input_fields(parse(DOC))}


def test_declared_inputs_get_the_field_of_their_kind() -> None:
    kinds = {name: spec.kind for name, spec in fields().items()}
    assert kinds == {
        "city": "string",
        "days": "integer",
        "mood": "choice",
        "tags": "array",
        "place": "object",
        "loose": "json",
        "chat": "thread",
        "other": "string",
        "history": "json",
    }
    city = fields()["city"]
    assert (city.required, city.fallback, city.fallback_origin) == (True, "Lisbon", "sample")
    assert fields()["days"].fallback_origin == "default"
    assert fields()["mood"].choices == ("calm", "busy")
    assert [item.name for item in fields()["place"].properties] == ["street"]


def test_undeclared_and_reserved_names_are_told_apart() -> None:
    assert not fields()["other"].declared
    assert fields()["other"].fallback is ABSENT
    history = fields()["history"]
    assert history.declared
    assert history.fallback_origin == "supplied by the run"


def test_a_schema_becomes_fields() -> None:
    schema = {
        "type": "object",
        "required": ["name", "kind"],
        "properties": {
            "name": {"type": "string", "pattern": "^a", "description": "The name"},
            "kind": {"enum": ["x", "y"]},
            "size": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
            "maybe": {"anyOf": [{"type": "number"}, {"type": "null"}]},
            "either": {"anyOf": [{"type": "number"}, {"type": "string"}]},
            "node": {"$ref": "#/$defs/node"},
            "list": {"type": "array", "items": {"$ref": "#/$defs/leaf"}},
        },
        "$defs": {
            "leaf": {"type": "object", "properties": {"on": {"type": "boolean"}}},
            "node": {
                "type": "object",
                "properties": {"next": {"$ref": "#/$defs/node"}, "value": {"type": "string"}},
            },
        },
    }
    made = {spec.name: spec for spec in schema_fields(schema)}
    assert (made["name"].kind, made["name"].required, made["name"].pattern) == (
        "string",
        True,
        "^a",
    )
    assert (made["kind"].kind, made["kind"].choices) == ("choice", ("x", "y"))
    assert (made["size"].minimum, made["size"].maximum, made["size"].fallback) == (1.0, 9.0, 3)
    assert (made["maybe"].kind, made["maybe"].nullable) == ("number", True)
    assert made["either"].kind == "json"
    assert [item.kind for item in made["node"].properties] == ["json", "string"]
    assert made["list"].items is not None
    assert made["list"].items.properties[0].kind == "boolean"


def test_broken_schemas_still_make_a_form() -> None:
    odd = {
        "type": "object",
        "properties": {"a": True, "b": {"$ref": "#/nowhere"}, "c": {"type": 5}},
    }
    assert [spec.kind for spec in schema_fields(odd)] == ["json", "json", "json"]
    assert schema_fields({"type": "object", "properties": []}) == ()


def test_values_are_shown_on_one_line() -> None:
    assert show_value("a\nb") == "a b"
    assert show_value({"a": 1}) == '{"a": 1}'
    assert len(show_value("x" * 500)) == 80
    assert show_value(ABSENT) == ""


def test_an_undeclared_variable_gets_the_field_that_its_uses_want() -> None:
    fields = input_fields(parse("user:\n{{ a }} {{ b.c }} {% for d in e %}{{ d }}{% endfor %}\n"))
    assert [(field.name, field.kind) for field in fields] == [
        ("a", "string"),
        ("b", "json"),
        ("e", "json"),
    ]


def test_parameters_have_fields_of_what_they_are_used_as() -> None:
    text = (
        "---\nmodel:\n  options:\n    temperature: ${params:heat}\n"
        "    additionalProperties: ${params:more}\n"
        "template: {parser: {kind: section}}\ninputs:\n  city: {kind: string}\n---\n"
        "user:\n{{ city }} {{ loose }} ${params:city} ${params:loose} ${params:who}\n"
    )
    found = {spec.name: spec for spec in input_fields(parse(text))}
    assert {name: (spec.kind, spec.parameter, spec.required) for name, spec in found.items()} == {
        "city": ("string", False, False),
        "loose": ("string", True, True),
        "heat": ("number", True, True),
        "more": ("json", True, True),
        "who": ("string", True, True),
    }
    assert all(spec.declared and not spec.supplied for spec in found.values())


def test_a_prompt_with_the_conversation_has_a_field_for_the_question() -> None:
    text = 'Write "action_input". {{ tool_names }}\n{{ chat_history }}\n{{ agent_scratchpad }}'
    found = {spec.name: spec for spec in input_fields(parse(text))}
    assert not found["question"].supplied
    assert found["question"].fallback_origin == "sample"
    assert {name for name, spec in found.items() if spec.supplied} == {
        "tool_names",
        "chat_history",
        "agent_scratchpad",
    }


def test_fields_come_from_the_shape_of_defaults_and_samples() -> None:
    document = parse(
        """---
inputs:
  customer:
    kind: object
    default: {name: Ana, age: 3, vip: true, address: {city: Rome}}
  items:
    kind: array
    sample: [{sku: A, price: 1}, {sku: B, price: 2.5, note: null}]
  names:
    kind: array
    default: [a, b]
  table:
    kind: object
    default: {"a key": 1}
  mixed:
    kind: array
    default: [1, {a: 2}]
---
user:
Hi
"""
    )
    customer, items, names, table, mixed = input_fields(document)
    assert [(each.name, each.kind) for each in customer.properties] == [
        ("name", "string"),
        ("age", "integer"),
        ("vip", "boolean"),
        ("address", "object"),
    ]
    assert [each.name for each in customer.properties[3].properties] == ["city"]
    assert customer.fallback == {"name": "Ana", "age": 3, "vip": True, "address": {"city": "Rome"}}
    assert items.kind == "array"
    assert items.items is not None
    assert [(each.name, each.kind) for each in items.items.properties] == [
        ("sku", "string"),
        ("price", "number"),
        ("note", "json"),
    ]
    assert names.items is not None
    assert names.items.kind == "string"
    assert table.kind == "json"
    assert mixed.kind == "json"
