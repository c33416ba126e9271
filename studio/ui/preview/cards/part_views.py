"""The parts of a message that are not plain text: calls of tools and long texts' ends."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QMouseEvent
from PySide6.QtWidgets import QLabel, QWidget

from studio.application.preview.cards import TextRun
from studio.application.words import tr
from studio.core.prompty.messages import ToolCallPart
from studio.core.text.foreign_json import parse_json
from studio.ui.parts.layouts import column_of
from studio.ui.preview.cards.text_body import TextBody
from studio.ui.style.colors import paint_text, role_color
from studio.ui.style.in_use import theme_in_use


class ToolCallView(QWidget):
    """A call that the assistant asked for: name, identifier, arguments."""

    clicked = Signal()

    def __init__(self, part: ToolCallPart, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        theme = theme_in_use()
        name = QLabel(tr("Calls {name}").format(name=part.name))
        font = name.font()
        font.setWeight(QFont.Weight.DemiBold)
        name.setFont(font)
        name.setTextFormat(Qt.TextFormat.PlainText)
        paint_text(name, role_color(theme, "tool"))
        identifier = QLabel(part.id, textFormat=Qt.TextFormat.PlainText)
        paint_text(identifier, "muted")
        self.arguments = TextBody()
        self.arguments.setAccessibleName(tr("Arguments of {name}").format(name=part.name))
        self.arguments.place_clicked.connect(self.clicked)
        self.arguments.show_runs((TextRun(pretty_json(part.arguments)),), {}, theme, raw=True)
        layout = column_of(name, on=self, margins=(0, 4, 0, 4), spacing=2)
        if part.id:
            layout.addWidget(identifier)
        layout.addWidget(self.arguments)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click leads to the source."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit()


def pretty_json(text: str) -> str:
    """JSON text with its lines indented; anything else as it is."""
    try:
        return json.dumps(parse_json(text), ensure_ascii=False, indent=2)
    except ValueError:
        return text
