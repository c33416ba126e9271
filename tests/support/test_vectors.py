"""The harness of the vectors fails on what nobody reads."""

from __future__ import annotations

import pytest

from tests.support.vectors import all_read, assert_each_is_run

CASE = {"id": "a", "input": {"x": 1}, "expected": {"result": 2, "notes": "n"}, "sequence": [3]}


def test_a_case_that_is_read_whole_passes() -> None:
    with all_read(CASE) as case:
        assert case["input"]["x"] + 1 == case["expected"]["result"]
        assert case["sequence"] == [3]


def read_a_little() -> None:
    with all_read(CASE) as case:
        assert "result" in case["expected"]
        assert case["input"]


def test_what_is_not_read_is_named() -> None:
    with pytest.raises(AssertionError, match=r"nobody reads sequence, input\.x, expected\.result"):
        read_a_little()


def test_an_object_can_be_compared_as_one() -> None:
    with all_read(CASE) as case:
        assert case["input"].whole == {"x": 1}
        assert case["expected"].whole == CASE["expected"]
        assert case.get("sequence")


def test_a_failure_inside_is_told_first() -> None:
    with pytest.raises(ZeroDivisionError), all_read(CASE):
        raise ZeroDivisionError


def test_a_case_that_is_in_no_group_is_named() -> None:
    assert_each_is_run([CASE], [], [CASE])
    with pytest.raises(AssertionError, match="nobody runs a"):
        assert_each_is_run([CASE], [])
