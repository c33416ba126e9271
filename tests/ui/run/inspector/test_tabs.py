from __future__ import annotations

from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from studio.application.run.inspector.tabs import Inspection, InspectorView
from studio.application.run.text import Block, Piece
from studio.ui.run.inspector.tabs import Inspector
from studio.ui.run.styled_text import StyledText
from studio.ui.style.theme import LIGHT


def _view(step: int, text: str) -> InspectorView:
    return InspectorView(Inspection(step, "reply"), blocks=(Block("body", (Piece(text),)),))


def test_what_was_looked_for_is_found_in_the_text_that_is_shown_next(qtbot: QtBot) -> None:
    inspector = Inspector()
    qtbot.addWidget(inspector)
    field = next(
        each
        for each in inspector.findChildren(QLineEdit)
        if each.accessibleName() == "Find in this tab"
    )
    inspector.show_inspector(_view(1, "nothing of it"))
    inspector.find_words("77 + 1")
    assert field.palette().color(QPalette.ColorRole.Text).name() == LIGHT.error

    inspector.show_inspector(_view(2, "it asks for 77 + 1 at last"))

    selected = [each.textCursor().selectedText() for each in inspector.findChildren(StyledText)]
    assert "77 + 1" in selected
    assert field.palette().color(QPalette.ColorRole.Text).name() == LIGHT.text


def test_in_a_narrow_pane_the_search_gives_way_to_the_tabs_until_it_is_asked_for(
    qtbot: QtBot,
) -> None:
    inspector = Inspector()
    qtbot.addWidget(inspector)
    inspector.show_inspector(_view(1, "text"))
    inspector.resize(440, 300)
    inspector.show()
    assert not inspector._search.isVisible()

    inspector.focus_search()
    assert inspector._search.isVisible()
    inspector.find_words("")
    inspector.resize(1000, 300)
    assert inspector._search.isVisible()
