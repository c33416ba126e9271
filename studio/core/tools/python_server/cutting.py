"""A text within a limit."""

from __future__ import annotations


def cut(text: str, characters: int) -> tuple[str, bool]:
    """Cut the text at a limit, with a remark in it; returns whether it was cut."""
    if len(text) <= characters:
        return text, False
    return (
        f"{text[:characters]}\n… cut: {len(text):,} characters, the limit is {characters:,}",
        True,
    )
