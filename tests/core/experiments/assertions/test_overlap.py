"""BLEU, GLEU and ROUGE-1; `make interop` holds them against promptfoo itself."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from studio.core.experiments.assertions.result import CellAnswer, UndecidedError
from studio.core.experiments.assertions.text import OVERLAP, bleu, gleu, rouge, treebank_tokens
from studio.core.experiments.values import AssertionSpec

Score = Callable[[str, list[str]], float]


@pytest.mark.parametrize("score", [bleu, gleu])
def test_an_equal_text_scores_one_and_an_empty_one_nothing(score: Score) -> None:
    assert score("The cat sat.", ["the CAT sat."]) == pytest.approx(1.0)
    assert score(" \n", ["the cat"]) == 0.0
    assert score("dogs", ["the cat"]) < 0.01


def test_bleu_weighs_the_sequences_that_there_are_and_is_hard_on_short_answers() -> None:
    # Two words: precision of one word 1/2 and of two 1e-7; as long as the reference.
    assert bleu("a b", ["a c"]) == pytest.approx(math.sqrt(0.5 * 1e-7))
    assert bleu("a", ["a b c"]) == pytest.approx(math.exp(1 - 3))
    assert bleu("a", ["a b c", "a"]) == 1.0


def test_gleu_is_the_smaller_of_precision_and_recall_of_the_best_reference() -> None:
    # Sequences of "a b": 3, two words and their pair; of "a b c": 6. Three are shared.
    assert gleu("a b", ["x", "a b c"]) == pytest.approx(0.5)
    assert gleu("a. b...", ["a b"]) == 1.0


def test_rouge_counts_tokens_as_often_as_both_have_them() -> None:
    assert rouge("The cat the cat", "the cat the cat") == 1.0
    assert rouge("the the the", "the cat") == pytest.approx(2 * (1 / 3) * (1 / 2) / (5 / 6))
    assert rouge("a", "b") == 0.0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ('He said "no".', ["He", "said", "``", "no", "''", "."]),
        (
            "I can't; it's gonna be 1,000.50 (or so)",
            [
                "I",
                "ca",
                "n't",
                ";",
                "it",
                "'s",
                "gon",
                "na",
                "be",
                "1,000.50",
                "(",
                "or",
                "so",
                ")",
            ],
        ),
        ("In the U.S.", ["In", "the", "U.S."]),
        ("", []),
    ],
)
def test_tokens_are_those_of_the_penn_treebank(text: str, tokens: list[str]) -> None:
    assert treebank_tokens(text) == tokens


@pytest.mark.parametrize(
    ("kind", "wrong"), [("bleu", 3), ("gleu", ["a", 1]), ("bleu", []), ("rouge-n", ["a"])]
)
def test_a_reference_that_is_no_text_is_an_error(kind: str, wrong: object) -> None:
    with pytest.raises(UndecidedError):
        OVERLAP[kind](AssertionSpec(kind), wrong, CellAnswer("a"))  # type: ignore[arg-type]


def test_the_threshold_decides_and_the_reason_says_the_score() -> None:
    answer = CellAnswer("a b")
    assert OVERLAP["gleu"](AssertionSpec("gleu"), "a b c", answer).passed
    strict = OVERLAP["gleu"](AssertionSpec("gleu", threshold=0.6), "a b c", answer)
    assert not strict.passed
    assert strict.reason == "The GLEU score is 0.5000; the threshold is 0.6."
