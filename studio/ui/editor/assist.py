"""Help while editing: completion, hover, quick fixes, rename and go to definition."""

from __future__ import annotations

import itertools
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QTimer
from PySide6.QtGui import QHelpEvent, QTextCursor
from PySide6.QtWidgets import QInputDialog, QLineEdit, QMenu, QToolTip

from studio.core.text.problem import Fix, Problem, TextEdit
from studio.core.text.span import Span
from studio.ui.editor.names import definition, name_at, places_of
from studio.ui.editor.view import PromptEditor
from studio.ui.icons import icon

if TYPE_CHECKING:
    from studio.ui.editor.completion import Completion
    from studio.ui.editor.completion_popup import CompletionPopup

_TYPED_DELAY_MS = 40
_MOST_FILES = 300


class EditorAssist(QObject):
    """Joins the pure helpers to one editor."""

    def __init__(self, editor: PromptEditor) -> None:
        super().__init__(editor)
        self._editor = editor
        self._last_length = 0
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_TYPED_DELAY_MS)
        self._soon.timeout.connect(self._on_typed)
        editor.viewport().installEventFilter(self)
        editor.character_typed.connect(self._soon.start)

    @cached_property
    def _popup(self) -> CompletionPopup:
        """The list of completions, made when there is first something to offer."""
        from studio.ui.editor import completion_popup

        popup = completion_popup.CompletionPopup(self._editor)
        popup.chosen.connect(self._insert)
        return popup

    def rest(self) -> None:
        """The editor closes: offer nothing more."""
        self._soon.stop()

    # -- completion -----------------------------------------------------------------------------

    def complete(self) -> None:
        """Offer what can stand at the caret."""
        self._offer(asked=True)

    def _on_typed(self) -> None:
        self._offer(asked=False)

    def _offer(self, *, asked: bool) -> None:
        if not self._editor.hasFocus() and not asked:
            return
        # Rules of completion, hover and names load with their first use, not with the window.
        from studio.ui.editor.completion import complete

        caret = self._editor.caret()
        document = self._editor.parsed
        offer = complete(
            self._editor.text(),
            caret,
            document,
            asked=asked,
            files=_files_beside(document.source.path) if document else (),
            environment=os.environ,
        )
        if not offer.items:
            if "_popup" in self.__dict__:
                self._popup.hide()
            return
        self._popup.offer(offer)

    def _insert(self, item: Completion, span: Span) -> None:
        """Put the chosen text in place of what was typed of it."""
        caret = self._editor.caret()
        where = Span(min(span.start, caret), max(caret, min(span.end, len(self._editor.text()))))
        self._editor.apply_edits((TextEdit(where, item.insert),))
        cursor = self._editor.textCursor()
        end = self._editor.source().to_utf16(where.start + len(item.insert))
        cursor.setPosition(end)
        if item.caret_back:
            cursor.movePosition(
                QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.MoveAnchor, item.caret_back
            )
        self._editor.setTextCursor(cursor)
        if item.again:
            QTimer.singleShot(0, self, self.complete)

    # -- problems -------------------------------------------------------------------------------

    def problems_here(self) -> list[Problem]:
        """Problems at the caret, else those of its line."""
        caret = self._editor.caret()
        here = [each for each in self._editor.problems if each.span.touches(caret)]
        if here:
            return here
        source = self._editor.source()
        line = source.line_of(caret)
        return [each for each in self._editor.problems if source.line_of(each.span.start) == line]

    def show_fixes(self) -> None:
        """A menu of the fixes at the caret."""
        menu = self.fix_menu()
        menu.popup(self._editor.viewport().mapToGlobal(self._editor.cursorRect().bottomLeft()))

    def fix_menu(self) -> QMenu:
        """The menu of quick fixes at the caret."""
        menu = QMenu(self._editor)
        menu.aboutToHide.connect(menu.deleteLater)
        fixes = [fix for problem in self.problems_here() for fix in problem.fixes]
        for fix in fixes:
            menu.addAction(icon("lightbulb"), fix.title).triggered.connect(
                lambda _=False, fix=fix: self.apply(fix)
            )
        if not fixes:
            menu.addAction(self.tr("No quick fix here")).setEnabled(False)
        return menu

    def apply(self, fix: Fix) -> None:
        """Make a fix's edits, as one step that can be undone."""
        self._editor.apply_edits(fix.edits)

    def go_to_problem(self, step: int) -> None:
        """Go to the next problem or the one before, round the ends."""
        places = sorted({problem.span for problem in self._editor.problems})
        if not places:
            return
        caret = self._editor.source().from_utf16(self._editor.textCursor().selectionStart())
        if step > 0:
            chosen = next((span for span in places if span.start > caret), places[0])
        else:
            chosen = next((span for span in reversed(places) if span.start < caret), places[-1])
        self._editor.reveal(chosen)

    # -- names ----------------------------------------------------------------------------------

    def go_to_definition(self) -> None:
        """Go to where the input or tool at the caret is declared; from there, to its first use."""
        document = self._editor.parsed
        if document is None:
            return
        place = definition(document, self._editor.caret())
        if place is None:
            self._tell(self.tr("Nothing is declared under this name."))
            return
        self._editor.reveal(place)

    def rename(self) -> None:
        """Ask for a new name of the input at the caret."""
        document = self._editor.parsed
        name = name_at(document, self._editor.caret()) if document else None
        if document is None or name is None:
            self._tell(self.tr("Put the caret on an input to rename it."))
            return
        new, agreed = QInputDialog.getText(
            self._editor,
            self.tr("Rename input"),
            self.tr("New name of {name!r}:").format(name=name),
            QLineEdit.EchoMode.Normal,
            name,
        )
        if agreed:
            self.rename_to(new)

    def rename_to(self, new: str) -> bool:
        """Rename the input at the caret everywhere; False when the name cannot be used."""
        document = self._editor.parsed
        name = name_at(document, self._editor.caret()) if document else None
        if document is None or name is None or new == name:
            return False
        if not new.isidentifier():
            self._tell(
                self.tr("{new!r} is no name: use letters, digits and underscores.").format(new=new)
            )
            return False
        if document.input(new) is not None:
            self._tell(self.tr("There is an input named {new!r} already.").format(new=new))
            return False
        from studio.core.prompty.edits import rename_input

        if document.source.text != self._editor.text():
            from studio.core.prompty.parse import parse

            document = parse(self._editor.text(), document.source.path)
        self._editor.apply_edits(rename_input(document, name, new))
        return True

    def uses_here(self) -> tuple[str, tuple[Span, ...]]:
        """The input or tool at the caret, and every place that names it."""
        document, caret = self._editor.parsed, self._editor.caret()
        if document is None:
            return "", ()
        if document.source.text != self._editor.text():
            from studio.core.prompty.parse import parse

            document = parse(self._editor.text(), document.source.path)
        return places_of(document, caret)

    def _tell(self, text: str) -> None:
        place = self._editor.viewport().mapToGlobal(self._editor.cursorRect().bottomLeft())
        QToolTip.showText(place, text, self._editor)

    # -- hover ----------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Tell about what is under the mouse."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            text = self.hover_text(event.pos())
            if text:
                QToolTip.showText(event.globalPos(), text, self._editor)
            else:
                QToolTip.hideText()
            return True
        return super().eventFilter(watched, event)

    def hover_text(self, at: QPoint) -> str:
        """What there is to say about a point of the viewport, as rich text."""
        from studio.ui.editor.hover import hover

        document = self._editor.parsed
        if document is None:
            return ""
        cursor = self._editor.cursorForPosition(at)
        if self._editor.cursorRect(cursor).left() < at.x() - 40:
            return ""  # right of the line's end
        offset = self._editor.source().from_utf16(cursor.position())
        return hover(document, self._editor.problems, offset)


def _files_beside(path: Path | None) -> list[str]:
    """Files that `${file:}` could read: those in the prompt's folder, two levels deep."""
    if path is None:
        return []
    found: list[str] = []
    for pattern in ("*", "*/*"):
        for each in itertools.islice(path.parent.glob(pattern), _MOST_FILES):
            if each.suffix.lower() in (".json", ".yaml", ".yml", ".txt", ".md") and each != path:
                found.append(each.relative_to(path.parent).as_posix())
    return sorted(found)
