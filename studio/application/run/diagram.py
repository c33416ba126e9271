"""The loop diagram as a value: which node of the loop is lit, and why, for any state of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.reading import Action, Final, FormatError, Refused
from studio.core.agent.values.state import ErrorKind, RunState, Step, StepError

Node: TypeAlias = Literal[
    "prompt", "model", "reply", "action", "tool", "observation", "final", "done"
]
"""The stations of one turn of the loop, in the order that they are drawn."""

NODES: tuple[Node, ...] = (
    "prompt", "model", "reply", "action", "tool", "observation", "final", "done",
)  # fmt: skip
"""All of them; the first six are the loop, the last two leave it."""

RunPhase: TypeAlias = Literal["idle", "running", "paused", "error", "done", "incomplete", "stopped"]
"""How the run stands, in the diagram's terms; the lit node is painted after it."""

_NODE_OF_PLACE: dict[PausePoint, Node] = {
    PausePoint.BEFORE_REQUEST: "prompt",
    PausePoint.REPLY: "reply",
    PausePoint.TOOL_CALL: "action",
    PausePoint.OBSERVATION: "observation",
    PausePoint.STEP_END: "observation",
    PausePoint.ANSWER: "final",
}

_NODE_OF_ERROR: dict[ErrorKind, Node] = {
    "format": "reply", "model": "model", "unknown_tool": "action", "schema": "action",
    "tool": "observation", "timeout": "tool", "limit": "prompt", "refusal": "reply",
    "repeated_action": "action", "guardrail": "action", "output": "final",
    "outcome_unknown": "tool", "render": "prompt", "journal": "prompt",
}  # fmt: skip

PLACE_OF_NODE: dict[Node, PausePoint] = {
    "prompt": PausePoint.BEFORE_REQUEST,
    "reply": PausePoint.REPLY,
    "action": PausePoint.TOOL_CALL,
    "observation": PausePoint.OBSERVATION,
    "final": PausePoint.ANSWER,
}
"""Nodes that a breakpoint can stand at, with their place."""


@dataclass(frozen=True, slots=True)
class DiagramState:
    """What the diagram shows."""

    phase: RunPhase = "idle"
    """How the run stands."""

    live: Node | None = None
    """The node where it stands."""

    visited: frozenset[Node] = frozenset()
    """Nodes that this turn of the loop has passed."""

    iteration: int = 0
    """Turn of the loop, from 1; 0 before the first."""

    max_iterations: int | None = None
    """Turns allowed; None means no limit."""

    tool: str = ""
    """The tool at hand, named below its node."""

    breakpoints: frozenset[Node] = frozenset()
    """Nodes with a breakpoint of their place."""

    sentence: str = "No run yet."
    """The same for a screen reader."""


def diagram_of(
    state: RunState | None, sentence: str, break_places: Iterable[PausePoint] = ()
) -> DiagramState:
    """The diagram for a run's state.

    Args:
        state: the run; None before the first.
        sentence: the state in words, spoken in place of the picture.
        break_places: places with a breakpoint.
    """
    places = frozenset(break_places)
    marked = frozenset(node for node, place in PLACE_OF_NODE.items() if place in places)
    if state is None:
        return DiagramState(breakpoints=marked, sentence=sentence)
    live = live_node(state)
    return DiagramState(
        phase=phase_of(state),
        live=live,
        visited=_visited(state.step, live),
        iteration=state.iteration,
        max_iterations=state.limits.iterations,
        tool=_tool(state),
        breakpoints=marked,
        sentence=sentence,
    )


def phase_of(state: RunState) -> RunPhase:
    """How the run stands."""
    match state.status:
        case "done":
            return "done"
        case "failed":
            return "error"
        case "refused" | "incomplete":
            return "incomplete"
        case "limit" | "stopped" | "interrupted":
            return "stopped"
        case "running":
            if state.pause is None:
                return "running"
            at_error = state.pause.place == PausePoint.ERROR and _is_failure(state.error)
            return "error" if at_error else "paused"


def live_node(state: RunState) -> Node:
    """The node where the run stands."""
    if state.status == "done":
        return "done"
    place = state.pause.place if state.pause is not None else state.place
    if state.error is not None and (place == PausePoint.ERROR or state.is_over):
        return _NODE_OF_ERROR[state.error.kind]
    if place is not None and place != PausePoint.ERROR:
        return _NODE_OF_PLACE[place]
    return _under_way(state)


def _under_way(state: RunState) -> Node:
    """The node of the effect that is under way between two places."""
    step = state.step
    if state.answer is not None:
        return "final"
    if any(call.status in ("running", "unknown") for call in step.calls):
        return "tool"
    if step.calls and all(call.observation is not None for call in step.calls):
        return "observation"
    if step.calls:
        return "tool" if any(call.status == "approved" for call in step.calls) else "action"
    if step.reply is not None:
        return "reply"
    return "model" if step.messages else "prompt"


def _visited(step: Step, live: Node) -> frozenset[Node]:
    """Nodes passed in this turn; the lit one is not among them."""
    passed: set[Node] = set()
    if step.messages or step.sent:
        passed.add("prompt")
    if step.reply is not None:
        passed |= {"model", "reply"}
    match step.reading:
        case Action():
            passed.add("action")
            if any(call.observation is not None for call in step.calls):
                passed |= {"tool", "observation"}
        case Final():
            passed.add("final")
        case Refused() | FormatError() | None:
            pass
    order = NODES.index(live)
    return frozenset(node for node in passed if NODES.index(node) < order)


def _tool(state: RunState) -> str:
    calls = state.step.calls
    if not calls:
        return ""
    if state.call is not None and state.call < len(calls):
        return calls[state.call].tool
    return calls[0].tool if len(calls) == 1 else f"{len(calls)} calls"


def _is_failure(error: StepError | None) -> bool:
    """A limit waits for the person; it is no failure."""
    return error is None or error.kind != "limit"
