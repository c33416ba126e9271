"""An icon as a part of a layout."""

from __future__ import annotations

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from studio.ui.style.icons import icon


class Drawing(QWidget):
    """An icon, drawn when it is painted.

    A label's picture keeps the colours that it was made in, and stays empty when it was made before
    the first paint of the window.
    """

    def __init__(self, name: str, size: int = 20) -> None:
        super().__init__()
        self._icon = icon(name)
        self.setFixedSize(size, size)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it."""
        painter = QPainter(self)
        self._icon.paint(painter, self.rect())
        painter.end()
