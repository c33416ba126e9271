"""Checking arguments, and putting bound inputs in."""

from __future__ import annotations

from studio.core.prompty.document import ToolSpec
from studio.core.tools.toolbox import check_arguments, inject_bindings

SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "integer", "minimum": 1},
        "b": {"type": "string", "pattern": "^x"},
    },
    "required": ["a"],
    "additionalProperties": False,
}


def test_right_arguments() -> None:
    assert check_arguments(SCHEMA, {"a": 1, "b": "xy"}) == ()


def test_each_problem_is_a_sentence_with_its_place() -> None:
    assert check_arguments(SCHEMA, {"a": 0, "b": "y"}) == (
        "a: 0 is less than the minimum of 1",
        "b: 'y' does not match '^x'",
    )
    assert check_arguments(SCHEMA, {}) == ("'a' is a required property",)
    assert "unexpected" in check_arguments(SCHEMA, {"a": 1, "c": 2})[0]


def test_long_values_are_cut() -> None:
    (problem,) = check_arguments(SCHEMA, {"a": "z" * 10_000})
    assert len(problem) < 400


def test_a_broken_schema_refuses_nothing() -> None:
    assert check_arguments({"type": 5}, {"a": 1}) == ()


def test_a_reference_to_elsewhere_is_not_fetched() -> None:
    schema = {"properties": {"a": {"$ref": "http://127.0.0.1:9/never.json"}}}
    assert check_arguments(schema, {"a": 1}) == ()


def test_bound_parameters_come_from_inputs_and_win() -> None:
    spec = ToolSpec("t", bindings={"unit": "preferred", "user": "missing"})
    given = {"city": "Oslo", "unit": "F", "user": "made up"}
    assert inject_bindings(spec, given, {"preferred": "C"}) == {"city": "Oslo", "unit": "C"}
    assert inject_bindings(ToolSpec("t"), given, {"preferred": "C"}) == given
