from __future__ import annotations

import pytest
import yaml

from studio.core.prompty.yaml.reader import MAX_NODES, read_yaml, write_yaml
from tests.support.soon import soon


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb: [x, 2.5, true, null, ~]\nc:\n  d: |\n    hi\n    yo\n  e: >-\n    x\n    y\n",
        "- a\n- {b: 1, c: [2]}\n-\n  - d\n",
        "x: &a {k: 1, l: 2}\ny:\n  <<: *a\n  l: 3\n",
        "a: 0x1F\nb: 0o17\nc: 1_000\nd: 1e3\ne: '1'\nf: \"\\u00e9\"\ng: 1:30\n",
        "",
        "just text",
        "a:\nb: ''\n",
    ],
)
def test_values_are_those_of_the_public_runtime(text: str) -> None:
    reading = read_yaml(text)
    assert reading.value == yaml.safe_load(text)
    assert not reading.problems


def test_every_key_and_item_has_its_place() -> None:
    text = "a: é😀\nb:\n  - x: 'q'  # c\n    y: [1, 2]\n  - |\n    long\n    text\n\nc:\n"
    places = {
        entry.path: (
            text[entry.key.start : entry.key.end],
            text[entry.value.start : entry.value.end],
        )
        for entry in read_yaml(text).entries
    }
    assert places == {
        ("a",): ("a", "é😀"),
        ("b",): ("b", "- x: 'q'  # c\n    y: [1, 2]\n  - |\n    long\n    text"),
        ("b", 0): ("x", "x: 'q'  # c\n    y: [1, 2]"),
        ("b", 0, "x"): ("x", "'q'"),
        ("b", 0, "y"): ("y", "[1, 2]"),
        ("b", 0, "y", 0): ("1", "1"),
        ("b", 0, "y", 1): ("2", "2"),
        ("b", 1): ("|", "|\n    long\n    text"),
        ("c",): ("c", ""),
    }


def test_dates_and_infinities_stay_text() -> None:
    assert read_yaml("a: 2024-01-02\nb: .inf\nc: .nan").value == {
        "a": "2024-01-02",
        "b": ".inf",
        "c": ".nan",
    }


@pytest.mark.parametrize(
    ("text", "value", "code"),
    [
        ("name: [invalid\n", None, "yaml-syntax"),
        ("a: 1\nb: c: d\ne: 2\n", {"a": 1, "e": 2}, "yaml-syntax"),
        ("a: 'x\nb: 1\n", {"b": 1}, "yaml-syntax"),
        ("a: {{x}}\nb: 1\n", {"a": {}, "b": 1}, "yaml-key"),
        ("? [k]\n: v\nb: 1\n", {"b": 1}, "yaml-key"),
        ("a: 1\na: 2\n", {"a": 2}, "duplicate-key"),
        ("a: {<<: word, b: 1}\n", {"a": {"b": 1}}, "yaml-merge"),
        ("a: *nobody\nb: 1\n", {"a": None, "b": 1}, "yaml-alias"),
        ("a: &a [*a]\n", {"a": [None]}, "yaml-alias"),
        ("a: !!python/object:os.system x\n", {"a": "x"}, "yaml-tag"),
        ("a: 1\n--- \nb: 2\n", {"a": 1}, "yaml-documents"),
        ("a: \0x\n", {"a": "\ufffdx"}, "yaml-character"),
        ("a: \ud800\n", {"a": "\ufffd"}, "yaml-character"),
    ],
)
def test_what_is_wrong_is_said_and_the_rest_is_read(text: str, value: object, code: str) -> None:
    reading = read_yaml(text, 10)
    assert reading.value == value
    assert [problem.code for problem in reading.problems] in ([code], [code, code])
    assert all(10 <= problem.span.start <= 10 + len(text) for problem in reading.problems)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 10_000,
        "{a: " * 10_000,
        "- " * 10_000 + "x",
        "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)),
        "".join(f"k{i}: {i}\n" for i in range(100_000)),
    ],
    ids=["brackets", "braces", "lists", "aliases", "keys"],
)
def test_bombs_end_in_a_problem_soon(text: str) -> None:
    with soon():
        reading = read_yaml(text)
    assert "yaml-too-large" in {problem.code for problem in reading.problems}
    assert len(reading.entries) <= MAX_NODES


def test_written_values_read_back() -> None:
    shared = [1, 2]
    value = {"a": {"b": shared, "c": shared}, "d": "x: y", "e": None, "f": [], "g": "yes"}
    assert read_yaml("\n".join(write_yaml(value))).value == value
