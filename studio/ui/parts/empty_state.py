"""What an empty pane says: one sentence on what to do there."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from studio.ui.style.colors import paint_text
from studio.ui.style.icons import icon
from studio.ui.style.in_use import FollowsTheme


class EmptyState(FollowsTheme, QWidget):
    """A calm sign in the middle of an empty pane."""

    def __init__(
        self, icon_name: str, title: str, sentence: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._icon_name = icon_name
        self._picture = QLabel()
        self._picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._title = QLabel(title)
        self._title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._title.setProperty("title", True)
        self._title.setWordWrap(True)
        self._sentence = QLabel(sentence)
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._sentence.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(32, 24, 32, 24)
        layout.setSpacing(8)
        layout.addStretch(1)
        layout.addWidget(self._picture)
        layout.addWidget(self._title)
        layout.addWidget(self._sentence)
        layout.addStretch(2)
        paint_text(self._sentence, "muted")
        self.follow_theme()

    def say(self, title: str, sentence: str) -> None:
        """Say something else."""
        self._title.setText(title)
        self._sentence.setText(sentence)

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        self._picture.setPixmap(icon(self._icon_name, "muted").pixmap(28, 28))
