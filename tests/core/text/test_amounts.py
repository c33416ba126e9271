from __future__ import annotations

import pytest

from studio.core.text.amounts import by_count, counted, duration, money, size


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-0.001, "0 ms"),
        (0.0, "0 ms"),
        (0.42, "420 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.0 s"),
        (5, "5 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 0 s"),
        (75.0, "1 min 15 s"),
        (3599.6, "1 h 0 min"),
        (4000.0, "1 h 7 min"),
        (3_600_000.0, "1,000 h 0 min"),
    ],
)
def test_a_duration_has_one_notation(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("dollars", "words"),
    [
        (None, ""),
        (0.0, "$0.00"),
        (0.000042, "$0.000042"),
        (0.00421, "$0.0042"),
        (0.5, "$0.5000"),
        (1204.5, "$1,204.50"),
    ],
)
def test_money_has_enough_digits_for_one_call(dollars: float | None, words: str) -> None:
    assert money(dollars) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (1234, "1.2 kB"),
        (9_960, "10 kB"),
        (999_700, "1 MB"),
        (20_000_000, "20 MB"),
        (4_800_000_000_000, "4,800 GB"),
    ],
)
def test_a_size_is_written_in_the_largest_unit_that_fits(count: int, words: str) -> None:
    assert size(count) == words


def test_one_thing_is_one_thing() -> None:
    said = [counted(count, "row") for count in (0, 1, 2, 1204)]
    assert said == ["0 rows", "1 row", "2 rows", "1,204 rows"]
    assert counted(1.0, "reply", "replies") == "1 reply"
    assert counted(1234567.5, "second") == "1,234,567.5 seconds"
    assert counted(0.5, "minute") == "0.5 minutes"
    assert counted(2, "reply", "replies") == "2 replies"


def test_words_for_one_and_for_several_take_other_values_too() -> None:
    one, many = "{name}: 1 run", "{name}: {count:,} runs"
    said = [by_count(count, one, many, name="a") for count in (0, 1, 1204)]
    assert said == ["a: 0 runs", "a: 1 run", "a: 1,204 runs"]
