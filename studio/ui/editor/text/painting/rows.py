"""Decorations of the text's rows: backgrounds and additional texts."""

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
"""Pixels between the name and the facts of a folded front matter."""
_GHOST_GAP = 16
"""Pixels between the end of a line and the text after it."""
_LEFT = int((Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter).value)


class CaretLine:
    """Background of the caret's row, painted before the text and only without a selection.

    As an extra selection, Qt would paint the row three times: a seventh of a key's time.
    """

    def __init__(self, view: PromptView) -> None:
        self._view = view
        self._line = QtGui.QTextCursor(view.document())
        """Cursor in the highlighted line.

        Not a `QTextBlock`: that of a deleted line still claims to be valid, and Qt crashes on it.
        """
        self._row = -1
        self._is_lit = False
        self._color = QtGui.QColor()

    def recolor(self) -> None:
        """Use the color of the current theme."""
        self._color = QtGui.QColor(theme_in_use().current_line)
        self._view.viewport().update()

    def follow(self, cursor: QtGui.QTextCursor) -> QtGui.QTextBlock | None:
        """Highlight the row of the caret after a move.

        Args:
            cursor: the caret.

        Returns:
            The previous line; None if the line is the same.
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
        """Paint the background before the text."""
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
    """Highlights the lines of the run cursor, and scrolls to the first.

    The caret does not move.
    """

    def __init__(self, editor: PromptView, gutter: Gutter) -> None:
        self._editor = editor
        self._gutter = gutter
        self.spans: tuple[Span, ...] = ()
        """The highlighted spans."""

    def show(self, spans: Sequence[Span]) -> None:
        """Highlight the lines of these spans; no spans clear the highlight."""
        is_new, self.spans = tuple(spans) != self.spans, tuple(spans)
        lines = self._lines()
        self._editor.marks.set_run(lines)
        self._gutter.set_run(frozenset(lines))
        if lines and is_new:
            self._bring(self._editor.document().findBlockByNumber(lines[0]))

    def paint_again(self) -> None:
        """Repaint after a change of colors."""
        self.show(self.spans)

    def _lines(self) -> list[int]:
        """Return the lines, from 0; a folded span gives the line of its fold."""
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
        """Scroll only if the line is not visible: the text stays in place while stepping."""
        editor = self._editor
        shown = [each.blockNumber() for each, _, _ in editor.visible_blocks()]
        if shown and not shown[0] <= block.blockNumber() < shown[-1]:
            bar = editor.verticalScrollBar()
            bar.setValue(block.firstLineNumber() - bar.pageStep() // 3)


class FrontLine:
    """The line of a folded front matter, with the prompt's name and its facts.

    It is painted over the opening `---`.
    """

    def __init__(self, view: PromptView) -> None:
        self._view = view

    def paint(self, dirty: QRect, document: PromptDocument) -> None:
        """Paint the line if it is visible."""
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
    """Gray values after the lines that insert them, and the fix for the caret's line.

    Each is painted only if it fits completely, and is never wrapped or copied.

    It is a child of its view: two views may share a text, and a closed one gets no signals.
    """

    def __init__(self, view: PromptView) -> None:
        super().__init__(view)
        self._view = view
        self.values: dict[int, str] = {}
        """Text after each line, counted from 0."""
        self._fixes: dict[int, str] = {}
        self._lines = 0
        self._is_shown = True

    def show(self, values: Mapping[int, str]) -> None:
        """Replace the texts after lines, counted from 0."""
        self._lines = self._view.blockCount()
        if dict(values) != self.values:
            self.values = dict(values)
            self._view.viewport().update()

    def show_fixes(self, fixes: Mapping[int, str]) -> None:
        """Show the first fix of a line while the caret is on it."""
        if dict(fixes) != self._fixes:
            self._fixes = dict(fixes)
            self._view.viewport().update()

    def set_shown(self, shown: bool) -> None:
        """Set whether values are shown; fixes are always shown."""
        if shown != self._is_shown:
            self._is_shown = shown
            self._view.viewport().update()

    def follow_edit(self) -> None:
        """Hide the text after the caret's line on a change, and move that of other lines."""
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
        """Paint the texts after the visible lines."""
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


# The scroll bar with marks, and the heading of a section that was scrolled out of view.

_MARK_HEIGHT = 3.0
_ORDER = ("change", "match", "hint", "warning", "error")
"""Order of painting, from bottom to top."""


class MarkBar(QScrollBar):
    """Scroll bar that marks lines of the whole text; a click scrolls as usual."""

    def __init__(self, view: PromptView) -> None:
        super().__init__(Qt.Orientation.Vertical, view)
        self._view = view
        self.marks: dict[str, tuple[int, ...]] = {}
        """Marked lines, from 0, by kind."""
        self.setAccessibleName(tr("Place in the text"))

    def mark(self, kind: str, lines: Iterable[int]) -> None:
        """Set the marked lines, from 0, of a kind: error, warning, hint, match or change."""
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
            # Changes are at the left edge and other marks at the right, so that all stay visible.
            left = 0.0 if kind == "change" else self.width() / 2
            width = self.width() / 3 if kind == "change" else self.width() / 2
            for line in self.marks.get(kind, ()):
                top = room * min(line, count) / count
                painter.fillRect(QRectF(left, top, width, _MARK_HEIGHT), QtGui.QColor(colors[kind]))
        painter.end()


class StickyHeader(QWidget):
    """The role marker of the section at the top of the view, while it is scrolled out of view.

    It covers one row at the top of the text; a click goes to the marker.
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
        """Return the shown text; empty if it is hidden."""
        return "" if self.isHidden() else self._text

    def read(self, document: PromptDocument) -> None:
        """Set the sections from a newer document."""
        source = document.source
        marked = [section for section in document.sections if section.marker is not None]
        self._lines = [source.line_of(section.marker.start) for section in marked if section.marker]
        self._markers = [
            (section.role, source.slice(section.marker)) for section in marked if section.marker
        ]
        self.follow()

    def follow(self) -> None:
        """Update the shown marker after scrolling or a move of the caret."""
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
