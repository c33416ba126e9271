"""What happens inside one turn of the loop: its calls as lanes, and what the user did where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from studio.application.run.nodes import NODE_OF_PLACE, Node
from studio.application.words import marked, tr
from studio.core.agent.values.step import Call, CallStatus, Step, TouchKind
from studio.core.text.amounts import duration

LanePhase: TypeAlias = Literal["asked", "waits", "running", "done", "failed", "decided"]
"""`waits` for the user's word; `decided` is answered, skipped or refused without being run."""

_DECIDED: dict[CallStatus, str] = {
    "rejected": marked("rejected"),
    "answered": marked("answered"),
    "skipped": marked("skipped"),
    "unknown": marked("unknown"),
}


@dataclass(frozen=True, slots=True)
class Lane:
    """One call of several."""

    row: int
    """Row of the step."""

    tool: str
    """Its tool."""

    phase: LanePhase
    """How far it is."""

    words: str = ""
    """The same at the right of the lane; of a running call its clock stands there."""

    began: float = 0.0
    """When it began to run, in seconds since 1970; 0 where that is not known."""


def lanes_of(step: Step) -> tuple[Lane, ...]:
    """The calls of a step as lanes, where there are several."""
    if len(step.calls) < 2:
        return ()
    return tuple(lane_of(row, call) for row, call in enumerate(step.calls))


def lane_of(row: int, call: Call) -> Lane:
    """One call as a lane."""
    if call.status == "running":
        return Lane(row, call.tool, "running", began=call.began)
    if call.status in _DECIDED:
        return Lane(row, call.tool, "decided", tr(_DECIDED[call.status]))
    if call.problems or call.is_error:
        return Lane(row, call.tool, "failed", tr("failed"))
    if call.observation is not None:
        spent = duration(call.outcome.duration) if call.outcome is not None else ""
        return Lane(row, call.tool, "done", spent)
    if call.needs_approval and call.status == "asked":
        return Lane(row, call.tool, "waits", tr("waits"))
    if call.status == "approved":
        return Lane(row, call.tool, "asked", tr("approved"))
    return Lane(row, call.tool, "asked")


_TOUCHES: dict[TouchKind, str] = {
    "edited": marked("edited by you"),
    "repaired": marked("repaired"),
    "approved": marked("approved by you"),
    "rejected": marked("rejected by you"),
    "answered": marked("answered by you"),
    "skipped": marked("skipped by you"),
    "told": marked("outcome set by you"),
    "sent": marked("your message"),
    "cut": marked("cut by you"),
    "switched": marked("model changed by you"),
    "kept": marked("model kept by you"),
}


def touch_words(kind: TouchKind) -> str:
    """What the user did, for people."""
    return tr(_TOUCHES[kind])


def node_notes(step: Step) -> tuple[tuple[Node, str], ...]:
    """What happened at the nodes of a turn beside its course: tries, repairs, the user's hand."""
    found: dict[Node, list[str]] = {}
    tries = max(step.attempt, len(step.tries))
    if tries > 1:
        found["model"] = [tr("{count} tries").format(count=tries)]
    by_person = {each.kind for each in step.touches}
    if step.repairs and "repaired" not in by_person:
        found["reply"] = [tr("repaired")]
    for kind, place in dict.fromkeys((each.kind, each.place) for each in step.touches):
        count = sum((each.kind, each.place) == (kind, place) for each in step.touches)
        words = touch_words(kind)
        node = NODE_OF_PLACE[place]
        found.setdefault(node, []).append(words if count == 1 else f"{words} ×{count}")
    return tuple((node, " · ".join(words)) for node, words in found.items())
