"""From a card of the timeline to the checkpoint that it stands for."""

from __future__ import annotations

from studio.application.run.cards import CardKind, StepCard
from studio.core.agent.past.tree import RunTree
from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.state import Checkpoint

_PLACE: dict[CardKind, PausePoint] = {
    "prompt": PausePoint.BEFORE_REQUEST,
    "thought": PausePoint.REPLY,
    "reply": PausePoint.REPLY,
    "action": PausePoint.TOOL_CALL,
    "observation": PausePoint.OBSERVATION,
    "final": PausePoint.ANSWER,
    "error": PausePoint.ERROR,
    "note": PausePoint.STEP_END,
}


def checkpoint_of_card(tree: RunTree, cursor: int | None, card: StepCard) -> Checkpoint | None:
    """The checkpoint at the place of a card; None where the run never stood there.

    Looked for on the way that is shown, from its end: another branch may have stood at a place of
    the same sort later.
    """
    wanted = _PLACE[card.kind]
    at = cursor
    while at is not None:
        checkpoint = tree.get(at)
        if checkpoint is None or checkpoint.iteration < card.step:
            return None
        fits = checkpoint.place == wanted and checkpoint.iteration == card.step
        if fits and (card.call is None or checkpoint.call == card.call):
            return checkpoint
        at = checkpoint.parent
    return None
