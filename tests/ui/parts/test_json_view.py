from __future__ import annotations

from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from studio.ui.parts.text_views import JsonView
from studio.ui.style.theme import DARK, LIGHT
from tests.support.themes import wear


def colors(view: JsonView, block: int) -> list[tuple[int, int, str]]:
    formats = view.document().findBlockByNumber(block).layout().formats()
    return [(each.start, each.length, each.format.foreground().color().name()) for each in formats]


def test_keys_and_values_have_their_colours(qtbot: QtBot) -> None:
    view = JsonView()
    qtbot.addWidget(view)
    view.show_json('{\n  "key": "a \\" b",\n  "😀": -1.5,\n  "on": true\n}')
    key, text = QColor(LIGHT.accent).name(), QColor(LIGHT.success).name()
    assert colors(view, 1) == [(2, 5, key), (9, 8, text)]
    assert colors(view, 2)[1][:2] == (8, 4)
    wear(DARK)
    assert colors(view, 1)[0] == (2, 5, QColor(DARK.accent).name())


def test_words_of_an_answer_are_no_json(qtbot: QtBot) -> None:
    view = JsonView()
    qtbot.addWidget(view)
    view.show_answer('[image image/png, 4,035 bytes] is "true"')
    assert colors(view, 0) == []
    view.show_answer('[1, "a"]')
    assert len(colors(view, 0)) == 2
    view.show_answer("4,035 bytes")
    assert colors(view, 0) == []


def test_a_growing_view_is_as_high_as_its_text(qtbot: QtBot) -> None:
    view = JsonView()
    qtbot.addWidget(view)
    view.resize(400, 300)
    view.grow(20)
    view.show_json("1")
    low = view.height()
    view.show_json("\n".join("1" for _ in range(10)))
    assert view.height() > low * 3
    view.show_json("\n".join("1" for _ in range(500)))
    assert view.height() < low * 21
