"""Editing aids: completion, hover and quick fixes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QTimer, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QTextCursor
from PySide6.QtWidgets import QMenu, QToolTip

from studio.application.words import tr
from studio.core.text.diff import smallest_edit
from studio.core.text.files import files_beside
from studio.core.text.source import Fix, Problem, SourceText, Span, TextEdit, apply_edits
from studio.ui.style.theme import icon
from studio.viewmodels.app.jobs import single_shot

if TYPE_CHECKING:
    from studio.application.editing.editor_context import CompletionItem, EditorContext
    from studio.core.prompty.document import PromptDocument
    from studio.core.spelling import Misspelled
    from studio.ui.editor.completion.popup import CompletionPopup
    from studio.ui.editor.text.snippet_session import SnippetSession
    from studio.ui.editor.text.view import PromptEditor

_TYPED_DELAY_MS = 40


class EditorAssist(QObject):
    """Connects the functions for completion, hover and fixes with one editor."""

    word_learned = Signal(str)  # a word that the user added to the dictionary

    def __init__(self, editor: PromptEditor) -> None:
        super().__init__(editor)
        self._editor = editor
        self._misspelled: tuple[Misspelled, ...] = ()
        self._suggest: Callable[[str], tuple[str, ...]] = lambda _: ()
        self._soon = single_shot(self, self._on_typed, _TYPED_DELAY_MS)
        editor.viewport().installEventFilter(self)
        editor.take_offer = self._take_at_once
        editor.character_typed.connect(self._soon.start)

    @cached_property
    def _popup(self) -> CompletionPopup:
        """The list of completions, created on first use."""
        from studio.ui.editor.completion import popup as completion_popup

        popup = completion_popup.CompletionPopup(self._editor)
        popup.chosen.connect(self._insert)
        return popup

    @cached_property
    def _snippets(self) -> SnippetSession:
        """Return the session of snippets, created with the first snippet."""
        from studio.ui.editor.text import snippet_session

        self._editor.snippet = snippet_session.SnippetSession(self._editor)
        return self._editor.snippet

    @cached_property
    def _editor_context(self) -> EditorContext:
        """Return the context of the prompt; only its files until a complete one is set."""
        from studio.application.editing.editor_context import NOTHING

        return replace(NOTHING, files=self._files)

    def know(self, editor_context: EditorContext) -> None:
        """Set the context of the prompt: tools, files and variables."""
        self._editor_context = replace(editor_context, files=self._files)

    def _files(self) -> tuple[str, ...]:
        document = self._editor.parsed
        return files_beside(document.source.path) if document is not None else ()

    def rest(self) -> None:
        """Stop offering when the editor is closed."""
        self._soon.stop()

    # -- completion -----------------------------------------------------------------------------

    def complete(self) -> None:
        """Offer the completions at the caret."""
        self._offer(asked=True)

    def _on_typed(self) -> None:
        self._offer(asked=False)

    def _offer(self, *, asked: bool) -> None:
        if not self._editor.hasFocus() and not asked:
            return
        # The modules for completion, hover and names are loaded on first use, not with the window.
        from studio.application.editing.offers import complete

        caret = self._editor.caret()
        document = self._editor.parsed
        offer = complete(
            self._editor.text(), caret, document, asked=asked, editor_context=self._editor_context
        )
        if not offer.items:
            if "_popup" in self.__dict__:
                self._popup.hide()
            return
        self._popup.offer(offer)

    def _take_at_once(self, event: QKeyEvent) -> bool:
        """Complete a word on Tab before its completions are shown."""
        if not self._soon.isActive():
            return False
        self._soon.stop()
        self._on_typed()
        return "_popup" in self.__dict__ and self._popup.isVisible() and self._popup.press(event)

    def _insert(self, item: CompletionItem, span: Span) -> None:
        """Replace the typed part by the selected completion."""
        caret = self._editor.caret()
        text = self._editor.text()
        where = Span(min(span.start, caret), max(caret, min(span.end, len(text))))
        if item.closes and text.startswith(item.closes, where.end):
            where = Span(where.start, where.end + len(item.closes))
        if item.snippet:
            self.insert_snippet(item.insert, where, item.declares)
            return
        document = self._editor.document_now()
        edits = (TextEdit(where, item.insert),)
        if len(self._editor.carets):
            around = text[where.start : caret], text[caret : where.end]
            self._editor.carets.edit(lambda each: _write_over(each, item, *around))
            return
        self._editor.apply_edits(edits)
        cursor = self._editor.textCursor()
        end = self._editor.source().to_utf16(where.start + len(item.insert))
        cursor.setPosition(end)
        if item.caret_back:
            cursor.movePosition(
                QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.MoveAnchor, item.caret_back
            )
        self._editor.setTextCursor(cursor)
        self._keep_dialect(document, edits)
        self._editor.offer_mark()
        if item.again:
            QTimer.singleShot(0, self, self.complete)

    def _keep_dialect(self, before: PromptDocument | None, edits: tuple[TextEdit, ...]) -> None:
        """Write the parser kind into the file if the completed key changes how the body is read."""
        if before is None or not before.source.slice(before.body).strip():
            return
        # The YAML modules take longer to load than the rest of the window.
        from studio.core.prompty.edit.keep_dialect import keeping_dialect

        kept = keeping_dialect(before, edits)
        if kept and kept is not edits:
            whole = apply_edits(before.source.text, kept)
            self._editor.apply_edits(smallest_edit(self._editor.text(), whole))

    def insert_snippet(self, body: str, where: Span | None = None, declares: str = "") -> None:
        """Replace the selection or a span by a snippet, and go to its first stop.

        Args:
            body: the text with its stops.
            where: the span; None for the selection.
            declares: name of an input of kind thread to declare in the same step.
        """
        if self._editor.isReadOnly():
            return
        cursor, source = self._editor.textCursor(), self._editor.source()
        ends = cursor.selectionStart(), cursor.selectionEnd()
        self._editor.carets.drop()  # stops belong to a single caret
        document = self._editor.document_now()
        declared: tuple[TextEdit, ...] = ()
        if declares and document is not None:
            from studio.core.prompty.edit.edits import declare_input

            declared = declare_input(document, declares, "thread")
        place = where or Span(*map(source.from_utf16, ends))
        self._keep_dialect(document, self._snippets.start(place, body, declared))
        self._editor.setFocus()

    # -- problems -------------------------------------------------------------------------------

    def problems_here(self) -> list[Problem]:
        """Return the problems at the caret, or else on its line, with current spans."""
        caret, source = self._editor.caret(), self._editor.source()
        problems = self._editor.problems
        document = self._editor.document_now()
        if document is not None and document is not self._editor.parsed:
            problems = document.problems  # the shown problems belong to an earlier text
        here = [each for each in problems if each.span.touches(caret)]
        if here:
            return here
        line = source.line_of(caret)
        return [each for each in problems if source.line_of(each.span.start) == line]

    def show_fixes(self) -> None:
        """Show a menu of the fixes at the caret."""
        self._editor.reading.when_read(lambda _: self._popup_fixes())

    def _popup_fixes(self) -> None:
        menu = self.fix_menu()
        if menu.isEmpty():
            menu.deleteLater()
            self._editor.tell(tr("No quick fix here"))
            return
        menu.setActiveAction(menu.actions()[0])  # Return applies the first
        menu.popup(self._editor.viewport().mapToGlobal(self._editor.cursorRect().bottomLeft()))

    def fix_menu(self) -> QMenu:
        """Return the menu of quick fixes at the caret."""
        menu = QMenu(self._editor)
        menu.aboutToHide.connect(menu.deleteLater)
        word = self.misspelled_here()
        if word is not None:
            self._add_spelling(menu, word)
        fixes = [fix for problem in self.problems_here() for fix in problem.fixes]
        text = self._editor.text()
        for fix in fixes:
            menu.addAction(icon("lightbulb"), fix.title).triggered.connect(
                lambda _=False, fix=fix: self.apply(fix, text)
            )
        return menu

    def set_spelling(
        self, words: tuple[Misspelled, ...], suggest: Callable[[str], tuple[str, ...]]
    ) -> None:
        """Set the misspelled words and a function that suggests corrections."""
        self._misspelled, self._suggest = words, suggest

    def misspelled_here(self) -> Misspelled | None:
        """Return the misspelled word at the caret, if it still exists."""
        caret, text = self._editor.caret(), self._editor.text()
        for each in self._misspelled:
            if each.span.touches(caret) and text[each.span.start : each.span.end] == each.word:
                return each
        return None

    def _add_spelling(self, menu: QMenu, found: Misspelled) -> None:
        for word in self._suggest(found.word):
            menu.addAction(word).triggered.connect(
                lambda _=False, word=word: self._editor.apply_edits((TextEdit(found.span, word),))
            )
        menu.addSeparator()
        menu.addAction(
            icon("plus"), tr("Add {word!r} to your words").format(word=found.word)
        ).triggered.connect(lambda: self.word_learned.emit(found.word))
        menu.addSeparator()

    def apply(self, fix: Fix, text: str) -> bool:
        """Apply the edits of a fix as one undo step.

        Args:
            fix: the fix.
            text: text that the fix was made for; if the text has changed, nothing is changed.
        """
        if self._editor.text() != text:
            return False
        self._editor.apply_edits(fix.edits)
        return True

    def go_to_problem(self, step: int) -> None:
        """Go to the next or previous problem; wrap around at the end."""
        places = sorted({problem.span for problem in self._editor.problems})
        if not places:
            return
        caret = self._editor.source().from_utf16(self._editor.textCursor().selectionStart())
        if step > 0:
            chosen = next((span for span in places if span.start > caret), places[0])
        else:
            chosen = next((span for span in reversed(places) if span.start < caret), places[-1])
        self._editor.reveal(chosen)

    # -- hover ----------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show the hover text for the position of the mouse."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            text = self.hover_text(event.pos())
            if text:
                QToolTip.showText(event.globalPos(), text, self._editor)
            else:
                QToolTip.hideText()
            return True
        return super().eventFilter(watched, event)

    def hover_text(self, at: QPoint) -> str:
        """Return the hover text for a point of the viewport, as rich text."""
        from studio.application.editing.hover import hover

        document = self._editor.parsed
        if document is None:
            return ""
        cursor = self._editor.cursorForPosition(at)
        if self._editor.cursorRect(cursor).left() < at.x() - 40:
            return ""  # right of the end of the line
        offset = self._editor.source().from_utf16(cursor.position())
        return hover(document, self._editor.problems, offset, self._editor_context)


def _write_over(cursor: QTextCursor, item: CompletionItem, before: str, after: str) -> None:
    """Insert a completion at one of several carets, replacing the same text as at the first."""
    source = SourceText(cursor.block().text())
    at = source.from_utf16(cursor.positionInBlock())
    start = at - len(before) if source.text[:at].endswith(before) else at
    end = at + len(after) if source.text.startswith(after, at) else at
    begin = cursor.block().position()
    cursor.setPosition(begin + source.to_utf16(start))
    cursor.setPosition(begin + source.to_utf16(end), QTextCursor.MoveMode.KeepAnchor)
    cursor.insertText(item.insert)
    back = SourceText(item.insert[len(item.insert) - item.caret_back :])
    cursor.setPosition(cursor.position() - back.to_utf16(len(back)))
