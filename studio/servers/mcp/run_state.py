"""Where a run stands, as JSON: what an agent needs to decide on its next step."""

from __future__ import annotations

from typing import Any

from studio.core.agent.run.requests import choice_at
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Call, Step, StepError
from studio.core.prompty.shapes import message_text
from studio.core.wire.reply import Reply

_CHOICES = {
    "approval": "The call waits for the user: `allow` asks them; `edit` can refuse or answer it.",
    "limit": "A limit is reached: `allow` asks the user for more; `stop` ends the run.",
    "": "",
}


def state_as_json(run: str, state: RunState, *, is_working: bool, steps: bool) -> dict[str, Any]:
    """A run at one moment.

    Args:
        run: its id.
        state: the run.
        is_working: whether something is under way; the state is then of a moment ago.
        steps: whether the steps that are done are told, too.
    """
    model = state.answered_by
    found: dict[str, Any] = {
        "run": run,
        "model": {"name": model.name, "id": model.id, "server": model.server},
        "status": "working" if is_working and not state.is_over else _status(state),
        "step": state.iteration,
        "place": state.place.word if state.place is not None else None,
        "why": _why(state),
        "current": _step(state.step),
        "error": _error(state.error),
        "answer": state.answer,
        "answer_problems": list(state.answer_problems),
        "tokens": {"input": state.usage.input_tokens, "output": state.usage.output_tokens},
        "cost": state.usage.cost,
    }
    if steps:
        found["steps"] = [_step(each) for each in state.steps]
    return found


def _status(state: RunState) -> str:
    return state.status if state.is_over or state.pause is None else "paused"


def _why(state: RunState) -> str:
    if state.pause is None:
        return ""
    words = [state.pause.reason, *state.pause.breakpoints, state.pause.text]
    return " ".join(filter(None, (*words, _CHOICES[choice_at(state)])))


def _step(step: Step) -> dict[str, Any]:
    return {
        "number": step.number,
        "messages": [{"role": item.role, "text": message_text(item)} for item in step.messages],
        "reply": _reply(step.reply if step.reply is not None else step.partial),
        "thought": step.reading.thought if step.reading is not None else "",
        "calls": [_call(each) for each in step.calls],
        "marks": sorted(step.marks),
        "warnings": [each.message for each in step.warnings],
    }


def _reply(reply: Reply | None) -> dict[str, Any] | None:
    if reply is None:
        return None
    calls = [{"tool": each.name, "arguments": each.arguments} for each in reply.tool_calls]
    return {"text": reply.text, "calls": calls}


def _call(call: Call) -> dict[str, Any]:
    return {
        "tool": call.tool,
        "arguments": call.arguments,
        "status": call.status,
        "needs_approval": call.needs_approval,
        "observation": call.observation,
        "is_error": call.is_error,
        "repairs": [each.name for each in call.repairs],
    }


def _error(error: StepError | None) -> dict[str, Any] | None:
    if error is None:
        return None
    return {
        "kind": error.kind,
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "repairs": [each.name for each in error.repairs],
    }
