"""That a tool is not as it was allowed: the difference, and a button that allows it as it is."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from studio.core.text.invisible import reveal
from studio.core.tools.trust.definitions import ToolChange
from studio.ui.style.colors import fixed_font, paint_text
from studio.ui.style.in_use import FollowsTheme, theme_in_use

_MOST_LINES = 8


class ChangeNote(FollowsTheme, QWidget):
    """Hidden while a tool is as it was allowed."""

    allowed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._change: ToolChange | None = None
        self.words = QLabel(self)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setWordWrap(True)
        self.button = QPushButton(self.tr("Allow as it is"), self)
        self.button.setToolTip(self.tr("It then asks only as its approval says"))
        self.button.clicked.connect(self.allowed)
        self.difference = QPlainTextEdit(self)
        self.difference.setReadOnly(True)
        self.difference.setFont(fixed_font(self.font()))
        self.difference.setAccessibleName(self.tr("How the tool has changed"))
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.words, 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(row)
        column.addWidget(self.difference)
        self.hide()
        paint_text(self.words, "warning")
        self.follow_theme()

    def show_change(self, change: ToolChange | None) -> None:
        """Show why the tool asks; None where it is as it was allowed."""
        self._change = change
        self.setVisible(change is not None)
        if change is None:
            return
        lines = change.lines()
        self.words.setText(self._why(change))
        self.difference.setVisible(bool(lines))
        self.difference.setPlainText("\n".join(reveal(line, lines=False) for line in lines))
        rows = min(max(len(lines), 2), _MOST_LINES)
        height = QFontMetrics(self.difference.font()).lineSpacing() * rows
        self.difference.setFixedHeight(height + 14)
        self._paint()

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        self._paint()

    def _why(self, change: ToolChange) -> str:
        if change.before is not None:
            return self.tr("It is not the tool that it was. It asks before its next call.")
        if not change.now.effects:
            return self.tr(
                "Nobody says whether it changes something. It asks before its first call."
            )
        return self.tr("Its source did not have it before. It asks before its first call.")

    def _paint(self) -> None:
        """Color what went and what came."""
        theme = theme_in_use()
        colors = {"-": theme.error, "+": theme.success}
        block = self.difference.document().begin()
        while block.isValid():
            looks = QTextCharFormat()
            looks.setForeground(QColor(colors.get(block.text()[:1], theme.text)))
            cursor = QTextCursor(block)
            cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
            cursor.mergeCharFormat(looks)
            block = block.next()
