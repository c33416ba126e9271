"""Arguments come out of the question."""

from __future__ import annotations

import pytest

from studio.core.models.embedded.policy import numbers, phrases

SUM = r"^[0-9(][0-9 .()+*/%-]{0,60}[0-9)]$"
FACT = r"^(capital|currency) of [A-Z][a-z]+( [A-Z][a-z]+)?$"


@pytest.mark.parametrize(
    ("question", "pattern", "found"),
    [
        ("What is 128 * 46?", SUM, ("128 * 46",)),
        ("Work out (17 + 5) * 3, please.", SUM, ("(17 + 5) * 3",)),
        ("How much is it (2 + 2)?", SUM, ("(2 + 2)",)),
        ("2+2=?", SUM, ("2+2",)),
        ("What are 3 * 5 and 7 - 2?", SUM, ("3 * 5", "7 - 2")),
        ("What is the capital of New Zealand?", FACT, ("capital of New Zealand",)),
        ("“capital of Peru”!", FACT, ("capital of Peru",)),
        ("Who are you?", SUM, ()),
        ("", SUM, ()),
        ("anything", "(", ()),
    ],
)
def test_the_longest_phrases_that_fit_a_pattern(
    question: str, pattern: str, found: tuple[str, ...]
) -> None:
    assert phrases(question, pattern) == found


def test_without_a_pattern_phrases_have_content_at_both_ends() -> None:
    found = phrases("What is the weather in Paris tomorrow, and why?")
    assert "Paris" in found
    assert "weather in Paris" in found
    assert all(not phrase.startswith(("the ", "in ", "What")) for phrase in found)
    assert all("," not in phrase for phrase in found)


def test_long_questions_stay_small() -> None:
    assert len(phrases("word-{} " * 20_000)) <= 120


def test_numbers_of_a_text() -> None:
    text = "Take 3 of 12.5 at -4, not 007 or a1 or 1.2.3."
    assert numbers(text, whole=False) == ("3", "12.5", "-4")
    assert numbers("from 3 to 12", whole=True) == ("3", "12")
