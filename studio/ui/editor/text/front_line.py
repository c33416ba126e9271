"""The one line that a folded front matter is: the prompt's name, and what it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter
from PySide6.QtWidgets import QApplication

from studio.ui.style.in_use import theme_in_use

if TYPE_CHECKING:
    from studio.core.prompty.document import PromptDocument
    from studio.ui.editor.text.prompt_view import PromptView

_GAP = 12
_LEFT = int((Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter).value)


class FrontLine:
    """Painted over the `---` that begins a front matter."""

    def __init__(self, view: PromptView) -> None:
        self._view = view

    def paint(self, dirty: QRect, document: PromptDocument) -> None:
        """Paint it, where its line is on the screen."""
        from studio.application.editing.folding import front_facts  # not before the first paint

        theme = theme_in_use()
        block = self._view.document().firstBlock()
        place = self._view.geometry_of(block)
        room = QRectF(0, place.top(), self._view.viewport().width(), place.height())
        if not room.intersects(QRectF(dirty)):
            return
        name, facts = front_facts(document)
        painter = QPainter(self._view.viewport())
        painter.fillRect(room, QColor(theme.raised))
        font = QFont(QApplication.font())
        # Said outright: a painter takes what a font leaves open from the widget, which is code.
        font.setFamilies(font.families())
        font.setPointSizeF(font.pointSizeF())
        at = place.left() + self._view.document().documentMargin()
        for text, weight, color in (
            (name, QFont.Weight.DemiBold, theme.text),
            ("  ·  ".join(facts), QFont.Weight.Normal, theme.muted),
        ):
            font.setWeight(weight)
            painter.setFont(font)
            painter.setPen(QColor(color))
            metrics = painter.fontMetrics()
            left = metrics.elidedText(
                text, Qt.TextElideMode.ElideRight, max(0, int(room.width() - at) - _GAP)
            )
            painter.drawText(QRectF(at, room.top(), room.width(), room.height()), _LEFT, left)
            at += metrics.horizontalAdvance(left) + (_GAP if left else 0)
        painter.end()
