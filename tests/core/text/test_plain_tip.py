from __future__ import annotations

import pytest
from PySide6.QtGui import Qt, QTextDocument

from studio.core.text.invisible import plain_tip


@pytest.mark.parametrize(
    "text",
    ["<b>bold</b>", "a &lt; b", "x < y & z", '<img src="/etc/passwd">\n  second line', "plain"],
)
def test_a_tip_shows_every_character(text: str) -> None:
    tip = plain_tip(text)
    if not Qt.mightBeRichText(tip):
        assert tip == text
        return
    shown = QTextDocument()
    shown.setHtml(tip)
    assert shown.toPlainText() == text
