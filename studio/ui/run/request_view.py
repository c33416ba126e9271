"""The request that a call will send, in sight before it is allowed."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from studio.ui.style.colours import fixed_font, paint_text
from studio.ui.style.theme import Theme

_MOST_LINES = 7


class RequestView(QWidget):
    """Hidden while there is no request."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = QLabel(self.tr("Request that will be sent"), self)
        self.text = QPlainTextEdit(self)
        self.text.setReadOnly(True)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setFont(fixed_font(self.font()))
        self.text.setAccessibleName(self._title.text())
        self.text.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 4, 8, 6)
        column.setSpacing(2)
        column.addWidget(self._title)
        column.addWidget(self.text)
        self.hide()

    def show_request(self, text: str) -> None:
        """Show a request; an empty one hides the view."""
        self.text.setPlainText(text)
        lines = min(text.count("\n") + 1, _MOST_LINES)
        self.text.setFixedHeight(self.text.fontMetrics().lineSpacing() * lines + 12)
        self.setVisible(bool(text))

    def set_theme(self, theme: Theme) -> None:
        """Paint in these colours."""
        paint_text(self._title, theme.muted)
