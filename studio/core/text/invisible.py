"""Find and show characters that are invisible to a reader but not to a model or a terminal.

An untrusted text may contain characters without a glyph (tags, variation selectors, fillers),
change the writing direction, or control a terminal. They are shown as code points.
"""

import re
import unicodedata
from html import escape

_JOINERS = "\u200c\u200d"
_PICTURE_SELECTORS = "\ufe0e\ufe0f"
_BLANK_LETTERS = "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Letters and marks without a glyph."""

_PICTURED = "#*0123456789‼⁉〰〽㊗㊙"
"""Further characters that a selector turns into emoji."""

_SUSPECT = re.compile(
    "[^\t\n\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u052f\u1e00-\u1fff\u2010-\u2027\u2030-\u205e"
    "\u20a0-\u20bf\u2100-\u218b\u2190-\u23ff\u2500-\u27ff\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff"
    "\uac00-\ud7a3]"
)
"""Matches everything that is not surely visible; most texts have no match and need no further
check.
"""


def reveal(text: str, *, lines: bool = True) -> str:
    """Return a text with invisible characters written as `⟨U+202E⟩`.

    Args:
        text: the text.
        lines: whether line breaks and tabs stay; in a name they are shown too.
    """
    if lines and _SUSPECT.search(text) is None:
        return text
    return "".join(
        f"⟨U+{ord(character):04X}⟩" if _is_hidden(text, at, lines=lines) else character
        for at, character in enumerate(text)
    )


def has_invisible(text: str) -> bool:
    """Return whether a text contains invisible characters."""
    if _SUSPECT.search(text) is None:
        return False
    return any(_is_hidden(text, at, lines=True) for at in range(len(text)))


def _is_hidden(text: str, at: int, *, lines: bool) -> bool:
    character = text[at]
    if character in "\t\n":
        return not lines
    if character == "\r":
        return not (lines and text[at + 1 : at + 2] == "\n")
    category = unicodedata.category(character)
    if character in _JOINERS:
        return not _joins(text, at)
    if category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return True
    if character in _PICTURE_SELECTORS:
        return at == 0 or not _takes_picture(text[at - 1])
    return character in _BLANK_LETTERS or unicodedata.name(character, "").startswith(
        ("VARIATION SELECTOR", "MONGOLIAN FREE VARIATION")
    )


def _joins(text: str, at: int) -> bool:
    """Return whether the writing system requires a joiner at an offset.

    That is between letters of joining scripts, or between emoji.
    """
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    return all(
        bool(each) and not each.isascii() and unicodedata.category(each)[0] in "LMS"
        for each in (before, after)
    )


def _takes_picture(character: str) -> bool:
    """Return whether a character has both a text and an emoji form."""
    return unicodedata.category(character) in ("So", "Sm", "Sk") or character in _PICTURED


# Tool tips with foreign text: Qt renders text that looks like HTML, and this cannot be disabled.


def plain_tip(text: str) -> str:
    """Return a text that a tool tip shows literally, including tags."""
    if "<" not in text and "&" not in text:
        return text
    return f'<span style="white-space: pre-wrap">{escape(text)}</span>'
