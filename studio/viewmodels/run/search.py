"""Search in a whole run: which cards say the words, whatever the inspector shows.

Looking at the cards of a run of 10,000 steps folds them all, which takes seconds: it is done in the
pool, a piece at a time, and what was found so far is shown meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal

from studio.application.run.cards.timeline import StepCard
from studio.application.run.search import SearchHits, SearchOrder, SearchPiece, look_through
from studio.core.agent.values.state import RunState
from studio.viewmodels.app.jobs import LatestJob

_PIECE_SECONDS = 0.1
"""How long one piece of the search takes, so that new words need not wait for the old ones."""


class RunSearch(QObject):
    """Looks through a run beside the window; new words end the search for the old ones."""

    found_changed = Signal(SearchHits)  # Found: more of it, or all
    failed = Signal(str)  # why the run cannot be read

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._question = SearchOrder(None, (), "")
        self._found = SearchHits()
        self._job: LatestJob[SearchPiece] = LatestJob(self)
        self._job.finished.connect(self._on_piece)
        self._job.failed.connect(self._on_failed)

    @property
    def found(self) -> SearchHits:
        """What has been found so far."""
        return self._found

    def look(self, state: RunState | None, cards: Sequence[StepCard], words: str) -> None:
        """Look for words; for those looked for already only where the run is another one now."""
        wanted = " ".join(words.split()).casefold()
        asked = self._question
        if state is asked.state and wanted == asked.words and len(cards) == len(asked.cards):
            return
        self._job.drop()
        self._question = SearchOrder(state, cards, wanted)
        self._found = SearchHits(wanted, is_whole=state is None or not wanted)
        if not self._found.is_whole:
            self._submit(0)
        self.found_changed.emit(self._found)

    def _submit(self, begin: int) -> None:
        self._job.submit(partial(look_through, self._question, begin, _PIECE_SECONDS))

    def _on_piece(self, piece: SearchPiece) -> None:
        is_whole = piece.end >= len(self._question.cards)
        self._found = SearchHits(self._question.words, self._found.rows + piece.rows, is_whole)
        if not is_whole:
            self._submit(piece.end)
        self.found_changed.emit(self._found)

    def _on_failed(self, error: Exception) -> None:
        self._question = SearchOrder(None, (), "")
        self._found = SearchHits()
        self.failed.emit(str(error))
