"""Paints a rectangle in one color, or the frame of what has the keyboard."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from studio.ui.style.in_use import theme_in_use


def fill(painter: QPainter, room: QRectF, color: str | QColor) -> None:
    """Paint a rectangle in what the first picture of the window shows.

    Not by `fillRect`, which has PySide make the class of gradients, with its 169 ready ones: a
    hundredth of a start.
    """
    painter.setBackground(QColor(color))
    painter.eraseRect(room)


def paint_focus(painter: QPainter, room: QRect) -> None:
    """Paint a thin frame inside what has the keyboard."""
    painter.setPen(QPen(QColor(theme_in_use().accent), 1.0))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(QRectF(room).adjusted(0.5, 0.5, -0.5, -0.5))
