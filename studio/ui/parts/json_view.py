"""A read-only, coloured view of JSON text."""

from __future__ import annotations

import re

from PySide6.QtGui import (
    QColor,
    QPalette,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from studio.ui.parts.colours import fixed_font
from studio.ui.theme import Theme

_TOKEN = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*")(?=\s*:)'
    r'|(?P<string>"(?:[^"\\]|\\.)*")'
    r"|(?P<number>-?\b\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\b)"
    r"|(?P<word>\btrue\b|\bfalse\b|\bnull\b)"
)
_LONGEST_LINE = 20_000


class JsonHighlighter(QSyntaxHighlighter):
    """Colours keys, strings, numbers and words; a line stands for itself in JSON."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._formats: dict[str, QTextCharFormat] = {}
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme and draw again."""
        colours = {
            "key": theme.accent,
            "string": theme.success,
            "number": theme.warning,
            "word": theme.roles.get("system", theme.accent),
        }
        for kind, colour in colours.items():
            look = QTextCharFormat()
            look.setForeground(QColor(colour))
            self._formats[kind] = look
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        """Colour one line."""
        if len(text) > _LONGEST_LINE:
            return
        for match in _TOKEN.finditer(text):
            kind = match.lastgroup or ""
            # Qt counts UTF-16 units; lines with characters outside the BMP are rare.
            start = match.start() if text.isascii() else _units(text[: match.start()])
            length = len(match[0]) if text.isascii() else _units(match[0])
            self.setFormat(start, length, self._formats[kind])


def _units(text: str) -> int:
    return len(text) + sum(1 for char in text if char > "\uffff")


class JsonView(QPlainTextEdit):
    """Shows JSON; can be selected and copied, not changed."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setFont(fixed_font(self.font()))
        self.document().setDocumentMargin(8)
        self.setAccessibleName("JSON")
        self._highlighter = JsonHighlighter(self.document(), theme)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Base, QColor(theme.surface))
        palette.setColor(QPalette.ColorRole.Text, QColor(theme.text))
        self.setPalette(palette)
        self._highlighter.set_theme(theme)

    def show_json(self, text: str) -> None:
        """Show a text, keeping the place that is looked at."""
        if text == self.toPlainText():
            return
        bar = self.verticalScrollBar()
        place = bar.value()
        self.setPlainText(text)
        bar.setValue(place)
