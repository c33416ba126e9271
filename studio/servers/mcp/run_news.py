"""A moment of a run as JSON: what an agent needs to decide on its next step.

Each answer holds what is new since the one before: the messages that were added, and what came of
the step since. A request that repeats a conversation of sixty steps says only what the last added.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from studio.application.run.debugging.console import ConsoleLine
from studio.core.agent.run.requests import choice_at
from studio.core.agent.values.state import RunState, steps_of
from studio.core.agent.values.step import Call, Step, StepError
from studio.core.prompty.document import Message
from studio.core.prompty.shapes import message_text
from studio.core.text.diff import common_start
from studio.core.wire.reply import Reply
from studio.core.wire.wire_call import CallLookup, WireCall

_CHOICES = {
    "approval": "The call waits for the user: `allow` asks them; `edit` can refuse or answer it.",
    "limit": "A limit is reached: `allow` asks the user for more; `stop` ends the run.",
    "": "",
}

_LONGEST = 6_000
"""Characters of a text that an answer holds."""

_MOST_MESSAGES, _MOST_LINES = 40, 30
"""Messages of a step, and lines of the console, that an answer holds: the newest."""

MOST_STEPS = 50
"""Steps that one answer holds."""

_LEAST_SAME = 200
"""Characters at the start of a message that are worth leaving out."""


@dataclass(frozen=True)
class KnownState:
    """Part of a run that its client knows from earlier answers."""

    where: str = ""
    """Step and place of the last answer; empty before the first."""

    messages: Sequence[Message] = ()
    """Messages of the request."""

    step: dict[str, Any] = field(default_factory=dict)
    """Everything else of the step."""

    lines: int = 0
    """Lines of the console."""


NO_ANSWER = KnownState()
"""No answer was given yet."""


def news_of(
    state: RunState,
    sent: CallLookup,
    known: KnownState,
    console: Sequence[ConsoleLine] = (),
    *,
    is_working: bool = False,
    steps: range | None = None,
    whole: bool = False,
) -> tuple[dict[str, Any], KnownState]:
    """Encode a moment of a run as JSON, and note what was known with it.

    Args:
        state: the run.
        sent: returns what its model calls sent and received.
        known: what its client knows already.
        console: all lines of its console.
        is_working: whether something is under way; the state is then of a moment ago.
        steps: numbers of the steps that are done to tell, too.
        whole: whether no text is cut and no message is left out.
    """
    step, model = state.step, state.answered_by
    call = sent(step.called) if step.called and step.reply is not None else None
    current = _step(step, known.messages, call, whole=whole)
    listed: tuple[str, ...] = ("messages_before", "messages")
    news = {name: current.pop(name) for name in listed if name in current}
    is_same = known.step.get("number") == step.number and known.step.keys() <= current.keys()
    before = known.step if is_same else {}
    news |= {key: each for key, each in current.items() if before.get(key) != each}
    if "calls" in news:
        news["calls"] = [each for each in news["calls"] if each not in before.get("calls", ())]
    found: dict[str, Any] = {
        "run": state.setup.run,
        "model": {"name": model.name, "id": model.id, "server": model.server},
        "status": "working" if is_working and not state.is_over else _status(state),
        "step": state.iteration,
        "place": state.place.word if state.place is not None else None,
        "new_since": known.where or None,
        "why": _why(state),
        "current": {"number": step.number, **news},
        "error": _error(state.error),
        "answer": state.answer,
        "answer_problems": list(state.answer_problems),
        "console": [_line(each) for each in console[known.lines :][-_MOST_LINES:]],
        "tokens": {"input": state.usage.input_tokens, "output": state.usage.output_tokens},
        "cost": state.usage.cost,
    }
    if steps is not None:
        done = steps_of(state)
        chosen = [at for at in range(len(done)) if at + 1 in steps]
        found["steps"] = [_step_after(done, at, sent) for at in chosen]
    where = f"step {state.iteration}, {state.place.word if state.place else found['status']}"
    return _filled(found), KnownState(where, step.messages, current, len(console))


def _filled(found: dict[str, Any]) -> dict[str, Any]:
    """Return it without what is empty."""
    return {key: value for key, value in found.items() if value not in (None, "", [], {})}


def _status(state: RunState) -> str:
    return state.status if state.is_over or state.pause is None else "paused"


def _why(state: RunState) -> str:
    if state.pause is None:
        return ""
    words = [state.pause.reason, *state.pause.breakpoints, state.pause.text]
    return " ".join(filter(None, (*words, _CHOICES[choice_at(state)])))


def _step_after(steps: Sequence[Step], at: int, sent: CallLookup) -> dict[str, Any]:
    """Return a step, with the messages that the one before did not have."""
    before = steps[at - 1].messages if at else ()
    return _step(steps[at], before, sent(steps[at].called))


def _step(
    step: Step, before: Sequence[Message], call: WireCall | None, *, whole: bool = False
) -> dict[str, Any]:
    """Return a step.

    Args:
        step: the step.
        before: messages that are known, which are not repeated.
        call: what it sent and received, where that is kept.
        whole: whether no text is cut and no message is left out.
    """
    messages = list(step.messages)
    same = common_start(list(before), messages)
    first = same if whole else max(same, len(messages) - _MOST_MESSAGES)
    shown = [
        _message(each, before[at] if at == same < len(before) else None, whole=whole)
        for at, each in enumerate(messages[first:], first)
    ]
    reply = step.reply if step.reply is not None else step.partial
    return _filled(
        {
            "number": step.number,
            "messages_before": first if shown and first else None,
            "messages": shown,
            "reply": _reply(reply, call, whole=whole) if reply is not None else None,
            "thought": step.reading.thought if step.reading is not None else "",
            "calls": [_call(row, each, whole=whole) for row, each in enumerate(step.calls)],
            "marks": sorted(step.marks),
            "warnings": [each.message for each in step.warnings],
        }
    )


def _message(message: Message, before: Message | None, *, whole: bool) -> dict[str, Any]:
    """Return a message; of one that grew at its end, what was added."""
    text, same = message_text(message), 0
    if before is not None and before.role == message.role:
        same = text.rfind("\n", 0, common_start(message_text(before), text)) + 1
    same = same if same >= _LEAST_SAME else 0
    found = {
        "role": message.role,
        "same_start": same or None,
        "text": _text(text[same:], whole=whole),
    }
    return _filled(found)


def _text(text: str, *, whole: bool) -> str:
    """Return a text, cut where it is long."""
    if whole or len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}… [{len(text):,} characters; `state` with `whole` tells all]"


def _reply(reply: Reply, call: WireCall | None, *, whole: bool) -> dict[str, Any]:
    """Return a reply, with the model and the id that the server gave it."""
    calls = [{"tool": each.name, "arguments": each.arguments} for each in reply.tool_calls]
    identity = {"model": call.model, "id": call.id} if call is not None else {}
    text = _text(reply.text, whole=whole)
    return _filled({"text": text, "calls": calls, "finish": reply.finish_reason, **identity})


def _call(row: int, call: Call, *, whole: bool) -> dict[str, Any]:
    seen = call.observation
    return _filled(
        {
            "row": row,
            "tool": call.tool,
            "arguments": call.arguments,
            "status": call.status,
            "needs_approval": call.needs_approval or None,
            "observation": _text(seen, whole=whole) if seen is not None else None,
            "is_error": call.is_error or None,
            "problems": list(call.problems),
            "repairs": [each.name for each in call.repairs],
            "seconds": round(call.outcome.duration, 3) if call.outcome is not None else None,
        }
    )


def _line(line: ConsoleLine) -> dict[str, Any]:
    return {"step": line.step, "kind": line.kind, "text": _text(line.text, whole=False)}


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
