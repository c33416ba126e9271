"""An icon as a part of a layout."""

from __future__ import annotations

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from studio.ui.style.icons import icon


class Drawing(QWidget):
    """An icon, drawn when it is painted: in the colors of the theme that the window has then.

    A label's picture keeps the colors that it was made in, and stays empty when it was made before
    the first paint of the window.
    """

    def __init__(self, name: str, size: int = 20, tone: str | None = None) -> None:
        """Draw an icon.

        Args:
            name: its file in `resources/icons`, without `.svg`.
            size: width and height in pixels.
            tone: of the theme, or `#rrggbb`; None is the text's.
        """
        super().__init__()
        self._icon = icon(name, tone)
        self.setFixedSize(size, size)

    def draw(self, name: str, tone: str | None = None) -> None:
        """Draw another icon from now on."""
        self._icon = icon(name, tone)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it."""
        painter = QPainter(self)
        self._icon.paint(painter, self.rect())
        painter.end()
