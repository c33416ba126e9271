"""A picture and a sentence that say how something stands."""

from __future__ import annotations

from typing import Literal, TypeAlias

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from studio.ui.parts.layouts import row_of
from studio.ui.style.icons import icon
from studio.ui.style.in_use import FollowsTheme, theme_in_use

StateTone: TypeAlias = Literal["error", "warning", "success", "muted"]
"""Which of the theme's colors a picture has."""


class StateLine(FollowsTheme, QWidget):
    """Keeps what it says in the colors of the theme."""

    def __init__(self) -> None:
        super().__init__()
        self._picture = ""
        self._tone: StateTone = "muted"
        self.mark = QLabel()
        self._said = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        row = row_of(on=self, margins=0, spacing=8)
        row.addWidget(self.mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._said, 1)
        self.follow_theme()

    def text(self) -> str:
        """The sentence."""
        return self._said.text()

    def say(self, picture: str, tone: StateTone, text: str) -> None:
        """Say how it stands now."""
        self._picture, self._tone = picture, tone
        self._said.setText(text)
        self._paint()

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        self._paint()

    def _paint(self) -> None:
        if self._picture:
            color: str = getattr(theme_in_use(), self._tone)
            self.mark.setPixmap(icon(self._picture, color).pixmap(18, 18))
