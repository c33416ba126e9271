"""Decorations of a text's rows: light behind the letters, and words over them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6 import QtGui
from PySide6.QtCore import QObject, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtWidgets import QApplication, QScrollBar, QWidget

from studio.application.words import tr
from studio.core.text.amounts import by_count
from studio.core.text.source import Span
from studio.ui.style.theme import fill, theme_in_use

if TYPE_CHECKING:
    from studio.core.prompty.document import PromptDocument
    from studio.ui.editor.text.painting.gutter import Gutter
    from studio.ui.editor.text.prompt_view import PromptView


_FRONT_GAP = 12
"""Pixels between the name of a folded front matter and what it has."""
_GHOST_GAP = 16
"""Gap between the end of a line and the text behind it, in pixels."""
_LEFT = int((Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter).value)


class CaretLine:
    """Painted before the text, and only while nothing is selected.

    As an extra selection it would have Qt draw the row three times: a seventh of a key.
    """

    def __init__(self, view: PromptView) -> None:
        self._view = view
        self._line = QtGui.QTextCursor(view.document())
        """In the line that is lit. No `QTextBlock`: that of a line which went away still says that
        it is valid, and Qt crashes on it.
        """
        self._row = -1
        self._is_lit = False
        self._color = QtGui.QColor()

    def recolor(self) -> None:
        """Take the color of the theme in use."""
        self._color = QtGui.QColor(theme_in_use().current_line)
        self._view.viewport().update()

    def follow(self, cursor: QtGui.QTextCursor) -> QtGui.QTextBlock | None:
        """Light the row where the caret is, after it moved.

        Args:
            cursor: the caret.

        Returns:
            The line that it left; None where it stays in it.
        """
        block, before = cursor.block(), self._line.block()
        row = _row_of(block, cursor)
        is_lit = not cursor.hasSelection()
        is_here = block == before
        if is_here and row == self._row and is_lit == self._is_lit:
            return None
        self._row, self._is_lit = row, is_lit
        if not is_here:
            self._line = QtGui.QTextCursor(block)
            self._paint_soon(before)
        self._paint_soon(block)
        return None if is_here else before

    def paint(self) -> None:
        """Paint it on the empty ground, before the text."""
        view = self._view
        if view.textCursor().hasSelection():
            return
        place = view.cursorRect()
        painter = QtGui.QPainter(view.viewport())
        room = QRectF(0, place.top(), view.viewport().width(), place.height())
        fill(painter, room, self._color)
        painter.end()

    def _paint_soon(self, block: QtGui.QTextBlock) -> None:
        place, ground = self._view.geometry_of(block).toAlignedRect(), self._view.viewport()
        ground.update(0, place.top(), ground.width(), place.height())


class RunLines:
    """Lights the lines behind the moment of a run, and brings the first into sight.

    The caret stays where it is.
    """

    def __init__(self, editor: PromptView, gutter: Gutter) -> None:
        self._editor = editor
        self._gutter = gutter
        self.spans: tuple[Span, ...] = ()
        """Places that are lit."""

    def show(self, spans: Sequence[Span]) -> None:
        """Light the lines of these places; none where there are none."""
        is_new, self.spans = tuple(spans) != self.spans, tuple(spans)
        lines = self._lines()
        self._editor.marks.set_run(lines)
        self._gutter.set_run(frozenset(lines))
        if lines and is_new:
            self._bring(self._editor.document().findBlockByNumber(lines[0]))

    def paint_again(self) -> None:
        """Paint again, after the colors changed."""
        self.show(self.spans)

    def _lines(self) -> list[int]:
        """Return the lines, from 0; for a folded place the line that it is folded behind."""
        source, document = self._editor.source(), self._editor.document()
        lines: set[int] = set()
        for span in self.spans:
            last = max(span.start, span.end - 1)
            for number in range(source.line_of(span.start), source.line_of(last) + 1):
                block = document.findBlockByNumber(number)
                while block.isValid() and not block.isVisible():
                    block = block.previous()
                lines.add(max(0, block.blockNumber()))
        return sorted(lines)

    def _bring(self, block: QtGui.QTextBlock) -> None:
        """Scroll only if the line is out of sight: the text stays in place while one steps."""
        editor = self._editor
        shown = [each.blockNumber() for each, _, _ in editor.visible_blocks()]
        if shown and not shown[0] <= block.blockNumber() < shown[-1]:
            bar = editor.verticalScrollBar()
            bar.setValue(block.firstLineNumber() - bar.pageStep() // 3)


class FrontLine:
    """The one line that a folded front matter is: the prompt's name, and what it has.

    Painted over the `---` that begins it.
    """

    def __init__(self, view: PromptView) -> None:
        self._view = view

    def paint(self, dirty: QRect, document: PromptDocument) -> None:
        """Paint it, where its line is on the screen."""
        from studio.application.editing.structure import front_facts  # not before the first paint

        theme = theme_in_use()
        block = self._view.document().firstBlock()
        place = self._view.geometry_of(block)
        room = QRectF(0, place.top(), self._view.viewport().width(), place.height())
        if not room.intersects(QRectF(dirty)):
            return
        name, facts = front_facts(document)
        painter = QtGui.QPainter(self._view.viewport())
        painter.fillRect(room, QtGui.QColor(theme.raised))
        font = _plain_font()
        at = place.left() + self._view.document().documentMargin()
        for text, weight, color in (
            (name, QtGui.QFont.Weight.DemiBold, theme.text),
            ("  ·  ".join(facts), QtGui.QFont.Weight.Normal, theme.muted),
        ):
            font.setWeight(weight)
            painter.setFont(font)
            painter.setPen(QtGui.QColor(color))
            metrics = painter.fontMetrics()
            left = metrics.elidedText(
                text, Qt.TextElideMode.ElideRight, max(0, int(room.width() - at) - _FRONT_GAP)
            )
            painter.drawText(QRectF(at, room.top(), room.width(), room.height()), _LEFT, left)
            at += metrics.horizontalAdvance(left) + (_FRONT_GAP if left else 0)
        painter.end()


class GhostValues(QObject):
    """Values in gray behind the lines that put them in, and the fix of the caret's line.

    Painted only where it fits whole: never wrapped, never copied.

    A child of its view: two views share a text, and the one that is closed hears no more of it.
    """

    def __init__(self, view: PromptView) -> None:
        super().__init__(view)
        self._view = view
        self.values: dict[int, str] = {}
        """Text behind each line, counted from 0."""
        self._fixes: dict[int, str] = {}
        self._lines = 0
        self._is_shown = True

    def show(self, values: Mapping[int, str]) -> None:
        """Put texts behind lines, counted from 0, in place of those before."""
        self._lines = self._view.blockCount()
        if dict(values) != self.values:
            self.values = dict(values)
            self._view.viewport().update()

    def show_fixes(self, fixes: Mapping[int, str]) -> None:
        """Show the first fix of a line while the caret is there."""
        if dict(fixes) != self._fixes:
            self._fixes = dict(fixes)
            self._view.viewport().update()

    def set_shown(self, shown: bool) -> None:
        """Set whether values are shown; fixes always are."""
        if shown != self._is_shown:
            self._is_shown = shown
            self._view.viewport().update()

    def follow_edit(self) -> None:
        """Hide the text behind the caret's line after a change, and move that of other lines."""
        if not self.values:
            return
        line, grown = self._view.textCursor().blockNumber(), self._view.blockCount() - self._lines
        self._lines += grown
        first = line - max(0, grown)
        moved = {
            at if at < first else at + grown: text
            for at, text in self.values.items()
            if at < first or at > first
        }
        self.values = moved

    def paint(self, dirty: QRect) -> None:
        """Paint the text behind the visible lines."""
        caret = self._view.textCursor().blockNumber()
        values = self.values if self._is_shown else {}
        if not values and caret not in self._fixes:
            return
        theme = theme_in_use()
        painter: QtGui.QPainter | None = None
        for block, top, _ in self._view.visible_blocks(dirty):
            line = block.blockNumber()
            fix = self._fixes.get(line, "") if line == caret else ""
            text = fix or values.get(line, "")
            if not text:
                continue
            if painter is None:
                painter = QtGui.QPainter(self._view.viewport())
                painter.setFont(_ghost_font(self._view))
            painter.setPen(QtGui.QColor(theme.warning if fix else theme.muted))
            self._paint_behind(painter, block, top, text)
        if painter is not None:
            painter.end()

    def _paint_behind(
        self, painter: QtGui.QPainter, block: QtGui.QTextBlock, top: float, text: str
    ) -> None:
        layout = block.layout()
        if not layout.lineCount():
            return
        last = layout.lineAt(layout.lineCount() - 1)
        left = self._view.contentOffset().x() + last.x() + last.naturalTextWidth() + _GHOST_GAP
        metrics = QtGui.QFontMetricsF(painter.font())
        if left + metrics.horizontalAdvance(text) > self._view.viewport().width():
            return
        painter.drawText(QPointF(left, top + last.y() + last.ascent()), text)


def _ghost_font(view: PromptView) -> QtGui.QFont:
    font = _plain_font()
    font.setPointSizeF(max(6.0, view.font().pointSizeF() - 1))
    font.setItalic(True)
    return font


def _plain_font() -> QtGui.QFont:
    """Return the window's font with all attributes set: a painter inherits the missing ones."""
    font = QtGui.QFont(QApplication.font())
    font.setFamilies(font.families())
    font.setPointSizeF(font.pointSizeF())
    return font


def _row_of(block: QtGui.QTextBlock, cursor: QtGui.QTextCursor) -> int:
    if block.lineCount() < 2:
        return 0
    return block.layout().lineForTextPosition(cursor.positionInBlock()).lineNumber()


# The scroll bar with its marks, and the heading of a section that is scrolled off.

_MARK_HEIGHT = 3.0
_ORDER = ("change", "match", "hint", "warning", "error")
"""Order of painting, from below."""


class MarkBar(QScrollBar):
    """Shows where in the whole text something is; a click on it scrolls there, as ever."""

    def __init__(self, view: PromptView) -> None:
        super().__init__(Qt.Orientation.Vertical, view)
        self._view = view
        self.marks: dict[str, tuple[int, ...]] = {}
        """The lines marked, from 0, by kind."""
        self.setAccessibleName(tr("Place in the text"))

    def mark(self, kind: str, lines: Iterable[int]) -> None:
        """Mark lines, from 0, as of a kind: `error`, `warning`, `hint`, `match` or `change`."""
        shown = tuple(sorted(set(lines)))
        if shown != self.marks.get(kind, ()):
            self.marks[kind] = shown
            self._tell()
            self.update()

    def _tell(self) -> None:
        lines = [
            ("error", tr("1 error"), tr("{count} errors")),
            ("warning", tr("1 warning"), tr("{count} warnings")),
            ("match", tr("1 match"), tr("{count} matches")),
            ("change", tr("1 changed line"), tr("{count} changed lines")),
        ]
        counts = ((len(self.marks.get(kind, ())), one, many) for kind, one, many in lines)
        texts = [by_count(count, one, many) for count, one, many in counts if count]
        self.setAccessibleDescription(", ".join(texts))

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        """Paint the bar, then the marks over it."""
        super().paintEvent(event)
        if not any(self.marks.values()):
            return
        painter = QtGui.QPainter(self)
        theme = theme_in_use()
        colors = {
            "error": theme.error,
            "warning": theme.warning,
            "hint": theme.hint,
            "match": theme.accent,
            "change": theme.success,
        }
        count = max(1, self._view.blockCount())
        room = self.height() - _MARK_HEIGHT
        for kind in _ORDER:
            # Changes stand at the left edge and the others at the right: neither hides the other.
            left = 0.0 if kind == "change" else self.width() / 2
            width = self.width() / 3 if kind == "change" else self.width() / 2
            for line in self.marks.get(kind, ()):
                top = room * min(line, count) / count
                painter.fillRect(QRectF(left, top, width, _MARK_HEIGHT), QtGui.QColor(colors[kind]))
        painter.end()


class StickyHeader(QWidget):
    """The marker of the section that the top of the text belongs to, while it is scrolled away.

    One row over the top of the text; a click goes to the marker.
    """

    request_line = Signal(int)  # line, from 0

    def __init__(self, view: PromptView) -> None:
        super().__init__(view)
        self._view = view
        self._lines: list[int] = []
        self._markers: list[tuple[str, str]] = []
        self._line = -1
        self._text = self._role = ""
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.hide()

    @property
    def text(self) -> str:
        """Return the shown text; empty while it is hidden."""
        return "" if self.isHidden() else self._text

    def read(self, document: PromptDocument) -> None:
        """Take the sections of the newest text."""
        source = document.source
        marked = [section for section in document.sections if section.marker is not None]
        self._lines = [source.line_of(section.marker.start) for section in marked if section.marker]
        self._markers = [
            (section.role, source.slice(section.marker)) for section in marked if section.marker
        ]
        self.follow()

    def follow(self) -> None:
        """Show the marker that is out of sight, after the view scrolled or the caret moved."""
        top = self._view.firstVisibleBlock().blockNumber()
        index = bisect_right(self._lines, top) - 1
        is_shown = (
            index >= 0
            and self._lines[index] < top
            and (index + 1 >= len(self._lines) or self._lines[index + 1] > top + 1)
            and self._view.textCursor().blockNumber() != top  # the caret's line is never covered
        )
        if is_shown:
            self._line = self._lines[index]
            self._role, self._text = self._markers[index]
            self.setAccessibleName(tr("Section: {name}").format(name=self._text))
            room = self._view.viewport().geometry()
            height = self._view.fontMetrics().lineSpacing() + 4
            self.setGeometry(room.left(), room.top(), room.width(), height)
            self.update()
        self.setVisible(is_shown)

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        """Paint the marker in its role's color."""
        theme = theme_in_use()
        painter = QtGui.QPainter(self)
        painter.fillRect(self.rect(), QtGui.QColor(theme.raised))
        painter.setPen(QtGui.QColor(theme.border))
        painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)
        painter.setFont(self._view.font())
        painter.setPen(QtGui.QColor(theme.roles.get(self._role, theme.muted)))
        inside = self.rect().adjusted(int(self._view.document().documentMargin()), 0, -8, 0)
        shown = painter.fontMetrics().elidedText(
            self._text, Qt.TextElideMode.ElideRight, inside.width()
        )
        painter.drawText(inside, _LEFT, shown)
        painter.end()

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        """Go to the marker."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.request_line.emit(self._line)
