"""Schemas as providers enforce them."""

from __future__ import annotations

from studio.core.text.values import JsonObject
from studio.core.wire.schema import strict_schema


def test_strict_mode_gets_only_the_words_that_it_has() -> None:
    schema: JsonObject = {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "maxLength": 40, "default": "x", "description": "Who."},
            "kind": {"oneOf": [{"type": "string", "format": "uri"}, {"type": "integer"}]},
            "pet": {
                "allOf": [{"$ref": "#/$defs/Pet"}, {"properties": {"age": {"type": "integer"}}}],
            },
            "next": {"$ref": "#/$defs/Pet", "description": "The next one."},
        },
        "$defs": {
            "Pet": {
                "type": "object",
                "required": ["id"],
                "properties": {"id": {"type": "string"}, "tags": {"type": "array", "items": True}},
                "uniqueItems": True,
            }
        },
    }
    pet = {"id": {"type": "string"}, "tags": {"type": ["array", "null"], "items": {}}}
    assert strict_schema(schema) == {
        "type": "object",
        "required": ["name", "kind", "pet", "next"],
        "additionalProperties": False,
        "properties": {
            "name": {"type": "string", "description": 'Who. (maxLength: 40; default: "x")'},
            "kind": {
                "anyOf": [
                    {"type": "string", "description": "(format: uri)"},
                    {"type": "integer"},
                    {"type": "null"},
                ]
            },
            "pet": {
                "type": ["object", "null"],
                "required": ["id", "tags", "age"],
                "additionalProperties": False,
                "properties": {**pet, "age": {"type": ["integer", "null"]}},
                "description": "(uniqueItems: true)",
            },
            "next": {"anyOf": [{"$ref": "#/$defs/Pet"}, {"type": "null"}]},
        },
        "$defs": {
            "Pet": {
                "type": "object",
                "required": ["id", "tags"],
                "additionalProperties": False,
                "properties": pet,
                "description": "(uniqueItems: true)",
            }
        },
    }
