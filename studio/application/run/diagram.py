"""The loop diagram as a value: the active node for any state of a run, and the reason."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from studio.application.run.breakpoints import NO_BREAKPOINTS, BreakpointSet
from studio.application.run.words import plural, rate_of
from studio.application.words import marked, tr
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import (
    Action,
    Call,
    CallStatus,
    ErrorKind,
    Final,
    FormatError,
    PausePoint,
    Refused,
    Step,
    StepError,
    TouchKind,
)
from studio.core.text.amounts import duration

# The nodes of the loop diagram, and the pause points of a run that they represent.

Node: TypeAlias = Literal[
    "prompt", "model", "reply", "action", "tool", "observation", "final", "done"
]
"""The nodes of one turn of the loop, in drawing order."""

NODES: tuple[Node, ...] = (
    "prompt",
    "model",
    "reply",
    "action",
    "tool",
    "observation",
    "final",
    "done",
)
"""All nodes; the first six are the loop, the last two are its exits."""

NODE_OF_PLACE: dict[PausePoint, Node] = {
    PausePoint.BEFORE_REQUEST: "prompt",
    PausePoint.REPLY: "reply",
    PausePoint.TOOL_CALL: "action",
    PausePoint.OBSERVATION: "observation",
    PausePoint.STEP_END: "observation",
    PausePoint.ANSWER: "final",
}
"""Node of the diagram by pause point of the run."""

NODE_OF_ERROR: dict[ErrorKind, Node] = {
    "format": "reply",
    "model": "model",
    "unknown_tool": "action",
    "schema": "action",
    "tool": "observation",
    "timeout": "tool",
    "limit": "prompt",
    "refusal": "reply",
    "repeated_action": "action",
    "guardrail": "action",
    "output": "final",
    "outcome_unknown": "tool",
    "render": "prompt",
    "journal": "prompt",
}
"""Node of the diagram by kind of problem."""

CHAT_NODES: tuple[Node, ...] = ("prompt", "model", "reply", "final", "done")
"""The nodes of a prompt without tools, which has no loop."""

PLACE_OF_NODE: dict[Node, PausePoint] = {
    "prompt": PausePoint.BEFORE_REQUEST,
    "reply": PausePoint.REPLY,
    "action": PausePoint.TOOL_CALL,
    "observation": PausePoint.OBSERVATION,
    "final": PausePoint.ANSWER,
}
"""Pause point of each node that can have a breakpoint."""


# The contents of one turn of the loop: its calls as lanes, and the user's edits.

LanePhase: TypeAlias = Literal["asked", "waits", "running", "done", "failed", "decided"]
"""`waits`: for the user's decision; `decided`: answered, skipped or rejected without being run."""

_DECIDED: dict[CallStatus, str] = {
    "rejected": marked("rejected"),
    "answered": marked("answered"),
    "skipped": marked("skipped"),
    "unknown": marked("unknown"),
}


@dataclass(frozen=True, slots=True)
class Lane:
    """One of several calls."""

    row: int
    """Row in the step."""

    tool: str
    """Name of its tool."""

    phase: LanePhase
    """Progress of the call."""

    words: str = ""
    """Text at the right of the lane; the clock of a running call."""

    began: float = 0.0
    """Time when it began, in seconds since 1970; 0 if unknown."""


def lanes_of(step: Step) -> tuple[Lane, ...]:
    """Return the calls of a step as lanes, if there are several."""
    if len(step.calls) < 2:
        return ()
    return tuple(lane_of(row, call) for row, call in enumerate(step.calls))


def lane_of(row: int, call: Call) -> Lane:
    """Return one call as a lane."""
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
    """Describe an edit of the user."""
    return tr(_TOUCHES[kind])


def node_notes(step: Step) -> tuple[tuple[Node, str], ...]:
    """Return the notes at the nodes of a turn: retries, repairs, edits of the user."""
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


RunPhase: TypeAlias = Literal["idle", "running", "paused", "error", "done", "incomplete", "stopped"]
"""Phase of the run, which determines the color of the active node."""

_MOST_COUNTED = 500
"""Maximum steps whose passes are counted: a longer past run would have to be read completely."""


@dataclass(frozen=True, slots=True)
class DiagramState:
    """The contents of the diagram."""

    phase: RunPhase = "idle"
    """Phase of the run."""

    live: Node | None = None
    """Active node."""

    visited: frozenset[Node] = frozenset()
    """Nodes that this turn of the loop has passed."""

    iteration: int = 0
    """Turn of the loop, from 1; 0 before the first."""

    max_iterations: int | None = None
    """Maximum number of iterations; None for no limit."""

    tool: str = ""
    """Name of the current tool, shown inside its node."""

    breakpoints: frozenset[Node] = frozenset()
    """Nodes with a breakpoint at their pause point."""

    log_points: frozenset[Node] = frozenset()
    """Nodes with a log point."""

    nodes: tuple[Node, ...] = NODES
    """Drawn nodes: a prompt without tools has no loop."""

    facts: tuple[tuple[Node, str], ...] = ()
    """Second lines of nodes: tokens, time, the tool's name."""

    passes: tuple[tuple[Node, Node, int], ...] = ()
    """Number of passes between pairs of nodes; pairs without any are left out."""

    failed: frozenset[Node] = frozenset()
    """Nodes where something failed in this turn."""

    lanes: tuple[Lane, ...] = ()
    """The calls of this turn, if there are several; they replace Action and Tool."""

    lane_breaks: frozenset[int] = frozenset()
    """Rows of the calls whose tool has a breakpoint of its own."""

    lane: int | None = None
    """Row of the active or selected lane."""

    notes: tuple[tuple[Node, str], ...] = ()
    """Notes at nodes: retries, repairs, edits of the user."""

    is_past: bool = False
    """Whether a moment before the current one is shown."""

    sentence: str = "No run yet."
    """The diagram as text for a screen reader."""


def diagram_of(
    state: RunState | None, sentence: str, breakpoints: BreakpointSet = NO_BREAKPOINTS
) -> DiagramState:
    """Return the diagram for a run's state.

    Args:
        state: the run; None before the first.
        sentence: the state as text for a screen reader.
        breakpoints: the breakpoints to mark at the nodes.
    """
    marked, logged = _nodes_at(breakpoints.places), _nodes_at(breakpoints.log_places)
    if state is None:
        return DiagramState(breakpoints=marked, log_points=logged, sentence=sentence)
    live = live_node(state)
    own = [row for row, call in enumerate(state.step.calls) if call.tool in breakpoints.tools]
    lanes = lanes_of(state.step)
    if own and not lanes:
        marked |= {"action"}
    is_chat = not state.setup.tools and live in CHAT_NODES
    return DiagramState(
        phase=phase_of(state),
        live=live,
        visited=visited_nodes(state.step, live),
        iteration=state.iteration,
        max_iterations=state.limits.iterations,
        tool=tool_of(state.step, state.call),
        breakpoints=marked,
        log_points=logged,
        sentence=sentence,
        nodes=CHAT_NODES if is_chat else NODES,
        facts=node_facts(state.step, state.call),
        passes=passes_of(state, state.iteration),
        failed=failed_nodes(state.step),
        lanes=lanes,
        lane_breaks=frozenset(own),
        lane=state.call,
        notes=node_notes(state.step),
    )


def _nodes_at(places: Iterable[PausePoint]) -> frozenset[Node]:
    wanted = frozenset(places)
    return frozenset(node for node, place in PLACE_OF_NODE.items() if place in wanted)


def node_facts(step: Step, row: int | None = None) -> tuple[tuple[Node, str], ...]:
    """Return the second lines of a turn's nodes: tokens, time, the tool's name."""
    found: list[tuple[Node, str]] = []
    usage = step.reply.usage if step.reply is not None else None
    sent = max(len(step.messages), step.sent)
    if usage is not None and usage.input_tokens:
        found.append(("prompt", tr("{count:,} tok in").format(count=usage.input_tokens)))
    elif sent:
        found.append(("prompt", plural(sent, "message")))
    if step.seconds_model:
        text = duration(step.seconds_model)
        rate = rate_of(step)
        if rate:
            text = f"{text} · {rate}"
        found.append(("model", text))
    if usage is not None and usage.output_tokens:
        found.append(("reply", tr("{count:,} tok out").format(count=usage.output_tokens)))
    if step.calls:
        found.append(("action", plural(len(step.calls), "call")))
        found.append(("tool", tool_of(step, row)))
    done = [call for call in step.calls if call.observation is not None]
    if done and len(done) < len(step.calls):
        words = tr("{done} of {count} are in")
        found.append(("observation", words.format(done=len(done), count=len(step.calls))))
    elif done:
        bad = sum(call.is_error and call.status != "rejected" for call in done)
        wrong = tr("1 error") if bad == 1 else tr("{count} errors").format(count=bad)
        time = duration(step.seconds_tools)
        found.append(("observation", f"{time} · {wrong}" if bad else time))
    return tuple(found)


def failed_nodes(step: Step) -> frozenset[Node]:
    """Return the nodes of a turn that failed."""
    failed: set[Node] = set()
    if isinstance(step.reading, FormatError):
        failed.add("reply")
    if any(call.problems for call in step.calls):
        failed.add("action")
    if any(call.is_error and call.status != "rejected" for call in step.calls):
        failed.add("observation")
    return frozenset(failed)


def passes_of(state: RunState, upto: int) -> tuple[tuple[Node, Node, int], ...]:
    """Count the passes between nodes up to a turn; in a very long run only the loaded ones."""
    count: dict[tuple[Node, Node], int] = {("observation", "prompt"): max(0, upto - 1)}
    if len(state.steps) > _MOST_COUNTED:
        count["prompt", "model"] = upto
    else:
        steps = [*state.steps[:upto]]
        if state.step.number == upto and len(state.steps) < upto:
            steps.append(state.step)
        for step in steps:
            for pair in _ways(step):
                count[pair] = count.get(pair, 0) + 1
    if state.status in ("done", "incomplete") and upto == state.iteration:
        count["final", "done"] = 1
    return tuple((start, end, times) for (start, end), times in count.items() if times)


def _ways(step: Step) -> Iterator[tuple[Node, Node]]:
    """Yield the edges between nodes that one turn took."""
    if step.reply is None and step.partial is None:
        return
    yield "prompt", "model"
    yield "model", "reply"
    if step.calls:
        yield "reply", "action"
        if any(call.outcome is not None for call in step.calls):
            yield "action", "tool"
            yield "tool", "observation"
    elif isinstance(step.reading, Final):
        yield "reply", "final"


def phase_of(state: RunState) -> RunPhase:
    """Return the phase of the run."""
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
    """Return the active node."""
    if state.status == "done":
        return "done"
    place = state.pause.place if state.pause is not None else state.place
    if state.error is not None and (place == PausePoint.ERROR or state.is_over):
        return NODE_OF_ERROR[state.error.kind]
    if place is not None and place != PausePoint.ERROR:
        return NODE_OF_PLACE[place]
    return _under_way(state)


def _under_way(state: RunState) -> Node:
    """Return the node of the running effect between two pause points."""
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


def visited_nodes(step: Step, live: Node) -> frozenset[Node]:
    """Return the nodes passed in this turn, without the active one."""
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


def tool_of(step: Step, row: int | None) -> str:
    """Return the name of a call's tool, or the number of tools."""
    calls = step.calls
    if not calls:
        return ""
    if row is not None and row < len(calls):
        return calls[row].tool
    return calls[0].tool if len(calls) == 1 else plural(len(calls), "call")


def _is_failure(error: StepError | None) -> bool:
    """Return whether the node failed; a limit only waits for the user."""
    return error is None or error.kind != "limit"
