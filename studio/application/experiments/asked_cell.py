"""The outcome of one cell's run, as an answer for assertions."""

import json
from contextlib import suppress
from dataclasses import dataclass

from studio.application.experiments.turns import STALE_CELL
from studio.core.agent.values.events import Rendered
from studio.core.agent.values.state import RunState
from studio.core.experiments.assertions.result import CellAnswer, MadeCall
from studio.core.models.remote.faults import LearnedRefusal
from studio.core.prompty.document import Message
from studio.core.text.values import parse_json
from studio.core.wire.wire_call import WireCall


@dataclass(frozen=True)
class AskedCell:
    """The outcome of running a cell."""

    answer: CellAnswer | None
    """The answer; None if there is none."""

    error: str
    """Reason why there is no answer, one sentence; empty if there is one."""

    journal: bytes
    """The run, as lines of JSON."""

    refused: int = 0
    """Number of tool calls that were not allowed."""

    is_stale: bool = False
    """Whether the server rejected an option that is part of the cell's identity."""

    learned: tuple[LearnedRefusal, ...] = ()
    """Options that the server rejected on a worker on another machine."""


def asked_cell(state: RunState, journal: bytes, waited: float, *, is_timed: bool) -> AskedCell:
    """Return the outcome of a cell from the end of its run: an answer, or why there is none.

    Args:
        state: final state of the run.
        journal: the run, as lines of JSON.
        waited: seconds of waiting that are not latency.
        is_timed: whether its time is meaningful.
    """
    steps = [*state.steps, *([] if state.step in state.steps[-1:] else [state.step])]
    steps = [each for each in steps if each.number]
    refused = sum(call.status == "rejected" for step in steps for call in step.calls)
    if state.status in ("failed", "stopped", "interrupted"):
        error = state.error
        words = error.message if error is not None else f"The run ended as {state.status}."
        is_stale = error is not None and error.code == STALE_CELL
        return AskedCell(None, words, journal, refused, is_stale)
    last = steps[-1].reply if steps else None
    calls = tuple(
        MadeCall(
            call.tool,
            dict(call.arguments or {}),
            is_error=call.is_error,
            is_valid=not call.problems,
        )
        for step in steps
        for call in step.calls
    )
    errors = sum(call.is_error for call in calls) + sum(bool(each.observation) for each in steps)
    usage = state.usage
    text = state.answer if state.answer is not None else (last.text if last is not None else "")
    answer = CellAnswer(
        text or (last.refusal if last is not None else ""),
        latency_ms=max(0.0, state.seconds - waited) * 1000,
        cost=usage.cost,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        steps=len(steps),
        calls=calls,
        finish_reason=(last.finish_reason or "") if last is not None else "",
        is_refusal=state.status == "refused" or bool(last is not None and last.refusal),
        errors=errors,
        left_out=tuple(
            dict.fromkeys(
                option.name for step in steps if step.reply for option in step.reply.left_out
            )
        ),
        is_timed=is_timed,
    )
    return AskedCell(answer, "", journal, refused)


def sent_of(journal: bytes) -> tuple[tuple[Message, ...], str]:
    """Return the messages of a stored run, and the indented body of its first request.

    Raises:
        JournalError: the journal cannot be read.
    """
    calls: dict[int, WireCall] = {}
    from studio.core.runs.exchange import read_journal

    events = list(read_journal(journal.decode("utf-8", "surrogatepass"), calls))
    messages = next((each.messages for each in events if isinstance(each, Rendered)), ())
    body = calls[min(calls)].body if calls else ""
    with suppress(ValueError):
        body = json.dumps(parse_json(body), indent=2, ensure_ascii=False)
    return messages, body
