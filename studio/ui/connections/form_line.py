"""A line of the form: its field, and beside it what is wrong with what it holds."""

from __future__ import annotations

from typing import Literal, TypeAlias

from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from studio.ui.style.colours import paint_text
from studio.ui.style.theme import Theme

Tone: TypeAlias = Literal["error", "warning", "hint"]
"""Whether a note keeps the line from being saved, warns, or explains."""


class FormLine(QWidget):
    """Fields side by side, with room for a note under them."""

    def __init__(self, *fields: QWidget, stretch: bool = True) -> None:
        super().__init__()
        self._tone: Tone = "hint"
        self._theme: Theme | None = None
        self._usual = ""
        self.note = QLabel(self)
        self.note.setWordWrap(True)
        row = QHBoxLayout()
        row.setSpacing(8)
        for field in fields:
            row.addWidget(field, 1 if stretch else 0)
        if not stretch:
            row.addStretch(1)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(3)
        box.addLayout(row)
        box.addWidget(self.note)
        self.note.hide()

    @property
    def tone(self) -> Tone:
        """How the note is meant."""
        return self._tone

    def set_usual(self, text: str) -> None:
        """What is noted as long as nothing is wrong."""
        self._usual = text
        self.say("", self.tr("hint"))

    def say(self, text: str, tone: Tone) -> None:
        """Note something; an empty text leaves the usual one."""
        self._tone = tone if text else "hint"
        shown = text or self._usual
        self.note.setText(shown)
        self.note.setVisible(bool(shown))
        self._paint()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self._paint()

    def _paint(self) -> None:
        if self._theme is not None:
            colours = {"error": self._theme.error, "warning": self._theme.warning}
            paint_text(self.note, colours.get(self._tone, self._theme.muted))
