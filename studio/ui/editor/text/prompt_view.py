"""A widget that shows a prompt's text, with its positions, folds and marks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QToolTip, QWidget

from studio.application.words import tr
from studio.ui.editor.text import marks
from studio.ui.editor.text.marks import ShownMarks
from studio.ui.editor.text.prompt_text import BlockView, PromptText

if TYPE_CHECKING:
    from studio.core.prompty.document import PromptDocument
    from studio.core.text.source import SourceText, Span, TextEdit
    from studio.ui.editor.highlight.highlighter import Highlighter
    from studio.ui.editor.text.prompt_text import Folding


class PromptView(BlockView):
    """Shows a prompt's text and its caret. Offsets are code points, as in `Span`."""

    jumping = Signal()  # the caret is about to jump to another line

    def __init__(self, parent: QWidget | None = None, prompt: PromptText | None = None) -> None:
        """Create it.

        Args:
            parent: parent widget.
            prompt: the text of another view, to be shown here as well; None creates a new one.
        """
        super().__init__(parent)
        self.prompt = prompt or PromptText(self)
        self.setDocument(self.prompt.document)
        self.marks = ShownMarks(self)

    @property
    def highlighter(self) -> Highlighter:
        """Return the highlighter of the text."""
        return self.prompt.highlighter

    @property
    def folding(self) -> Folding:
        """The folds of the text."""
        return self.prompt.folding

    def source(self) -> SourceText:
        """Return the current text; fast if nothing changed since the last call."""
        return self.prompt.source()

    def text(self) -> str:
        """Return the text with LF line ends."""
        return self.prompt.read()

    def load(self, text: str) -> None:
        """Load a text and clear the undo history."""
        self.prompt.load(text)
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def replace_all(self, text: str) -> None:
        """Replace the whole text as one undo step; the caret stays near."""
        self.prompt.replace_all(text)

    def apply_edits(self, edits: Iterable[TextEdit], *, joins: bool = False) -> None:
        """Apply edits as one undo step; all spans refer to the text before.

        The caret keeps its position on the screen even if lines are inserted above it.

        Args:
            edits: the edits.
            joins: whether they join the previous edits' undo step.
        """
        was_shown = self.viewport().rect().intersects(self.cursorRect())
        self.prompt.apply_edits(edits, self.textCursor().position(), joins=joins)
        if was_shown:
            self.ensureCursorVisible()

    @contextmanager
    def showing_changes(self) -> Iterator[None]:
        """Scroll to the first change made in the block if no change is visible."""
        changes: list[tuple[int, int]] = []

        def note(position: int, _removed: int, added: int) -> None:
            changes.append((position, position + added))

        self.document().contentsChange.connect(note)
        try:
            yield
        finally:
            self.document().contentsChange.disconnect(note)
        if not changes:
            return
        first, last = (self.document().findBlock(place) for place in changes[0])
        self.folding.show_line(first.blockNumber())
        seen = [block.blockNumber() for block, _, _ in self.visible_blocks()]
        if seen and (seen[-1] < first.blockNumber() or last.blockNumber() < seen[0]):
            bar = self.verticalScrollBar()
            bar.setValue(first.firstLineNumber() - len(seen) // 2)

    def caret(self) -> int:
        """Return the caret's offset."""
        return self.source().from_utf16(self.textCursor().position())

    def leave_carets(self) -> None:
        """Remove additional carets before the caret is placed elsewhere."""

    def set_caret(self, offset: int) -> None:
        """Move the caret to an offset; the view scrolls only if necessary."""
        self.leave_carets()
        cursor = self.textCursor()
        cursor.setPosition(self.source().to_utf16(offset))
        self.setTextCursor(cursor)

    def reveal(self, span: Span, *, select: bool = False, take_keyboard: bool = True) -> None:
        """Unfold and show a span: the caret moves to its start, and the span flashes for a moment.

        Args:
            span: the span.
            select: select it, for matches of a search only, since the next key replaces a
                selection.
            take_keyboard: whether to focus the text.
        """
        self.leave_carets()
        cursor = marks.cursor_for(self.document(), self.source(), span)
        self.folding.show_line(self.document().findBlock(cursor.selectionStart()).blockNumber())
        if not select:
            self._tell_jump(cursor.selectionStart())
            self.marks.flash((cursor.selectionStart(), cursor.selectionEnd()))
            cursor.setPosition(cursor.selectionStart())
        self.setTextCursor(cursor)
        self.centerCursor()
        if take_keyboard:
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _tell_jump(self, position: int) -> None:
        if self.document().findBlock(position) != self.textCursor().block():
            self.jumping.emit()

    def show_place(self, offset: int) -> None:
        """Move the caret to an offset and focus the text, without a flash."""
        self.set_caret(min(offset, len(self.source())))
        self.folding.show_line(self.textCursor().blockNumber())
        self.centerCursor()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def go_to_line(self, line: int, column: int = 1) -> None:
        """Show a line, counted from 1."""
        self.leave_carets()
        block = self.document().findBlockByNumber(max(0, min(line - 1, self.blockCount() - 1)))
        self.folding.show_line(block.blockNumber())
        self._tell_jump(block.position())
        cursor = QTextCursor(block)
        cursor.movePosition(
            QTextCursor.MoveOperation.Right,
            QTextCursor.MoveMode.MoveAnchor,
            min(column - 1, max(0, block.length() - 1)),
        )
        self.setTextCursor(cursor)
        self.centerCursor()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def tell(self, text: str) -> None:
        """Show a message at the caret."""
        place = self.viewport().mapToGlobal(self.cursorRect().bottomLeft())
        QToolTip.showText(place, text, self)

    def toggle_fold(self, line: int | None = None) -> None:
        """Fold or unfold at a line, counted from 0, or around the caret."""
        self.folding.toggle(self.textCursor().blockNumber() if line is None else line)

    def fold_here(self, *, folded: bool) -> None:
        """Fold the nearest range around the caret, or unfold the one at the caret."""
        line = self.textCursor().blockNumber()
        if folded:
            self.folding.close_around(line)
        else:
            self.folding.open_at(line)

    def fold_all(self) -> None:
        """Fold all ranges."""
        self.folding.fold_all()

    def unfold_all(self) -> None:
        """Show every line."""
        self.folding.unfold_all()


# The parsed document of an editor, and requests that wait for it.

_LONG = 100_000
"""Number of characters that are parsed in 50 ms; a longer text is parsed only in the pool."""


class ParseTracker:
    """Holds the newest document of one editor."""

    def __init__(self, editor: PromptView) -> None:
        self._editor = editor
        self.may_read: Callable[[], bool] = lambda: True
        """Says whether the window may read a changed text itself."""
        self.document: PromptDocument | None = None
        """The newest document, which may be a few keys behind the text."""
        self._asked: tuple[str, int, Callable[[PromptDocument], None]] | None = None
        """A waiting request, with the text and caret for which it was made."""

    @property
    def is_asked(self) -> bool:
        """Whether a request waits for the parse."""
        return self._asked is not None

    def now(self) -> PromptDocument | None:
        """Return the document of the current text, for edits.

        Return None before the first parse, and while a changed text is long or is tried apart:
        `when_read` waits for it.
        """
        text = self._editor.text()
        if self.document is None or self.document.source.text == text:
            return self.document
        if len(text) > _LONG or not self.may_read():
            return None
        from studio.application.document.checked_file import read_document

        return read_document(text, self.document.source.path)

    def when_read(self, act: Callable[[PromptDocument], None]) -> None:
        """Call a function with the document of the current text.

        It is called at once, or for a long text after its parse, unless the user types or moves the
        caret meanwhile. The window does not wait.
        """
        document = self.now()
        if document is not None:
            act(document)
            return
        self._asked = (self._editor.text(), self._editor.textCursor().position(), act)
        self._editor.tell(tr("The text is still being parsed…"))

    def take(self, document: PromptDocument) -> None:
        """Set a parsed document and execute the waiting request."""
        self.document = document
        if self._asked is None:
            return
        text, caret, act = self._asked
        if (text, caret) != (self._editor.text(), self._editor.textCursor().position()):
            self._asked = None  # the user continued typing
        elif document.source.text == text:
            self._asked = None
            QToolTip.hideText()
            # Later: it may ask the user while other receivers still wait for this document.
            QTimer.singleShot(0, self._editor, lambda: act(document))

    def rest(self) -> None:
        """Cancel the waiting request: the editor is about to close."""
        self._asked = None
