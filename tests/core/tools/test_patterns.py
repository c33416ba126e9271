"""Patterns of a schema: each is searched for, none holds the studio up."""

from __future__ import annotations

import pytest

from studio.core.paths import resource
from studio.core.tools.toolbox import check_arguments
from tests.support.soon import soon


@pytest.mark.parametrize(
    ("pattern", "fits", "differs"),
    [
        ("^[a-z]+$", "abc", "ABC"),
        (r"^\d{4}-\d{2}-\d{2}$", "2026-11-22", "22.11.2026"),
        ("^(a|aa)+$", "aaa", "b"),
        (r"^(a+)-\1$", "aa-aa", "aa-a"),
        ("[[]", "[", "]"),
        ("^(?>a+)b$", "aab", "aac"),
        ("^a++b$", "aab", "aac"),
    ],
)
def test_a_pattern_is_searched_for(pattern: str, fits: str, differs: str) -> None:
    schema = {"properties": {"a": {"type": "string", "pattern": pattern}}}
    assert check_arguments(schema, {"a": fits}) == ()
    (problem,) = check_arguments(schema, {"a": differs})
    assert problem.startswith(f"a: {differs!r} does not match")


def test_names_that_fit_a_pattern_have_its_schema_and_are_not_additional() -> None:
    schema = {
        "properties": {"id": {"type": "integer"}},
        "patternProperties": {"^x-": {"type": "string"}},
        "additionalProperties": False,
    }
    assert check_arguments(schema, {"id": 1, "x-a": "b"}) == ()
    (kind,) = check_arguments(schema, {"x-a": 1})
    assert "is not of type 'string'" in kind
    (unexpected,) = check_arguments(schema, {"id": 1, "y": 2})
    assert "'y' was unexpected" in unexpected


def test_names_that_nothing_evaluated_are_refused() -> None:
    schema = {"properties": {"a": {}}, "unevaluatedProperties": False}
    assert check_arguments(schema, {"a": 1}) == ()
    (problem,) = check_arguments(schema, {"a": 1, "b": 2})
    assert "b" in problem


def test_a_text_that_is_no_pattern_refuses_nothing() -> None:
    assert check_arguments({"properties": {"a": {"pattern": "("}}}, {"a": "x"}) == ()


def test_a_hostile_schema_does_not_hold_the_studio_up() -> None:
    schema = {
        "properties": {"a": {"items": {"pattern": "^(a|aa)+$"}}},
        "patternProperties": {"^(b|bb)+$": {"type": "integer"}},
        "additionalProperties": False,
    }
    with soon():
        arguments = {"a": ["a" * 60 + "!"] * 1000, "b" * 60 + "!": 1}
        assert check_arguments(schema, arguments) == ()


def test_bundled_patterns_are_checked() -> None:
    text = resource("examples", "tools.py").read_text(encoding="utf-8")
    patterns = [
        line.split('r"')[1].split('"')[0] for line in text.splitlines() if "pattern=r" in line
    ]
    assert len(patterns) == 2
    for pattern in patterns:
        schema = {"properties": {"a": {"pattern": pattern}}}
        assert check_arguments(schema, {"a": "\N{SNOWMAN}"}), pattern
