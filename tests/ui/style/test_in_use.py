"""Widgets follow the theme by what Qt tells them."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from studio.ui.style.theme import (
    DARK,
    LIGHT,
    FollowsTheme,
    color_of,
    icon,
    paint_text,
    theme_in_use,
)
from tests.support.themes import wear


class Rows(FollowsTheme, QWidget):
    """Makes its rows anew in each theme, and ends those that were there."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.colors: list[str] = []
        self._box = QVBoxLayout(self)
        self.follow_theme()

    def recolor(self) -> None:
        """Note the color, and put other rows in the place of those before."""
        self.colors.append(theme_in_use().accent)
        for _ in range(self._box.count()):
            gone = self._box.takeAt(0).widget()
            gone.setParent(None)
        for _ in range(5):
            self._box.addWidget(QLabel("row"))


def test_shown_and_never_shown_widgets_color_once_for_each_theme(qtbot: QtBot) -> None:
    wear(LIGHT)
    shown, hidden = Rows(), Rows()
    within = Rows(hidden)
    for each in (shown, hidden):
        qtbot.addWidget(each)
    with qtbot.waitExposed(shown):
        shown.show()
    wear(DARK)
    assert theme_in_use() is DARK
    for each in (shown, hidden, within):
        assert each.colors == [LIGHT.accent, DARK.accent]
    wear(DARK)
    wear(LIGHT)
    assert shown.colors == [LIGHT.accent, DARK.accent, LIGHT.accent]


def test_a_tone_of_a_label_and_an_icon_needs_nobody(qtbot: QtBot) -> None:
    wear(LIGHT)
    label = QLabel("words")
    qtbot.addWidget(label)
    paint_text(label, "error")
    picture = icon("play", "success")
    label.ensurePolished()
    assert label.palette().color(label.foregroundRole()).name() == LIGHT.error
    wear(DARK)
    label.ensurePolished()
    assert label.palette().color(label.foregroundRole()).name() == DARK.error
    image = picture.pixmap(16, 16).toImage()
    seen = {image.pixelColor(x, y).name() for x in range(16) for y in range(16)}
    assert DARK.success in seen
    assert color_of("#123456") == "#123456"
    paint_text(label, "#123456")
    assert label.palette().color(label.foregroundRole()).name() == "#123456"
