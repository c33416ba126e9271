"""The line below an answer: the next question in the same thread."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from studio.application.words import tr
from studio.ui.style.in_use import FollowsTheme, theme_in_use

_MOST_LINES = 4


class ChatLine(FollowsTheme, QPlainTextEdit):
    """Return sends, Shift+Return begins another line; it grows with what is written."""

    sent = Signal(str)  # the message

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setPlaceholderText(tr("Go on in this thread… (Return sends)"))
        self.setAccessibleName(tr("Next message of the thread"))
        self.setTabChangesFocus(True)
        self.textChanged.connect(self._fit)
        self._fit()
        self.follow_theme()

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        theme = theme_in_use()
        self.setStyleSheet(
            f"QPlainTextEdit {{ border: 1px solid {theme.border}; border-radius: 6px; "
            f"background: {theme.surface}; color: {theme.text}; padding: 2px 4px; }}"
            f"QPlainTextEdit:focus {{ border-color: {theme.accent}; }}"
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send, or write on."""
        is_return = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not is_return or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            super().keyPressEvent(event)
            return
        text = self.toPlainText().strip()
        if text:
            self.clear()
            self.sent.emit(text)

    def _fit(self) -> None:
        wanted = max(1, self.document().blockCount())
        lines = min(_MOST_LINES, wanted)
        policy = Qt.ScrollBarPolicy
        bar = policy.ScrollBarAsNeeded if wanted > lines else policy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(bar)
        margins = 2 * (self.frameWidth() + int(self.document().documentMargin()))
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + margins + 8)
