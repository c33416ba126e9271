"""Back and forward through the places where the user was: in texts, files and runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from PySide6.QtCore import QObject

from studio.application.editing.place_history import PlaceHistory, RunPlace, TextPlace, VisitedPlace
from studio.ui.editor.page.page import EditorPage
from studio.ui.editor.tabs.tabs import EditorTabs


class Navigation(QObject):
    """Follows the caret and the runs that are opened, and goes back to where they were."""

    def __init__(self, tabs: EditorTabs, parent: QObject) -> None:
        super().__init__(parent)
        self._tabs = tabs
        self._history = PlaceHistory()
        self.open_run: Callable[[str], object] | None = None
        """Shows a run by its identifier; None before the panes stand."""
        tabs.caret_moved.connect(self._on_caret)
        tabs.jumping.connect(self._on_jump)
        tabs.current_changed.connect(self._on_page)

    def note_place(self) -> None:
        """Keep where the user is now."""
        self._note(self._tabs.current)

    def visit_run(self, run: str) -> None:
        """A run is looked at."""
        self._history.visit(RunPlace(run))

    def go(self, by: int) -> None:
        """Go back (-1) or forward (1)."""
        self._note(self._tabs.current)
        place = self._history.step(by)
        while place is not None and not self._show(place):
            self._history.forget(place)
            place = self._history.step(min(by, 0))

    def _show(self, place: VisitedPlace) -> bool:
        match place:
            case RunPlace(run):
                if self.open_run is None:
                    return False
                self.open_run(run)
                return True
            case TextPlace():
                return self._show_text(place)
            case _:
                assert_never(place)

    def _show_text(self, place: TextPlace) -> bool:
        pages = self._tabs.pages()
        page = next((each for each in pages if each.controller.id == place.document), None)
        if page is not None:
            self._tabs.sides.select(page)
            self._tabs.show_tabs()
        elif place.path is not None and place.path.is_file():
            page = self._tabs.open(place.path)
        if page is None:
            return False
        page.editor.show_place(place.offset)
        return True

    def _on_jump(self) -> None:
        self._note(self._tabs.current)
        self._history.leave()

    def _on_caret(self, _offset: int) -> None:
        self._note(self._tabs.current)

    def _on_page(self, page: EditorPage | None) -> None:
        self._note(page)

    def _note(self, page: EditorPage | None) -> None:
        if page is not None:
            line = page.editor.textCursor().blockNumber()
            controller = page.controller
            place = TextPlace(controller.id, controller.path, line, page.editor.caret())
            self._history.visit(place)
