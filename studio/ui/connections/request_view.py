"""The messages of a request, to be read by the person who is the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QColor, QFont, QShowEvent, QTextBlockFormat, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget

from studio.core.models.base import ModelRequest
from studio.core.prompty.messages import (
    MediaPart,
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from studio.ui.style.colours import role_colour
from studio.ui.style.theme import LIGHT, Theme, mono_font

_LONGEST = 200_000
_MARGIN = 14


class RequestView(QTextEdit):
    """Role by role; can be selected and copied, not changed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self._request: ModelRequest | None = None
        self._last = 0
        self.setReadOnly(True)
        self.setAcceptRichText(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(self.tr("Messages of the request"))
        self.document().setDocumentMargin(_MARGIN)
        self.setLineWrapMode(QTextEdit.LineWrapMode.WidgetWidth)

    def show_request(self, request: ModelRequest) -> None:
        """Show a request; its last message is in view once it is shown."""
        self._request = request
        self.clear()
        cursor = QTextCursor(self.document())
        for number, message in enumerate(request.messages):
            self._last = cursor.position() + (1 if number else 0)
            self._write(cursor, message, is_first=number == 0)
        self._show_last()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        if self._request is not None:
            self.show_request(self._request)

    def showEvent(self, event: QShowEvent) -> None:
        """Only now it is known how much room there is."""
        super().showEvent(event)
        self._show_last()

    def _show_last(self) -> None:
        """Bring the last message's head to the top, or the end into view where it is short."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._last)
        self.setTextCursor(cursor)
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + self.cursorRect().top() - _MARGIN)

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
            # One block for a part: blocks stand apart, its lines do not.
            cursor.insertText(text[:_LONGEST].replace("\n", "\u2028"), body)


def _texts(message: Message) -> Iterable[str]:
    for part in message.parts:
        match part:
            case TextPart(text=text):
                yield text
            case MediaPart():
                yield f"[{part.kind}: {part.source[:80]}]"
            case ToolCallPart():
                yield QCoreApplication.translate("RequestView", "calls {name} {arguments}").format(
                    name=part.name, arguments=part.arguments
                )
            case ToolResultPart():
                yield part.text
            case _:
                assert_never(part)
