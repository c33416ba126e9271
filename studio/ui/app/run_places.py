"""Lights the text behind the moment of a run that is looked at, in the prompt's own editor."""

from __future__ import annotations

from PySide6.QtCore import QObject

from studio.application.run.cards.card_text import step_at
from studio.application.run.cursor import RunCursor, TemplatePlaces, is_text_of
from studio.application.run.view import RunView
from studio.core.agent.values.state import RunState
from studio.core.prompty.document import PromptDocument
from studio.core.text.span import Span
from studio.ui.window.parts import WindowParts


class RunPlaces(QObject):
    """Only while the run is on the screen, and only where the text is still the run's own."""

    def __init__(self, window: WindowParts) -> None:
        super().__init__(window.widget)
        self._window = window
        self._state: RunState | None = None
        self._cursor: RunCursor | None = None
        self._known: tuple[PromptDocument, str, TemplatePlaces | None] | None = None
        """Of which document and which run's text, and its places; None where it is another."""

    def show_view(self, view: RunView) -> None:
        """Take the run that is shown."""
        before, self._state = self._state, view.state
        if _run_of(before) != _run_of(view.state):
            self._cursor = None
            self.light()

    def show_cursor(self, cursor: RunCursor) -> None:
        """Go to a moment."""
        self._cursor = cursor
        self.light()

    def light(self) -> None:
        """Light the lines, or let them be dark again."""
        page, cursor = self._window.tabs.current, self._cursor
        spans = self._spans()
        for each in self._window.tabs.pages():
            is_here = each is page and cursor is not None
            each.show_moment(spans if is_here else (), cursor.words if is_here and cursor else "")

    def _spans(self) -> tuple[Span, ...]:
        state, cursor = self._state, self._cursor
        document = self._window.tabs.document
        if state is None or cursor is None or document is None:
            return ()
        places = self._places(document, state)
        if places is None or not self._window.docks.is_shown("run"):
            return ()
        calls = step_at(state, cursor.step).calls
        row = cursor.call if cursor.call is not None and cursor.call < len(calls) else None
        return places.behind(cursor, calls[row].tool if row is not None else "")

    def _places(self, document: PromptDocument, state: RunState) -> TemplatePlaces | None:
        source = state.setup.source
        known = self._known
        if known is None or known[0] is not document or known[1] is not source:
            page = self._window.tabs.current
            is_same = is_text_of(document, source) and page is not None
            places = TemplatePlaces.of(document) if is_same else None
            self._known = known = (document, source, places)
        return known[2]


def _run_of(state: RunState | None) -> str:
    return state.setup.run if state is not None else ""
