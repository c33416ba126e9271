"""Search a run for a text, a slice at a time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic

from studio.application.run.cards.timeline import StepCard, step_at
from studio.core.agent.loop.steps import messages_of
from studio.core.agent.values.state import RunState, known_common_length
from studio.core.agent.values.step import Step
from studio.core.text.diff import common_start


@dataclass(frozen=True, slots=True)
class SearchHits:
    """Matches of a search, as far as the run has been searched."""

    words: str = ""
    """Words of the search."""

    rows: tuple[int, ...] = ()
    """Rows of the matching cards, in order."""

    is_whole: bool = True
    """Whether every card has been searched."""


@dataclass(frozen=True, slots=True)
class SearchOrder:
    """The words and the range of a search."""

    state: RunState | None
    """The run; None before the first."""

    cards: Sequence[StepCard]
    """The cards of the run."""

    words: str
    """Search words in lowercase, separated by single spaces; empty for none."""


@dataclass(frozen=True, slots=True)
class SearchPiece:
    """The matches in some consecutive cards."""

    rows: tuple[int, ...]
    """Rows of the cards that contain the words."""

    end: int
    """Row of the first card that was not searched."""


def look_through(question: SearchOrder, begin: int, seconds: float) -> SearchPiece:
    """Search cards from row `begin` on, at least one, until the time is over.

    A prompt repeats the earlier conversation; only its new part is searched.
    """
    if question.state is None or not question.words:
        return SearchPiece((), len(question.cards))
    end = monotonic() + seconds
    found: list[int] = []
    text_of: Callable[[StepCard], str] = _Reader(question.state).text_of
    for row in range(begin, len(question.cards)):
        if question.words in " ".join(text_of(question.cards[row]).split()).casefold():
            found.append(row)
        if monotonic() >= end:
            return SearchPiece(tuple(found), row + 1)
    return SearchPiece(tuple(found), len(question.cards))


class _Reader:
    """A reader of each card's whole text."""

    def __init__(self, state: RunState) -> None:
        self._state = state

    def text_of(self, card: StepCard) -> str:
        step = step_at(self._state, card.step)
        shown = f"{card.title}\n{card.summary}"
        match card.kind:
            case "prompt":
                return f"{shown}\n{self._new_in(step)}"
            case "thought" | "reply":
                reply = step.reply or step.partial
                return shown if reply is None else f"{shown}\n{reply.reasoning}\n{reply.text}"
            case "action" if card.call is not None and card.call < len(step.calls):
                return f"{shown}\n{step.calls[card.call].text}"
            case "observation" if card.call is not None and card.call < len(step.calls):
                return f"{shown}\n{step.calls[card.call].observation or ''}"
            case "final":
                return f"{shown}\n{self._state.answer or ''}"
            case _:
                return shown

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
        return new[common_start(new, "\n".join(message.text for message in before[same:])) :]
