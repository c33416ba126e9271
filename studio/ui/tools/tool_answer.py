"""The answer of a tried call: its text, pictures, status and headers, and what the tool printed."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from studio.core.text.invisible import reveal
from studio.core.tools.source import ToolOutcome
from studio.ui.parts.json_view import JsonView
from studio.ui.parts.long_text import LongText
from studio.ui.preview.cards.part_views import pretty_json
from studio.ui.style.colors import fixed_font, paint_text
from studio.ui.tools.pictures import PicturesView

_LEAST_RESULT = 72
"""Height of the answer, in pixels, that headers and printed text leave to it."""


class ToolAnswer(QScrollArea):
    """Shows one outcome; of a call that runs, what it has said so far."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.result = JsonView()
        self.result.setAccessibleName(self.tr("Result of the call"))
        self.result.setMinimumHeight(_LEAST_RESULT)
        self.head = QLabel()
        self.head.setTextFormat(Qt.TextFormat.PlainText)
        self.head.setWordWrap(True)
        self.head.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.head.setAccessibleName(self.tr("Status and headers of the answer"))
        self.pictures = PicturesView()
        self.printed = LongText()
        self.printed.setReadOnly(True)
        self.printed.setFrameShape(QFrame.Shape.NoFrame)
        self.printed.setAccessibleName(self.tr("What the tool printed"))
        self.printed.setFont(fixed_font(self.font()))
        self.printed.setMaximumHeight(110)
        self._printed_title = QLabel(self.tr("Printed by the tool"))
        page = QWidget()
        inside = QVBoxLayout(page)
        inside.setContentsMargins(12, 12, 12, 12)
        inside.setSpacing(8)
        inside.addWidget(self.result, 1)
        for part in (self.pictures, self.head, self._printed_title, self.printed):
            inside.addWidget(part)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setWidget(page)
        paint_text(self.head, "muted")
        paint_text(self._printed_title, "muted")
        self.show_outcome(None)

    def show_outcome(self, outcome: ToolOutcome | None) -> None:
        """Show how a call ended; without one there is nothing to see."""
        self.result.setVisible(outcome is not None)
        if outcome is not None:
            self.result.show_answer(pretty_json(outcome.text))
        head = outcome.head if outcome is not None else ""
        self.head.setText(reveal(head))
        self.head.setVisible(bool(head))
        self.pictures.show_pictures(outcome.pictures if outcome is not None else ())
        self.show_live_output(outcome.stderr.strip() if outcome is not None else "")

    def show_live_output(self, text: str) -> None:
        """Show what a call has printed, or said, so far."""
        if text != self.printed.toPlainText():
            self.printed.setPlainText(text)
            bar = self.printed.verticalScrollBar()
            bar.setValue(bar.maximum())
        self.printed.setVisible(bool(text))
        self._printed_title.setVisible(bool(text))
