"""A typed whole number, as far as numbers are counted here."""

from __future__ import annotations

import pytest

from studio.core.text.amounts import LARGEST, whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("12", 12),
        ("0" * 6_000 + "5", 5),
        (str(LARGEST), LARGEST),
        (str(LARGEST + 1), None),
        ("9" * 6_000, None),
        ("", None),
        ("-1", None),
        ("1.0", None),
        ("٣", None),
        ("²", None),
        (" 1", None),
    ],
    ids=lambda value: str(value)[:9],
)
def test_digits_are_a_number_up_to_the_largest(text: str, number: int | None) -> None:
    assert whole_number(text) == number
