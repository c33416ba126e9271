"""A read-only view of JSON (or of other source text), colored.

A view of text of any length and in lines of any length.
"""

from __future__ import annotations

import re

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from studio.core.text.diff import common_ends
from studio.ui.style.colors import fixed_font, paint_page
from studio.ui.style.in_use import FollowsTheme, theme_in_use

_LONG_WORD = re.compile(r"(?<!\S)\S{4000}")


class LongText(QPlainTextEdit):
    """Breaks lines between words, but for a text with a word of thousands of letters.

    Qt takes the square of such a word's length (a megabyte without a blank, as pictures have in
    base64, stopped the window for a minute); broken anywhere, it takes no longer than other text.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""

    def setPlainText(self, text: str) -> None:  # noqa: N802 - Qt's name
        """Show a text."""
        self._text = text
        mode, wanted = self.wordWrapMode(), wrap_mode(text)
        if mode not in (wanted, QTextOption.WrapMode.NoWrap):
            super().setPlainText("")  # or what stood here so far would be broken anew, by the other
            self.setWordWrapMode(wanted)
        super().setPlainText(text)

    def change_text(self, text: str) -> None:
        """Show a text; what it shares with the one before keeps its layout and its colors."""
        before = self._text
        # Not so where Qt made one character of two, as of a carriage return and a line feed.
        is_known = self.document().characterCount() == units(before) + 1
        if text == before and is_known:
            return
        if not before or not is_known or wrap_mode(text) != self.wordWrapMode():
            self.setPlainText(text)
            return
        self._text = text
        start, end = common_ends(before, text)
        cursor = QTextCursor(self.document())
        cursor.setPosition(units(before[:start]))
        cursor.setPosition(units(before[: len(before) - end]), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(text[start : len(text) - end])


def units(text: str) -> int:
    """The length of a text as Qt counts it, in UTF-16 units."""
    return len(text) if text.isascii() else len(text) + sum(1 for char in text if char > "\uffff")


def wrap_mode(text: str) -> QTextOption.WrapMode:
    """How the lines of a text are broken."""
    is_long = _LONG_WORD.search(text) is not None
    mode = QTextOption.WrapMode
    return mode.WrapAnywhere if is_long else mode.WrapAtWordBoundaryOrAnywhere


_TOKEN = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*")(?=\s*:)'
    r'|(?P<string>"(?:[^"\\]|\\.)*")'
    r"|(?P<number>-?\b\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\b)"
    r"|(?P<word>\btrue\b|\bfalse\b|\bnull\b)"
)
_JSON_BEGINS = re.compile(r'\s*(?:[{]\s*["}]|\[\s*(?:[\[{"\]\d-]|true|false|null))')
_LONGEST_LINE = 20_000


class JsonHighlighter(QSyntaxHighlighter):
    """Colors keys, strings, numbers and words; a line stands for itself in JSON."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self.is_json = True
        """Whether the text is JSON; words of a sentence have no colors."""
        self._formats: dict[str, QTextCharFormat] = {}
        self.recolor()

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        theme = theme_in_use()
        colors = {
            "key": theme.accent,
            "string": theme.success,
            "number": theme.warning,
            "word": theme.roles.get("system", theme.accent),
        }
        for kind, color in colors.items():
            look = QTextCharFormat()
            look.setForeground(QColor(color))
            self._formats[kind] = look
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        """Color one line."""
        if len(text) > _LONGEST_LINE or not self.is_json:
            return
        for match in _TOKEN.finditer(text):
            kind = match.lastgroup or ""
            self.setFormat(units(text[: match.start()]), units(match[0]), self._formats[kind])


def line_height(editor: QPlainTextEdit) -> float:
    """The height of one line as it is drawn; a font's own figure is a little less."""
    block = editor.document().firstBlock()
    drawn = block.layout().boundingRect().height() / max(1, block.layout().lineCount())
    return max(drawn, editor.fontMetrics().lineSpacing())


class JsonView(FollowsTheme, LongText):
    """Shows JSON; can be selected and copied, not changed."""

    place_clicked = Signal(int)  # place in the text, UTF-16 units, as Qt counts
    request_input = Signal(int)  # the same, clicked with Ctrl held
    request_tip = Signal(int, QPoint)  # the mouse rests there; the point is the screen's

    def __init__(self, parent: QWidget | None = None, *, colored: bool = True) -> None:
        super().__init__(parent)
        self._most_lines = 0
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(fixed_font(self.font()))
        self.document().setDocumentMargin(8)
        self.setAccessibleName("JSON")
        self._highlighter = JsonHighlighter(self.document()) if colored else None
        self.follow_theme()

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        paint_page(self)
        if self._highlighter is not None:
            self._highlighter.recolor()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click that selects nothing tells its place."""
        super().mouseReleaseEvent(event)
        signal = {
            Qt.KeyboardModifier.NoModifier: self.place_clicked,
            Qt.KeyboardModifier.ControlModifier: self.request_input,
        }.get(event.modifiers())
        is_click = event.button() == Qt.MouseButton.LeftButton
        if signal is not None and is_click and not self.textCursor().hasSelection():
            place = self.cursorForPosition(event.position().toPoint()).position()
            signal.emit(place)

    def viewportEvent(self, event: QEvent) -> bool:
        """Somebody may know what to tell of the place where the mouse rests."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            cursor = self.cursorForPosition(event.pos())
            if self.cursorRect(cursor).adjusted(-20, 0, 20, 0).contains(event.pos()):
                self.request_tip.emit(cursor.position(), event.globalPos())
                return True
        return super().viewportEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter does at the caret what a click does."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            held = event.modifiers() & Qt.KeyboardModifier.ControlModifier
            signal = self.request_input if held else self.place_clicked
            signal.emit(self.textCursor().position())
        else:
            super().keyPressEvent(event)

    def grow(self, most_lines: int) -> None:
        """From now on be as high as the text, up to so many lines."""
        self._most_lines = most_lines
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrower text is higher."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self, *_: object) -> None:
        if not self._most_lines:
            return
        # A plain text document measures its height in lines.
        lines = min(max(1, round(self.document().size().height())), self._most_lines)
        self.setFixedHeight(round(lines * line_height(self)) + 18)

    def show_answer(self, text: str) -> None:
        """Show what somebody answered: JSON where it is an object or a list, else words."""
        if self._highlighter is not None:
            self._highlighter.is_json = _JSON_BEGINS.match(text) is not None
        self.show_json(text)

    def show_json(self, text: str) -> None:
        """Show a text, keeping the place that is looked at."""
        bar = self.verticalScrollBar()
        place = bar.value()
        self.change_text(text)
        bar.setValue(place)
