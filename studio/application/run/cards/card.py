"""One card of the timeline, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from studio.application.words import marked, tr

CardKind: TypeAlias = Literal[
    "prompt", "message", "thought", "reply", "action", "observation", "final", "error", "note"
]
"""What a card tells of; `prompt` is the first card of each step and heads it."""

CardPhase: TypeAlias = Literal["past", "live", "paused", "error", "done"]
"""How it is painted; the kind and the words say the same without color."""

Tab: TypeAlias = Literal["messages", "request", "reply", "tool", "answer", "usage", "watch"]
"""A tab of the inspector."""

TAB_OF_KIND: dict[CardKind, Tab] = {
    "prompt": "messages",
    "thought": "reply",
    "reply": "reply",
    "action": "tool",
    "observation": "tool",
    "final": "answer",
    "error": "reply",
    "note": "reply",
    "message": "messages",
}
"""Where a card's whole content is read."""


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
    """A badge of a card in the user's language."""
    return tr(badge)


@dataclass(frozen=True, slots=True)
class StepCard:
    """One row of the timeline."""

    step: int
    """Number of the step, from 1."""

    kind: CardKind
    """What it tells of."""

    title: str
    """A word or two."""

    summary: str = ""
    """The content in one line."""

    facts: str = ""
    """Tokens and time, shown at the right."""

    badges: tuple[str, ...] = ()
    """`edited`, `replayed`, `mocked`, `repaired`, `warned`, `retried`, …"""

    phase: CardPhase = "past"
    """How it stands."""

    call: int | None = None
    """Row of the step, for calls and their results."""

    seconds: float = 0.0
    """How long it took; 0 for what takes no time of its own."""

    touched: str = ""
    """What the user did to it, and when: `edited by you, 14:02:11`."""

    @property
    def key(self) -> tuple[int, CardKind, int | None]:
        """Who the card is, whatever it says by now."""
        return (self.step, self.kind, self.call)

    @property
    def spoken(self) -> str:
        """The row for a screen reader."""
        badges = ", ".join(map(badge_word, self.badges))
        parts = (self.title, self.summary, self.facts, badges, self.touched)
        words = ". ".join(part for part in parts if part)
        return (
            words
            if self.kind == "prompt"
            else tr("Iteration {step}: {said}").format(step=self.step, said=words)
        )
