"""Connects the active page with its outline, problems and status bar.

These exist from the first paint on; `DocumentCoordinator` connects the panes that are created
later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from studio.application.words import tr
from studio.core.text.diff import smallest_edit
from studio.core.text.source import Fix, Problem
from studio.ui.base.menus import CLOSING, EDITING
from studio.ui.window.parts import WindowParts
from studio.viewmodels.app.jobs import single_shot

if TYPE_CHECKING:
    from studio.core.prompty.document import PromptDocument
    from studio.ui.editor.page.page import EditorPage
    from studio.ui.problems.pane import ProblemsPane

_PLACE_MS = 80
"""Interval at which the status bar follows the caret, in milliseconds: each update repaints it."""


class PageCoordinator(QObject):
    """Passes the active text, its problems and its caret to other parts."""

    document_changed = Signal(object)  # PromptDocument of the shown text, or None
    caret_moved = Signal(int)  # offset in that text

    def __init__(self, window: WindowParts) -> None:
        """Create it; `show_page` shows a page."""
        super().__init__(window.widget)
        self._window = window
        self._extra: tuple[Problem, ...] = ()
        """Problems from later stages, for the last parsed text."""
        self._read = ""
        """The last parsed text."""
        self._place = single_shot(self, self._show_place, _PLACE_MS)

    def show_page(self, page: EditorPage | None) -> None:
        """Show a page; None clears the parts."""
        self._extra = ()
        self._window.actions.enable(EDITING, enabled=page is not None)
        self._window.actions.enable(CLOSING, enabled=self._window.tabs.sides.has_tabs)
        is_prompt = page is not None or not self._window.tabs.sides.has_tabs
        self._window.docks.show_tab(self._window.tabs.shown_id, is_prompt=is_prompt)
        if page is None:
            self._window.outline.set_document(None)
            if "problems" in self.__dict__:
                self.problems.clear()
            self._window.status.clear_document()
            self.document_changed.emit(None)
            return
        self.show_caret(page.editor.caret())
        if page.document is not None:
            self.show_document(page.document)

    def show_document(self, document: PromptDocument) -> None:
        """Show a parsed text."""
        page, text = self._window.tabs.current, document.source.text
        # Until later stages have checked this text, their earlier problems stay.
        self._extra = tuple(_moved(self._extra, self._read, text))
        self._read = text
        self._window.outline.set_document(document)
        self._window.status.set_document(document)
        if page is not None:
            file = page.controller.file
            self._window.status.set_file(file.encoding, file.newline, bom=bool(file.bom))
        self._show_problems()
        self.document_changed.emit(document)

    def show_caret(self, offset: int) -> None:
        """Show the position of the caret."""
        page = self._window.tabs.current
        if page is None:
            return
        self.show_selection()
        self._window.outline.show_caret(offset)
        self.caret_moved.emit(offset)

    def show_selection(self) -> None:
        """Show the size of the selection; it can end without a move of the caret."""
        if not self._place.isActive():
            self._place.start()

    def rest(self) -> None:
        """Stop updating the position when the window is closed."""
        self._place.stop()

    def _show_place(self) -> None:
        page = self._window.tabs.current
        if page is not None:
            chosen = len(page.editor.textCursor().selectedText())
            self._window.status.set_place(page.editor.source(), page.editor.caret(), chosen)

    # -- problems -------------------------------------------------------------------------------

    @cached_property
    def problems(self) -> ProblemsPane:
        """The list of problems, created with the first parsed document."""
        from studio.ui.problems.pane import ProblemsPane

        pane = ProblemsPane()
        pane.request_reveal.connect(self._window.tabs.reveal)
        pane.request_go.connect(self._window.tabs.go_to)
        pane.request_fix.connect(self.apply_fix)
        self._window.docks.fill({"problems": pane})
        return pane

    def list_problems(self) -> None:
        """Create an empty list of problems if no document has created it."""
        if "problems" not in self.__dict__:
            self.problems.clear()

    def show_more_problems(self, problems: tuple[Problem, ...]) -> None:
        """Add problems from later stages (rendering, reading) to those of the document."""
        self._extra = problems
        self._show_problems()

    def apply_fix(self, fix: Fix) -> None:
        """Apply the edits of a fix, as one undo step."""
        page = self._window.tabs.current
        document = self._window.tabs.document
        if page is None or document is None:
            return
        if page.assist.apply(fix, document.source.text):
            page.editor.setFocus()

    def check(self) -> None:
        """Show all problems, and go to the first one."""
        page, document = self._window.tabs.current, self._window.tabs.document
        self._window.docks.show("problems")
        if page is None or document is None:
            return
        if not page.editor.problems:
            self._window.messages.say("success", tr("No problems found."), key="check")
            return
        page.editor.reveal(page.editor.problems[0].span)

    def _show_problems(self) -> None:
        from studio.core.prompty.checks.dialects import without_echoes

        page, document = self._window.tabs.current, self._window.tabs.document
        if page is None or document is None:
            return
        known = {(problem.code, problem.span) for problem in document.problems}
        extra = dict.fromkeys(self._extra)
        more = tuple(each for each in extra if (each.code, each.span) not in known)
        told = tuple(without_echoes(document, (*document.problems, *more)))
        problems = page.controller.reading.findings(told)
        if problems != page.editor.problems:
            page.editor.set_problems(problems)
        self.problems.set_problems(problems, document.source)
        self._window.status.set_problems(problems)


def _moved(problems: Iterable[Problem], old: str, new: str) -> Iterator[Problem]:
    """Yield the problems of an earlier text at their new places, without their fixes."""
    edits = smallest_edit(old, new) if problems else ()
    if not edits:
        yield from problems
        return
    (edit,) = edits
    by = len(new) - len(old)
    for each in problems:
        if each.span.end <= edit.span.start:
            yield replace(each, fixes=())
        elif each.span.start >= edit.span.end:
            yield replace(each, span=each.span.shift(by), fixes=())
