"""The final answer, shown large: Markdown without raw HTML, and no file or address is opened."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtGui import (
    QColor,
    QPalette,
    QResizeEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QWidget

from studio.application.run.inspector.reply import markdown_parts
from studio.application.run.text import Blocks
from studio.application.words import tr
from studio.ui.parts.fields import ChatLine
from studio.ui.parts.kit import column_of, named, toned_label
from studio.ui.parts.text_views import ClosedText
from studio.ui.run.styled_text import StyledText
from studio.ui.style.theme import FollowsTheme, paint_page, theme_in_use, ui_font
from studio.viewmodels.app.jobs import repeating_timer

_POINTS_MORE = 2.0
_SIDE = 16
_NOTE_MARGIN = 4.0
_NOTES_LOWEST = 40
_NOTES_SHARE = 0.5
_NOTES_MEASURED = 2_000
"""Characters up to which notes are measured; longer ones take their share in any case."""
_FEATURES = QTextDocument.MarkdownFeature(
    QTextDocument.MarkdownFeature.MarkdownDialectGitHub.value
    | QTextDocument.MarkdownFeature.MarkdownNoHTML.value
)


class AnswerView(FollowsTheme, QWidget):
    """Heading, the answer, what does not fit the declared outputs, and a line to go on with."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._answer = ""
        self._thread = ""
        self.chat = ChatLine()
        self._heading = toned_label("success", tr("Final answer"))
        self._heading.setProperty("title", "true")
        self._text = named(ClosedText(), tr("Final answer"))
        self._text.document().setDocumentMargin(0)
        self._notes = StyledText(tr("Notes on the answer"), "")
        self._notes.document().setDocumentMargin(_NOTE_MARGIN)
        self._parts: Iterator[str] = iter(())
        self._waiting = ""
        self._more = repeating_timer(self, self._show_more)
        column_of(
            self._heading,
            (self._text, 1),
            self._notes,
            self.chat,
            on=self,
            margins=(_SIDE, 12, _SIDE, 8),
            spacing=8,
        )
        self.chat.hide()
        self.setAutoFillBackground(True)
        self.follow_theme()

    @property
    def is_whole(self) -> bool:
        """Whether all of the answer is shown."""
        return not self._more.isActive()

    @property
    def text(self) -> str:
        """The answer as it reads."""
        return self._text.toPlainText()

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        theme = theme_in_use()
        palette = self.palette()
        for role in (QPalette.ColorRole.Window, QPalette.ColorRole.Base):
            palette.setColor(role, QColor(theme.surface))
        palette.setColor(QPalette.ColorRole.Text, QColor(theme.text))
        self.setPalette(palette)
        for view in (self._text, self._notes):
            paint_page(view)
        self._render()

    def show_answer(self, answer: str, notes: Blocks, thread: str = "") -> None:
        """Show an answer and remarks on it.

        Args:
            answer: Markdown.
            notes: what does not fit the declared outputs.
            thread: the turns before, as Markdown.
        """
        if (answer, thread) != (self._answer, self._thread):
            self._answer, self._thread = answer, thread
            self._heading.setText(tr("Conversation") if thread else tr("Final answer"))
            self._render()
        self._text.setVisible(bool(answer) or not notes)
        self._notes.show_blocks(notes)
        self._notes.setVisible(bool(notes))
        self._fit_notes()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Notes are as high as their lines need in that width."""
        super().resizeEvent(event)
        self._fit_notes()

    def _fit_notes(self) -> None:
        """Leave the height to the answer: below a low answer a text edit takes half of it."""
        most = max(_NOTES_LOWEST, round(self.height() * _NOTES_SHARE))
        notes = self._notes.document()
        if notes.characterCount() < _NOTES_MEASURED:
            copy = notes.clone()  # laying out the shown one would fight with its view
            copy.setTextWidth(max(100, self.width() - 2 * _SIDE))
            most = min(most, round(copy.size().height()) + 2)
        self._notes.setFixedHeight(most)

    def _render(self) -> None:
        """Show the beginning now and the rest part by part: 100 KB at once take 0.2 s."""
        document = self._text.document()
        document.setDefaultFont(ui_font(self.font().pointSizeF() + _POINTS_MORE))
        self._parts = markdown_parts(self._thread + (self._answer or "*(empty)*"))
        document.setMarkdown(next(self._parts, ""), _FEATURES)
        self._take_next()

    def _take_next(self) -> None:
        self._waiting = next(self._parts, "")
        if self._waiting:
            self._more.start()
        else:
            self._more.stop()
            if self._thread:  # the newest answer is what was waited for
                bar = self._text.verticalScrollBar()
                bar.setValue(bar.maximum())

    def _show_more(self) -> None:
        cursor = QTextCursor(self._text.document())
        cursor.beginEditBlock()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertBlock(QTextBlockFormat(), QTextCharFormat())
        cursor.insertMarkdown(self._waiting, _FEATURES)
        cursor.endEditBlock()
        self._take_next()
