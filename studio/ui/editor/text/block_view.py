"""Where the lines of a text stand on the screen."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRect, QRectF
from PySide6.QtGui import QTextBlock, QTextOption
from PySide6.QtWidgets import QPlainTextEdit


class BlockView(QPlainTextEdit):
    """A plain text whose lines know their places in the viewport; lines count from 0."""

    _left_room = 0
    _right_room = 0

    def visible_blocks(
        self, part: QRect | None = None
    ) -> Iterator[tuple[QTextBlock, float, float]]:
        """The lines on the screen, with top and height in the viewport.

        Args:
            part: the part of the viewport that counts; all of it where None.
        """
        if part is None:
            block, bottom = self.firstVisibleBlock(), self.viewport().height()
        else:
            block = self.cursorForPosition(QPoint(0, part.top())).block()
            bottom = min(part.bottom(), self.viewport().height())
            while not block.isVisible() and block.previous().isValid():
                block = block.previous()
        top = self.geometry_of(block).top()
        while block.isValid() and top <= bottom:
            height = self.blockBoundingRect(block).height()
            if block.isVisible():
                yield block, top, height
                top += height
            block = block.next()

    def line_at(self, y: float) -> int | None:
        """The line at a height in the viewport."""
        for block, top, height in self.visible_blocks():
            if top <= y < top + height:
                return block.blockNumber()
        return None

    def geometry_of(self, block: QTextBlock) -> QRectF:
        """A line's place in the viewport."""
        return self.blockBoundingGeometry(block).translated(self.contentOffset())

    @property
    def is_wrapped(self) -> bool:
        """Whether long lines go on in the next row."""
        return self.lineWrapMode() == QPlainTextEdit.LineWrapMode.WidgetWidth

    @property
    def room(self) -> int:
        """How wide the text could be, in pixels."""
        return self.viewport().width() + self._right_room

    def leave_room(self, right: int) -> None:
        """Leave so many pixels at the right without text."""
        if right != self._right_room:
            self._right_room = right
            self.setViewportMargins(self._left_room, 0, right, 0)

    def leave_room_left(self, left: int) -> None:
        """Leave so many pixels at the left for what stands beside the lines."""
        self._left_room = left
        self.setViewportMargins(left, 0, self._right_room, 0)

    def set_wrapped(self, wrapped: bool) -> None:
        """Whether long lines go on in the next row."""
        mode = QPlainTextEdit.LineWrapMode
        self.setLineWrapMode(mode.WidgetWidth if wrapped else mode.NoWrap)

    def set_whitespace(self, shown: bool) -> None:
        """Whether spaces and tabs are drawn."""
        option = self.document().defaultTextOption()
        flag = QTextOption.Flag.ShowTabsAndSpaces
        option.setFlags(option.flags() | flag if shown else option.flags() & ~flag)
        self.document().setDefaultTextOption(option)
