"""The state of a run: immutable values that `studio.core.agent.loop.machine.advance` makes.

Each state of a run contains all earlier steps. As tuples, 10,000 steps would copy the square of
their number; a `PersistentList` grows only at its end and shares one list among all states of a
branch, and its first items may be loaded from elsewhere (the history) when they are read.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar, overload

from studio.core.agent.values.step import Limits, PausePoint, RunModel, RunSetup, Step, StepError
from studio.core.models.base import ProtocolName
from studio.core.prompty.document import Message
from studio.core.text.values import Json
from studio.core.wire.reply import Usage

T = TypeVar("T")


class LazySequence(Sequence[T]):
    """A sequence whose items are created, or looked up, one at a time."""

    __slots__ = ()

    @abstractmethod
    def _make(self, index: int) -> T:
        """Return the item at a valid index."""

    @overload
    def __getitem__(self, at: int) -> T: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...

    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        length = len(self)
        if isinstance(at, slice):
            return self._part(range(*at.indices(length)))
        index = at + length if at < 0 else at
        if not 0 <= index < length:
            raise IndexError(f"there is no item {at} of {length}")
        return self._make(index)

    def _part(self, indexes: range) -> Sequence[T]:
        return tuple(map(self._make, indexes))

    def __iter__(self) -> Iterator[T]:
        return map(self._make, range(len(self)))


class _SharedStore(Generic[T]):
    """The list that several persistent lists share; each uses its first items."""

    __slots__ = ("base", "items", "lock")

    def __init__(self, base: Sequence[T], items: list[T]) -> None:
        self.base = base
        self.items = items
        self.lock = threading.Lock()


class PersistentList(LazySequence[T]):
    """An immutable sequence; appending costs only the new items, whatever its length."""

    __slots__ = ("_held", "_length")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._held: _SharedStore[T] = _SharedStore((), list(items))
        self._length = len(self._held.items)

    @classmethod
    def over(cls, base: Sequence[T]) -> PersistentList[T]:
        """Return a list over another sequence, whose items are read one at a time."""
        return cls._view(_SharedStore(base, []), len(base))

    @classmethod
    def _view(cls, held: _SharedStore[T], length: int) -> PersistentList[T]:
        made: PersistentList[T] = cls.__new__(cls)
        made._held, made._length = held, length
        return made

    def __len__(self) -> int:
        return self._length

    def _part(self, indexes: range) -> Sequence[T]:
        if (indexes.start, indexes.step) == (0, 1):
            return self.upto(indexes.stop)
        return super()._part(indexes)

    def upto(self, length: int) -> PersistentList[T]:
        """Return the list of its first `length` items, which are shared."""
        return self._view(self._held, min(max(0, length), self._length))

    def _make(self, index: int) -> T:
        held = self._held
        while index < (before := len(held.base)):
            if not isinstance(held.base, PersistentList):
                return held.base[index]
            held = held.base._held  # noqa: SLF001 - its own kind
        return held.items[index - before]

    def __iter__(self) -> Iterator[T]:
        if not self._held.base:  # the common case, without a check for each item
            return iter(self._held.items[: self._length])
        return super().__iter__()

    def plus(self, more: Iterable[T]) -> PersistentList[T]:
        """Return the list with further items appended."""
        added = more if isinstance(more, tuple | list) else tuple(more)
        if not added:
            return self
        held = self._held
        with held.lock:
            if len(held.base) + len(held.items) == self._length:
                held.items.extend(added)
                return self._view(held, self._length + len(added))
        # Another branch has appended here already: start a new list.
        return self._view(_SharedStore(self, list(added)), self._length + len(added))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PersistentList) and other._length == self._length:
            return self.shares(other) == self._length or tuple(self) == tuple(other)
        return isinstance(other, tuple | list) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"PersistentList(<{self._length} items>)"

    def shares(self, other: PersistentList[T]) -> int:
        """Return the number of first items that both share, without comparing items."""
        mine = {id(part): seen for part, seen in self._parts()}
        for part, seen in other._parts():
            if id(part) in mine:
                return min(seen, mine[id(part)])
        own, its = self.root, other.root
        common = getattr(own, "shares", None)
        if common is None or type(own) is not type(its):
            return 0
        known: int = common(its)
        return min(known, self.rooted, other.rooted)

    @property
    def root(self) -> Sequence[T]:
        """The sequence that provides the first items; empty if this list holds all of them."""
        return self._parts()[-1][0].base

    @property
    def rooted(self) -> int:
        """Number of items that the root provides."""
        held, seen = self._parts()[-1]
        return min(seen, len(held.base))

    def _parts(self) -> list[tuple[_SharedStore[T], int]]:
        """Return the lists, newest first, with the number of items up to the end of each."""
        parts: list[tuple[_SharedStore[T], int]] = [(self._held, self._length)]
        base: object = self._held.base
        while isinstance(base, PersistentList):
            held, length = base._held, base._length  # noqa: SLF001 - its own kind
            parts.append((held, min(length, parts[-1][1])))
            base = held.base
        return parts


def known_common_length(one: Sequence[T], other: Sequence[T]) -> int:
    """Return the number of first items that two sequences share, without comparing items."""
    return (
        one.shares(other)
        if isinstance(one, PersistentList) and isinstance(other, PersistentList)
        else 0
    )


Status: TypeAlias = Literal[
    "running", "done", "incomplete", "refused", "stopped", "failed", "limit", "interrupted"
]
"""Status of a run. `incomplete`: ended with an answer that is cut, filtered, empty or does not
match the declared outputs and was not accepted. `limit`: a headless run reached a limit.
`interrupted`: its process ended unexpectedly.
"""

LimitName: TypeAlias = Literal["iterations", "tokens", "cost", "seconds", "reply"]
"""Limit of a run."""

PauseReason: TypeAlias = Literal[
    "entry", "step", "breakpoint", "exception", "pause", "approval", "limit", "outcome"
]
"""Reason of a pause, as a debugger names it."""


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause of a run, which waits for the user."""

    place: PausePoint
    """Pause point."""

    reason: PauseReason
    """Reason."""

    breakpoints: tuple[str, ...] = ()
    """Ids of the breakpoints that were hit."""

    text: str = ""
    """A sentence for the user."""

    at: float = 0.0
    """Start of the pause, in seconds since 1970 UTC."""


@dataclass(frozen=True)
class RunState:
    """The complete state of a run at one moment."""

    setup: RunSetup
    """The run's setup."""

    status: Status = "running"
    """Whether it runs, and how it ended."""

    place: PausePoint | None = None
    """The pause point reached; None between pause points (an effect is running)."""

    call: int | None = None
    """Row of the call at `TOOL_CALL` and `OBSERVATION`."""

    pause: Pause | None = None
    """The current pause; None if the run does not wait for the user."""

    iteration: int = 0
    """Number of the current step, from 1; 0 before the first."""

    step: Step = field(default_factory=lambda: Step(0))
    """The current step."""

    steps: PersistentList[Step] = field(default_factory=PersistentList)
    """The finished steps, in order."""

    conversation: PersistentList[Message] = field(default_factory=PersistentList)
    """`native`: all messages so far. Text protocols: the messages of the last rendering."""

    settled: PersistentList[Message] = field(default_factory=PersistentList)
    """The conversation after the last finished step."""

    characters: int = 0
    """Size of the conversation in characters; counted only with a context budget."""

    limits: Limits = field(default_factory=Limits)
    """Current limits."""

    usage: Usage = field(default_factory=Usage)
    """Tokens and cost so far, summed over model calls."""

    seconds: float = 0.0
    """Seconds of work so far: model calls, and the time in which at least one tool ran."""

    seconds_tools: float = 0.0
    """The seconds of tool calls among them."""

    waited: float = 0.0
    """Seconds in which the run waited for the user, on the current branch."""

    format_errors: int = 0
    """Number of consecutive format errors."""

    plain_is_final: bool = False
    """Whether a reply without any label counts as the answer from now on."""

    repairs: frozenset[str] = frozenset()
    """Repairs that are made without asking from now on."""

    past_calls: PersistentList[tuple[str, str]] = field(default_factory=PersistentList)
    """(tool, arguments as JSON text) of the calls of finished steps."""

    observations: PersistentList[str] = field(default_factory=PersistentList)
    """Results of those calls."""

    composing: bool = False
    """Whether this step writes the answer (`RunSetup.compose`); its reply is not parsed."""

    steering: tuple[str, ...] = ()
    """Messages of the user for the next step."""

    injected: tuple[Message, ...] = ()
    """Text protocols: messages added by the user (and the answers before them), which follow the
    rendered ones from then on.
    """

    answer: str | None = None
    """The final answer; None before it."""

    answer_value: Json = None
    """The answer as a value, if outputs are declared and it matches them."""

    answer_problems: tuple[str, ...] = ()
    """Problems of the answer: cut, filtered, empty, or a mismatch with the outputs."""

    repaired: int = 0
    """Number of repairs of replies so far."""

    answer_so_far: str = ""
    """Text of a cut answer that the model continues now."""

    error: StepError | None = None
    """Error at `ERROR` or of a failed run."""

    released: frozenset[str] = frozenset()
    """References (`${env:NAME}`) that the prompt or the user used; their values are sent. Of other
    secrets only the reference is sent.
    """

    switched_to: RunModel | None = None
    """Model that the user chose last; None for the one at the start."""

    declined: RunModel | None = None
    """Model that the user was last offered and did not choose."""

    @property
    def answered_by(self) -> RunModel:
        """The model that gets the next request."""
        return self.switched_to or self.setup.answered_by

    @property
    def is_over(self) -> bool:
        """Whether the run has ended."""
        return self.status != "running"

    @property
    def runs_at_once(self) -> bool:
        """Whether the calls of the current step run in parallel."""
        return self.setup.parallel and self.step.at_once

    @property
    def protocol(self) -> ProtocolName:
        """The protocol of the current step."""
        return "native" if self.composing else self.setup.protocol


def steps_of(state: RunState) -> Sequence[Step]:
    """Return all steps of a run, including the current one."""
    done = bool(state.steps) and state.steps[-1].number == state.step.number
    return state.steps if done or state.step.number == 0 else state.steps.plus((state.step,))


class Checkpoint(NamedTuple):
    """A pause point that a run reached: a node of its tree. Going back selects another node.

    A named tuple because a long run creates fifty thousand when it is opened; no class is faster.
    """

    id: int
    """Sequence number of the event that reached it."""

    parent: int | None
    """The checkpoint before it; None for the first."""

    place: PausePoint
    """Pause point."""

    iteration: int
    """Number of the step."""

    call: int | None
    """Row of the call at `TOOL_CALL` and `OBSERVATION`; else None."""

    branch: int
    """Number of the branch: 0 for the first, then one more for each fork."""
