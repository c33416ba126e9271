"""A view of text of any length and in lines of any length."""

from __future__ import annotations

import re

from PySide6.QtGui import QTextCursor, QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from studio.core.text.diff import common_ends

_LONG_WORD = re.compile(r"(?<!\S)\S{4000}")


class LongText(QPlainTextEdit):
    """Breaks lines between words, but for a text with a word of thousands of letters.

    Qt takes the square of such a word's length (a megabyte without a blank, as pictures have in
    base64, stopped the window for a minute); broken anywhere, it takes no longer than other text.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""

    def setPlainText(self, text: str) -> None:  # noqa: N802 - Qt's name
        """Show a text."""
        self._text = text
        mode, wanted = self.wordWrapMode(), wrap_mode(text)
        if mode not in (wanted, QTextOption.WrapMode.NoWrap):
            super().setPlainText("")  # or what stood here so far would be broken anew, by the other
            self.setWordWrapMode(wanted)
        super().setPlainText(text)

    def change_text(self, text: str) -> None:
        """Show a text; what it shares with the one before keeps its layout and its colors."""
        before = self._text
        # Not so where Qt made one character of two, as of a carriage return and a line feed.
        is_known = self.document().characterCount() == units(before) + 1
        if text == before and is_known:
            return
        if not before or not is_known or wrap_mode(text) != self.wordWrapMode():
            self.setPlainText(text)
            return
        self._text = text
        start, end = common_ends(before, text)
        cursor = QTextCursor(self.document())
        cursor.setPosition(units(before[:start]))
        cursor.setPosition(units(before[: len(before) - end]), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(text[start : len(text) - end])


def units(text: str) -> int:
    """The length of a text as Qt counts it, in UTF-16 units."""
    return len(text) if text.isascii() else len(text) + sum(1 for char in text if char > "\uffff")


def wrap_mode(text: str) -> QTextOption.WrapMode:
    """How the lines of a text are broken."""
    is_long = _LONG_WORD.search(text) is not None
    mode = QTextOption.WrapMode
    return mode.WrapAnywhere if is_long else mode.WrapAtWordBoundaryOrAnywhere
