"""A whole number that a user typed, as far as numbers are counted here."""

from __future__ import annotations

LARGEST = 10**15
"""The largest number that is taken anywhere: below what SQLite, JSON and a float count exactly."""


def whole_number(text: str) -> int | None:
    """The number that a text of plain digits is; None for any other text, and above `LARGEST`.

    `int` reads the digits of every script, and raises at some thousand of them.
    """
    if not (text.isascii() and text.isdecimal()):
        return None
    digits = text.lstrip("0") or "0"
    return int(digits) if len(digits) <= len(str(LARGEST)) and int(digits) <= LARGEST else None
