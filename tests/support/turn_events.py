"""A run in the words of Prompty 2's turn engine (`TurnConformance.replay`).

Each line is `session:…`, `turn:…` or `summary:…`, as the project's own vectors write them. Our
journal is finer; what the turn engine has no word for (pauses, edits, remarks) is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from studio.core.agent.loop.machine import advance
from studio.core.agent.loop.steps import new_state
from studio.core.agent.values.events import (
    AnswerChecked,
    CallDecided,
    Event,
    Failed,
    ModelCalled,
    ModelReplied,
    Passed,
    ReplyRead,
    Started,
    Stopped,
    ToolCalled,
    ToolEnded,
)
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Action, Call, Final, PausePoint


def turn_events(path: Iterable[Event], session: str, turn: str) -> tuple[str, ...]:
    """The lines of one branch of a run.

    Args:
        path: its events; `tree.branch_path` of the last.
        session: the session's id.
        turn: the turn's id.
    """
    lines: list[str] = []
    state: RunState | None = None
    checkpoints = 0
    for event in path:
        if state is None:
            if not isinstance(event, Started):
                raise ValueError("a journal begins with Started")
            state = new_state(event.setup)
            lines += [f"session:session_start:{session}:{turn}", "turn:turn_start:0"]
        lines += _lines(state, event)
        if isinstance(event, ReplyRead) and isinstance(event.reading, Action | Final):
            checkpoints += 1
            lines.append(f"session:checkpoint_created:{session}:{turn}")
        state, _ = advance(state, event)
    if state is not None and state.is_over:
        status = _STATUS.get(state.status, "error")
        lines += [
            f"turn:turn_end:{state.iteration}:{status}",
            f"session:session_end:{session}:{turn}:{status}",
            f"summary:{session}:{status}:turns=1:checkpoints={checkpoints}",
        ]
    return tuple(lines)


_STATUS = {"done": "success", "stopped": "cancelled"}
_REASONS = {"iterations": "max_iterations"}


def _lines(state: RunState, event: Event) -> Iterator[str]:
    """What one fact is, told before the state moves."""
    at = max(state.iteration - 1, 0)
    match event:
        case ModelCalled(attempt=1):
            yield f"turn:llm_start:{at}"
        case ModelCalled():
            yield f"turn:retry:{at}"
        case ModelReplied():
            yield f"turn:llm_complete:{at}"
        case CallDecided(call=index, decision=decision):
            call = state.step.calls[index]
            yield f"turn:permission_requested:{at}:{call.id}-permission"
            yield f"turn:permission_completed:{at}:{_word(decision == 'approve')}"
            if decision != "approve":
                yield from _refused(at, call, decision)
        case ToolCalled(call=index):
            yield f"turn:tool_execution_start:{at}:{state.step.calls[index].tool}"
        case ToolEnded(call=index, outcome=outcome):
            tool, fine = state.step.calls[index].tool, _word(not outcome.is_error)
            reason = ":exception" if outcome.is_error else ""
            yield f"turn:tool_execution_complete:{at}:{tool}:{fine}"
            yield f"turn:tool_result:{at}:{tool}:{fine}{reason}"
        case Passed(place=PausePoint.STEP_END):
            yield f"turn:messages_updated:{at}"
        case Failed(error=error):
            yield f"turn:error:{state.iteration}:{_REASONS.get(error.code, error.code)}"
        case Stopped():
            yield f"turn:cancelled:{at}"
        case AnswerChecked(problems=problems, accepted=False) if problems:
            yield f"turn:error:{state.iteration}:output"
        case _:
            return


def _refused(at: int, call: Call, decision: str) -> Iterator[str]:
    """A call that was not run still has a result that the model sees."""
    if decision == "answer":
        yield f"turn:tool_result:{at}:{call.tool}:true"
    else:
        yield f"turn:tool_result:{at}:{call.tool}:false:permission_denied"


def _word(value: bool) -> str:
    return "true" if value else "false"
