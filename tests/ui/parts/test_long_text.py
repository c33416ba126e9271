from __future__ import annotations

from PySide6.QtGui import QTextOption
from pytestqt.qtbot import QtBot

from studio.ui.parts.text_views import JsonView, LongText

PICTURE = '{"data": "' + "iVBORw0KGgo" * 100_000 + '"}'
"""A megabyte in one line, without a blank; broken between words it takes a minute to show."""


def test_a_line_of_a_megabyte_is_shown_and_what_comes_after_it(qtbot: QtBot) -> None:
    view = JsonView()
    qtbot.addWidget(view)
    view.resize(500, 300)
    view.show()
    for text in ("short", PICTURE, "a few words\n" * 2000, PICTURE):
        view.show_json(text)
        view.grab()
        assert view.toPlainText() == text
    assert view.wordWrapMode() == QTextOption.WrapMode.WrapAnywhere


def test_a_view_that_does_not_wrap_stays_so(qtbot: QtBot) -> None:
    view = LongText()
    qtbot.addWidget(view)
    view.setWordWrapMode(QTextOption.WrapMode.NoWrap)
    view.setPlainText(PICTURE)
    assert view.wordWrapMode() == QTextOption.WrapMode.NoWrap
