"""What an empty pane says: one sentence on what to do there."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from studio.ui.parts.drawing import Drawing
from studio.ui.parts.layouts import column_of
from studio.ui.style.colors import paint_text


class EmptyState(QWidget):
    """A calm sign in the middle of an empty pane."""

    def __init__(
        self, icon_name: str, title: str, sentence: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._title = QLabel(title, alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self._title.setProperty("title", True)
        self._sentence = QLabel(sentence, alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        layout = column_of(1, on=self, margins=(32, 24, 32, 24), spacing=8)
        layout.addWidget(Drawing(icon_name, 28, "muted"), 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addWidget(self._title)
        layout.addWidget(self._sentence)
        layout.addStretch(2)
        paint_text(self._sentence, "muted")

    @property
    def title(self) -> str:
        """What it says first."""
        return self._title.text()

    @property
    def sentence(self) -> str:
        """What it says below."""
        return self._sentence.text()

    def offer(self, *buttons: QWidget) -> None:
        """Put what can be done below the sentence."""
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertSpacing(layout.count() - 1, 8)
        for each in buttons:
            layout.insertWidget(layout.count() - 1, each, 0, Qt.AlignmentFlag.AlignHCenter)

    def say(self, title: str, sentence: str) -> None:
        """Say something else."""
        self._title.setText(title)
        self._sentence.setText(sentence)
