"""The one cursor of a run: which moment all views show, and how the views find each other by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from studio.application.run.cards.card import CardKind, StepCard
from studio.application.run.diagram import (
    DiagramState,
    failed_nodes,
    node_facts,
    passes_of,
    tool_of,
    visited_nodes,
)
from studio.application.run.lanes import lanes_of, node_notes
from studio.application.run.nodes import NODE_OF_ERROR, Node
from studio.application.words import marked, translate
from studio.core.agent.values.state import RunState, Step

_tr = partial(translate, "RunCards")

_NODE_OF_CARD: dict[CardKind, Node] = {
    "prompt": "prompt", "message": "prompt", "thought": "reply", "reply": "reply",
    "action": "action", "observation": "observation", "final": "final", "note": "observation",
}  # fmt: skip

_CARDS_OF_NODE: dict[Node, tuple[CardKind, ...]] = {
    "prompt": ("prompt",), "model": ("thought", "reply"), "reply": ("thought", "reply"),
    "action": ("action",), "tool": ("action",), "observation": ("observation", "note"),
    "final": ("final",), "done": ("final",),
}  # fmt: skip


_NAMES: dict[CardKind, str] = {
    "prompt": marked("Prompt"), "message": marked("Your message"), "thought": marked("Thought"),
    "reply": marked("Reply"), "action": marked("Action"), "observation": marked("Observation"),
    "final": marked("Final answer"), "error": marked("Problem"), "note": marked("Told the model"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunCursor:
    """A moment of a run: a card of the timeline, a tick, a node in a turn, a row of the usage."""

    step: int
    """Number of the step, from 1."""

    kind: CardKind
    """What of the step."""

    call: int | None = None
    """Row of the step, for calls and their results."""

    @classmethod
    def of_card(cls, card: StepCard) -> RunCursor:
        """The moment that a card tells of."""
        return cls(card.step, card.kind, card.call)

    @property
    def key(self) -> tuple[int, CardKind, int | None]:
        """The key of its card."""
        return (self.step, self.kind, self.call)

    @property
    def words(self) -> str:
        """The moment for people: `Action, iteration 2`."""
        return _tr("{moment}, iteration {number}").format(
            moment=_tr(_NAMES[self.kind]), number=self.step
        )


def cursor_at_node(cards: Sequence[StepCard], now: StepCard | None, node: Node) -> RunCursor | None:
    """Where the cursor goes for a node: to its card in the step that is shown, else the last one.

    Args:
        cards: the timeline.
        now: the card that is shown.
        node: the node chosen.
    """
    kinds = _CARDS_OF_NODE[node]
    last: StepCard | None = None
    for card in reversed(cards):
        if card.kind not in kinds:
            continue
        if now is None or card.step == now.step:
            return RunCursor.of_card(card)
        last = last or card
        if card.step < now.step:
            break
    return RunCursor.of_card(last) if last is not None else None


def diagram_at(now: DiagramState, state: RunState, step: Step, card: StepCard) -> DiagramState:
    """The diagram for the moment of a card, where the user looks at another than the run's own.

    Args:
        now: the diagram of where the run stands.
        state: the run.
        step: the card's step.
        card: what is looked at.
    """
    node = _NODE_OF_CARD.get(card.kind, "reply")
    if card.kind == "error" and state.error is not None:
        node = NODE_OF_ERROR[state.error.kind]
    return replace(
        now,
        phase="error" if card.phase == "error" else "paused",
        live=node,
        visited=visited_nodes(step, node),
        iteration=card.step,
        tool=tool_of(step, card.call),
        sentence=card.spoken,
        facts=node_facts(step, card.call),
        passes=passes_of(state, card.step),
        failed=failed_nodes(step),
        lanes=lanes_of(step),
        lane=card.call if card.kind in ("action", "observation") else None,
        notes=node_notes(step),
        is_past=True,
    )
