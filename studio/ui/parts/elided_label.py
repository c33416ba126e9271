"""A label that gives way where there is no room."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

_TOO_FEW = 4
"""Letters, with the ellipsis: a word of which fewer are left says nothing."""


class ElidedLabel(QLabel):
    """A label that gives way: cut with an ellipsis, or not there; whole in its tooltip."""

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        super().__init__(parent)
        self.whole = ""
        """The text, uncut."""
        self._mode = mode
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setTextFormat(Qt.TextFormat.PlainText)

    def show_text(self, text: str) -> None:
        """Show a text."""
        self.whole = text
        self.setToolTip(text)
        self.setAccessibleName(text)
        self._elide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cut anew."""
        self._elide()

    def _elide(self) -> None:
        metrics = QFontMetrics(self.font())
        shown = metrics.elidedText(self.whole, self._mode, self.width())
        is_cut = shown != self.whole
        self.setText("" if is_cut and len(shown) <= _TOO_FEW else shown)
