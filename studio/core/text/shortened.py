"""Texts shortened for one place of the window or one line of a terminal."""

from __future__ import annotations


def shortened(text: str, longest: int) -> str:
    """Return a text of at most `longest` characters; "…" is the last one of a cut text."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def one_line(text: str, longest: int = 200) -> str:
    """Return the beginning of a text in one line."""
    return shortened(" ".join(text[: longest * 2].split()), longest)
