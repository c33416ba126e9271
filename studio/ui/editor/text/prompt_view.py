"""A prompt's text as one widget shows it: its places, folds and marks."""

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

    jumping = Signal()  # the caret is about to go to another line that was asked for

    def __init__(self, parent: QWidget | None = None, prompt: PromptText | None = None) -> None:
        """Make it.

        Args:
            parent: the widget it is in.
            prompt: the text of another view, to show it here too; a new one where None.
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
        """Which lines are folded away."""
        return self.prompt.folding

    def source(self) -> SourceText:
        """Return the text as it is now; cheap when nothing changed since the last call."""
        return self.prompt.source()

    def text(self) -> str:
        """Return the text, lines ended by LF."""
        return self.prompt.read()

    def load(self, text: str) -> None:
        """Begin with a text: no undo leads before it."""
        self.prompt.load(text)
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def replace_all(self, text: str) -> None:
        """Put another text in place, as one step that can be undone; the caret stays near."""
        self.prompt.replace_all(text)

    def apply_edits(self, edits: Iterable[TextEdit], *, joins: bool = False) -> None:
        """Make the edits as one step that can be undone; all spans count in the text before.

        Where the caret was on the screen it stays there, though lines come in above it.

        Args:
            edits: what to put in place of what.
            joins: whether they belong to the step of the edits just before.
        """
        was_shown = self.viewport().rect().intersects(self.cursorRect())
        self.prompt.apply_edits(edits, self.textCursor().position(), joins=joins)
        if was_shown:
            self.ensureCursorVisible()

    @contextmanager
    def showing_changes(self) -> Iterator[None]:
        """Bring the first place that changes within into view, if none of the change is seen."""
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
        """Leave the other carets: someone puts the caret elsewhere, for that place alone."""

    def set_caret(self, offset: int) -> None:
        """Put the caret there; the view stays as it is where it can."""
        self.leave_carets()
        cursor = self.textCursor()
        cursor.setPosition(self.source().to_utf16(offset))
        self.setTextCursor(cursor)

    def reveal(self, span: Span, *, select: bool = False, take_keyboard: bool = True) -> None:
        """Unfold and show a place: the caret goes to its start, and it lights up for a moment.

        Args:
            span: the place.
            select: select it, as a search does with what it found. Nobody else does: the next key
                would write over it.
            take_keyboard: whether the next key is for the text; else the keyboard stays where it
                is.
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
        """Go to a place and type on there; nothing lights up."""
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
        """Say something at the caret."""
        place = self.viewport().mapToGlobal(self.cursorRect().bottomLeft())
        QToolTip.showText(place, text, self)

    def toggle_fold(self, line: int | None = None) -> None:
        """Fold or unfold at a line from 0, or around the caret."""
        self.folding.toggle(self.textCursor().blockNumber() if line is None else line)

    def fold_here(self, *, folded: bool) -> None:
        """Fold the nearest part around the caret, or unfold what is folded there."""
        line = self.textCursor().blockNumber()
        if folded:
            self.folding.close_around(line)
        else:
            self.folding.open_at(line)

    def fold_all(self) -> None:
        """Fold everything that can be folded."""
        self.folding.fold_all()

    def unfold_all(self) -> None:
        """Show every line."""
        self.folding.unfold_all()


# What an editor's text was read to, and what waits until it is read.

_LONG = 100_000
"""Characters that are read in 50 ms; a longer text is read in the pool only."""


class ParseTracker:
    """Keeps the newest document of one editor."""

    def __init__(self, editor: PromptView) -> None:
        self._editor = editor
        self.document: PromptDocument | None = None
        """The newest one, which may be a few keys behind the text."""
        self._asked: tuple[str, int, Callable[[PromptDocument], None]] | None = None
        """Text and caret of a wish that waits for the text to be read, and the wish."""

    @property
    def is_asked(self) -> bool:
        """Whether something waits for the text to be read."""
        return self._asked is not None

    def now(self) -> PromptDocument | None:
        """Return the document of the present text, whose places edits need.

        None before the first reading, and where a long text was changed and is still being read:
        `when_read` waits for it.
        """
        text = self._editor.text()
        if self.document is None or self.document.source.text == text:
            return self.document
        if len(text) > _LONG:
            return None
        from studio.application.document.checked_file import read_document

        return read_document(text, self.document.source.path)

    def when_read(self, act: Callable[[PromptDocument], None]) -> None:
        """Call a function with the document of the present text.

        At once, but for a long text that is still being read: then as soon as it is, unless the
        user goes on typing or moves the caret; the window does not wait for it.
        """
        document = self.now()
        if document is not None:
            act(document)
            return
        self._asked = (self._editor.text(), self._editor.textCursor().position(), act)
        self._editor.tell(tr("The text is still being read…"))

    def take(self, document: PromptDocument) -> None:
        """Take a parsed document, and do what waits for it."""
        self.document = document
        if self._asked is None:
            return
        text, caret, act = self._asked
        if (text, caret) != (self._editor.text(), self._editor.textCursor().position()):
            self._asked = None  # the user went on
        elif document.source.text == text:
            self._asked = None
            QToolTip.hideText()
            # Not from here: it may ask the user, while others still wait for this document.
            QTimer.singleShot(0, self._editor, lambda: act(document))

    def rest(self) -> None:
        """Drop what waits: the editor is about to close."""
        self._asked = None
