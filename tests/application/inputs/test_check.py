from __future__ import annotations

import pytest

from studio.application.inputs.fields import (
    ABSENT,
    FieldSpec,
    check_text,
    read_integer,
    read_json,
    read_number,
)
from tests.support.soon import soon

INTEGER = FieldSpec("n", "integer", minimum=0)


def test_integers_of_any_size_are_exact() -> None:
    assert read_integer("9007199254740993", INTEGER).value == 9007199254740993
    assert read_integer(str(2**80), INTEGER).value == 2**80
    assert read_integer("  ", INTEGER).value is ABSENT


@pytest.mark.parametrize("text", ["1.5", "abc", "1e3", "٣x", "--1"])
def test_what_is_no_integer_is_named(text: str) -> None:
    entry = read_integer(text, INTEGER)
    assert entry.value is ABSENT
    assert "whole number" in entry.problem


def test_a_range_is_checked_and_the_value_kept() -> None:
    entry = read_integer("-4", INTEGER)
    assert (entry.value, entry.problem) == (-4, "At least 0.")


def test_numbers() -> None:
    spec = FieldSpec("x", "number")
    assert read_number("0.5", spec).value == 0.5
    assert isinstance(read_number("3", spec).value, int)
    assert read_number("1e999", spec).problem == "The number is too large."
    assert "number" in read_number("nan", spec).problem


def test_json_is_strict_and_says_where() -> None:
    assert read_json('{"a": [1, null]}').value == {"a": [1, None]}
    assert read_json("").value is ABSENT
    assert "Line 2, column" in read_json('{"a": 1,\n"b"}').problem
    assert "NaN" in read_json("[NaN]").problem
    assert "200 levels" in read_json("[" * 100_000).problem


def test_a_pattern_is_checked_and_a_broken_one_ignored() -> None:
    assert check_text("abc", FieldSpec("t", pattern="^a")) == ""
    assert "^b" in check_text("abc", FieldSpec("t", pattern="^b"))
    assert check_text("abc", FieldSpec("t", pattern="(")) == ""


def test_a_pattern_of_a_prompt_holds_nothing_up_and_warns_of_nothing() -> None:
    with soon():
        assert check_text("a" * 9_000 + "!", FieldSpec("t", pattern="^(a|aa)+$")) == ""
    assert check_text("[", FieldSpec("t", pattern="^[[]$")) == ""
    assert "^[[]$" in check_text("a", FieldSpec("t", pattern="^[[]$"))
