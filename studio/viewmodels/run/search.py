"""Search in a whole run: which cards say the words, whatever the inspector shows.

Looking at the cards of a run of 10,000 steps folds them all, which takes seconds: it is done in the
pool, a piece at a time, and what was found so far is shown meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic

from PySide6.QtCore import QObject, Signal

from studio.application.run.cards.card_text import step_at
from studio.application.run.cards.timeline import StepCard
from studio.core.agent.loop.steps import messages_of
from studio.core.agent.values.persistent_list import known_common_length
from studio.core.agent.values.state import RunState, Step
from studio.core.text.common import common_start
from studio.viewmodels.app.jobs import LatestJob

_PIECE_SECONDS = 0.1
"""How long one piece of the search takes, so that new words need not wait for the old ones."""


@dataclass(frozen=True, slots=True)
class SearchHits:
    """Where the words stand, as far as the run has been looked through."""

    words: str = ""
    """What was looked for."""

    rows: tuple[int, ...] = ()
    """Rows of the cards, in order."""

    is_whole: bool = True
    """Whether every card has been looked at."""


@dataclass(frozen=True, slots=True)
class _Question:
    """What is looked for, and where."""

    state: RunState | None
    """The run."""

    cards: Sequence[StepCard]
    """Its cards."""

    words: str
    """The words, in small letters and with single spaces; empty for nothing."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """What came of some cards in a row."""

    rows: tuple[int, ...]
    """Rows of those that say the words."""

    end: int
    """Row of the first card that was not looked at."""


class RunSearch(QObject):
    """Looks through a run beside the window; new words end the search for the old ones."""

    found_changed = Signal(SearchHits)  # Found: more of it, or all
    failed = Signal(str)  # why the run cannot be read

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._question = _Question(None, (), "")
        self._found = SearchHits()
        self._job: LatestJob[_Piece] = LatestJob(self)
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
        self._question = _Question(state, cards, wanted)
        self._found = SearchHits(wanted, is_whole=state is None or not wanted)
        if not self._found.is_whole:
            self._submit(0)
        self.found_changed.emit(self._found)

    def _submit(self, begin: int) -> None:
        self._job.submit(partial(_looked_through, self._question, begin, _PIECE_SECONDS))

    def _on_piece(self, piece: _Piece) -> None:
        is_whole = piece.end >= len(self._question.cards)
        self._found = SearchHits(self._question.words, self._found.rows + piece.rows, is_whole)
        if not is_whole:
            self._submit(piece.end)
        self.found_changed.emit(self._found)

    def _on_failed(self, error: Exception) -> None:
        self._question = _Question(None, (), "")
        self._found = SearchHits()
        self.failed.emit(str(error))


def _looked_through(question: _Question, begin: int, seconds: float) -> _Piece:
    """Look at cards from row `begin` on, at least at one; at no more once the time is over.

    A prompt repeats what was said before; only what is new in it counts.
    """
    if question.state is None or not question.words:
        return _Piece((), len(question.cards))
    end = monotonic() + seconds
    found: list[int] = []
    text_of: Callable[[StepCard], str] = _Reader(question.state).text_of
    for row in range(begin, len(question.cards)):
        if question.words in " ".join(text_of(question.cards[row]).split()).casefold():
            found.append(row)
        if monotonic() >= end:
            return _Piece(tuple(found), row + 1)
    return _Piece(tuple(found), len(question.cards))


class _Reader:
    """Gives each card's whole text."""

    def __init__(self, state: RunState) -> None:
        self._state = state

    def text_of(self, card: StepCard) -> str:
        step = step_at(self._state, card.step)
        said = f"{card.title}\n{card.summary}"
        match card.kind:
            case "prompt":
                return f"{said}\n{self._new_in(step)}"
            case "thought" | "reply":
                reply = step.reply or step.partial
                return said if reply is None else f"{said}\n{reply.reasoning}\n{reply.text}"
            case "action" if card.call is not None and card.call < len(step.calls):
                return f"{said}\n{step.calls[card.call].text}"
            case "observation" if card.call is not None and card.call < len(step.calls):
                return f"{said}\n{step.calls[card.call].observation or ''}"
            case "final":
                return f"{said}\n{self._state.answer or ''}"
            case _:
                return said

    def _new_in(self, step: Step) -> str:
        state = self._state
        if not 0 < step.number <= len(state.steps) + 1:
            return ""
        sent = messages_of(state, step.number)
        if step.number == 1:
            return "\n".join(message.text for message in sent)
        before = messages_of(state, step.number - 1)
        same = known_common_length(before, sent)
        while same < min(len(before), len(sent)) and before[same] == sent[same]:
            same += 1
        new = "\n".join(message.text for message in sent[same:])
        old = "\n".join(message.text for message in before[same:])
        return new[common_start(new, old) :]
