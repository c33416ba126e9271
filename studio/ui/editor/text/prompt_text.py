"""A prompt's text, as every editor that shows it shares it: lines, colors, folds and undo."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QTextCursor, QTextDocument, QTextOption
from PySide6.QtWidgets import QPlainTextDocumentLayout

from studio.core.text.diff import smallest_edit
from studio.core.text.problem import TextEdit, sort_edits
from studio.core.text.source import SourceText
from studio.ui.editor.highlight.highlighter import Highlighter
from studio.ui.editor.text import marks
from studio.ui.editor.text.block_view import BlockView
from studio.ui.editor.text.fold_state import Folding
from studio.ui.style.theme import mono_font

_NO_WRAP = QTextOption.WrapMode.NoWrap


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a text that may have changed; UTF-16 positions."""

    start: int
    """Where it begins, in the text before and in the text now."""

    before: int
    """Where it ended in the text before."""

    now: int
    """Where it ends in the text now."""

    def with_change(self, position: int, removed: int, added: int) -> Window:
        """The part that holds one more change, which counts in the text as it was until then."""
        more = max(0, position + removed - self.now)
        return Window(
            min(self.start, position), self.before + more, self.now + more + added - removed
        )


class TextMirror(QObject):
    """Gives the text of a document.

    Reading the whole of it costs 5 ms at 50,000 lines, more than once with a key: completion, the
    caret's followers and the parser all ask. Taking over the line that changed costs 0.1 ms.
    """

    def __init__(self, document: QTextDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._source = SourceText("")
        self._revision = -1
        """Of the document when a change was last heard of, or the text last read."""
        self._window: Window | None = None
        self._is_ahead = False
        """Whether the text was read inside an edit block, before its change was reported."""
        self.whole_readings = 0
        """How often the whole text had to be read."""
        document.contentsChange.connect(self._note)

    def source(self) -> SourceText:
        """The text as it is now; cheap when nothing or one place changed since the last call."""
        revision = self._document.revision()
        if revision != self._revision:
            # An edit block is open, or was never reported: the revision counts once a block.
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
        """The text as the document has it: what is written to a file leans on nothing kept."""
        kept, text = self.source().text, self._raw()
        if kept == text:
            return kept
        self._read()
        return text

    def recount(self, before: int, after: int) -> None:
        """The document counted its revision on while it was colored, which changes no text."""
        if self._revision == before:
            self._revision = after

    def _note(self, position: int, removed: int, added: int) -> None:
        self._revision = self._document.revision()
        if self._is_ahead:
            # The text read meanwhile has a part of this change: it cannot be told which.
            self._is_ahead = False
            self._window = Window(0, -1, -1)
        elif self._window is None:
            self._window = Window(position, position + removed, position + added)
        elif self._window.before >= 0:
            self._window = self._window.with_change(position, removed, added)

    def _raw(self) -> str:
        # `toPlainText` would turn no-break spaces and U+2028 into other characters.
        return self._document.toRawText().replace("\u2029", "\n")

    def _read(self) -> None:
        self._source = SourceText(self._raw())
        self._window = None
        self.whole_readings += 1

    def _spliced(self, window: Window) -> SourceText | None:
        """The text with the changed part taken from the document; None where that is no help."""
        old = self._source
        length = self._document.characterCount() - 1
        last = old.to_utf16(len(old))
        start, before, now = window.start, window.before, window.now
        if not start <= before <= last or not start <= now or last - before != length - now:
            return None  # Qt reports some changes, as that of all the text, wider than they are
        first, end = old.from_utf16(start), old.from_utf16(before)
        if old.to_utf16(first) != start or old.to_utf16(end) != before:
            return None  # cuts a character in two
        cursor = QTextCursor(self._document)
        cursor.setPosition(start)
        cursor.setPosition(now, QTextCursor.MoveMode.KeepAnchor)
        part = cursor.selectedText().replace("\u2029", "\n")
        new = SourceText(f"{old.text[:first]}{part}{old.text[end:]}")
        # Half characters, which only a program can make, have no place in Python's text.
        return new if new.to_utf16(len(new)) == length else None


class LineLayout(QPlainTextDocumentLayout):
    """Lays out and paints one line where a key changed one line.

    A highlighter that colors a line reports it as "so many characters removed and as many added";
    Qt adds the two up and takes the change for one of several lines: it lays the next ones out anew
    (13 % of a key) and paints the whole viewport. Here it is told which line it was.
    """

    all_changed = Signal()  # every line below may stand elsewhere
    rows_changed = Signal()  # a line takes more rows or fewer: the caret may be out of sight

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._blocks = document.blockCount()
        self._is_in_line = False
        """Whether what Qt reports next is a change of text that began and ended no line."""
        self.is_one_line = False
        """Whether what is asked to be painted right now is a line that kept its rows."""
        document.contentsChange.connect(self._on_change)

    def _on_change(self, position: int, _removed: int, added: int) -> None:
        """Comes before the highlighter's own slot: what is added is what was written, no more.

        The end of a line that took the place of another is in it. Then the line below is another
        block, with rows of a text that it had before: Qt crashes as it paints them.
        """
        document = self.document()
        before, self._blocks = self._blocks, document.blockCount()
        is_as_many = before == self._blocks
        self._is_in_line = is_as_many and document.findBlock(position).contains(position + added)

    def documentChanged(self, position: int, removed: int, added: int) -> None:  # noqa: N802
        """Comes after the highlighter's own slot: what is added holds every line it colored."""
        document = self.document()
        is_in_line, self._is_in_line = self._is_in_line, False
        line = document.findBlock(position)
        if not is_in_line or not line.contains(position + max(0, added - 1)):
            super().documentChanged(position, removed, added)
            return
        size = self.documentSize()
        self.blockSignals(True)  # else the scroll bars are painted as a long line grows
        line.clearLayout()
        self.blockBoundingRect(line)  # lays it out
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
    """Holds the text. Offsets are code points, as in `Span`, where Qt counts UTF-16 units."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document = QTextDocument(self)
        self.lines = LineLayout(self.document)
        self.document.setDocumentLayout(self.lines)
        self.document.setDefaultFont(mono_font())
        self._views: list[BlockView] = []
        self._edited = -1
        """Revision of the document after the last edits that were made by `apply_edits`."""
        self.mirror = TextMirror(self.document, self)
        self.highlighter = Highlighter(self.document)
        self.highlighter.recounted.connect(self.mirror.recount)
        self.folding = Folding(self.document, self)

    def source(self) -> SourceText:
        """The text as it is now; cheap when nothing or one place changed since the last call."""
        return self.mirror.source()

    def read(self) -> str:
        """The text, lines ended by LF."""
        return self.source().text

    def read_again(self) -> str:
        """The text for a file or the parser: read whole, in a pause; lines ended by LF."""
        return self.mirror.read_again()

    def load(self, text: str) -> None:
        """Begin with a text: no undo leads before it."""
        self.highlighter.load(text)
        self.document.setModified(False)

    def replace_all(self, text: str) -> None:
        """Put another text in place, as one step that can be undone; carets stay near."""
        if edits := smallest_edit(self.read(), text):
            self.apply_edits(edits)

    def apply_edits(
        self, edits: Iterable[TextEdit], caret: int = 0, *, joins: bool = False
    ) -> None:
        """Make the edits as one step that can be undone; all spans count in the text before.

        Args:
            edits: what to put in place of what.
            caret: where an undo puts the caret, in UTF-16 units.
            joins: whether they belong to the step of the edits just before, if nothing else
                changed the text since.
        """
        source = self.source()
        cursor = QTextCursor(self.document)
        cursor.setPosition(caret)  # Qt keeps for the undo where the cursor of the block stood
        if joins and self._edited == self.document.revision():
            cursor.joinPreviousEditBlock()
        else:
            cursor.beginEditBlock()
        for edit in reversed(sort_edits(edits)):
            place = marks.cursor_for(self.document, source, edit.span)
            place.insertText(edit.text)
        cursor.endEditBlock()
        self._edited = self.document.revision()

    # -- the editors that show it ---------------------------------------------------------------

    def shown_in(self, view: BlockView) -> None:
        """One more editor shows the text."""
        self._views.append(view)

    def left_by(self, view: BlockView) -> None:
        """An editor shows the text no more."""
        if view in self._views:
            self._views.remove(view)
            self.fit_views()

    def fit_views(self) -> None:
        """Have every editor break lines where the narrowest does.

        The layout of a plain text belongs to the text, not to an editor: Qt breaks the lines for
        the widest one, and cuts them off in the others (`QPlainTextEditPrivate::relayoutDocument`).
        So the wider ones leave room at their right, as long as that is no more than half of them;
        beside a yet narrower one they keep their width, and that one scrolls to the side.
        """
        shown = [view for view in self._views if view.isVisible() and view.is_wrapped]
        narrowest = min((view.room for view in shown), default=0)
        for view in self._views:
            is_near = view in shown and narrowest * 2 >= view.room
            view.leave_room(view.room - narrowest if is_near else 0)

    def rest(self) -> None:
        """The last editor closes: leave nothing to do later."""
        self.highlighter.pause()
        self.folding.rest()
