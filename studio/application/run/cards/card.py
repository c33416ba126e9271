"""One card of the timeline, as a value."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, TypeAlias, overload

from studio.application.words import marked, tr
from studio.core.agent.values.state import LazySequence, PersistentList
from studio.core.agent.values.step import Step
from studio.core.runs.opened import StoredSteps

CardKind: TypeAlias = Literal[
    "prompt", "message", "thought", "reply", "action", "observation", "final", "error", "note"
]
"""Subject of a card; `prompt` is the first card and the heading of each step."""

CardPhase: TypeAlias = Literal["past", "live", "paused", "error", "done"]
"""State of a card for painting; kind and text show the same without color."""

Tab: TypeAlias = Literal["messages", "request", "reply", "tool", "usage", "watch"]
"""A tab of the inspector."""

TAB_OF_KIND: dict[CardKind, Tab] = {
    "prompt": "messages",
    "thought": "reply",
    "reply": "reply",
    "action": "tool",
    "observation": "tool",
    "final": "reply",
    "error": "reply",
    "note": "reply",
    "message": "messages",
}
"""Tab that shows a card's whole content."""


BADGES = (
    marked("edited"),
    marked("repaired"),
    marked("replayed"),
    marked("mocked"),
    marked("retried"),
    marked("forked"),
    marked("warned"),
    marked("invalid"),
    marked("rejected"),
    marked("skipped"),
    marked("unknown"),
    marked("answered"),
    marked("cut"),
    marked("approved"),
    marked("model changed"),
    marked("model kept"),
)
"""All badges that a card can have."""


def badge_word(badge: str) -> str:
    """Return a card's badge in the user's language."""
    return tr(badge)


@dataclass(frozen=True, slots=True)
class StepCard:
    """One row of the timeline."""

    step: int
    """Number of the step, from 1."""

    kind: CardKind
    """Subject of the card."""

    title: str
    """One or two words."""

    summary: str = ""
    """The content on one line."""

    facts: str = ""
    """Tokens and time, shown at the right."""

    badges: tuple[str, ...] = ()
    """`edited`, `replayed`, `mocked`, `repaired`, `warned`, `retried`, …"""

    phase: CardPhase = "past"
    """State of the card."""

    call: int | None = None
    """Row in the step, for calls and their results."""

    seconds: float = 0.0
    """Duration in seconds; 0 if it has none of its own."""

    touched: str = ""
    """Last edit of the user, with its time: `edited by you, 14:02:11`."""

    @property
    def key(self) -> tuple[int, CardKind, int | None]:
        """Return the identity of the card, independent of its content."""
        return (self.step, self.kind, self.call)

    @property
    def spoken(self) -> str:
        """Text of the row for a screen reader."""
        badges = ", ".join(map(badge_word, self.badges))
        parts = (self.title, self.summary, self.facts, badges, self.touched)
        words = ". ".join(part for part in parts if part)
        return (
            words
            if self.kind == "prompt"
            else tr("Iteration {step}: {said}").format(step=self.step, said=words)
        )


# The cards of steps that are not read yet: their number is known, each is built when shown.

CardMaker: TypeAlias = Callable[[Step], list[StepCard]]
"""Function that builds the cards of a finished step."""

_STEPS_KEPT = 256


def cards_in(shape: str) -> int:
    """Return the number of cards of a step with that shape (`run_index.shape_of`)."""
    return 1 + len(shape) + shape.count("+")


class StoredCards(LazySequence[StepCard]):
    """The cards of the first steps of an opened run."""

    def __init__(self, steps: PersistentList[Step], root: StoredSteps, cards_of: CardMaker) -> None:
        """Create the list without reading any step.

        Args:
            steps: the steps.
            root: the stored steps, which know the shape of each step.
            cards_of: builds the cards of one step.
        """
        self._steps = steps
        self._root = root
        self._ends = list(accumulate(map(cards_in, root.shapes(len(steps)))))
        self._cards_of = cards_of
        self._made: OrderedDict[int, list[StepCard]] = OrderedDict()

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self._ends)

    def before(self, step: int) -> int:
        """Return the number of cards of the first `step` steps."""
        return self._ends[min(step, len(self._ends)) - 1] if step else 0

    def _make(self, index: int) -> StepCard:
        step = bisect_right(self._ends, index)
        cards = self._made.get(step)
        if cards is None:
            cards = self._made[step] = self._cards_of(self._root.step_summary(step))
            while len(self._made) > _STEPS_KEPT:
                self._made.popitem(last=False)
        return cards[index - self.before(step)]

    def shares(self, other: StoredCards) -> int:
        """Return the number of first cards that two timelines share."""
        return self.before(self._steps.shares(other._steps))


def stored_cards(
    steps: PersistentList[Step], cards_of: CardMaker
) -> tuple[PersistentList[StepCard], int]:
    """Return the cards of the first steps that are not read yet, and the number of these steps."""
    root = steps.root
    if not isinstance(root, StoredSteps):
        return PersistentList(), 0
    count = min(len(root), steps.rooted)
    return PersistentList.over(StoredCards(steps.upto(count), root, cards_of)), count


class CardList(Sequence[StepCard]):
    """The cards of a run: the shared ones of finished steps, and those of the last step."""

    def __init__(
        self, head: PersistentList[StepCard] | None = None, tail: tuple[StepCard, ...] = ()
    ) -> None:
        self.head: PersistentList[StepCard] = head if head is not None else PersistentList()
        """The cards of the finished steps."""
        self.tail = tail
        """The cards of the current step."""

    def __len__(self) -> int:
        return len(self.head) + len(self.tail)

    @overload
    def __getitem__(self, at: int) -> StepCard: ...

    @overload
    def __getitem__(self, at: slice) -> CardList | tuple[StepCard, ...]: ...

    def __getitem__(self, at: int | slice) -> StepCard | CardList | tuple[StepCard, ...]:
        done = len(self.head)
        if isinstance(at, slice):
            start, stop, step = at.indices(len(self))
            if (start, step) == (0, 1):
                return self.upto(stop)
            return tuple(self[index] for index in range(start, stop, step))
        index = at + len(self) if at < 0 else at
        return self.head[index] if 0 <= index < done else self.tail[index - done]

    def __iter__(self) -> Iterator[StepCard]:
        yield from self.head
        yield from self.tail

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CardList) and (self.head, self.tail) == (other.head, other.tail)

    def __hash__(self) -> int:
        return hash((self.head, self.tail))

    def upto(self, length: int) -> CardList:
        """Return the first `length` cards."""
        return CardList(self.head.upto(length), self.tail[: max(0, length - len(self.head))])

    def before(self, step: int) -> int:
        """Return the number of cards of the first `step` steps."""
        root = self.head.root
        known = root.before(step) if isinstance(root, StoredCards) else 0
        if isinstance(root, StoredCards) and step < root.steps:
            return min(known, len(self))
        return bisect_right(self, step, known, key=lambda card: card.step)

    def shares(self, other: CardList) -> int:
        """Return the number of equal first cards; cards that are not read yet are not compared."""
        same = self.head.shares(other.head)
        if same < max(_unread(self.head), _unread(other.head)):
            return same
        shared = min(len(self), len(other))
        while same < shared and (self[same] is other[same] or self[same] == other[same]):
            same += 1
        return same


def _unread(cards: PersistentList[StepCard]) -> int:
    return cards.rooted if isinstance(cards.root, StoredCards) else 0
