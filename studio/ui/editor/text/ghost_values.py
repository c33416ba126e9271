"""Values in grey behind the lines that put them in, and the fix of the caret's line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPointF, QRect
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QTextBlock
from PySide6.QtWidgets import QApplication

from studio.ui.style.in_use import theme_in_use

if TYPE_CHECKING:
    from studio.ui.editor.text.prompt_view import PromptView

_GAP = 16
"""Pixels between the end of a line and what stands behind it."""


class GhostValues(QObject):
    """Painted behind lines, only where it fits whole: never wrapped, never copied.

    A child of its view: two views share a text, and the one that is closed hears no more of it.
    """

    def __init__(self, view: PromptView) -> None:
        super().__init__(view)
        self._view = view
        self._values: dict[int, str] = {}
        self._fixes: dict[int, str] = {}
        self._lines = 0
        self._is_shown = True

    @property
    def values(self) -> Mapping[int, str]:
        """What stands behind which line, from 0."""
        return self._values

    def show(self, values: Mapping[int, str]) -> None:
        """Put texts behind lines, counted from 0, in place of those before."""
        self._lines = self._view.blockCount()
        if dict(values) != self._values:
            self._values = dict(values)
            self._view.viewport().update()

    def show_fixes(self, fixes: Mapping[int, str]) -> None:
        """What the first fix of a line would do; it is shown while the caret stands there."""
        self._fixes = dict(fixes)

    def set_shown(self, shown: bool) -> None:
        """Whether values are shown; fixes always are."""
        if shown != self._is_shown:
            self._is_shown = shown
            self._view.viewport().update()

    def follow_edit(self) -> None:
        """The text changed: nothing stands behind the caret's line now, and others move with it."""
        if not self._values:
            return
        line, grown = self._view.textCursor().blockNumber(), self._view.blockCount() - self._lines
        self._lines += grown
        first = line - max(0, grown)
        moved = {at if at < first else at + grown: text for at, text in self._values.items()
                 if at < first or at > first}  # fmt: skip
        self._values = moved

    def paint(self, dirty: QRect) -> None:
        """Paint what stands behind the lines on the screen."""
        caret = self._view.textCursor().blockNumber()
        values = self._values if self._is_shown else {}
        if not values and caret not in self._fixes:
            return
        theme = theme_in_use()
        painter: QPainter | None = None
        for block, top, _ in self._view.visible_blocks(dirty):
            line = block.blockNumber()
            fix = self._fixes.get(line, "") if line == caret else ""
            text = fix or values.get(line, "")
            if not text:
                continue
            if painter is None:
                painter = QPainter(self._view.viewport())
                painter.setFont(_font(self._view))
            painter.setPen(QColor(theme.warning if fix else theme.muted))
            self._paint_behind(painter, block, top, text)
        if painter is not None:
            painter.end()

    def _paint_behind(self, painter: QPainter, block: QTextBlock, top: float, text: str) -> None:
        layout = block.layout()
        if not layout.lineCount():
            return
        last = layout.lineAt(layout.lineCount() - 1)
        left = self._view.contentOffset().x() + last.x() + last.naturalTextWidth() + _GAP
        metrics = QFontMetricsF(painter.font())
        if left + metrics.horizontalAdvance(text) > self._view.viewport().width():
            return
        painter.drawText(QPointF(left, top + last.y() + last.ascent()), text)


def _font(view: PromptView) -> QFont:
    font = QFont(QApplication.font())
    # Said outright: a painter takes what a font leaves open from the widget, which is code.
    font.setFamilies(font.families())
    font.setPointSizeF(max(6.0, view.font().pointSizeF() - 1))
    font.setItalic(True)
    return font
