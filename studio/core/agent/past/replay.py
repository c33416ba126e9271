"""A recorded run as a tree, and in the place of a model or of tools.

A replay asks nobody; where the recording does not fit, it says so instead of guessing.
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
from studio.core.tools.toolbox import check_arguments
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
        events: The whole journal; event n (from 1) stands at index n - 1.
        seq: The last event wanted.
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
    """Return whether an event brought a run to a place; `state` is the one after it."""
    return not isinstance(event, _NOT_A_MOVE) and state.place is not None and not state.is_over


class Past(Protocol):
    """A run that was, read from its journal."""

    @property
    def events(self) -> Sequence[Event]:
        """The journal."""
        ...

    @property
    def state(self) -> RunState | None:
        """The last state; None of an empty journal."""
        ...

    @property
    def tree(self) -> RunTree:
        """The places reached."""
        ...

    @property
    def ran(self) -> AbstractSet[tuple[str, str]]:
        """(tool, arguments) of the calls that were made, on any branch."""
        ...

    def state_at(self, seq: int) -> RunState:
        """Return the state right after event `seq`."""
        ...


class PastStates:
    """Some states of a run on its way; any other is folded from the nearest before it.

    They share what they have in common (`PersistentList`), so that many of them cost little.
    """

    def __init__(self, before: Past | None = None) -> None:
        """Begin with nothing.

        Args:
            before: the run as it was read, where it was taken up again.
        """
        self._before = before
        self._offset = len(before.events) if before is not None else 0
        self._events: list[Event] = []
        self._kept: dict[int, RunState] = {}

    def note(self, event: Event, state: RunState) -> None:
        """Take the next event, and the state after it."""
        self._events.append(event)
        if event.seq % _KEEP_EVERY == 0:
            self._kept[event.seq] = state

    def at(self, seq: int) -> RunState:
        """Return the state right after event `seq`.

        Raises:
            ValueError: the way there does not begin with `Started`.
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
    """In the order they were reached."""

    cursor: int | None = None
    """Id of the checkpoint that the run went through last."""

    branch: int = 0
    """Number of the branch that the run is on."""

    ends: dict[int, Checkpoint] = field(default_factory=dict)
    """The last checkpoint of each branch that reached one."""

    forks: list[int] = field(default_factory=list)
    """The events with which branches began, in order."""

    _by_id: dict[int, Checkpoint] = field(default_factory=dict)
    _branches: int = 0

    def copy(self) -> RunTree:
        """Return a tree of its own, for a run that goes on from here."""
        return replace(
            self,
            checkpoints=list(self.checkpoints),
            ends=dict(self.ends),
            forks=list(self.forks),
            _by_id=dict(self._by_id),
        )

    def add(self, event: Event, state: RunState) -> Checkpoint | None:
        """Note an event and the state after it; gives the checkpoint where it reached one."""
        if isinstance(event, Forked):
            self.fork(event.seq, event.checkpoint)
        if state.place is None or not is_checkpoint(event, state):
            return None
        return self.reach(event.seq, state.place, state.iteration, state.call)

    def fork(self, seq: int, checkpoint: int) -> None:
        """Note that the run goes on from a checkpoint as a new branch, from event `seq` on."""
        self.forks.append(seq)
        self._branches += 1
        self.branch = self._branches
        self.cursor = checkpoint

    def reach(self, seq: int, place: PausePoint, iteration: int, call: int | None) -> Checkpoint:
        """Note a place that event `seq` came to."""
        made = Checkpoint(seq, self.cursor, place, iteration, call, self.branch)
        self.checkpoints.append(made)
        self._by_id[seq] = made
        self.ends[self.branch] = made
        self.cursor = seq
        return made

    def branch_end(self, seq: int, last: int) -> int:
        """Return the last event of the branch that event `seq` is on: the one before it was left.

        Args:
            seq: an event.
            last: the last event of the journal.
        """
        at = bisect_right(self.forks, seq)
        return self.forks[at] - 1 if at < len(self.forks) else last

    def get(self, checkpoint: int) -> Checkpoint | None:
        """Return the checkpoint of that id."""
        return self._by_id.get(checkpoint)

    def find(
        self, iteration: int, place: PausePoint = PausePoint.BEFORE_REQUEST
    ) -> Checkpoint | None:
        """Find the newest checkpoint at a place of a step, for `RUN@STEP` of the command line."""
        fitting = (
            item
            for item in reversed(self.checkpoints)
            if (item.iteration, item.place) == (iteration, place)
        )
        return next(fitting, None)

    def children(self, checkpoint: int | None) -> tuple[Checkpoint, ...]:
        """Return the checkpoints that follow one; of None, the first."""
        return tuple(item for item in self.checkpoints if item.parent == checkpoint)


class RanCalls(AbstractSet[tuple[str, str]]):
    """(tool, arguments) of the calls that a run made; those of its past are read when asked for."""

    def __init__(self, past: Past) -> None:
        self._past = past
        self._new: set[tuple[str, str]] = set()

    def add(self, key: tuple[str, str]) -> None:
        """Note one more."""
        self._new.add(key)

    def __contains__(self, key: object) -> bool:
        return key in self._new or key in self._past.ran

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._new | self._past.ran)

    def __len__(self) -> int:
        return len(self._new | self._past.ran)


@dataclass(frozen=True)
class Walk:
    """The fold of a journal, from its first event to its last."""

    events: Sequence[Event]
    """The journal, in order."""

    state: RunState | None
    """The last state; None of an empty journal."""

    tree: RunTree
    """The places reached."""

    ran: frozenset[tuple[str, str]]
    """(tool, arguments) of the calls that were made, on any branch."""

    past: PastStates
    """States on the way."""

    def state_at(self, seq: int) -> RunState:
        """Return the state right after event `seq`."""
        return self.past.at(seq)


def walk(events: Iterable[Event]) -> Walk:
    """Read a journal in one pass; forks go back to the states they name.

    Raises:
        ValueError: it does not begin with `Started`.
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
    """Under which name what was sent is kept; None for a reply that the user gave."""


@dataclass(frozen=True, slots=True)
class RunRecording:
    """The replies and results of a branch, for another branch."""

    calls: tuple[RecordedReply, ...] = ()
    """Model calls, in order."""

    outcomes: tuple[tuple[tuple[str, str], ToolOutcome], ...] = ()
    """((tool, arguments), outcome) of the tool calls, in order."""


@dataclass
class RecordedModel:
    """Answers with a recording's replies in order; a request that differs ends the replay."""

    calls: Sequence[RecordedReply]
    """The recorded calls."""

    label: str = "Recorded"
    """For people."""

    capabilities: Capabilities = field(default_factory=Capabilities)
    """All of them."""

    _used: int = field(default=0, init=False)

    def request_body(self, request: ModelRequest) -> JsonObject:
        """Return nothing: a replay sends nothing."""
        return {}

    async def stream(self, request: ModelRequest) -> AsyncIterator[ReplyDelta]:
        """Give the next recorded reply.

        Raises:
            ModelError: "recording-ended" or "diverged".
        """
        at = self._used
        self._used += 1
        if at >= len(self.calls):
            replies = f"{at} replies" if at != 1 else "one reply"
            message = f"The recorded run has no more to give: it ends after {replies}."
            hint = "Go on with a model: fork the run, or run it again."
            raise ModelError("recording-ended", message, hint)
        recorded = self.calls[at]
        if recorded.messages != request.messages:
            message = f"Request {at + 1} is not the recorded one."
            raise ModelError("diverged", message, "Compare both runs.")
        if request.wire is not None and recorded.call is not None:
            request.wire.repeat(recorded.call)
        for delta in _deltas(recorded.reply):
            yield delta

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


def _deltas(reply: Reply) -> list[ReplyDelta]:
    """Return the pieces that make up a reply again."""
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
    """The tools of a recorded run as the model was offered them; none can be called."""

    def __init__(self, specs: tuple[ToolSpec, ...]) -> None:
        """Take what the run was started with (`RunSetup.tools`)."""
        self.specs = specs

    def check(
        self, name: str, arguments: JsonObject, released: AbstractSet[str] = frozenset()
    ) -> tuple[str, ...]:
        """Check a call as the tools did then, by the schema that was offered."""
        spec = next((item for item in self.specs if item.name == name), None)
        if spec is None:
            return super().check(name, arguments, released)
        return check_arguments(spec.parameters, arguments)


class RecordedTools(ToolboxAround):
    """Answers calls with the recorded outcomes of the same calls; others go to the toolbox."""

    def __init__(self, toolbox: RunToolbox, recording: RunRecording, *, live: bool = True) -> None:
        """Make it.

        Args:
            toolbox: what the tools are.
            recording: what they answered.
            live: whether a call that was not recorded is made; otherwise it is an error.
        """
        super().__init__(toolbox)
        self._live = live
        self._outcomes: dict[tuple[str, str], deque[ToolOutcome]] = defaultdict(deque)
        for key, outcome in recording.outcomes:
            self._outcomes[key].append(outcome)
        self._recorded: set[str] = set()

    def needs_approval(self, name: str) -> bool:
        """Return the toolbox's word; a recorded outcome needs none, but only a call shows that."""
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
        """Return the recorded outcome of this very call, each once; else the tool itself."""
        held = self._outcomes.get((name, json_text(arguments)))
        if held:
            self._recorded.add(name)
            return held.popleft()
        self._recorded.discard(name)
        if self._live:
            return await self._inner.call(name, arguments, call_id, released)
        return ToolOutcome(f"Error: no recorded result of {name!r} with these arguments", "error")


# A run of the past told once more: its replies, its tools' results, and what the user did in it.

_WORLD = (Rendered, ContextTrimmed, ModelReplied, ReplyRead, CallsChecked, ToolEnded, AnswerChecked)
"""Facts that the new run makes by itself; retries and pauses are not among them."""

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
"""Facts that the user made, to be made again; an interrupted call's fate is its result now."""

_Where: TypeAlias = tuple[PausePoint | None, int, int | None]


@dataclass(frozen=True, slots=True)
class _Due:
    """An event of the past, with the place of the run."""

    event: Event
    where: _Where

    @property
    def floats(self) -> bool:
        """Return whether it was sent during an effect; it then waits for the next place."""
        return isinstance(self.event, Steered | LimitRaised | ModelChosen)


class Reenactment:
    """The user's actions of a run, repeated at their places.

    Used by one run, on its loop. A run that takes another way is left alone from there on.
    """

    def __init__(self, path: Iterable[Event]) -> None:
        """Take a branch of a journal (`tree.branch_path` of its last event).

        Raises:
            ValueError: it does not begin with `Started`.
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
        """Replies and results, as the model and the tools gave them."""
        self.released = state.released if state is not None else frozenset()
        """References of secrets that the run sent."""
        self.seconds = 0.0 if state is None else state.setup.recorded_seconds or state.seconds
        """Seconds of work of the run that was recorded."""

    @property
    def goes_on(self) -> bool:
        """Whether the run of the past did anything more from here."""
        return bool(self._due or self._said)

    def saw(self, event: Event) -> None:
        """Compare a fact of the new run with the past: the first other one ends the reenactment."""
        if not isinstance(event, _WORLD):
            return
        while self._due and self._due[0].floats:
            self._said.append(self._due.popleft().event)
        if self._due and type(self._due[0].event) is type(event):
            self._due.popleft()
        else:
            self._due.clear()

    def due(self, state: RunState) -> Event | None:
        """Return the user's next action at this place; each once."""
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
