from __future__ import annotations

import pytest

from studio.core.text.naming import free_name, nearest, unique_names


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("temprature", ["temperature", "top_p"], "temperature"),
        ("NMAE", ["size", "Name"], "Name"),
        ("city", ["country", "town"], ""),
        ("x", [], ""),
    ],
)
def test_the_nearest_known_word(word: str, known: list[str], meant: str) -> None:
    assert nearest(word, known) == meant


def test_a_word_that_may_be_right_as_it_is_must_be_nearer() -> None:
    assert nearest("used", ["user"]) == "user"
    assert nearest("used", ["user"], surely=True) == ""
    assert nearest("usser", ["user"], surely=True) == "user"


def test_a_name_that_is_not_taken() -> None:
    taken = {"a", "a 2", "a 4"}
    assert free_name("b", taken.__contains__) == "b"
    assert free_name("a", taken.__contains__) == "a 3"
    assert free_name("a", taken.__contains__, "_{}") == "a_2"


def test_names_that_come_twice_get_numbers() -> None:
    assert unique_names(["a", "b", "a", "a"], " ({})") == ("a", "b", "a (2)", "a (3)")
    made = unique_names(["a", "a", "a 2", "a 2"])
    assert len(set(made)) == 4
    assert made[:2] == ("a", "a 2")
