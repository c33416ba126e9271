"""The text of a prompt, shared by its editors: lines, colors, folds and undo.

It also computes the positions of lines on the screen.

It also hides folded lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QRect, QRectF, Signal
from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument, QTextOption
from PySide6.QtWidgets import QPlainTextDocumentLayout, QPlainTextEdit

from studio.core.text.diff import smallest_edit
from studio.core.text.source import SourceText, TextEdit, sort_edits
from studio.ui.editor.highlight.highlighter import Highlighter
from studio.ui.editor.text import marks
from studio.ui.style.theme import mono_font
from studio.viewmodels.app.jobs import LatestJob

if TYPE_CHECKING:
    from studio.application.editing.structure import FoldingRange
    from studio.core.prompty.document import PromptDocument


_LONG = 100_000
"""Number of characters from which folds are computed in the pool: 60 ms at 50,000 lines."""


class Folding(QObject):
    """Folds and unfolds lines of a document in all of its editors; lines from 0."""

    found = Signal()  # foldable ranges were computed again
    changed = Signal()  # lines were hidden or shown

    def __init__(self, document: QTextDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._read: PromptDocument | None = None
        self.folds: Mapping[int, FoldingRange] = {}
        """Foldable ranges, by first line."""
        self._closed: list[QTextCursor] = []
        """Cursors in the first lines of folds, which move with the text."""
        self._hidden = 0
        """Number of hidden lines at the last update."""
        self._looking = LatestJob(self, self._take)

    def is_closed(self, line: int) -> bool:
        """Return whether lines after that line are hidden."""
        behind = self._document.findBlockByNumber(line + 1)
        return line in self.folds and behind.isValid() and not behind.isVisible()

    @property
    def is_any_closed(self) -> bool:
        """Whether any lines are hidden."""
        return bool(self._closed)

    def read(self, document: PromptDocument) -> None:
        """Compute the foldable ranges of a new document; each of its editors may call this."""
        if document is self._read:
            return
        from studio.application.editing.structure import folds  # not before the first paint

        self._read = document
        if len(document.source) < _LONG:
            self._looking.drop()
            self._take(_by_line(folds(document)))
        else:
            self._looking.submit(lambda: _by_line(folds(document)))

    def toggle(self, line: int) -> None:
        """Fold or unfold at a line or at the nearest range around it."""
        if line not in self.folds:
            around = [fold for fold in self.folds.values() if fold.first <= line <= fold.last]
            if not around:
                return
            line = max(around, key=lambda fold: fold.first).first
        self._close(self._closed_lines() ^ {line})

    def close_around(self, line: int) -> None:
        """Fold the nearest unfolded range around a line."""
        closed = self._closed_lines()
        around = [
            fold.first
            for fold in self.folds.values()
            if fold.first <= line <= fold.last and fold.first not in closed
        ]
        if around:
            self._close(closed | {max(around)})

    def open_at(self, line: int) -> None:
        """Unfold the range at a line."""
        self._close(self._closed_lines() - {line})

    def close(self, line: int) -> None:
        """Fold the range at a line, if there is one."""
        self._close(self._closed_lines() | {line})

    def fold_all(self) -> None:
        """Fold all ranges."""
        self._close(set(self.folds))

    def unfold_all(self) -> None:
        """Show every line."""
        self._close(set())

    def show_line(self, line: int) -> None:
        """Unfold the ranges that hide a line."""
        self.show_lines((line,))

    def show_lines(self, lines: Sequence[int]) -> None:
        """Unfold the ranges that hide any of some lines."""
        closed = self._closed_lines()
        hiding = {
            each
            for each in closed & self.folds.keys()
            if any(each < line <= self.folds[each].last for line in lines)
        }
        if hiding:
            self._close(closed - hiding)

    def rest(self) -> None:
        """Stop computing folds when the last editor is closed."""
        self._looking.drop()

    def _take(self, found: Mapping[int, FoldingRange]) -> None:
        """Set the foldable ranges; unfold ranges that no longer exist."""
        self.folds = found
        if self._closed and self._is_of_now():
            self._close(self._closed_lines())
        self.found.emit()

    def _is_of_now(self) -> bool:
        """Return whether the folds belong to the current text; otherwise their lines have moved."""
        return self._read is not None and len(self._read.source.line_starts) == (
            self._document.blockCount()
        )

    def _closed_lines(self) -> set[int]:
        return {cursor.blockNumber() for cursor in self._closed}

    def _close(self, lines: set[int]) -> None:
        """Fold the ranges at these lines only."""
        lines &= self.folds.keys()
        self._closed = [
            QTextCursor(self._document.findBlockByNumber(line)) for line in sorted(lines)
        ]
        hidden: set[int] = set()
        for line in lines:
            hidden.update(range(line + 1, self.folds[line].last + 1))
        if len(hidden) == self._hidden and all(
            not self._document.findBlockByNumber(line).isVisible() for line in hidden
        ):
            return
        self._hidden = len(hidden)
        first, last = self._show_and_hide(hidden)
        if last < first:
            return
        start = self._document.findBlockByNumber(first).position()
        end = self._document.findBlockByNumber(last)
        self._document.markContentsDirty(start, end.position() + end.length() - start)
        self.changed.emit()

    def _show_and_hide(self, hidden: set[int]) -> tuple[int, int]:
        """Set each block's visibility; return the first and last changed line."""
        first, last = self._document.blockCount(), -1
        block = self._document.firstBlock()
        number = 0
        while block.isValid():
            visible = number not in hidden
            if block.isVisible() != visible:
                block.setVisible(visible)
                block.setLineCount(1 if visible else 0)
                first, last = min(first, number), number
            block = block.next()
            number += 1
        return first, last


def _by_line(found: Iterable[FoldingRange]) -> Mapping[int, FoldingRange]:
    return {fold.first: fold for fold in found}


class BlockView(QPlainTextEdit):
    """A plain text widget that computes the positions of its lines; lines from 0."""

    _left_room = 0
    _right_room = 0

    def visible_blocks(
        self, part: QRect | None = None
    ) -> Iterator[tuple[QTextBlock, float, float]]:
        """Yield the visible lines with their top and height in the viewport.

        Args:
            part: part of the viewport; None for all of it.
        """
        if part is None:
            block, bottom = self.firstVisibleBlock(), self.viewport().height()
        else:
            block = self.cursorForPosition(QPoint(0, part.top())).block()
            bottom = min(part.bottom(), self.viewport().height())
            while not block.isVisible() and block.previous().isValid():
                block = block.previous()
        top = self.geometry_of(block).top()
        while block.isValid() and top <= bottom:
            height = self.blockBoundingRect(block).height()
            if block.isVisible():
                yield block, top, height
                top += height
            block = block.next()

    def line_at(self, y: float) -> int | None:
        """Return the line at a vertical position in the viewport."""
        for block, top, height in self.visible_blocks():
            if top <= y < top + height:
                return block.blockNumber()
        return None

    def geometry_of(self, block: QTextBlock) -> QRectF:
        """Return the rectangle of a line in the viewport."""
        return self.blockBoundingGeometry(block).translated(self.contentOffset())

    @property
    def is_wrapped(self) -> bool:
        """Whether long lines wrap."""
        return self.lineWrapMode() == QPlainTextEdit.LineWrapMode.WidgetWidth

    @property
    def room(self) -> int:
        """Return the available width for the text, in pixels."""
        return self.viewport().width() + self._right_room

    def leave_room(self, right: int) -> None:
        """Set a margin at the right, in pixels."""
        if right != self._right_room:
            self._right_room = right
            self.setViewportMargins(self._left_room, 0, right, 0)

    def leave_room_left(self, left: int) -> None:
        """Set a margin at the left, in pixels."""
        self._left_room = left
        self.setViewportMargins(left, 0, self._right_room, 0)

    def set_wrapped(self, wrapped: bool) -> None:
        """Set whether long lines wrap."""
        mode = QPlainTextEdit.LineWrapMode
        self.setLineWrapMode(mode.WidgetWidth if wrapped else mode.NoWrap)

    def set_whitespace(self, shown: bool) -> None:
        """Set whether spaces and tabs are drawn."""
        option = self.document().defaultTextOption()
        flag = QTextOption.Flag.ShowTabsAndSpaces
        option.setFlags(option.flags() | flag if shown else option.flags() & ~flag)
        self.document().setDefaultTextOption(option)


_NO_WRAP = QTextOption.WrapMode.NoWrap
_LONG_WORD = re.compile(r"\S{5000}")
"""A long word, such as a picture in base64: Qt's time for wrapping grows with its square."""


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a text that may have changed, in UTF-16 positions."""

    start: int
    """Start in the previous and in the current text."""

    before: int
    """End in the previous text."""

    now: int
    """End in the current text."""

    def with_change(self, position: int, removed: int, added: int) -> Window:
        """Return the part extended by a change, whose positions refer to the text before it."""
        more = max(0, position + removed - self.now)
        return Window(
            min(self.start, position), self.before + more, self.now + more + added - removed
        )


class TextMirror(QObject):
    """Provides the text of a document.

    Reading all of it takes 5 ms at 50,000 lines, several times for each key: for completion, for
    the parser and for parts that follow the caret. Updating the changed line takes 0.1 ms.
    """

    def __init__(self, document: QTextDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._source = SourceText("")
        self._revision = -1
        """Revision of the document at the last reported change or the last reading."""
        self._window: Window | None = None
        self._is_ahead = False
        """Whether the text was read inside an edit block before its change was reported."""
        self.whole_readings = 0
        """Number of times that the whole text was read."""
        document.contentsChange.connect(self._note)

    def source(self) -> SourceText:
        """Return the current text; fast if at most one place changed since the last call."""
        revision = self._document.revision()
        if revision != self._revision:
            # An edit block is open or was not reported: the revision rises once for each block.
            self._read()
            self._revision, self._is_ahead = revision, True
        elif self._window is not None:
            changed = self._spliced(self._window)
            if changed is None:
                self._read()
            else:
                self._source, self._window = changed, None
        return self._source

    def read_again(self) -> str:
        """Read the whole document again, without the cached text, before a file is written."""
        kept, text = self.source().text, self._raw()
        if kept == text:
            return kept
        self._read()
        return text

    def recount(self, before: int, after: int) -> None:
        """Adopt the document's revision, which coloring raises without changing the text."""
        if self._revision == before:
            self._revision = after

    def _note(self, position: int, removed: int, added: int) -> None:
        self._revision = self._document.revision()
        if self._is_ahead:
            # The text was read during this change: the changed part is unknown.
            self._is_ahead = False
            self._window = Window(0, -1, -1)
        elif self._window is None:
            self._window = Window(position, position + removed, position + added)
        elif self._window.before >= 0:
            self._window = self._window.with_change(position, removed, added)

    def _raw(self) -> str:
        # `toPlainText` would replace no-break spaces and U+2028.
        return self._document.toRawText().replace("\u2029", "\n")

    def _read(self) -> None:
        self._source = SourceText(self._raw())
        self._window = None
        self.whole_readings += 1

    def _spliced(self, window: Window) -> SourceText | None:
        """Return the text with the changed part read again; None if this saves nothing."""
        old = self._source
        length = self._document.characterCount() - 1
        last = old.to_utf16(len(old))
        start, before, now = window.start, window.before, window.now
        if not start <= before <= last or not start <= now or last - before != length - now:
            return None  # Qt reports some changes as changes of the whole text
        first, end = old.from_utf16(start), old.from_utf16(before)
        if old.to_utf16(first) != start or old.to_utf16(end) != before:
            return None  # splits a character
        cursor = QTextCursor(self._document)
        cursor.setPosition(start)
        cursor.setPosition(now, QTextCursor.MoveMode.KeepAnchor)
        part = cursor.selectedText().replace("\u2029", "\n")
        new = SourceText(f"{old.text[:first]}{part}{old.text[end:]}")
        # Python's text has no place for lone surrogates, which only a program can create.
        return new if new.to_utf16(len(new)) == length else None


class LineLayout(QPlainTextDocumentLayout):
    """Lays out and paints only one line after a change of one line.

    A highlighter reports a colored line as equal numbers of removed and added characters. Qt adds
    both and assumes a change of several lines: it lays out the next ones again (13 % of a key's
    time) and repaints the whole viewport. Here the changed line is known.
    """

    all_changed = Signal()  # all lines below may have moved
    rows_changed = Signal()  # a line has more or fewer rows: the caret may be out of view

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._blocks = document.blockCount()
        self._is_in_line = False
        """Whether the next change that Qt reports adds and removes no lines."""
        self.is_one_line = False
        """Whether the current repaint is of one line with the same number of rows."""
        document.contentsChange.connect(self._on_change)

    def _on_change(self, position: int, _removed: int, added: int) -> None:
        """Record a change before the highlighter's slot, when the added text is the written one.

        If a line end replaced another one, the next line is another block that still has the rows
        of its earlier text, and Qt crashes when it paints them.
        """
        document = self.document()
        before, self._blocks = self._blocks, document.blockCount()
        is_as_many = before == self._blocks
        self._is_in_line = is_as_many and document.findBlock(position).contains(position + added)

    def documentChanged(self, position: int, removed: int, added: int) -> None:  # noqa: N802
        """Lay out a change and all lines that the highlighter colored for it."""
        document = self.document()
        is_in_line, self._is_in_line = self._is_in_line, False
        line = document.findBlock(position)
        if not is_in_line or not line.contains(position + max(0, added - 1)):
            super().documentChanged(position, removed, added)
            return
        size = self.documentSize()
        self.blockSignals(True)  # otherwise the scroll bars are repainted as a long line grows
        line.clearLayout()
        self.blockBoundingRect(line)  # computes its layout
        self.blockSignals(False)
        now = self.documentSize()
        if now.height() != size.height():
            self.documentSizeChanged.emit(now)
            self.all_changed.emit()
            self.rows_changed.emit()
            return
        if now.width() != size.width() and document.defaultTextOption().wrapMode() == _NO_WRAP:
            self.documentSizeChanged.emit(now)
        self.is_one_line = True
        self.updateBlock.emit(line)
        self.is_one_line = False


class PromptText(QObject):
    """The text of a prompt. Offsets are code points, as in `Span`; Qt counts UTF-16 units."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document = QTextDocument(self)
        self.lines = LineLayout(self.document)
        self.document.setDocumentLayout(self.lines)
        self.document.setDefaultFont(mono_font())
        self._views: list[BlockView] = []
        self._wrap = QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere
        self._edited = -1
        """Revision of the document after the last call of `apply_edits`."""
        self.mirror = TextMirror(self.document, self)
        self.highlighter = Highlighter(self.document)
        self.highlighter.recounted.connect(self.mirror.recount)
        self.folding = Folding(self.document, self)

    def source(self) -> SourceText:
        """Return the current text; fast if at most one place changed since the last call."""
        return self.mirror.source()

    def read(self) -> str:
        """Return the text with LF line ends."""
        return self.source().text

    def read_again(self) -> str:
        """Read the whole text again for a file or the parser; line ends are LF."""
        return self.mirror.read_again()

    def load(self, text: str) -> None:
        """Load a text and clear the undo history."""
        mode = QTextOption.WrapMode
        is_long = _LONG_WORD.search(text) is not None
        self._wrap = mode.WrapAnywhere if is_long else mode.WrapAtWordBoundaryOrAnywhere
        for view in self._views:
            view.setWordWrapMode(self._wrap)
        self.highlighter.load(text)
        self.document.setModified(False)

    def replace_all(self, text: str) -> None:
        """Replace the whole text as one undo step; carets stay near."""
        if edits := smallest_edit(self.read(), text):
            self.apply_edits(edits)

    def apply_edits(
        self, edits: Iterable[TextEdit], caret: int = 0, *, joins: bool = False
    ) -> None:
        """Apply edits as one undo step; all spans refer to the text before.

        Args:
            edits: the edits.
            caret: position of the caret after an undo, in UTF-16 units.
            joins: whether they join the previous edits' undo step if nothing else changed the text.
        """
        source = self.source()
        cursor = QTextCursor(self.document)
        cursor.setPosition(caret)  # Qt stores this position for the undo
        if joins and self._edited == self.document.revision():
            cursor.joinPreviousEditBlock()
        else:
            cursor.beginEditBlock()
        for edit in reversed(sort_edits(edits)):
            place = marks.cursor_for(self.document, source, edit.span)
            place.insertText(edit.text)
        cursor.endEditBlock()
        self._edited = self.document.revision()

    # -- editors of the text --------------------------------------------------------------------

    def shown_in(self, view: BlockView) -> None:
        """Add an editor of the text."""
        self._views.append(view)
        view.setWordWrapMode(self._wrap)

    def left_by(self, view: BlockView) -> None:
        """Remove an editor that no longer shows the text."""
        if view in self._views:
            self._views.remove(view)
            self.fit_views()

    def fit_views(self) -> None:
        """Wrap lines in all editors at the width of the narrowest.

        The layout belongs to the document, not to an editor: Qt wraps the lines for the widest one
        and cuts them off in the others (`QPlainTextEditPrivate::relayoutDocument`). So wider
        editors get a margin at the right of up to half their width. If another one is narrower than
        that, they keep their width, and it scrolls horizontally.
        """
        shown = [view for view in self._views if view.isVisible() and view.is_wrapped]
        narrowest = min((view.room for view in shown), default=0)
        for view in self._views:
            is_near = view in shown and narrowest * 2 >= view.room
            view.leave_room(view.room - narrowest if is_near else 0)

    def rest(self) -> None:
        """Cancel pending work: the last editor closes."""
        self.highlighter.pause()
        self.folding.rest()
