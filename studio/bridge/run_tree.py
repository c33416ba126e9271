"""From a card of the timeline to the checkpoint that it stands for."""

from __future__ import annotations

from collections.abc import Sequence

from studio.bridge.run_cards import CardKind, StepCard
from studio.core.agent.state import Checkpoint, Place

_PLACE: dict[CardKind, Place] = {
    "prompt": "P1", "thought": "P2", "reply": "P2", "action": "P3", "observation": "P4",
    "final": "P6", "error": "PX", "note": "P5",
}  # fmt: skip


def checkpoint_of_card(checkpoints: Sequence[Checkpoint], card: StepCard) -> Checkpoint | None:
    """The newest checkpoint at the place of a card; None where the run never stood there."""
    wanted = _PLACE[card.kind]
    for checkpoint in reversed(checkpoints):
        if checkpoint.place != wanted or checkpoint.iteration != card.step:
            continue
        if card.call is None or checkpoint.call == card.call:
            return checkpoint
    return None
