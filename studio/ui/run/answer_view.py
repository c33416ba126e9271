"""The final answer, shown large: Markdown without raw HTML, and no file or address is opened."""

from __future__ import annotations

from PySide6.QtCore import QUrl
from PySide6.QtGui import QColor, QPalette, QTextDocument
from PySide6.QtWidgets import QFrame, QLabel, QTextBrowser, QVBoxLayout, QWidget

from studio.bridge.run_text import Blocks
from studio.ui.parts.colours import paint_text
from studio.ui.run.styled_text import StyledText
from studio.ui.theme import LIGHT, Theme, ui_font

_POINTS_MORE = 2.0


class _Markdown(QTextBrowser):
    """Nothing that a model writes makes the studio load anything."""

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Answer every request for an image or a style sheet with nothing."""
        return ""


class AnswerView(QWidget):
    """Heading, the answer, and what does not fit the declared outputs."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self._answer = ""
        self._heading = QLabel(self.tr("Final answer"))
        self._heading.setProperty("title", "true")
        self._text = _Markdown()
        self._text.setFrameShape(QFrame.Shape.NoFrame)
        self._text.setOpenLinks(False)
        self._text.setAccessibleName(self.tr("Final answer"))
        self._text.document().setDocumentMargin(0)
        self._notes = StyledText(self.tr("Notes on the answer"), "")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 12, 16, 8)
        layout.setSpacing(8)
        layout.addWidget(self._heading)
        layout.addWidget(self._text, 1)
        layout.addWidget(self._notes)
        self.setAutoFillBackground(True)

    @property
    def text(self) -> str:
        """The answer as it reads."""
        return self._text.toPlainText()

    def set_theme(self, theme: Theme) -> None:
        """Paint in these colours."""
        self._theme = theme
        palette = self.palette()
        for role in (QPalette.ColorRole.Window, QPalette.ColorRole.Base):
            palette.setColor(role, QColor(theme.surface))
        palette.setColor(QPalette.ColorRole.Text, QColor(theme.text))
        self.setPalette(palette)
        self._text.setPalette(palette)
        self._notes.setPalette(palette)
        self._notes.set_theme(theme)
        paint_text(self._heading, theme.success)
        self._render()

    def show_answer(self, answer: str, notes: Blocks) -> None:
        """Show an answer and remarks on it."""
        if answer != self._answer:
            self._answer = answer
            self._render()
        self._text.setVisible(bool(answer) or not notes)
        self._notes.show_blocks(notes)
        self._notes.setVisible(bool(notes))

    def _render(self) -> None:
        document = self._text.document()
        document.setDefaultFont(ui_font(self.font().pointSizeF() + _POINTS_MORE))
        document.setMarkdown(
            self._answer or "*(empty)*",
            QTextDocument.MarkdownFeature(
                QTextDocument.MarkdownFeature.MarkdownDialectGitHub.value
                | QTextDocument.MarkdownFeature.MarkdownNoHTML.value
            ),
        )
