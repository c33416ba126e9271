"""A prompt's text, as every editor that shows it shares it: lines, colours, folds and undo."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject
from PySide6.QtGui import QTextCursor, QTextDocument
from PySide6.QtWidgets import QPlainTextDocumentLayout

from studio.core.text.common import common_start
from studio.core.text.problem import TextEdit, sort_edits
from studio.core.text.source import SourceText
from studio.core.text.span import Span
from studio.ui.editor.highlight.highlighter import Highlighter
from studio.ui.editor.text import marks
from studio.ui.editor.text.block_view import BlockView
from studio.ui.editor.text.fold_state import Folding
from studio.ui.editor.text.line_update import LineUpdate
from studio.ui.editor.text.text_mirror import TextMirror
from studio.ui.style.theme import Theme, mono_font


class PromptText(QObject):
    """Holds the text. Offsets are code points, as in `Span`, where Qt counts UTF-16 units."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document = QTextDocument(self)
        self.document.setDocumentLayout(QPlainTextDocumentLayout(self.document))
        self.document.setDefaultFont(mono_font())
        self._views: list[BlockView] = []
        self.mirror = TextMirror(self.document, self)
        self.lines = LineUpdate(self.document, self)
        self.highlighter = Highlighter(self.document, theme)
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
        old = self.read()
        if old == text:
            return
        start = common_start(old, text)
        shortest = min(len(old), len(text)) - start
        end = common_start(old[len(old) - shortest :][::-1], text[len(text) - shortest :][::-1])
        self.apply_edits((TextEdit(Span(start, len(old) - end), text[start : len(text) - end]),))

    def apply_edits(self, edits: Iterable[TextEdit]) -> None:
        """Make the edits as one step that can be undone; all spans count in the text before."""
        source = self.source()
        cursor = QTextCursor(self.document)
        cursor.beginEditBlock()
        for edit in reversed(sort_edits(edits)):
            place = marks.cursor_for(self.document, source, edit.span)
            place.insertText(edit.text)
        cursor.endEditBlock()

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
