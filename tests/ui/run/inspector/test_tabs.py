from __future__ import annotations

from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from studio.application.run.inspector.tabs import Inspection, InspectorView
from studio.application.run.text import Block, Piece
from studio.ui.run.inspector.tabs import Inspector
from studio.ui.run.styled_text import StyledText
from studio.ui.style.theme import LIGHT
from tests.support.themes import wear


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
    inspector.search.setText("77 + 1")
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
    assert not inspector.search.isVisible()

    inspector.focus_search()
    assert inspector.search.isVisible()
    inspector.search.setText("")
    inspector.resize(1000, 300)
    assert inspector.search.isVisible()


def test_the_names_of_the_tabs_are_whole_where_the_pane_is_narrow(qtbot: QtBot) -> None:
    """*Watch* and *Usage* were cut beside a timeline at 1280 pixels."""
    wear(LIGHT)
    host = QWidget()  # a splitter gives it less than it would like to have
    qtbot.addWidget(host)
    inspector = Inspector(host)
    inspector.show_inspector(_view(1, "text"))
    host.show()
    widths = {}
    for width in (1000, 380):
        inspector.resize(width, 300)
        bar = inspector._tabs
        qtbot.waitUntil(lambda bar=bar: bar.width() >= bar.sizeHint().width())
        widths[width] = bar.sizeHint().width()
    assert widths[380] < widths[1000]
    inspector.resize(1000, 300)
    qtbot.waitUntil(lambda: inspector._tabs.sizeHint().width() == widths[1000])
