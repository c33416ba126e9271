"""Paints a rectangle in one color."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter


def fill(painter: QPainter, room: QRectF, color: str | QColor) -> None:
    """Paint a rectangle in what the first picture of the window shows.

    Not by `fillRect`, which has PySide make the class of gradients, with its 169 ready ones: a
    hundredth of a start.
    """
    painter.setBackground(QColor(color))
    painter.eraseRect(room)
