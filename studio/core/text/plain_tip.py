"""Tool tips of what others wrote: Qt takes for HTML what looks like it, with no way to say no."""

from __future__ import annotations

from html import escape


def plain_tip(text: str) -> str:
    """A text that a tool tip shows as it is written, tags too."""
    if "<" not in text and "&" not in text:
        return text
    return f'<span style="white-space: pre-wrap">{escape(text)}</span>'
