"""What the history notes beside a run's events, so that a long run opens without reading them all.

Each event says which place of the run it reached; each step that is done has a row with what its
cards look like; and every so often a row holds the state that the run was in, without its past.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from studio.core.agent.loop.machine import advance
from studio.core.agent.loop.steps import new_state
from studio.core.agent.past.tree import Past, PastStates, RunTree, is_checkpoint
from studio.core.agent.values.events import Event, Started
from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.persistent_list import PersistentList
from studio.core.agent.values.reading import Final
from studio.core.agent.values.run_setup import Limits, RunModel, RunSetup
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Step
from studio.core.agent.values.user_events import Forked
from studio.core.prompty.messages import Message
from studio.core.runs.step_summary import step_summary_text
from studio.core.wire.reply import Usage

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
class Snapshot:
    """A state between two steps, without the steps, calls and messages that came before."""

    place: PausePoint | None
    """`BEFORE_REQUEST`, or nothing where the prompt is still to be rendered."""

    iteration: int
    """Number of the step that begins."""

    has_request: bool
    """Whether its messages are ready."""

    limits: Limits
    """Allowances then."""

    usage: Usage
    """Tokens and money so far."""

    seconds: float
    """Time in model and tool calls so far."""

    seconds_tools: float = 0.0
    """The part of it that went to tool calls."""

    plain_is_final: bool = False
    """Whether a reply without any label counts as the answer."""

    repairs: frozenset[str] = frozenset()
    """Repairs that are made without asking."""

    steering: tuple[str, ...] = ()
    """Messages that wait for the step."""

    injected: tuple[Message, ...] = ()
    """Messages put in by the user."""

    added: tuple[Message, ...] = ()
    """What joined the conversation after the last step was done."""

    characters: int = 0
    """Size of the conversation, where that is counted."""

    recent: tuple[tuple[str, str], ...] = ()
    """The last calls, which the next ones are compared with."""

    released: frozenset[str] = frozenset()
    """References of secrets whose values are sent."""

    repaired: int = 0
    """Repairs that were made of replies so far."""

    answer_so_far: str = ""
    """What came of an answer that was cut and that the model now goes on with."""

    waited: float = 0.0
    """Seconds in which the run waited for the user."""

    switched_to: RunModel | None = None
    """The model that the user took."""

    declined: RunModel | None = None
    """The one that the user did not take."""


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

    snapshot: Snapshot | None = None
    """The state right after; not with every row."""

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


def snapshot_of(state: RunState) -> Snapshot | None:
    """A state that stands between two steps; None for any other, and after an unreadable reply."""
    fresh = Step(
        state.iteration,
        messages=state.step.messages,
        sent=state.step.sent,
        calls_before=len(state.past_calls),
    )
    between = (
        state.status == "running"
        and state.place in (PausePoint.BEFORE_REQUEST, None)
        and state.step == fresh
        and state.call is None
        and state.pause is None
        and state.error is None
        and state.answer is None
        and not state.format_errors
        and not state.composing
    )
    if not between or state.conversation.shares(state.settled) < len(state.settled):
        return None
    return Snapshot(
        state.place,
        state.iteration,
        bool(state.step.messages),
        state.limits,
        state.usage,
        state.seconds,
        state.seconds_tools,
        state.plain_is_final,
        state.repairs,
        state.steering,
        state.injected,
        tuple(state.conversation[len(state.settled) :]),
        state.characters,
        tuple(state.past_calls[-_RECENT:]),
        state.released,
        state.repaired,
        state.answer_so_far,
        state.waited,
        state.switched_to,
        state.declined,
    )


@dataclass(frozen=True, slots=True)
class SnapshotPast:
    """What lies before a snapshot, loaded when it is looked at."""

    steps: PersistentList[Step]
    """The steps that are done."""

    settled: PersistentList[Message]
    """The conversation when the last of them was done."""

    calls: PersistentList[tuple[str, str]]
    """Their calls."""

    observations: PersistentList[str]
    """What those answered."""


def state_of(setup: RunSetup, snapshot: Snapshot, before: SnapshotPast) -> RunState:
    """The state that a snapshot was taken of."""
    conversation = before.settled.plus(snapshot.added)
    step = Step(
        snapshot.iteration,
        messages=conversation if snapshot.has_request else (),
        sent=len(conversation) if snapshot.has_request else 0,
        calls_before=len(before.calls),
    )
    older = len(before.calls) - len(snapshot.recent)
    return RunState(
        setup,
        place=snapshot.place,
        iteration=snapshot.iteration,
        step=step,
        steps=before.steps,
        conversation=conversation,
        settled=before.settled,
        characters=snapshot.characters,
        limits=snapshot.limits,
        usage=snapshot.usage,
        seconds=snapshot.seconds,
        seconds_tools=snapshot.seconds_tools,
        plain_is_final=snapshot.plain_is_final,
        repairs=snapshot.repairs,
        past_calls=before.calls.upto(older).plus(snapshot.recent),
        observations=before.observations,
        steering=snapshot.steering,
        injected=snapshot.injected,
        released=snapshot.released,
        repaired=snapshot.repaired,
        answer_so_far=snapshot.answer_so_far,
        waited=snapshot.waited,
        switched_to=snapshot.switched_to,
        declined=snapshot.declined,
    )
