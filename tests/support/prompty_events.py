"""A run in the words of Prompty's agent loop, and of its turn engine, as their vectors have them.

Our journal is finer; what those have no word for (pauses, edits, remarks) is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from studio.core.agent.loop.machine import advance
from studio.core.agent.loop.steps import new_state
from studio.core.agent.values.events import (
    AnswerChecked,
    CallDecided,
    Event,
    ModelCalled,
    ModelReplied,
    Passed,
    Rendered,
    ReplyRead,
    Started,
    Stopped,
    ToolCalled,
    ToolEnded,
)
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import PausePoint

AT_REQUEST, AT_STEP_END = PausePoint.BEFORE_REQUEST, PausePoint.STEP_END


def moves(path: Iterable[Event]) -> Iterator[tuple[Event, RunState, RunState]]:
    """Each event of one branch, with the states before and after it."""
    state: RunState | None = None
    for event in path:
        before = new_state(event.setup) if isinstance(event, Started) else state
        assert before is not None
        state, _ = advance(before, event)
        yield event, before, state


def agent_events(path: Iterable[Event]) -> list[dict[str, Any]]:
    """The events of Prompty's loop. It counts one message more than there are (a known quirk)."""
    return [
        {"type": kind, "data": data}
        for event, before, after in moves(path)
        for kind, data in _agent(event, before, after)
    ]


def _agent(event: Event, before: RunState, after: RunState) -> Iterator[tuple[str, dict[str, Any]]]:
    match event:
        case Started():
            yield "status", {"message": "Starting agent loop"}
        case ToolCalled(call=index):
            call = before.step.calls[index]
            yield "tool_call_start", {"name": call.tool, "arguments": call.text}
        case ToolEnded(call=index):
            call = after.step.calls[index]
            yield "tool_result", {"name": call.tool, "result": call.observation}
        case Passed(place=place) if place == AT_STEP_END:
            added = len(before.steering) - len(after.steering)
            yield "messages_updated", {"message_count": len(after.conversation) - added + 1}
            if added:
                yield "status", {"message": "Injecting steering message"}
                yield "messages_updated", {"message_count": len(after.conversation) + 1}
        case AnswerChecked():
            yield "done", {"response": after.answer}
        case Stopped():
            yield "cancelled", {"reason": f"Cancellation requested {_when(before)}"}
        case _:
            return


def _when(state: RunState) -> str:
    """Where a run was stopped: before a model call, or between two tools."""
    if any(call.outcome is not None for call in state.step.calls):
        return "after tool execution"
    return "before first iteration" if not state.steps else f"before iteration {state.iteration}"


def turn_kinds(path: Iterable[Event]) -> list[str]:
    """The kinds of events of Prompty's turn engine."""
    return [kind for event, before, after in moves(path) for kind in _turn(event, before, after)]


def _turn(event: Event, before: RunState, after: RunState) -> Iterator[str]:
    match event:
        case Started():
            yield "turn_started"
        case Rendered() if after.place == AT_REQUEST:
            yield "context_prepared"
        case ModelCalled():
            yield "model_invocation_started"
        case ModelReplied():
            yield "model_invocation_completed"
        case ReplyRead():
            yield "checkpoint_created"
        case CallDecided(decision=decision):
            yield from ("permission_requested", "permission_resolved")
            if decision != "approve":
                yield "checkpoint_created"
        case ToolCalled():
            yield "tool_execution_started"
        case ToolEnded():
            yield from ("tool_execution_completed", "checkpoint_created")
        case Passed(place=place) if place == AT_STEP_END:
            for _ in before.step.calls:
                yield "tool_result_committed"
            yield from ("conversation_updated", "checkpoint_created")
            if after.place == AT_REQUEST:
                yield "context_prepared"
        case AnswerChecked():
            yield from ("turn_committed", "post_commit_started", "post_commit_completed")
        case Stopped():
            yield "turn_cancelled"
        case _:
            return
