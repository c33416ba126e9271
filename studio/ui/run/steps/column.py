"""The left half of the run pane: the search in the run, and the timeline with its buttons."""

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QLineEdit, QToolButton, QWidget

from studio.application.run.displayed_run import RunView
from studio.application.run.search import SearchHits
from studio.application.words import tr
from studio.ui.parts.kit import column_of, named, push_button, row_of, toned_label
from studio.ui.run.steps.timeline import TimelineView
from studio.ui.style.theme import icon, paint_text
from studio.viewmodels.app.jobs import single_shot
from studio.viewmodels.run.controller import RunSearch

_TYPING_MS = 120


class SearchBar(QWidget):
    """Search field, hidden until it is opened; requests the next match."""

    words_changed = Signal(str)
    request_next = Signal(int)  # 1: the next match, -1: the previous one
    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.field = named(QLineEdit(), tr("Find in the whole run"))
        self.count = toned_label("muted")
        self._close = QToolButton()
        self._timer = single_shot(self, self._on_words, _TYPING_MS)
        self.field.setPlaceholderText(tr("Find in the whole run"))
        self._close.setIcon(icon("x"))
        self._close.setAutoRaise(True)
        self._close.setAccessibleName(tr("Close the search"))
        row_of((self.field, 1), self.count, self._close, on=self, margins=(8, 4, 4, 4), spacing=8)
        self.field.textChanged.connect(self._timer.start)
        self._close.clicked.connect(self.close_search)
        for keys, slot in (
            ("Return", partial(self._go, 1)),
            ("Enter", partial(self._go, 1)),
            ("Shift+Return", partial(self._go, -1)),
            ("Esc", self.close_search),
        ):
            QShortcut(QKeySequence(keys), self.field).activated.connect(slot)
        self.hide()

    def open_search(self) -> None:
        """Show the bar and focus its field."""
        self.show()
        self.field.setFocus()
        self.field.selectAll()

    def close_search(self) -> None:
        """Hide the bar and end the search."""
        self.field.clear()
        self._on_words()
        self.hide()
        self.closed.emit()

    def show_count(self, at: int, count: int, *, is_whole: bool = True) -> None:
        """Show the number of the selected match and of all matches.

        Args:
            at: index of the selected match, from 0; negative for none.
            count: number of matches.
            is_whole: whether the whole run has been searched.
        """
        if not self.field.text().strip():
            self.count.clear()
        elif not is_whole:
            self.count.setText(tr("{count}, searching …").format(count=count))
        elif not count:
            self.count.setText(tr("nowhere"))
        else:
            self.count.setText(
                tr("{number} of {count}").format(number=at + 1, count=count)
                if at >= 0
                else f"{count}"
            )
        is_fine = count or not is_whole
        paint_text(self.count, "muted" if is_fine else "error")

    def show_fault(self, why: str) -> None:
        """Show that the run cannot be searched."""
        self.count.setText(tr("some of the run cannot be read"))
        self.count.setToolTip(why)
        paint_text(self.count, "error")

    def _on_words(self) -> None:
        self._timer.stop()
        self.words_changed.emit(self.field.text())

    def _go(self, by: int) -> None:
        if self._timer.isActive():
            self._on_words()
        self.request_next.emit(by)


class StepsColumn(QWidget):
    """Timeline with a search over the whole run and a button to its current point."""

    def __init__(self) -> None:
        super().__init__()
        self._view = RunView()
        self._search = RunSearch(self)
        self._going = 0  # requested next match (1) or previous one (-1), not found yet
        self._chosen = -1  # row of the last selected match
        self.timeline = TimelineView()
        self.search = SearchBar()
        self.follow = push_button(tr("Newest"), tip=tr("Follow the run"))
        self.back = push_button(tr("Go back here"), self.timeline.ask_fork)
        self.back.setToolTip(
            tr("Go back to this point on a new branch  ({keys})").format(keys="Ctrl+Return")
        )
        self._ways = QWidget()
        row_of(1, self.back, self.follow, on=self._ways, margins=(8, 4, 8, 4), spacing=8)
        # Keeps its room, so that no card or button moves under the pointer.
        policy = self._ways.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._ways.setSizePolicy(policy)
        self._ways.hide()
        column_of(self.search, (self.timeline, 1), self._ways, on=self, margins=0, spacing=0)
        self.timeline.following_changed.connect(self._on_following)
        self.follow.clicked.connect(self.timeline.follow)
        self.search.words_changed.connect(self._on_words)
        self.search.request_next.connect(self._on_next)
        self.search.closed.connect(self.timeline.setFocus)
        self._search.found_changed.connect(self._show_found)
        self._search.failed.connect(self.search.show_fault)
        self.timeline.request_search.connect(self.search.open_search)

    def show_view(self, view: RunView) -> None:
        """Show the steps of a run."""
        is_other = _run_of(view) != _run_of(self._view)
        self._view = view
        if is_other:
            self.timeline.folds.reset()
        self.timeline.show_timeline(view.timeline)
        self.timeline.show_forks(view.forks)
        if is_other:
            self._going, self._chosen = 0, -1
            self._search.look(None, (), "")

    def _on_following(self, following: bool) -> None:
        self._ways.setVisible(not following)

    def _on_words(self, words: str) -> None:
        self._going, self._chosen = 0, -1
        self._search.look(self._view.state, self.timeline.cards, words)
        self._show_found(self._search.found)

    def _on_next(self, by: int) -> None:
        """Select the next matching card as soon as it is found; wrap around at the end."""
        self._going = by
        self._search.look(self._view.state, self.timeline.cards, self.search.field.text())
        self._show_found(self._search.found)

    def _show_found(self, found: SearchHits) -> None:
        at = self._next_of(found) if self._going else None
        if at is not None and found.rows[at] < len(self.timeline.cards):
            self._going, self._chosen = 0, found.rows[at]
            self.timeline.choose(self.timeline.cards[self._chosen].key)
        now = found.rows.index(self._chosen) if self._chosen in found.rows else -1
        self.search.show_count(now, len(found.rows), is_whole=found.is_whole)

    def _next_of(self, found: SearchHits) -> int | None:
        """Return the index of the requested match; None if it is not found (yet)."""
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
