"""The cards of a report: the events of a run, each with its marks and content."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Literal, TypeAlias

from studio.core.agent.loop.steps import messages_of
from studio.core.agent.values.state import RunState, steps_of
from studio.core.agent.values.step import Call, Final, PausePoint, Step, Touch
from studio.core.masking.redact import redact
from studio.core.prompty.document import MediaPart, Message, ToolCallPart
from studio.core.text.amounts import counted, one_line
from studio.core.text.diff import common_start
from studio.core.text.values import Json

Station: TypeAlias = Literal["Prompt", "Reply", "Action", "Observation", "Answer"]

STATIONS: tuple[Station, ...] = ("Prompt", "Reply", "Action", "Observation", "Answer")
"""The nodes of the loop in the report's diagram, in order."""

_ORIGINS = {
    "recorded": "from the recording",
    "mock": "a mock's",
    "person": "given by the user",
    "studio": "made by the studio",
}


@dataclass(frozen=True, slots=True)
class ReportCard:
    """A card of the report."""

    step: int
    """Number of the iteration."""

    station: Station
    """Station of the loop."""

    title: str
    """Title, a word or two."""

    summary: str
    """Content on one line."""

    content: str
    """Whole content, as HTML."""

    marks: tuple[str, ...] = ()
    """Marks: edits of the user, and origins other than the model or the tool."""

    is_bad: bool = False
    """Whether something failed."""

    seconds: float = 0.0
    """Duration in seconds; 0 for cards without one."""

    @property
    def is_touched(self) -> bool:
        """Whether it has marks of the user."""
        return any("by the user" in mark for mark in self.marks)


def cards_of(state: RunState) -> Iterator[ReportCard]:
    """Yield the cards of a run, in order."""
    for step in steps_of(state):
        yield _prompt(state, step)
        yield from _reply(step)
        for row, call in enumerate(step.calls):
            yield from _call(step, row, call)
        if step.observation:
            content = section("The model is told", step.observation)
            yield ReportCard(
                step.number,
                "Observation",
                "Message to the model",
                one_line(step.observation),
                content,
            )
        answer = _answer(state, step)
        if answer is not None:
            touched = step.answer is not None or PausePoint.ANSWER in step.edited_at
            when = _when(step, PausePoint.ANSWER)
            marks = (f"written by the user{when}",) if touched else ()
            marks = (*marks, *_chosen(step, PausePoint.ANSWER))
            content = section("Answer", answer)
            yield ReportCard(
                step.number, "Answer", "Final answer", one_line(answer), content, marks
            )


_OF_MODEL = {"switched": "model changed by the user", "kept": "model kept by the user"}


def _chosen(step: Step, place: PausePoint, row: int | None = None) -> list[str]:
    """Return the marks of the user's choice of a model, for the current card."""
    return [
        f"{_OF_MODEL[each.kind]}: {each.text}{_at(each)}"
        for each in step.touches
        if each.kind in _OF_MODEL and (each.place, each.call) == (place, row)
    ]


def _at(touch: Touch) -> str:
    return f" at {datetime.fromtimestamp(touch.at, UTC):%H:%M:%S} UTC" if touch.at else ""


def _when(step: Step, place: PausePoint, row: int | None = None) -> str:
    """Return the time of the user's last action at a pause point; empty if it was not recorded."""
    found = [
        each
        for each in step.touches
        if (each.place, each.call) == (place, row) and each.kind not in _OF_MODEL
    ]
    return _at(found[-1]) if found else ""


def _answer(state: RunState, step: Step) -> str | None:
    if step.number == state.step.number and state.answer is not None:
        return state.answer
    if step.answer is not None:
        return step.answer
    return step.reading.answer if isinstance(step.reading, Final) else None


def _prompt(state: RunState, step: Step) -> ReportCard:
    sent = messages_of(state, step.number)
    before = messages_of(state, step.number - 1) if step.number > 1 else ()
    same = common_start(tuple(before), tuple(sent))
    content = "".join(map(_message, sent[same:]))
    if same:
        older = "".join(map(_message, sent[:same]))
        words = counted(same, "message")
        content = (
            f"<details><summary>{words} as in the iteration before</summary>{older}</details>"
            + content
        )
    edited = PausePoint.BEFORE_REQUEST in step.edited_at
    when = _when(step, PausePoint.BEFORE_REQUEST)
    marks = (f"edited by the user{when}",) if edited else ()
    marks = (*marks, *_chosen(step, PausePoint.BEFORE_REQUEST))
    if step.model is not None:
        content = quiet(f"Model: {step.model.name}.") + content
    last = one_line(sent[-1].text) if sent else ""
    return ReportCard(step.number, "Prompt", "Prompt", last, content, marks)


def _reply(step: Step) -> Iterator[ReportCard]:
    reply = step.reply or step.partial
    if reply is None:
        return
    marks = [_ORIGINS[step.reply_origin]] if step.reply_origin in _ORIGINS else []
    if PausePoint.REPLY in step.edited_at:
        marks.append(f"edited by the user{_when(step, PausePoint.REPLY)}")
    marks += sorted(step.marks & {"repaired", "retried"})
    if step.stopped_by == "user":
        marks.append("cut off by the user")
    marks += _chosen(step, PausePoint.REPLY)
    calls = [f"{call.name} {masked(call.arguments)}" for call in reply.tool_calls]
    parts = [part for part in (reply.text, reply.refusal, *calls) if part]
    content = section("Thinking", masked(reply.reasoning)) if reply.reasoning else ""
    content += section("Reply", masked("\n".join(parts)))
    content += "".join(bad(each.message) for each in step.warnings)
    if reply.usage is not None:
        content += quiet(
            f"{counted(reply.usage.input_tokens, 'token')} in, {reply.usage.output_tokens:,} out"
        )
    yield ReportCard(
        step.number,
        "Reply",
        "Reply",
        one_line(parts[0] if parts else reply.reasoning),
        content,
        tuple(marks),
        step.reply is None,
        step.seconds_model,
    )


_DECIDED = {
    "rejected": "rejected by the user",
    "answered": "answered by the user",
    "skipped": "skipped by the user",
    "unknown": "it is unknown whether it ran",
}


def _call(step: Step, row: int, call: Call) -> Iterator[ReportCard]:
    arguments = json.dumps(redact(dict(call.arguments or {})), ensure_ascii=False, indent=2)
    shown = arguments if call.arguments is not None else call.text
    when = _when(step, PausePoint.TOOL_CALL, row)
    marks = [f"edited by the user{when}"] if {"tool", "arguments"} & set(call.edited) else []
    marks += [_DECIDED[call.status] + when] if call.status in _DECIDED else []
    if any(each.kind == "approved" and each.call == row for each in step.touches):
        marks.append(f"approved by the user{when}")
    marks += _chosen(step, PausePoint.TOOL_CALL, row)
    content = section(f"Arguments of {call.tool}", shown) + "".join(map(bad, call.problems))
    name = f"{call.tool}({one_line(masked(call.text) or shown, 80)})"
    yield ReportCard(
        step.number, "Action", "Action", name, content, tuple(marks), bool(call.problems)
    )
    if call.observation is None:
        return
    marks = [_ORIGINS[call.origin]] if call.origin in _ORIGINS else []
    marks += ["edited by the user"] if "observation" in call.edited else []
    marks += _chosen(step, PausePoint.OBSERVATION, row)
    is_bad = call.is_error and call.status != "rejected"
    text = masked(call.observation)
    spent = call.outcome.duration if call.outcome is not None and call.origin == "live" else 0.0
    content = section("Observation (a failure)" if is_bad else "Observation", text)
    if call.outcome is not None and call.outcome.stderr:
        content += section("Printed by the tool", masked(call.outcome.stderr))
    yield ReportCard(
        step.number,
        "Observation",
        "Error" if is_bad else "Observation",
        one_line(text),
        content,
        tuple(marks),
        is_bad,
        spent,
    )


def _message(message: Message) -> str:
    lines = [message.text] if message.text else []
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            lines.append(f"{part.name} {masked(part.arguments)}")
        elif isinstance(part, MediaPart):
            lines.append(f"[{part.kind}] {part.alt}".rstrip())
    return section(message.role, "\n".join(lines))


def section(title: str, text: str) -> str:
    """Return HTML of a heading and a text below it."""
    shown = escape(text.strip("\n"))
    return f"<h3>{escape(title)}</h3><pre>{shown}</pre>"


def bad(text: str) -> str:
    """Return HTML of an error line."""
    return f'<p class="bad">{escape(text)}</p>'


def quiet(text: str) -> str:
    """Return HTML of a secondary line."""
    return f'<p class="quiet">{escape(text)}</p>'


def masked(text: str) -> str:
    """Return a text without possible secrets."""
    value: Json = redact(text)
    return value if isinstance(value, str) else text
