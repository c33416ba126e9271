"""Regular expressions become grammars that allow what they match, and nothing else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.core.models.embedded.pattern import pattern_to_gbnf
from tests.core.models.embedded.gbnf_reader import generates, sample

TRANSLATED = [
    r"^[0-9(][0-9 .()+*/%-]{0,60}[0-9)]$",
    r"^(capital|currency|language|continent) of [A-Z][a-z]+( [A-Z][a-z]+)?$",
    r"\d{4}-\d\d-\d\d",
    r"^[A-Z]{2,3}$",
    r"a|bc|d?e+",
    r"(?:https?)://[\w.]+",
    r"^(?P<year>\d+)$",
    r"[^a-z]x*?",
    r"[\]\-^]",
    r"[-a]b",
    r"a\.b\\c",
    r'say "hi"',
    r"",
    r"x{3}",
    r"(ab){2,}",
]


@pytest.mark.parametrize("pattern", TRANSLATED)
def test_what_the_grammar_makes_matches(pattern: str) -> None:
    expression = pattern_to_gbnf(pattern)
    assert expression is not None
    for seed in range(60):
        written = sample(expression, seed)
        text = written.replace('\\"', '"').replace("\\\\", "\\")
        assert re.fullmatch(pattern, text), (pattern, written)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (TRANSLATED[0], "128 * 46"),
        (TRANSLATED[0], "(3 + 4) * 5.25 - 1"),
        (TRANSLATED[1], "capital of New Zealand"),
        (TRANSLATED[2], "2026-11-21"),
        (r"[\]\-^]", "]"),
        (r"[\]\-^]", "-"),
        (r"[-a]b", "-b"),
        (r".", "é"),
    ],
)
def test_what_matches_can_be_made(pattern: str, text: str) -> None:
    expression = pattern_to_gbnf(pattern)
    assert expression is not None
    assert generates(expression, text)


@pytest.mark.parametrize(
    "pattern", [r"(?=a)b", r"(?!x)y", r"\bword\b", r"(a)\1", r"(?i)x", "a(", "[", "*", "a^b", r"\n"]
)
def test_what_cannot_be_translated_is_left(pattern: str) -> None:
    assert pattern_to_gbnf(pattern) is None


def test_deep_and_long_patterns_end() -> None:
    assert pattern_to_gbnf("(" * 5000 + "a" + ")" * 5000) is None
    assert pattern_to_gbnf("a{100000}") is None
    assert pattern_to_gbnf("a{0,100000}") == '"a"{0,320}'


@given(st.text(max_size=30))
@settings(max_examples=300, deadline=None)
def test_any_text_as_a_pattern_is_read_or_refused(pattern: str) -> None:
    expression = pattern_to_gbnf(pattern)
    assert expression is None or re.compile(pattern)
