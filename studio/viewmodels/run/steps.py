"""The timeline's item model, which emits real changes only; and the search in a whole run.

Looking at the cards of a run of 10,000 steps folds them all, which takes seconds: it is done in the
pool, a piece at a time, and what was found so far is shown meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from studio.application.run.cards.card import CardList
from studio.application.run.cards.timeline import StepCard, Timeline
from studio.application.run.search import SearchHits, SearchOrder, SearchPiece, look_through
from studio.core.agent.values.state import RunState
from studio.viewmodels.app.jobs import LatestJob

CARD_ROLE = int(Qt.ItemDataRole.UserRole)
"""Role that gives the whole `StepCard`."""

_PIECE_SECONDS = 0.1
"""Time slice of the search, in seconds, so that new words need not wait for the old ones."""


class StepListModel(QAbstractListModel):
    """One row for each card."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.cards = CardList()
        """The cards, in order."""

    def show_timeline(self, timeline: Timeline) -> None:
        """Take new cards; rows that are the same are not touched."""
        new, old = timeline.cards, self.cards
        same = old.shares(new)
        shared = min(len(old), len(new))
        if len(new) < len(old):
            self.beginRemoveRows(QModelIndex(), len(new), len(old) - 1)
            self.cards = old.upto(len(new))
            self.endRemoveRows()
        if len(new) > len(old):
            self.beginInsertRows(QModelIndex(), len(old), len(new) - 1)
            self.cards = new
            self.endInsertRows()
        self.cards = new
        if same < shared:
            self.dataChanged.emit(self.index(same), self.index(shared - 1))

    def row_of(self, key: tuple[int, str, int | None]) -> int:
        """The row of the card with that key, searched from the newest; -1 where there is none."""
        first, last = self.cards.before(key[0] - 1), self.cards.before(key[0])
        for row in range(last - 1, first - 1, -1):
            if self.cards[row].key == key:
                return row
        return -1

    def live_row(self) -> int:
        """Return the row of the run's place: the marked card, else the last one; -1 if empty."""
        for row in range(len(self.cards) - 1, max(-1, len(self.cards) - 64), -1):
            if self.cards[row].phase in ("live", "paused", "done"):
                return row
        return len(self.cards) - 1

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        """Return the number of cards."""
        return 0 if parent is not None and parent.isValid() else len(self.cards)

    def data(
        self,
        index: QModelIndex | QPersistentModelIndex,
        role: int = int(Qt.ItemDataRole.DisplayRole),
    ) -> object:
        """The card, its text, or its words for a screen reader."""
        if not index.isValid() or index.row() >= len(self.cards):
            return None
        card = self.cards[index.row()]
        if role == CARD_ROLE:
            return card
        if role == int(Qt.ItemDataRole.DisplayRole):
            return card.title if not card.summary else f"{card.title}: {card.summary}"
        if role == int(Qt.ItemDataRole.AccessibleTextRole):
            return card.spoken
        if role == int(Qt.ItemDataRole.ToolTipRole):
            return "\n".join(filter(None, (card.summary or card.title, card.touched)))
        return None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """All rows can be chosen."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


class RunSearch(QObject):
    """Looks through a run beside the window; new words end the search for the old ones."""

    found_changed = Signal(SearchHits)  # Found: more of it, or all
    failed = Signal(str)  # why the run cannot be read

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._question = SearchOrder(None, (), "")
        self.found = SearchHits()
        """Matches so far."""
        self._job = LatestJob(self, self._on_piece, self._on_failed)

    def look(self, state: RunState | None, cards: Sequence[StepCard], words: str) -> None:
        """Look for words; for those looked for already only where the run is another one now."""
        wanted = " ".join(words.split()).casefold()
        asked = self._question
        if state is asked.state and wanted == asked.words and len(cards) == len(asked.cards):
            return
        self._job.drop()
        self._question = SearchOrder(state, cards, wanted)
        self.found = SearchHits(wanted, is_whole=state is None or not wanted)
        if not self.found.is_whole:
            self._submit(0)
        self.found_changed.emit(self.found)

    def _submit(self, begin: int) -> None:
        self._job.submit(partial(look_through, self._question, begin, _PIECE_SECONDS))

    def _on_piece(self, piece: SearchPiece) -> None:
        is_whole = piece.end >= len(self._question.cards)
        self.found = SearchHits(self._question.words, self.found.rows + piece.rows, is_whole)
        if not is_whole:
            self._submit(piece.end)
        self.found_changed.emit(self.found)

    def _on_failed(self, error: Exception) -> None:
        self._question = SearchOrder(None, (), "")
        self.found = SearchHits()
        self.failed.emit(str(error))
