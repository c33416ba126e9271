"""The messages of a request, to be read by the person who is the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from PySide6.QtGui import QColor, QFont, QTextBlockFormat, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget

from studio.core.models.base import ModelRequest
from studio.core.prompty.messages import (
    MediaPart,
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from studio.ui.parts.colours import role_colour
from studio.ui.theme import LIGHT, Theme, mono_font

_LONGEST = 200_000


class RequestView(QTextEdit):
    """Role by role; can be selected and copied, not changed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self._request: ModelRequest | None = None
        self.setReadOnly(True)
        self.setAcceptRichText(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName("Messages of the request")
        self.document().setDocumentMargin(14)
        self.setLineWrapMode(QTextEdit.LineWrapMode.WidgetWidth)

    def show_request(self, request: ModelRequest) -> None:
        """Show a request, from its last message on."""
        self._request = request
        self.clear()
        cursor = QTextCursor(self.document())
        start = 0
        for number, message in enumerate(request.messages):
            start = cursor.position()
            self._write(cursor, message, is_first=number == 0)
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum())
        cursor.setPosition(start)
        self.setTextCursor(cursor)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        if self._request is not None:
            self.show_request(self._request)

    def _write(self, cursor: QTextCursor, message: Message, *, is_first: bool) -> None:
        head = QTextCharFormat()
        head.setForeground(QColor(role_colour(self._theme, message.role)))
        head.setFontWeight(QFont.Weight.DemiBold)
        apart = QTextBlockFormat()
        apart.setTopMargin(0 if is_first else 14)
        if is_first:
            cursor.setBlockFormat(apart)
        else:
            cursor.insertBlock(apart)
        cursor.insertText(message.role, head)
        body = QTextCharFormat()
        body.setFont(mono_font(self.font().pointSizeF()))
        body.setForeground(QColor(self._theme.text))
        close = QTextBlockFormat()
        close.setTopMargin(3)
        for text in _texts(message):
            cursor.insertBlock(close)
            cursor.insertText(text[:_LONGEST], body)


def _texts(message: Message) -> Iterable[str]:
    for part in message.parts:
        match part:
            case TextPart(text=text):
                yield text
            case MediaPart():
                yield f"[{part.kind}: {part.source[:80]}]"
            case ToolCallPart():
                yield f"calls {part.name} {part.arguments}"
            case ToolResultPart():
                yield part.text
            case _:
                assert_never(part)
