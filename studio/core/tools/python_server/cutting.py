"""A text within a limit."""

from __future__ import annotations


def cut(text: str, characters: int) -> tuple[str, bool]:
    """The text within a limit, and whether it had to be cut; the cut is said in the text."""
    if len(text) <= characters:
        return text, False
    return (
        f"{text[:characters]}\n… cut: {len(text):,} characters, the limit is {characters:,}",
        True,
    )
