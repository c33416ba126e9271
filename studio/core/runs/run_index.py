"""What the history notes beside a run's events, so that a long run opens without reading them all.

Each event says which place of the run it reached; each step that is done has a row with what its
cards look like; and every so often a row holds the state that the run was in, without its past.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import cast

from studio.core.agent.loop.machine import advance
from studio.core.agent.loop.steps import new_state
from studio.core.agent.past.tree import Past, PastStates, RunTree, is_checkpoint
from studio.core.agent.values.events import Event, Started
from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.reading import Final
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Step
from studio.core.agent.values.user_events import Forked
from studio.core.prompty.messages import Message
from studio.core.runs.codec import decode_onto, decode_value, encode_value
from studio.core.runs.step_summary import step_summary_text
from studio.core.text.values import JsonObject

SNAPSHOT_EVERY = 8
"""Steps between two states that are kept."""

_RECENT = 20
FOLD_FAULTS = (ValueError, IndexError, KeyError, AttributeError, TypeError, RuntimeError)
"""What folding raises where events do not follow from each other."""


def shape_of(step: Step) -> str:
    """What a step has to show, a letter each.

    `r` a reply; for each call `+` with its result or `-` without; `f` the answer; `n` a word to
    the model.
    """
    replied = "r" if step.reply is not None or step.partial is not None else ""
    calls = "".join("-" if call.observation is None else "+" for call in step.calls)
    final = "f" if isinstance(step.reading, Final) or step.answer is not None else ""
    return replied + calls + final + ("n" if step.observation else "")


@dataclass(frozen=True)
class SnapshotEnd:
    """What a snapshot holds of the past: the end of what the rows of the steps hold."""

    has_request: bool
    """Whether the messages of the next request are ready."""

    added: tuple[Message, ...] = ()
    """Messages that joined the conversation after the last step."""

    recent: tuple[tuple[str, str], ...] = ()
    """The last calls, which the next ones are compared with."""


_OF_PAST = frozenset(
    ("setup", "step", "steps", "conversation", "settled", "past_calls", "observations")
)
"""Fields of a state that a snapshot leaves out: the first event and the rows hold them."""


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step that is done."""

    seq: int
    """The event that ended it."""

    shape: str
    """See `shape_of`."""

    messages: int
    """Length of the conversation then."""

    kept: int
    """How many of its first messages were there when the step before was done."""

    calls: int
    """How many calls were made so far."""

    snapshot: JsonObject | None = None
    """The state right after the step (`snapshot_of`); not with every row."""

    step_summary: str = ""
    """What its cards show (`studio.core.runs.step_summary`)."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What is to be written with an event."""

    mark: str
    """``TOOL_CALL` 12 0` for a place, `F 7 `BEFORE_REQUEST` 3` for going back to event 7, empty for
    any other event."""

    row: StepRow | None
    """The step that it ended."""

    state: RunState
    """The state after it."""


class RunIndexer:
    """Follows a run as it is written. One that cannot be followed is written without notes."""

    def __init__(self, past: Past | None = None) -> None:
        """Begin.

        Args:
            past: the run as it is kept, where it is taken up again.
        """
        self._state = past.state if past is not None else None
        self._past = PastStates(past)
        self._since = 0
        self._is_lost = False

    def look(self, event: Event) -> IndexEntry | None:
        """What an event amounts to; nothing changes before `take`. None: it cannot be told."""
        if self._is_lost:
            return None
        try:
            return self._noted(event)
        except FOLD_FAULTS:
            self._is_lost = True  # it is kept all the same, and read from its beginning
            return None

    def take(self, event: Event, noted: IndexEntry | None) -> None:
        """The event is written: go on from it."""
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
    """Put the places that marks tell of into a tree; gives each fork and the checkpoint it names.

    Args:
        tree: the tree.
        marks: one of each event, in order from the first.
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
    """Return a state between two steps as JSON, without its past; None for any other state."""
    fresh = Step(
        state.iteration,
        messages=state.step.messages,
        sent=state.step.sent,
    )
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
    """Return the state that a snapshot was taken of.

    Args:
        past: The setup, and the steps that are done with their messages, calls and observations.
        snapshot: JSON of `snapshot_of`, also of an older version.
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
