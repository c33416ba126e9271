"""Patterns that may be run here, and those that may not."""

from __future__ import annotations

import json

import pytest

from studio.core.resource_files import resource
from studio.core.tools.arguments import check_arguments, is_quick
from tests.support.soon import soon


@pytest.mark.parametrize(
    "pattern",
    [
        "^[a-z]+$",
        r"^[0-9(][0-9 .()+*/%-]{0,60}[0-9)]$",
        "^(capital|currency) of [A-Z][a-z]+( [A-Z][a-z]+)?$",
        r"^\d{4}-\d{2}-\d{2}$",
        r"^(\+\d)?\d{3,12}$",
        "(ab)+",
        "^(?:ab){2,5}$",
        "a{x}",
        "[]+*]+",
        "",
    ],
)
def test_quick_patterns(pattern: str) -> None:
    assert is_quick(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "^(a+)+$",
        "^(a*)*$",
        "^((a)+)+$",
        "^(a|aa)+$",
        "^(?:a+){2,}$",
        "^(a{2,}){3,}b",
        "^(a+){500}$",
        r"^(a+)\1$",
        "(x[(]a+)*",
        "a" * 2000,
    ],
)
def test_patterns_that_could_take_for_ever(pattern: str) -> None:
    assert not is_quick(pattern)


def test_a_hostile_schema_does_not_hold_the_studio_up() -> None:
    schema = {
        "properties": {"a": {"pattern": "^(a+)+$"}},
        "patternProperties": {"^(b+)+$": {"type": "integer"}},
    }
    with soon():
        assert check_arguments(schema, {"a": "a" * 60 + "!", "b" * 60 + "!": 1}) == ()


def test_bundled_patterns_are_checked() -> None:
    text = resource("examples", "tools.py").read_text(encoding="utf-8")
    patterns = [
        line.split('r"')[1].split('"')[0] for line in text.splitlines() if "pattern=r" in line
    ]
    assert len(patterns) == 2
    assert all(is_quick(pattern) for pattern in patterns), json.dumps(patterns)
