"""The light behind the row of the caret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QTextBlock, QTextCursor

from studio.ui.style.fill import fill
from studio.ui.style.in_use import theme_in_use

if TYPE_CHECKING:
    from studio.ui.editor.text.prompt_view import PromptView


class CaretLine:
    """Painted before the text, and only while nothing is selected.

    As an extra selection it would have Qt draw the row three times: a seventh of a key.
    """

    def __init__(self, view: PromptView) -> None:
        self._view = view
        self._line = QTextCursor(view.document())
        """In the line that is lit. No `QTextBlock`: that of a line which went away still says that
        it is valid, and Qt crashes on it.
        """
        self._row = -1
        self._is_lit = False
        self._color = QColor()

    def recolor(self) -> None:
        """Take the color of the theme in use."""
        self._color = QColor(theme_in_use().current_line)
        self._view.viewport().update()

    def follow(self, cursor: QTextCursor) -> QTextBlock | None:
        """The caret moved: light the row where it is.

        Args:
            cursor: the caret.

        Returns:
            The line that it left; None where it stays in it.
        """
        block, before = cursor.block(), self._line.block()
        row = _row_of(block, cursor)
        is_lit = not cursor.hasSelection()
        is_here = block == before
        if is_here and row == self._row and is_lit == self._is_lit:
            return None
        self._row, self._is_lit = row, is_lit
        if not is_here:
            self._line = QTextCursor(block)
            self._paint_soon(before)
        self._paint_soon(block)
        return None if is_here else before

    def paint(self) -> None:
        """Paint it on the empty ground, before the text."""
        view = self._view
        if view.textCursor().hasSelection():
            return
        place = view.cursorRect()
        painter = QPainter(view.viewport())
        room = QRectF(0, place.top(), view.viewport().width(), place.height())
        fill(painter, room, self._color)
        painter.end()

    def _paint_soon(self, block: QTextBlock) -> None:
        place, ground = self._view.geometry_of(block).toAlignedRect(), self._view.viewport()
        ground.update(0, place.top(), ground.width(), place.height())


def _row_of(block: QTextBlock, cursor: QTextCursor) -> int:
    if block.lineCount() < 2:
        return 0
    return block.layout().lineForTextPosition(cursor.positionInBlock()).lineNumber()
