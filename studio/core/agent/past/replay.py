"""A recorded run as a tree of checkpoints, and as a replacement for its model and tools.

A replay calls no model; a request that the recording does not contain is an error.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from studio.core.agent.loop.calls import NoTools, RunToolbox, ToolboxAround, call_key
from studio.core.agent.loop.machine import advance, fold
from studio.core.agent.loop.steps import new_state
from studio.core.agent.protocols.findings import RAN_WITHOUT_RESULT
from studio.core.agent.values.events import (
    AnswerChecked,
    AnswerEdited,
    AnswerReturned,
    CallDecided,
    CallEdited,
    CallsChecked,
    ContextTrimmed,
    ErrorObservationEdited,
    Event,
    Forked,
    LimitRaised,
    Logged,
    MessagesEdited,
    ModelChosen,
    ModelReplied,
    ObservationEdited,
    OutcomeTold,
    Paused,
    Rendered,
    ReplyEdited,
    ReplyRead,
    Resumed,
    Started,
    Steered,
    ToolCalled,
    ToolEnded,
    TreatedAsFinal,
)
from studio.core.agent.values.json_text import json_text
from studio.core.agent.values.state import Checkpoint, RunState
from studio.core.agent.values.step import PausePoint, ResultOrigin
from studio.core.models.base import Capabilities, ModelError, ModelRequest
from studio.core.prompty.document import Message, ToolSpec
from studio.core.text.values import JsonObject
from studio.core.tools.source import ToolOutcome
from studio.core.wire.reply import (
    Finished,
    ReasoningDelta,
    RefusalDelta,
    Reply,
    ReplyDelta,
    TextDelta,
    ToolCallDelta,
    UsageDelta,
)
from studio.core.wire.wire_call import KeptCall

_NOT_A_MOVE = (Logged, Paused, Resumed, Steered, LimitRaised, ModelChosen)
_KEEP_EVERY = 32


def branch_path(events: Sequence[Event], seq: int) -> list[Event]:
    """Return the events that lead to event `seq`, in order, without those of other branches.

    Args:
        events: The whole journal; event n (from 1) has index n - 1.
        seq: The number of the last event.
    """
    path: list[Event] = []
    at = seq
    while at > 0:
        event = events[at - 1]
        path.append(event)
        at = event.checkpoint if isinstance(event, Forked) else at - 1
    path.reverse()
    return path


def state_at(events: Sequence[Event], seq: int) -> RunState:
    """Return the state right after event `seq`."""
    return fold(branch_path(events, seq))


def is_checkpoint(event: Event, state: RunState) -> bool:
    """Return whether an event brought a run to a pause point; `state` is the one after it."""
    return not isinstance(event, _NOT_A_MOVE) and state.place is not None and not state.is_over


class Past(Protocol):
    """A past run, read from its journal."""

    @property
    def events(self) -> Sequence[Event]:
        """The events of the journal."""
        ...

    @property
    def state(self) -> RunState | None:
        """The last state; None for an empty journal."""
        ...

    @property
    def tree(self) -> RunTree:
        """The checkpoints reached."""
        ...

    @property
    def ran(self) -> AbstractSet[tuple[str, str]]:
        """(tool, arguments) of the calls made on all branches."""
        ...

    def state_at(self, seq: int) -> RunState:
        """Return the state right after event `seq`."""
        ...


class PastStates:
    """A cache of states of a run in progress; others are computed from an earlier one.

    The states share their common parts (`PersistentList`), so storing many of them costs little.
    """

    def __init__(self, before: Past | None = None) -> None:
        """Begin without states.

        Args:
            before: the past run that this one continues; None for a new one.
        """
        self._before = before
        self._offset = len(before.events) if before is not None else 0
        self._events: list[Event] = []
        self._kept: dict[int, RunState] = {}

    def note(self, event: Event, state: RunState) -> None:
        """Add the next event and the state after it."""
        self._events.append(event)
        if event.seq % _KEEP_EVERY == 0:
            self._kept[event.seq] = state

    def at(self, seq: int) -> RunState:
        """Return the state right after event `seq`.

        Raises:
            ValueError: the events before it do not begin with `Started`.
        """
        missing: list[Event] = []
        at = seq
        while at > self._offset and at not in self._kept:
            event = self._events[at - self._offset - 1]
            missing.append(event)
            at = event.checkpoint if isinstance(event, Forked) else at - 1
        if at == 0:
            return fold(reversed(missing))
        held = self._kept.get(at)
        state = held if held is not None or self._before is None else self._before.state_at(at)
        if state is None:
            raise ValueError(f"there is no event {at}")
        for event in reversed(missing):
            state, _ = advance(state, event)
        return state


@dataclass
class RunTree:
    """The checkpoints of a run, kept up to date event by event."""

    checkpoints: list[Checkpoint] = field(default_factory=list)
    """The checkpoints in the order in which they were reached."""

    cursor: int | None = None
    """Id of the checkpoint that the run passed last."""

    branch: int = 0
    """Number of the run's current branch."""

    ends: dict[int, Checkpoint] = field(default_factory=dict)
    """The last checkpoint of each branch that has one."""

    forks: list[int] = field(default_factory=list)
    """Numbers of the events with which branches began, in order."""

    _by_id: dict[int, Checkpoint] = field(default_factory=dict)
    _branches: int = 0

    def copy(self) -> RunTree:
        """Return an independent copy, for a run that continues from here."""
        return replace(
            self,
            checkpoints=list(self.checkpoints),
            ends=dict(self.ends),
            forks=list(self.forks),
            _by_id=dict(self._by_id),
        )

    def add(self, event: Event, state: RunState) -> Checkpoint | None:
        """Add an event and the state after it; return the checkpoint if it reached one."""
        if isinstance(event, Forked):
            self.fork(event.seq, event.checkpoint)
        if state.place is None or not is_checkpoint(event, state):
            return None
        return self.reach(event.seq, state.place, state.iteration, state.call)

    def fork(self, seq: int, checkpoint: int) -> None:
        """Record that the run continues from a checkpoint as a new branch from event `seq` on."""
        self.forks.append(seq)
        self._branches += 1
        self.branch = self._branches
        self.cursor = checkpoint

    def reach(self, seq: int, place: PausePoint, iteration: int, call: int | None) -> Checkpoint:
        """Add the checkpoint for the pause point that event `seq` reached."""
        made = Checkpoint(seq, self.cursor, place, iteration, call, self.branch)
        self.checkpoints.append(made)
        self._by_id[seq] = made
        self.ends[self.branch] = made
        self.cursor = seq
        return made

    def branch_end(self, seq: int, last: int) -> int:
        """Return the last event of event `seq`'s branch: the one before the run left the branch.

        Args:
            seq: an event.
            last: the last event of the journal.
        """
        at = bisect_right(self.forks, seq)
        return self.forks[at] - 1 if at < len(self.forks) else last

    def get(self, checkpoint: int) -> Checkpoint | None:
        """Return the checkpoint with that id; None if there is none."""
        return self._by_id.get(checkpoint)

    def find(
        self, iteration: int, place: PausePoint = PausePoint.BEFORE_REQUEST
    ) -> Checkpoint | None:
        """Return the newest checkpoint at a pause point of a step, for the argument `RUN@STEP`."""
        fitting = (
            item
            for item in reversed(self.checkpoints)
            if (item.iteration, item.place) == (iteration, place)
        )
        return next(fitting, None)

    def children(self, checkpoint: int | None) -> tuple[Checkpoint, ...]:
        """Return the checkpoints that follow one; for None, the first ones."""
        return tuple(item for item in self.checkpoints if item.parent == checkpoint)


class RanCalls(AbstractSet[tuple[str, str]]):
    """The (tool, arguments) pairs of a run's calls; those of its past are read only when needed."""

    def __init__(self, past: Past) -> None:
        self._past = past
        self._new: set[tuple[str, str]] = set()

    def add(self, key: tuple[str, str]) -> None:
        """Add a call."""
        self._new.add(key)

    def __contains__(self, key: object) -> bool:
        return key in self._new or key in self._past.ran

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._new | self._past.ran)

    def __len__(self) -> int:
        return len(self._new | self._past.ran)


@dataclass(frozen=True)
class Walk:
    """The result of folding a whole journal."""

    events: Sequence[Event]
    """The events of the journal, in order."""

    state: RunState | None
    """The last state; None for an empty journal."""

    tree: RunTree
    """The checkpoints reached."""

    ran: frozenset[tuple[str, str]]
    """(tool, arguments) of the calls made on all branches."""

    past: PastStates
    """Some of the states in between."""

    def state_at(self, seq: int) -> RunState:
        """Return the state right after event `seq`."""
        return self.past.at(seq)


def walk(events: Iterable[Event]) -> Walk:
    """Read a journal in one pass; a fork returns to the state that it names.

    Raises:
        ValueError: the journal does not begin with `Started`.
    """
    kept: list[Event] = []
    past = PastStates()
    tree = RunTree()
    ran: set[tuple[str, str]] = set()
    state: RunState | None = None
    for event in events:
        if isinstance(event, Started):
            state = new_state(event.setup)
        elif isinstance(event, Forked):
            state = past.at(event.checkpoint)
        if state is None:
            raise ValueError("a journal begins with Started")
        if isinstance(event, ToolCalled):
            ran.add(call_key(state.step.calls[event.call]))
        state, _ = advance(state, event)
        kept.append(event)
        tree.add(event, state)
        past.note(event, state)
    return Walk(tuple(kept), state, tree, frozenset(ran), past)


@dataclass(frozen=True, slots=True)
class RecordedReply:
    """One model call of a recording."""

    messages: tuple[Message, ...]
    """Messages that were sent."""

    reply: Reply
    """Reply that was received."""

    call: KeptCall | None = None
    """Key of the stored wire call; None for a reply that the user gave."""


@dataclass(frozen=True, slots=True)
class RunRecording:
    """The replies and tool results of one branch, for use on another one."""

    calls: tuple[RecordedReply, ...] = ()
    """Model calls, in order."""

    outcomes: tuple[tuple[tuple[str, str], ToolOutcome], ...] = ()
    """((tool, arguments), outcome) of the tool calls, in order."""


@dataclass
class RecordedModel:
    """A model that gives recorded replies in order; a request that differs ends the replay."""

    calls: Sequence[RecordedReply]
    """The recorded calls."""

    label: str = "Recorded"
    """Name for the user."""

    capabilities: Capabilities = field(default_factory=Capabilities)
    """Capabilities; by default all."""

    _used: int = field(default=0, init=False)

    def request_body(self, request: ModelRequest) -> JsonObject:
        """Return an empty body: a replay sends nothing."""
        return {}

    async def stream(self, request: ModelRequest) -> AsyncIterator[ReplyDelta]:
        """Yield the next recorded reply.

        Raises:
            ModelError: "recording-ended" or "diverged".
        """
        at = self._used
        self._used += 1
        if at >= len(self.calls):
            replies = f"{at} replies" if at != 1 else "one reply"
            message = f"The recorded run has no more replies: it ends after {replies}."
            hint = "Continue with a model: fork the run, or run it again."
            raise ModelError("recording-ended", message, hint)
        recorded = self.calls[at]
        if recorded.messages != request.messages:
            message = f"Request {at + 1} differs from the recorded one."
            raise ModelError("diverged", message, "Compare both runs.")
        if request.wire is not None and recorded.call is not None:
            request.wire.repeat(recorded.call)
        for delta in _deltas(recorded.reply):
            yield delta

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


def _deltas(reply: Reply) -> list[ReplyDelta]:
    """Split a reply into deltas."""
    made: list[ReplyDelta] = []
    if reply.reasoning:
        made.append(ReasoningDelta(reply.reasoning))
    if reply.text:
        made.append(TextDelta(reply.text))
    if reply.refusal:
        made.append(RefusalDelta(reply.refusal))
    for index, call in enumerate(reply.tool_calls):
        made.append(ToolCallDelta(index, call.id, call.name, call.arguments))
    if reply.usage is not None:
        made.append(UsageDelta(reply.usage))
    made.append(Finished(reply.finish_reason or "stop"))
    return made


class RecordedSpecs(NoTools):
    """The tools of a recorded run as they were offered to the model; they cannot be called."""

    def __init__(self, specs: tuple[ToolSpec, ...]) -> None:
        """Take the tools of the recorded run (`RunSetup.tools`)."""
        self.specs = specs

    def check(
        self, name: str, arguments: JsonObject, released: AbstractSet[str] = frozenset()
    ) -> tuple[str, ...]:
        """Check a call against the schema that was offered."""
        spec = next((item for item in self.specs if item.name == name), None)
        if spec is None:
            return super().check(name, arguments, released)
        from studio.core.tools.toolbox import check_arguments

        return check_arguments(spec.parameters, arguments)


class RecordedTools(ToolboxAround):
    """A toolbox that returns recorded outcomes for the same calls and forwards all others."""

    def __init__(self, toolbox: RunToolbox, recording: RunRecording, *, live: bool = True) -> None:
        """Wrap a toolbox.

        Args:
            toolbox: the tools.
            recording: the outcomes that were recorded.
            live: whether to make calls that were not recorded; otherwise they are errors.
        """
        super().__init__(toolbox)
        self._live = live
        self._outcomes: dict[tuple[str, str], deque[ToolOutcome]] = defaultdict(deque)
        for key, outcome in recording.outcomes:
            self._outcomes[key].append(outcome)
        self._recorded: set[str] = set()

    def needs_approval(self, name: str) -> bool:
        """Return the toolbox's decision; only the call shows whether an outcome is recorded."""
        return self._live and self._inner.needs_approval(name)

    def origin(self, name: str) -> ResultOrigin:
        """Return the origin of the tool's last answer."""
        return "recorded" if name in self._recorded else self._inner.origin(name)

    async def call(
        self,
        name: str,
        arguments: JsonObject,
        call_id: str = "",
        released: AbstractSet[str] = frozenset(),
    ) -> ToolOutcome:
        """Return the recorded outcome of the same call, each once; else call the tool."""
        held = self._outcomes.get((name, json_text(arguments)))
        if held:
            self._recorded.add(name)
            return held.popleft()
        self._recorded.discard(name)
        if self._live:
            return await self._inner.call(name, arguments, call_id, released)
        return ToolOutcome(f"Error: no recorded result of {name!r} with these arguments", "error")


# The reenactment of a past run: its replies, its tool results, and the user's actions in it.

_WORLD = (Rendered, ContextTrimmed, ModelReplied, ReplyRead, CallsChecked, ToolEnded, AnswerChecked)
"""Events that the new run makes by itself; without retries and pauses."""

_USER_EVENTS = (
    MessagesEdited,
    ReplyEdited,
    CallEdited,
    ObservationEdited,
    ErrorObservationEdited,
    TreatedAsFinal,
    AnswerEdited,
    AnswerReturned,
    CallDecided,
    LimitRaised,
    Steered,
    ModelChosen,
)
"""Events of the user that are repeated; a lost call's outcome is replayed as its result."""

_Where: TypeAlias = tuple[PausePoint | None, int, int | None]


@dataclass(frozen=True, slots=True)
class _Due:
    """An event of the past run, and the pause point at which it happened."""

    event: Event
    where: _Where

    @property
    def floats(self) -> bool:
        """Return whether it was sent during an effect; if so, it is due at the next pause point."""
        return isinstance(self.event, Steered | LimitRaised | ModelChosen)


class Reenactment:
    """The user's actions of a run, repeated at their places.

    Used by one run, on its event loop. It stops as soon as the run differs from the recorded one.
    """

    def __init__(self, path: Iterable[Event]) -> None:
        """Take a branch of a journal (`tree.branch_path` of its last event).

        Raises:
            ValueError: the branch does not begin with `Started`.
        """
        calls: list[RecordedReply] = []
        outcomes: list[tuple[tuple[str, str], ToolOutcome]] = []
        self._due: deque[_Due] = deque()
        self._said: deque[Event] = deque()
        state: RunState | None = None
        for event in path:
            if isinstance(event, Started):
                state = new_state(event.setup)
            if state is None:
                raise ValueError("a journal begins with Started")
            match event:
                case ModelReplied(reply=reply):
                    call = KeptCall(state.setup.run, state.step.called)
                    calls.append(RecordedReply(tuple(state.step.messages), reply, call))
                case ToolEnded(call=row, outcome=outcome):
                    outcomes.append((call_key(state.step.calls[row]), outcome))
                case OutcomeTold(call=row, fate="ran" | "result" as fate, text=text):
                    observation = text if fate == "result" else RAN_WITHOUT_RESULT
                    outcomes.append(
                        (call_key(state.step.calls[row]), ToolOutcome(observation, "ok"))
                    )
                case _:
                    pass
            approves = isinstance(event, CallDecided) and event.decision == "approve"
            if isinstance(event, _WORLD + _USER_EVENTS) and not approves:
                self._due.append(_Due(event, _where(state)))
            state, _ = advance(state, event)
        self.recording = RunRecording(tuple(calls), tuple(outcomes))
        """The recorded replies and tool results."""
        self.released = state.released if state is not None else frozenset()
        """References of the secrets whose values the run sent."""
        self.seconds = 0.0 if state is None else state.setup.recorded_seconds or state.seconds
        """Seconds of work of the recorded run."""

    @property
    def goes_on(self) -> bool:
        """Whether the recorded run has further events."""
        return bool(self._due or self._said)

    def saw(self, event: Event) -> None:
        """Compare an event of the new run with the recorded one; the first difference ends it."""
        if not isinstance(event, _WORLD):
            return
        while self._due and self._due[0].floats:
            self._said.append(self._due.popleft().event)
        if self._due and type(self._due[0].event) is type(event):
            self._due.popleft()
        else:
            self._due.clear()

    def due(self, state: RunState) -> Event | None:
        """Return the user's next action at this pause point; each only once."""
        if self._said:
            return self._said.popleft()
        if not self._due or isinstance(self._due[0].event, _WORLD):
            return None
        first = self._due.popleft()
        if first.floats or first.where == _where(state):
            return first.event
        self._due.clear()
        return None


def _where(state: RunState) -> _Where:
    return (state.place, state.iteration, state.call)
