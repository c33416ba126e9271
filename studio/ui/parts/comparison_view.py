"""A comparison of texts, line by line with the changed words marked; signs say what colors say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QColor, QFont, QTextBlockFormat, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QWidget

from studio.application.comparison import ComparedPart, LineKind, TextRow
from studio.application.words import tr
from studio.ui.parts.closed_text import ClosedText
from studio.ui.style.colors import CHANGED_TINT, blend, fixed_font, paint_page
from studio.ui.style.in_use import FollowsTheme, theme_in_use
from studio.ui.style.theme import Theme

_MARGIN = 10.0
_SPACE = 6.0
_SIGNS = {"same": " ", "added": "+", "removed": "−"}


class ComparisonView(FollowsTheme, ClosedText):
    """Shows what differs, part by part, or the sentence that says why nothing does."""

    part_chosen = Signal(int)  # number of a part whose title, a link, was clicked

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: tuple[ComparedPart, ...] = ()
        self._sentence = ""
        self.setAccessibleName(tr("Differences"))
        self.document().setDocumentMargin(_MARGIN)
        self.anchorClicked.connect(self._follow)
        self.follow_theme()

    def show_rows(self, rows: Sequence[TextRow], sentence: str = "") -> None:
        """Show one comparison, under a sentence that says what is compared with what."""
        self._show((ComparedPart("", tuple(rows)),), sentence)

    def show_parts(self, parts: Sequence[ComparedPart]) -> None:
        """Show several, each under its title; one that is written in the editor is a link."""
        self._show(tuple(parts), "")

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        paint_page(self)
        self._show(self._parts, self._sentence)

    def _show(self, parts: tuple[ComparedPart, ...], sentence: str) -> None:
        self._parts, self._sentence = parts, sentence
        place = self.verticalScrollBar().value()
        self.clear()
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        theme = theme_in_use()
        heading = _paragraph(theme.surface, _SPACE)
        looks = _row_looks(theme, fixed_font(self.font()))
        if sentence:
            self._begin(cursor, heading)
            cursor.insertText(sentence, _look(theme.muted))
        for number, part in enumerate(parts):
            title = part.title or (tr("Take these lines back") if part.take_back else "")
            if title:
                self._begin(cursor, heading)
                cursor.insertText(title, _title_look(part, number, theme))
            for row in part.rows:
                self._begin(cursor, looks[row.kind].paragraph)
                _write(cursor, row, looks[row.kind])
        cursor.endEditBlock()
        self.setTextCursor(QTextCursor(self.document()))  # at the beginning, and in sight there
        self.verticalScrollBar().setValue(place)

    def _begin(self, cursor: QTextCursor, paragraph: QTextBlockFormat) -> None:
        if self.document().isEmpty():
            cursor.setBlockFormat(paragraph)
        else:
            cursor.insertBlock(paragraph)

    def _follow(self, link: QUrl) -> None:
        self.part_chosen.emit(int(link.path() or -1))


@dataclass(frozen=True, slots=True)
class _RowLook:
    """How one kind of row is written."""

    paragraph: QTextBlockFormat
    number: QTextCharFormat
    text: QTextCharFormat
    changed: QTextCharFormat


def _row_looks(theme: Theme, font: QFont) -> dict[LineKind, _RowLook]:
    tones: tuple[tuple[LineKind, str, str], ...] = (
        ("same", theme.text, theme.surface),
        ("gap", theme.muted, theme.raised),
        ("added", theme.success, blend(theme.success, theme.surface, 0.10)),
        ("removed", theme.error, blend(theme.error, theme.surface, 0.10)),
    )
    made: dict[LineKind, _RowLook] = {}
    for kind, color, ground in tones:
        changed = _look(theme.text, font)  # its own color is too pale on that ground
        changed.setBackground(QColor(blend(color, theme.surface, CHANGED_TINT)))
        changed.setFontUnderline(kind == "added")
        changed.setFontStrikeOut(kind == "removed")
        made[kind] = _RowLook(
            _paragraph(ground), _look(theme.muted, font), _look(color, font), changed
        )
    return made


def _write(cursor: QTextCursor, row: TextRow, look: _RowLook) -> None:
    if row.kind == "gap":
        cursor.insertText(f"   ⋯  {_gap(row)}", look.text)
        return
    cursor.insertText(f"{row.line:>4}  ", look.number)
    cursor.insertText(f"{_SIGNS[row.kind]} ", look.text)
    for piece in row.pieces:
        cursor.insertText(piece.text, look.changed if piece.is_changed else look.text)


def _paragraph(ground: str, space: float = 0.0) -> QTextBlockFormat:
    look = QTextBlockFormat()
    look.setBackground(QColor(ground))
    look.setBottomMargin(space)
    look.setTopMargin(space)
    return look


def _title_look(part: ComparedPart, number: int, theme: Theme) -> QTextCharFormat:
    is_link = part.span is not None or bool(part.take_back)
    look = _look(theme.accent if is_link else theme.text)
    look.setFontWeight(QFont.Weight.DemiBold)
    if is_link:
        look.setAnchor(True)
        look.setAnchorHref(f"part:{number}")
        look.setFontUnderline(True)
    return look


def _look(color: str, font: QFont | None = None) -> QTextCharFormat:
    look = QTextCharFormat()
    if font is not None:
        look.setFont(font)
    look.setForeground(QColor(color))
    return look


def _gap(row: TextRow) -> str:
    if not row.hidden:
        return tr("The rest is not shown.")
    words = tr("{number:,} lines are the same")
    return words.format(number=row.hidden)
