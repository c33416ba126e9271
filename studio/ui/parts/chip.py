"""A small rounded label that can be clicked: an attribute, a tag, a link to a place."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from studio.ui.style.colors import blend
from studio.ui.style.in_use import color_of, theme_in_use


class Chip(QAbstractButton):
    """Painted by hand: hundreds of them must cost little, and style sheets cost a lot."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._color = "muted"
        font = QFont(self.font())
        font.setPointSizeF(max(6.0, font.pointSizeF() * 0.9))
        self.setFont(font)
        self.setText(text)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def set_color(self, color: str) -> None:
        """Write in a tone of the theme or in `#rrggbb`, over a breath of it."""
        self._color = color
        self.update()

    def sizeHint(self) -> QSize:
        """The text with a little room around it."""
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self.text()) + 18, metrics.height() + 4)

    def minimumSizeHint(self) -> QSize:
        """Room for a few letters; a longer text is cut with an ellipsis."""
        metrics = self.fontMetrics()
        wanted = min(self.sizeHint().width(), metrics.averageCharWidth() * 8 + 14)
        return QSize(wanted, metrics.height() + 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        """A rounded ground and the text."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = self.rect().adjusted(0, 0, -1, -1).toRectF().adjusted(0.5, 0.5, 0.5, 0.5)
        theme, color = theme_in_use(), color_of(self._color)
        focused = self.hasFocus()
        painter.setPen(QPen(QColor(theme.accent), 1.5) if focused else Qt.PenStyle.NoPen)
        ground = QColor(blend(color, theme.surface, 0.12))
        painter.setBrush(ground.darker(106) if self.underMouse() else ground)
        painter.drawRoundedRect(box, 5, 5)
        painter.setPen(QColor(color))
        room = self.rect().adjusted(7, 0, -7, 0)
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, text)
