"""Rows of a list: a drawing, a title above its detail, and what stands at the right end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from studio.ui.style.colors import blend, theme_in_use
from studio.ui.style.icons import icon

_HEADING, _BLANK = 30, 12
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight

_Index: TypeAlias = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Row:
    """Texts and drawings of a row."""

    title: str
    """Text of the first line."""

    detail: str
    """Text of the second line; empty: the title has the whole height."""

    drawing: str
    """Name of the icon at the left."""

    end: str = ""
    """Text at the right end."""

    badge: str = ""
    """Text of the badge beside the title."""

    mark: tuple[str, str] | None = None
    """Name and tone of the icon at the right end."""

    is_accented: bool = False
    """Whether the text at the right end is emphasized."""

    is_warning: bool = False
    """Whether the drawing and the detail warn."""


class RowDelegate(QStyledItemDelegate):
    """Draws rows, and headings where an index has no row."""

    def __init__(
        self, parent: QObject, row_of: Callable[[_Index], Row | None], height: int = 0
    ) -> None:
        """Make it.

        Args:
            parent: owner of the delegate.
            row_of: returns the row of an index; None for a heading.
            height: of a row in pixels; 0: two lines of its font and some air.
        """
        super().__init__(parent)
        self._row_of = row_of
        self._height = height

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """Return the height of a heading or of a row."""
        if self._row_of(index) is None:
            return QSize(120, _HEADING if index.data() else _BLANK)
        return QSize(120, self._height or 2 * option.fontMetrics.height() + 18)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Draw a row or a heading."""
        row = self._row_of(index)
        painter.save()
        if row is not None:
            self._paint_row(painter, option, row)
        else:
            font = QFont(option.font)
            font.setWeight(QFont.Weight.DemiBold)
            painter.setFont(font)
            painter.setPen(QColor(theme_in_use().muted))
            painter.drawText(option.rect.adjusted(10, 6, -8, 0), _LEFT, str(index.data()))
        painter.restore()

    def _paint_row(self, painter: QPainter, option: QStyleOptionViewItem, row: Row) -> None:
        theme, box, font = theme_in_use(), QRect(option.rect), QFont(option.font)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if chosen or hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.selection if chosen else theme.raised))
            painter.drawRoundedRect(box.adjusted(2, 1, -2, -1), 5, 5)
        middle = box.center().y() - 8
        tone = "warning" if row.is_warning else "text" if chosen else "muted"
        icon(row.drawing, tone).paint(painter, box.left() + 10, middle, 16, 16)
        text = box.adjusted(38, 4, -10, -4)
        if row.mark is not None:
            icon(*row.mark).paint(painter, text.right() - 15, middle, 16, 16)
            text.setRight(text.right() - 24)
        painter.setFont(font)
        if row.end:
            painter.setPen(QColor(theme.accent if row.is_accented else theme.muted))
            painter.drawText(text, _RIGHT, row.end)
            text.setRight(text.right() - painter.fontMetrics().horizontalAdvance(row.end) - 8)
        upper = text.adjusted(0, 0, 0, -text.height() // 2 if row.detail else 0)
        if row.badge:
            upper.setRight(upper.right() - _paint_badge(painter, upper, font, row.badge))
        painter.setFont(font)
        painter.setPen(QColor(theme.text))
        _write(painter, upper, row.title)
        painter.setPen(QColor(theme.warning if row.is_warning else theme.muted))
        font.setPointSizeF(font.pointSizeF() * 0.92)
        painter.setFont(font)
        _write(painter, text.adjusted(0, text.height() // 2, 0, 0), row.detail)


def _write(painter: QPainter, box: QRect, text: str) -> None:
    cut = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, _LEFT, cut)


def _paint_badge(painter: QPainter, text: QRect, font: QFont, words: str) -> int:
    """Draw a badge at the right end of a line; return the pixels that it takes."""
    theme = theme_in_use()
    small = QFont(font)
    small.setPointSizeF(font.pointSizeF() * 0.85)
    metrics = QFontMetrics(small)
    width, height = metrics.horizontalAdvance(words) + 12, metrics.height() + 2
    badge = QRect(text.right() - width, text.center().y() - height // 2 + 1, width, height)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(blend(theme.accent, theme.surface, 0.16)))
    painter.drawRoundedRect(badge, 4, 4)
    painter.setFont(small)
    painter.setPen(QColor(theme.accent))
    painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, words)
    return width + 8
