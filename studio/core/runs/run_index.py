"""The index beside a run's events, so that a long run opens without reading them all.

Each event has a mark for the pause point it reached; each finished step has a row with the content
of its cards; and some of these rows contain the state of the run, without its past.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import cast

from studio.core.agent.loop.machine import advance
from studio.core.agent.loop.steps import new_state
from studio.core.agent.past.replay import Past, PastStates, RunTree, is_checkpoint
from studio.core.agent.values.events import Event, Forked, Started
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import (
    Action,
    Call,
    Final,
    FormatError,
    PausePoint,
    Reading,
    ReadingWarning,
    Refused,
    Step,
)
from studio.core.prompty.document import Message, TextPart
from studio.core.runs.codec import JournalError, decode_onto, decode_value, encode_value
from studio.core.text.amounts import one_line
from studio.core.text.values import JsonObject
from studio.core.tools.source import ToolOutcome
from studio.core.wire.reply import Reply

# The content of a step's cards, stored beside its events: a long run is shown without folding.

LINE = 200
"""Maximum number of characters of a text in a card."""

LAST = 160
"""Maximum number of characters of a prompt's last line in a card."""

ENDING = 800
"""Number of characters at the end of a prompt that are searched for its last line."""


@dataclass(frozen=True, slots=True)
class StepSummary:
    """The stored content of a step's cards."""

    step: Step
    """The step, with truncated texts."""

    last: str = ""
    """Last line of the request."""


def arguments_text(arguments: JsonObject) -> str:
    """Return arguments in the form of a call: `city="Rome", days=3`."""
    pairs = (f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in arguments.items())
    return ", ".join(pairs)


def last_line(text: str) -> str:
    """Return the last line with text: the newest observation, or the question.

    A line that only opens a code block for the model does not count.
    """
    lines = reversed(text[-ENDING:].splitlines())
    return next((line for line in lines if line.strip() and not line.startswith("```")), "")


def step_summary_text(step: Step) -> str:
    """Return the JSON to store for a step."""
    last = _start(last_line(step.messages[-1].text), LAST) if step.messages else ""
    return json.dumps(encode_value(StepSummary(_cut(step), last)), separators=(",", ":"))


def summarized_step(text: str) -> Step | None:
    """Return the stored step, for cards only; None if the JSON is something else."""
    try:
        step_summary = decode_value(StepSummary, json.loads(text))
    except (ValueError, JournalError):
        return None
    last = (Message("user", (TextPart(step_summary.last),)),) if step_summary.step.sent else ()
    return replace(step_summary.step, messages=last)


def _start(text: str, limit: int = LINE) -> str:
    """Return as much of the start of a text as `one_line` needs.

    A text of blanks stays nonempty, because an empty thought is still shown.
    """
    return one_line(text, limit + 1) or text[:1]


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
    """Return the reply's text unless its reading is shown instead."""
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


SNAPSHOT_EVERY = 8
"""Number of steps between two stored states."""

_RECENT = 20
FOLD_FAULTS = (ValueError, IndexError, KeyError, AttributeError, TypeError, RuntimeError)
"""Exceptions raised when folding inconsistent events."""


def shape_of(step: Step) -> str:
    """Return the shape of a step, one letter for each part.

    `r` a reply; for each call `+` with its result or `-` without; `f` the answer; `n` a message to
    the model.
    """
    replied = "r" if step.reply is not None or step.partial is not None else ""
    calls = "".join("-" if call.observation is None else "+" for call in step.calls)
    final = "f" if isinstance(step.reading, Final) or step.answer is not None else ""
    return replied + calls + final + ("n" if step.observation else "")


@dataclass(frozen=True)
class SnapshotEnd:
    """The last part of the past in a snapshot, which the steps' rows do not contain."""

    has_request: bool
    """Whether the messages of the next request are ready."""

    added: tuple[Message, ...] = ()
    """Messages added to the conversation after the last step."""

    recent: tuple[tuple[str, str], ...] = ()
    """The last calls, with which new ones are compared."""


_OF_PAST = frozenset(
    ("setup", "step", "steps", "conversation", "settled", "past_calls", "observations")
)
"""Fields of a state that a snapshot omits: the first event and the rows contain them."""


@dataclass(frozen=True, slots=True)
class StepRow:
    """The row of a finished step."""

    seq: int
    """Number of the event that ended the step."""

    shape: str
    """Shape of the step; see `shape_of`."""

    messages: int
    """Length of the conversation after the step."""

    kept: int
    """Number of its first messages that existed after the previous step."""

    calls: int
    """Number of calls so far."""

    snapshot: JsonObject | None = None
    """The state after the step (`snapshot_of`); None in most rows."""

    step_summary: str = ""
    """JSON of the content of the step's cards."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """The index entry of an event."""

    mark: str
    """`P3 12 0` for a pause point, `F 7 P1 3` for a fork at event 7; empty for other events."""

    row: StepRow | None
    """The step that the event ended."""

    state: RunState
    """The state after the event."""


class RunIndexer:
    """A builder of index entries while a run is written. An inconsistent run gets none."""

    def __init__(self, past: Past | None = None) -> None:
        """Begin with the run's past.

        Args:
            past: the stored run, if it is continued.
        """
        self._state = past.state if past is not None else None
        self._past = PastStates(past)
        self._since = 0
        self._is_lost = False

    def look(self, event: Event) -> IndexEntry | None:
        """Return the entry of the next event without accepting it; None if that is impossible."""
        if self._is_lost:
            return None
        try:
            return self._noted(event)
        except FOLD_FAULTS:
            self._is_lost = True  # the event is stored anyway, and the run read from its beginning
            return None

    def take(self, event: Event, noted: IndexEntry | None) -> None:
        """Accept an event after it was written."""
        if noted is None:
            self._is_lost = True
            return
        self._state = noted.state
        self._past.note(event, noted.state)
        if noted.row is not None:
            self._since = 0 if noted.row.snapshot is not None else self._since + 1

    def _noted(self, event: Event) -> IndexEntry:
        before = self._state
        if isinstance(event, Started):
            before = new_state(event.setup)
        elif isinstance(event, Forked):
            before = self._past.at(event.checkpoint)
        if before is None:
            raise ValueError("a journal begins with Started")
        state, _ = advance(before, event)
        row = self._row(event, before, state) if len(state.steps) > len(before.steps) else None
        return IndexEntry(_mark(event, state), row, state)

    def _row(self, event: Event, before: RunState, state: RunState) -> StepRow:
        is_due = self._since >= SNAPSHOT_EVERY - 1
        return StepRow(
            event.seq,
            shape_of(state.steps[-1]),
            len(state.settled),
            state.settled.shares(before.settled),
            len(state.past_calls),
            snapshot_of(state) if is_due else None,
            step_summary_text(state.steps[-1]),
        )


def _mark(event: Event, state: RunState) -> str:
    words = ["F", event.checkpoint] if isinstance(event, Forked) else []
    if is_checkpoint(event, state):
        words += [state.place, state.iteration]
        words += [] if state.call is None else [state.call]
    return " ".join(map(str, words))


def note_marks(tree: RunTree, marks: Iterable[str | None]) -> Iterator[tuple[int, int]]:
    """Add the pause points of marks to a tree; yield each fork and its checkpoint.

    Args:
        tree: the tree.
        marks: the marks of all events, in order.
    """
    for seq, mark in enumerate(marks, 1):
        if not mark:
            continue
        words = mark.split(" ")
        if words[0] == "F":
            forked = int(words[1])
            tree.fork(seq, forked)
            words = words[2:]
            yield seq, forked
        if words:
            call = int(words[2]) if len(words) > 2 else None
            tree.reach(seq, cast("PausePoint", words[0]), int(words[1]), call)


def snapshot_of(state: RunState) -> JsonObject | None:
    """Return a state between two steps as JSON, without its past; None for other states."""
    fresh = Step(state.iteration, messages=state.step.messages, sent=state.step.sent)
    between = (
        state.status == "running"
        and state.place in (PausePoint.BEFORE_REQUEST, None)
        and state.step == fresh
    )
    if not between or state.conversation.shares(state.settled) < len(state.settled):
        return None
    end = SnapshotEnd(
        bool(state.step.messages),
        tuple(state.conversation[len(state.settled) :]),
        tuple(state.past_calls[-_RECENT:]),
    )
    return {**encode_value(state, _OF_PAST), **encode_value(end)}


def state_of(past: RunState, snapshot: JsonObject) -> RunState:
    """Return the state of a snapshot.

    Args:
        past: The setup, and the finished steps with their messages, calls and observations.
        snapshot: JSON from `snapshot_of`, also of an older version.
    """
    end = decode_value(SnapshotEnd, snapshot)
    state = decode_onto(past, snapshot)
    conversation = past.settled.plus(end.added)
    older = len(past.past_calls) - len(end.recent)
    return replace(
        state,
        step=Step(
            state.iteration,
            messages=conversation if end.has_request else (),
            sent=len(conversation) if end.has_request else 0,
        ),
        conversation=conversation,
        past_calls=past.past_calls.upto(older).plus(end.recent),
    )
