"""What a step's cards show of it, kept beside its events: a long run is painted without folding.

A card has one line of a text. What is kept of a step is the step itself, with its texts cut to what
such a line can hold and without its messages, so that the same code makes the same cards of both.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from studio.core.agent.values.reading import (
    Action,
    Final,
    FormatError,
    Reading,
    ReadingWarning,
    Refused,
)
from studio.core.agent.values.step import Call, Step
from studio.core.prompty.messages import Message, TextPart
from studio.core.runs.codec import JournalError, decode_value, encode_value
from studio.core.text.values import JsonObject
from studio.core.tools.source import ToolOutcome
from studio.core.wire.reply import Reply

LINE = 200
"""Characters that a card shows of a text."""

LAST = 160
"""Characters that a card shows of a prompt's last line."""

ENDING = 800
"""Characters at the end of a prompt that its last line is looked for in."""


@dataclass(frozen=True, slots=True)
class StepSummary:
    """What is kept of a step."""

    step: Step
    """The step; its texts are cut."""

    last: str = ""
    """The last line of what was sent."""


def arguments_text(arguments: JsonObject) -> str:
    """Arguments as in a call: `city="Rome", days=3`."""
    pairs = (f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in arguments.items())
    return ", ".join(pairs)


def last_line(text: str) -> str:
    """Return the last line with words: the newest observation, or the question.

    A line that only opens a code block for the model says nothing of either.
    """
    lines = reversed(text[-ENDING:].splitlines())
    return next((line for line in lines if line.strip() and not line.startswith("```")), "")


def step_summary_text(step: Step) -> str:
    """The JSON that is kept of a step."""
    last = _start(last_line(step.messages[-1].text), LAST) if step.messages else ""
    return json.dumps(encode_value(StepSummary(_cut(step), last)), separators=(",", ":"))


def summarized_step(text: str) -> Step | None:
    """The step that was kept, good for cards alone; None where the JSON is of something else."""
    try:
        step_summary = decode_value(StepSummary, json.loads(text))
    except (ValueError, JournalError):
        return None
    last = (Message("user", (TextPart(step_summary.last),)),) if step_summary.step.sent else ()
    return replace(step_summary.step, messages=last)


def _start(text: str, limit: int = LINE) -> str:
    """The start of a text, from which `one_line` makes the same line as from the whole.

    A text of blanks alone stays one: a thought that says nothing is a thought.
    """
    line = " ".join(text[: limit * 2].split())
    return (line if len(line) <= limit else line[:limit] + "…") or text[:1]


def _cut(step: Step) -> Step:
    reading = _reading(step.reading)
    return Step(
        step.number,
        sent=len(step.messages) or step.sent,
        reply=_reply(step.reply, reading),
        reply_origin=step.reply_origin,
        partial=_reply(step.partial, reading),
        reading=reading,
        warnings=tuple(ReadingWarning(each.code, "") for each in step.warnings[:1]),
        calls=tuple(map(_call, step.calls)),
        observation=_start(step.observation),
        answer=None if step.answer is None else _start(step.answer),
        marks=step.marks,
        edited_at=step.edited_at,
        forked_at=step.forked_at,
        forked_call=step.forked_call,
        said=tuple(map(_start, step.said)),
        stopped_by=step.stopped_by,
        seconds_model=step.seconds_model,
        first_seconds=step.first_seconds,
        tries=step.tries,
        touches=step.touches,
        model=step.model,
    )


def _reading(reading: Reading | None) -> Reading | None:
    match reading:
        case Action(thought=thought):
            return Action(_start(thought))
        case Final(thought=thought, answer=answer):
            return Final(_start(thought), answer=_start(answer))
        case FormatError(message=message):
            return FormatError(message=_start(message))
        case Refused(text=text):
            return Refused(text=_start(text))
        case None:
            return None


def _reply(reply: Reply | None, reading: Reading | None) -> Reply | None:
    """Its words only where no reading of them is shown instead."""
    if reply is None:
        return None
    match reading:
        case FormatError() | Refused():
            return Reply(usage=reply.usage)
        case Action() | Final() if reading.thought:
            return Reply(usage=reply.usage)
        case _:
            words = (reply.text, reply.reasoning, reply.refusal)
            calls = (
                ()
                if any(words)
                else tuple(replace(call, arguments="") for call in reply.tool_calls)
            )
            return Reply(
                _start(reply.text),
                _start(reply.reasoning),
                _start(reply.refusal),
                calls,
                reply.usage,
            )


def _call(call: Call) -> Call:
    text = call.text if call.arguments is None else arguments_text(call.arguments)
    ran = call.outcome
    return Call(
        "",
        call.tool,
        None,
        _start(text),
        call.status,
        ("",) if call.problems else (),
        observation=None if call.observation is None else _start(call.observation),
        is_error=call.is_error,
        outcome=None if ran is None else ToolOutcome("", ran.status, ran.duration),
        origin=call.origin,
        edited=call.edited,
        began=call.began,
    )
