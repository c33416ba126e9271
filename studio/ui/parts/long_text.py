"""A view of text of any length and in lines of any length."""

from __future__ import annotations

import re

from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import QPlainTextEdit

_LONG_WORD = re.compile(r"\S{4000}")


class LongText(QPlainTextEdit):
    """Breaks lines between words, but for a text with a word of thousands of letters.

    Qt takes the square of such a word's length (a megabyte without a blank, as pictures have in
    base64, stopped the window for a minute); broken anywhere, it takes no longer than other text.
    """

    def setPlainText(self, text: str) -> None:  # noqa: N802 - Qt's name
        """Show a text."""
        mode, wanted = self.wordWrapMode(), wrap_mode(text)
        if mode not in (wanted, QTextOption.WrapMode.NoWrap):
            super().setPlainText("")  # or what stood here so far would be broken anew, by the other
            self.setWordWrapMode(wanted)
        super().setPlainText(text)


def wrap_mode(text: str) -> QTextOption.WrapMode:
    """How the lines of a text are broken."""
    is_long = _LONG_WORD.search(text) is not None
    mode = QTextOption.WrapMode
    return mode.WrapAnywhere if is_long else mode.WrapAtWordBoundaryOrAnywhere
