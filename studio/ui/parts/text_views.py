"""Views for texts from models, prompts and other sources: they load no external content."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6 import QtGui
from PySide6.QtCore import QEvent, QPoint, Qt, QUrl, Signal
from PySide6.QtWidgets import QFrame, QMenu, QPlainTextEdit, QTextBrowser, QWidget

from studio.application.comparison import ComparedPart, LineKind, TextRow
from studio.application.words import tr
from studio.core.text.diff import common_ends
from studio.core.text.invisible import reveal
from studio.ui.style.theme import (
    CHANGED_TINT,
    FollowsTheme,
    Theme,
    blend,
    fixed_font,
    paint_page,
    theme_in_use,
)

_NOTHING = 1


class ClosedText(QTextBrowser):
    """Shows HTML or Markdown without loading a file, an address or a link."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.anchorClicked.connect(self._offer)

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Return an empty picture: for None or a text, Qt would open the file itself."""
        nothing = QtGui.QImage(_NOTHING, _NOTHING, QtGui.QImage.Format.Format_ARGB32)
        nothing.fill(0)
        return nothing

    def _offer(self, link: QUrl) -> None:
        """Show the address of a web link with a button to open it; other links do nothing."""
        if link.scheme() not in ("http", "https"):
            return
        address = reveal(link.toString(QUrl.ComponentFormattingOption.FullyEncoded), lines=False)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(address.replace("&", "&&")).setEnabled(False)
        words = tr("Open this page in the browser")
        menu.addAction(words).triggered.connect(lambda: QtGui.QDesktopServices.openUrl(link))
        menu.popup(QtGui.QCursor.pos())


# A read-only view of JSON or other source text, with colors.

_LONG_WORD = re.compile(r"(?<!\S)\S{4000}")


class LongText(QPlainTextEdit):
    """Wraps at words, but anywhere if a word has thousands of letters.

    Qt's time for wrapping at words grows with the square of a word's length: a megabyte of base64
    froze the window for a minute. Wrapping anywhere takes no longer than for other text.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""

    def setPlainText(self, text: str) -> None:  # noqa: N802 - Qt's name
        """Show a text."""
        self._text = text
        mode, wanted = self.wordWrapMode(), wrap_mode(text)
        if mode not in (wanted, QtGui.QTextOption.WrapMode.NoWrap):
            super().setPlainText("")  # or the previous text would be laid out again
            self.setWordWrapMode(wanted)
        super().setPlainText(text)

    def change_text(self, text: str) -> None:
        """Show a text; parts shared with the previous text keep their layout and colors."""
        before = self._text
        # Impossible if Qt merges two characters, such as a carriage return and a line feed.
        is_known = self.document().characterCount() == units(before) + 1
        if text == before and is_known:
            return
        if not before or not is_known or wrap_mode(text) != self.wordWrapMode():
            self.setPlainText(text)
            return
        self._text = text
        start, end = common_ends(before, text)
        cursor = QtGui.QTextCursor(self.document())
        cursor.setPosition(units(before[:start]))
        cursor.setPosition(
            units(before[: len(before) - end]), QtGui.QTextCursor.MoveMode.KeepAnchor
        )
        cursor.insertText(text[start : len(text) - end])


def fixed_text(
    name: str, parent: QWidget | None = None, *, has_frame: bool = True, wraps: bool = True
) -> LongText:
    """Create a read-only view of a long text in the fixed-pitch font."""
    view = LongText(parent)
    view.setReadOnly(True)
    view.setFont(fixed_font(view.font()))
    view.setAccessibleName(name)
    if not has_frame:
        view.setFrameShape(QFrame.Shape.NoFrame)
    if not wraps:
        view.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    return view


def units(text: str) -> int:
    """Return the length of a text in UTF-16 units, as Qt counts."""
    return len(text) if text.isascii() else len(text) + sum(1 for char in text if char > "\uffff")


def wrap_mode(text: str) -> QtGui.QTextOption.WrapMode:
    """Return the wrap mode of a text."""
    is_long = _LONG_WORD.search(text) is not None
    mode = QtGui.QTextOption.WrapMode
    return mode.WrapAnywhere if is_long else mode.WrapAtWordBoundaryOrAnywhere


_TOKEN = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*")(?=\s*:)'
    r'|(?P<string>"(?:[^"\\]|\\.)*")'
    r"|(?P<number>-?\b\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\b)"
    r"|(?P<word>\btrue\b|\bfalse\b|\bnull\b)"
)
_JSON_BEGINS = re.compile(r'\s*(?:[{]\s*["}]|\[\s*(?:[\[{"\]\d-]|true|false|null))')
_LONGEST_LINE = 20_000


class JsonHighlighter(QtGui.QSyntaxHighlighter):
    """Colors keys, strings, numbers and constants; each line of JSON is independent."""

    def __init__(self, document: QtGui.QTextDocument) -> None:
        super().__init__(document)
        self.is_json = True
        """Whether the text is JSON; other text gets no colors."""
        self._formats: dict[str, QtGui.QTextCharFormat] = {}
        self.recolor()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        theme = theme_in_use()
        colors = {
            "key": theme.accent,
            "string": theme.success,
            "number": theme.warning,
            "word": theme.roles.get("system", theme.accent),
        }
        for kind, color in colors.items():
            look = QtGui.QTextCharFormat()
            look.setForeground(QtGui.QColor(color))
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
    """Return the height of a line as it is painted; the font's own value is slightly smaller."""
    block = editor.document().firstBlock()
    drawn = block.layout().boundingRect().height() / max(1, block.layout().lineCount())
    return max(drawn, editor.fontMetrics().lineSpacing())


class JsonView(FollowsTheme, LongText):
    """Read-only view of JSON, which can be selected and copied."""

    place_clicked = Signal(int)  # position in the text in UTF-16 units, as Qt counts
    request_input = Signal(int)  # the same, clicked with Ctrl
    request_tip = Signal(int, QPoint)  # position under the mouse, point of the screen

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
        """Use the colors of the current theme."""
        paint_page(self)
        if self._highlighter is not None:
            self._highlighter.recolor()

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        """Emit the position of a click without a selection."""
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
        """Show a tooltip for the position under the mouse."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QtGui.QHelpEvent):
            cursor = self.cursorForPosition(event.pos())
            if self.cursorRect(cursor).adjusted(-20, 0, 20, 0).contains(event.pos()):
                self.request_tip.emit(cursor.position(), event.globalPos())
                return True
        return super().viewportEvent(event)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Let Enter act like a click at the caret."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            held = event.modifiers() & Qt.KeyboardModifier.ControlModifier
            signal = self.request_input if held else self.place_clicked
            signal.emit(self.textCursor().position())
        else:
            super().keyPressEvent(event)

    def grow(self, most_lines: int) -> None:
        """Keep the view as high as its text, up to a number of lines."""
        self._most_lines = most_lines
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Fit the height: a narrower text is higher."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self, *_: object) -> None:
        if not self._most_lines:
            return
        # A plain text document measures its height in lines.
        lines = min(max(1, round(self.document().size().height())), self._most_lines)
        self.setFixedHeight(round(lines * line_height(self)) + 18)

    def show_answer(self, text: str) -> None:
        """Show an answer: an object or a list as JSON, otherwise as text."""
        if self._highlighter is not None:
            self._highlighter.is_json = _JSON_BEGINS.match(text) is not None
        self.show_json(text)

    def show_json(self, text: str) -> None:
        """Show a text and keep the scroll position."""
        bar = self.verticalScrollBar()
        place = bar.value()
        self.change_text(text)
        bar.setValue(place)


# A comparison of texts by line with changed words marked, by signs as well as colors.

_MARGIN = 10.0
_SPACE = 6.0
_SIGNS = {"same": " ", "added": "+", "removed": "−"}


class ComparisonView(FollowsTheme, ClosedText):
    """Shows differing parts, or a sentence that explains why there are none."""

    part_chosen = Signal(int)  # number of a part whose title was clicked

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: tuple[ComparedPart, ...] = ()
        self._sentence = ""
        self.setAccessibleName(tr("Differences"))
        self.document().setDocumentMargin(_MARGIN)
        self.anchorClicked.connect(self._follow)
        self.follow_theme()

    def show_rows(self, rows: Sequence[TextRow], sentence: str = "") -> None:
        """Show one comparison below a sentence that names the two texts."""
        self._show((ComparedPart("", tuple(rows)),), sentence)

    def show_parts(self, parts: Sequence[ComparedPart]) -> None:
        """Show several parts with titles; the title of a part in the editor is a link."""
        self._show(tuple(parts), "")

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        paint_page(self)
        self._show(self._parts, self._sentence)

    def _show(self, parts: tuple[ComparedPart, ...], sentence: str) -> None:
        self._parts, self._sentence = parts, sentence
        place = self.verticalScrollBar().value()
        self.clear()
        cursor = QtGui.QTextCursor(self.document())
        cursor.beginEditBlock()
        theme = theme_in_use()
        heading = _paragraph(theme.surface, _SPACE)
        looks = _row_looks(theme, fixed_font(self.font()))
        if sentence:
            self._begin(cursor, heading)
            cursor.insertText(sentence, _look(theme.muted))
        for number, part in enumerate(parts):
            title = part.title or (tr("Revert these lines") if part.take_back else "")
            if title:
                self._begin(cursor, heading)
                cursor.insertText(title, _title_look(part, number, theme))
            for row in part.rows:
                self._begin(cursor, looks[row.kind].paragraph)
                _write(cursor, row, looks[row.kind])
        cursor.endEditBlock()
        self.setTextCursor(
            QtGui.QTextCursor(self.document())
        )  # at the beginning, and visible there
        self.verticalScrollBar().setValue(place)

    def _begin(self, cursor: QtGui.QTextCursor, paragraph: QtGui.QTextBlockFormat) -> None:
        if self.document().isEmpty():
            cursor.setBlockFormat(paragraph)
        else:
            cursor.insertBlock(paragraph)

    def _follow(self, link: QUrl) -> None:
        self.part_chosen.emit(int(link.path() or -1))


@dataclass(frozen=True, slots=True)
class _RowLook:
    """The style of one kind of row."""

    paragraph: QtGui.QTextBlockFormat
    number: QtGui.QTextCharFormat
    text: QtGui.QTextCharFormat
    changed: QtGui.QTextCharFormat


def _row_looks(theme: Theme, font: QtGui.QFont) -> dict[LineKind, _RowLook]:
    tones: tuple[tuple[LineKind, str, str], ...] = (
        ("same", theme.text, theme.surface),
        ("gap", theme.muted, theme.raised),
        ("added", theme.success, blend(theme.success, theme.surface, 0.10)),
        ("removed", theme.error, blend(theme.error, theme.surface, 0.10)),
    )
    made: dict[LineKind, _RowLook] = {}
    for kind, color, ground in tones:
        changed = _look(theme.text, font)  # its own color is too pale on that background
        changed.setBackground(QtGui.QColor(blend(color, theme.surface, CHANGED_TINT)))
        changed.setFontUnderline(kind == "added")
        changed.setFontStrikeOut(kind == "removed")
        made[kind] = _RowLook(
            _paragraph(ground), _look(theme.muted, font), _look(color, font), changed
        )
    return made


def _write(cursor: QtGui.QTextCursor, row: TextRow, look: _RowLook) -> None:
    if row.kind == "gap":
        cursor.insertText(f"   ⋯  {_gap(row)}", look.text)
        return
    cursor.insertText(f"{row.line:>4}  ", look.number)
    cursor.insertText(f"{_SIGNS[row.kind]} ", look.text)
    for piece in row.pieces:
        cursor.insertText(piece.text, look.changed if piece.is_changed else look.text)


def _paragraph(ground: str, space: float = 0.0) -> QtGui.QTextBlockFormat:
    look = QtGui.QTextBlockFormat()
    look.setBackground(QtGui.QColor(ground))
    look.setBottomMargin(space)
    look.setTopMargin(space)
    return look


def _title_look(part: ComparedPart, number: int, theme: Theme) -> QtGui.QTextCharFormat:
    is_link = part.span is not None or bool(part.take_back)
    look = _look(theme.accent if is_link else theme.text)
    look.setFontWeight(QtGui.QFont.Weight.DemiBold)
    if is_link:
        look.setAnchor(True)
        look.setAnchorHref(f"part:{number}")
        look.setFontUnderline(True)
    return look


def _look(color: str, font: QtGui.QFont | None = None) -> QtGui.QTextCharFormat:
    look = QtGui.QTextCharFormat()
    if font is not None:
        look.setFont(font)
    look.setForeground(QtGui.QColor(color))
    return look


def _gap(row: TextRow) -> str:
    if not row.hidden:
        return tr("The rest is not shown.")
    words = tr("{number:,} lines are the same")
    return words.format(number=row.hidden)
