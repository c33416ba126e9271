"""The toolbar's button for the model: its name, the price of 1,000 runs, and an arrow."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolButton

from studio.application.words import tr
from studio.ui.style.colors import theme_in_use
from studio.ui.style.icons import icon

_WIDEST = 340
_ROUNDING = 4
"""Pixels by which a text may be wider than its letters are said to be."""
_ICON, _ARROW, _PAD, _GAP = 16, 12, 10, 8
"""Pixels of the two drawings, of the room at both ends, and between the parts."""


class ModelButton(QToolButton):
    """Names what answers a run; a click opens the popover in which it is chosen."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("model")
        self.setAccessibleName(tr("Model"))
        self.price = ""
        """Price of 1,000 runs in few words; empty while it is being worked out."""
        self._drawing = "cpu"
        self.show_model(tr("Model"), "")

    def show_model(
        self, name: str, tip: str, drawing: str = "cpu", *, is_replaced: bool = False
    ) -> None:
        """Say what answers a run.

        Args:
            name: the model's name.
            tip: why this one.
            drawing: icon of its kind.
            is_replaced: whether the file asks for another.
        """
        self.setText(name)
        self.setToolTip(tip or name)
        self._drawing = drawing
        if bool(self.property("replaced")) != is_replaced:
            self.setProperty("replaced", is_replaced)
            self.style().polish(self)
        self._show_all()

    def show_price(self, price: str) -> None:
        """Show the price of 1,000 runs."""
        self.price = price
        self._show_all()

    def _show_all(self) -> None:
        self.setAccessibleDescription(", ".join(filter(None, (self.text(), self.price))))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """The name, the price and the arrow in one line."""
        words = [each for each in (self.text(), self.price) if each]
        width = sum(self.fontMetrics().horizontalAdvance(each) + _GAP for each in words)
        height = max(28, self.fontMetrics().height() + 10)
        width += 2 * _PAD + _ICON + _ARROW + _GAP + _ROUNDING
        return QSize(min(_WIDEST, width), height)

    def minimumSizeHint(self) -> QSize:
        """The same: the toolbar has a menu for what has no room."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frame by the style sheet, then the parts; the name yields first."""
        super().paintEvent(event)
        theme, metrics = theme_in_use(), self.fontMetrics()
        painter = QPainter(self)
        room = self.rect().adjusted(_PAD, 0, -_PAD, 0)
        middle = room.center().y()
        tone = "warning" if self.property("replaced") else None
        icon(self._drawing, tone).paint(painter, room.left(), middle - 7, _ICON, _ICON)
        arrow = room.right() - _ARROW
        icon("chevron-down", "muted").paint(painter, arrow, middle - 5, _ARROW, _ARROW)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        price = metrics.horizontalAdvance(self.price) + _GAP if self.price else 0
        name = room.adjusted(_ICON + _GAP, 0, -price - _ARROW - _GAP, 0)
        painter.setPen(QColor(theme.text))
        cut = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, name.width())
        painter.drawText(name, flags, cut)
        painter.setPen(QColor(theme.muted))
        painter.drawText(room.adjusted(arrow - _PAD - price, 0, 0, 0), flags, self.price)

    def initStyleOption(self, option: object) -> None:
        """Leave the text to `paintEvent`."""
        super().initStyleOption(option)  # type: ignore[arg-type]
        option.text = ""  # type: ignore[attr-defined]
