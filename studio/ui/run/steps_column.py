"""The left half of the run pane: the search in the run, and the timeline with its two buttons."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from studio.application.run.view import RunView
from studio.ui.run.search_bar import SearchBar
from studio.ui.run.timeline import TimelineView
from studio.ui.style.theme import Theme
from studio.viewmodels.run.search import Found, RunSearch


class StepsColumn(QWidget):
    """Finds words in the whole run, and leads back to where it stands."""

    words_changed = Signal(str)  # what is looked for
    newest_asked = Signal()  # the person wants to stay with the run again

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = RunView()
        self._search = RunSearch(self)
        self._going = 0  # asked for the next place (1) or the one before (-1), not there yet
        self._chosen = -1  # row of the place that was gone to last
        self.timeline = TimelineView()
        self.search = SearchBar()
        self.follow = QPushButton(self.tr("To the newest"), self.timeline)
        self.back = QPushButton(self.tr("Go back to here"), self.timeline)
        self.follow.setToolTip(self.tr("Stay with the run as it goes on"))
        self.back.setToolTip(
            self.tr("Stand at this place again, as a new branch  ({keys})").format(
                keys="Ctrl+Return"
            )
        )
        self.follow.hide()
        self.back.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.search)
        layout.addWidget(self.timeline, 1)
        self.timeline.following_changed.connect(self._on_following)
        self.back.clicked.connect(self.timeline.ask_fork)
        self.follow.clicked.connect(self.timeline.follow)
        self.follow.clicked.connect(self.newest_asked)
        self.search.words_changed.connect(self._on_words)
        self.search.next_asked.connect(self._on_next)
        self.search.closed.connect(self.timeline.setFocus)
        self._search.found_changed.connect(self._show_found)
        self._search.failed.connect(self.search.show_fault)
        self.timeline.search_asked.connect(self.search.open_search)

    def set_theme(self, theme: Theme) -> None:
        """Paint in these colours."""
        self.timeline.set_theme(theme)
        self.search.set_theme(theme)

    def show_view(self, view: RunView) -> None:
        """Show the steps of a run."""
        is_other = _run_of(view) != _run_of(self._view)
        self._view = view
        self.timeline.show_timeline(view.timeline)
        if is_other:
            self._going, self._chosen = 0, -1
            self._search.look(None, (), "")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the buttons at their corner."""
        super().resizeEvent(event)
        self.place_buttons()

    def place_buttons(self) -> None:
        """Put both buttons over the end of the list."""
        size = self.follow.sizeHint()
        view = self.timeline.viewport().size()
        left, top = view.width() - size.width() - 8, view.height() - size.height() - 8
        self.follow.setGeometry(left, top, size.width(), size.height())
        width = self.back.sizeHint().width()
        self.back.setGeometry(left - width - 8, top, width, size.height())

    def _on_following(self, following: bool) -> None:
        self.follow.setVisible(not following)
        self.back.setVisible(not following)
        self.place_buttons()

    def _on_words(self, words: str) -> None:
        self._going, self._chosen = 0, -1
        self._search.look(self._view.state, self.timeline.cards, words)
        self._show_found(self._search.found)
        self.words_changed.emit(words)

    def _on_next(self, by: int) -> None:
        """Choose the next card with the words, round and round, once it is found."""
        self._going = by
        self._search.look(self._view.state, self.timeline.cards, self.search.field.text())
        self._show_found(self._search.found)

    def _show_found(self, found: Found) -> None:
        at = self._next_of(found) if self._going else None
        if at is not None and found.rows[at] < len(self.timeline.cards):
            self._going, self._chosen = 0, found.rows[at]
            self.timeline.choose(self.timeline.cards[self._chosen].key)
        now = found.rows.index(self._chosen) if self._chosen in found.rows else -1
        self.search.show_count(now, len(found.rows), is_whole=found.is_whole)

    def _next_of(self, found: Found) -> int | None:
        """Which of the places is meant; None where it may still be found, or there is none."""
        now, rows = self.timeline.currentIndex().row(), found.rows
        if self._going > 0:
            after = next((at for at, row in enumerate(rows) if row > now), None)
            if after is not None:
                return after
            return 0 if rows and found.is_whole else None
        before = [at for at, row in enumerate(rows) if row < now]
        if not found.is_whole or not rows:
            return None
        return before[-1] if before else len(rows) - 1


def _run_of(view: RunView) -> str:
    return view.state.setup.run if view.state is not None else ""
