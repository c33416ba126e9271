"""A stored run, opened: its rows are in memory, its events and steps are decoded when read.

A run of 10,000 steps has 90,000 events; reading and folding them takes seconds. With the entries of
`studio.core.runs.run_index` its tree and the number of its cards are known at once, and a step is
computed from the nearest stored state before it.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

from studio.core.agent.loop.machine import advance
from studio.core.agent.loop.steps import new_state
from studio.core.agent.past.replay import RunTree, walk
from studio.core.agent.values.events import Started
from studio.core.agent.values.state import LazySequence, PersistentList, RunState
from studio.core.agent.values.step import Step
from studio.core.prompty.document import Message
from studio.core.runs.codec import JournalError
from studio.core.runs.database import EventRow, StepRecord, StoredEvents
from studio.core.runs.run_index import note_marks, state_of, summarized_step

T = TypeVar("T")

_STRETCHES_KEPT = 64


@dataclass(frozen=True)
class _Stretch:
    """Computed states of some consecutive steps."""

    first: int
    """Index of the first step."""

    states: tuple[RunState, ...]
    """The state after each step."""


class OpenedRun:
    """A stored run that has index entries."""

    def __init__(
        self, rows: Sequence[EventRow], steps: Sequence[StepRecord], events: StoredEvents
    ) -> None:
        """Take the stored rows.

        Args:
            rows: its events, each with an index entry.
            steps: its steps of all branches, in order.
            events: the same events, decoded when read.
        """
        self.events: StoredEvents = events
        self.tree = RunTree()
        self._steps = steps
        self._ends = [row.seq for row in steps]
        self._forks: list[tuple[int, int]] = []
        for seq, forked in note_marks(self.tree, (mark for _, _, mark in rows)):
            self._forks.append((seq, forked))
        self._starts = [seq for seq, _ in self._forks]
        self._ways: dict[int, _Way] = {}
        self._lock = threading.RLock()

    @cached_property
    def first(self) -> Started:
        """The first event of the run."""
        first = self.events[0]
        if not isinstance(first, Started):
            raise JournalError("a journal begins with Started")
        return first

    @cached_property
    def state(self) -> RunState | None:
        """The last state."""
        return self.state_at(len(self.events)) if self.events else None

    @cached_property
    def ran(self) -> AbstractSet[tuple[str, str]]:
        """The calls that were made; requires decoding every event."""
        return walk(self.events).ran

    def state_at(self, seq: int) -> RunState:
        """Return the state right after event `seq`; its past is loaded when it is read."""
        way = self._way(seq)
        return way.fold_to(seq)

    def _way(self, seq: int) -> _Way:
        """Return the branch of an event."""
        index = bisect_right(self._starts, seq) - 1
        start = self._starts[index] if index >= 0 else 1
        with self._lock:
            way = self._ways.get(start)
            if way is None:
                way = self._ways[start] = _Way(self, self._stretches(index))
            return way

    def _stretches(self, index: int) -> list[range]:
        """Return the ranges of events of a branch, from the run's start to the branch's end."""
        found: list[range] = []
        at = self._starts[index + 1] - 1 if index + 1 < len(self._starts) else len(self.events)
        while at > 0:
            index = bisect_right(self._starts, at) - 1
            start, came_from = self._forks[index] if index >= 0 else (1, 0)
            found.append(range(start, at + 1))
            at = came_from
        found.reverse()
        return found

    def rows_in(self, stretches: Sequence[range]) -> list[StepRecord]:
        """Return the finished steps of a branch."""
        found: list[StepRecord] = []
        for part in stretches:
            low, high = bisect_left(self._ends, part.start), bisect_left(self._ends, part.stop)
            found += self._steps[low:high]
        return found


class _Way:
    """One branch of an opened run, from the run's start to the branch's end."""

    def __init__(self, run: OpenedRun, stretches: list[range]) -> None:
        self.run = run
        self.rows = run.rows_in(stretches)
        self._seqs = [seq for part in stretches for seq in part]
        self._ends = [row.seq for row in self.rows]
        self._firsts = [0] + [at + 1 for at, row in enumerate(self.rows) if row.state is not None]
        self.since = _unbroken(self.rows)
        self.lengths = [row.messages for row in self.rows]
        self.calls = [row.calls for row in self.rows]
        self.steps = PersistentList.over(StoredSteps(self))
        self._past_calls: PersistentList[tuple[str, str]] = PersistentList.over(
            _Calls(self, "past_calls")
        )
        self._observations: PersistentList[str] = PersistentList.over(_Calls(self, "observations"))
        self._folded: OrderedDict[int, _Stretch] = OrderedDict()
        self._lock = threading.RLock()

    def fold_to(self, seq: int) -> RunState:
        """Return the state right after an event of this branch."""
        done = bisect_right(self._ends, seq)
        first = self._firsts[bisect_right(self._firsts, done) - 1]
        return self._fold(first, seq)[-1]

    def state_after(self, index: int) -> RunState:
        """Return the state after a step, including that step."""
        first = self._firsts[bisect_right(self._firsts, index) - 1]
        with self._lock:
            stretch = self._folded.get(first)
            if stretch is None:
                last = next(iter(self._after(first)), len(self.rows))
                states = self._fold(first, self._ends[last - 1])
                stretch = self._folded[first] = _Stretch(first, tuple(states[: last - first]))
                while len(self._folded) > _STRETCHES_KEPT:
                    self._folded.popitem(last=False)
            else:
                self._folded.move_to_end(first)
        return stretch.states[index - first]

    def _after(self, first: int) -> Sequence[int]:
        at = bisect_right(self._firsts, first)
        return self._firsts[at : at + 1]

    def _fold(self, first: int, seq: int) -> list[RunState]:
        """Return the states after each step from `first` on, and the one after event `seq`."""
        began = self._ends[first - 1] if first else 0
        state = self._begun(first)
        ends = set(self._ends[first:])
        states: list[RunState] = []
        low, high = bisect_right(self._seqs, began), bisect_right(self._seqs, seq)
        for at in self._seqs[low:high]:
            state, _ = advance(state, self.run.events[at - 1])
            if at in ends:
                states.append(state)
        return [*states, state]

    def _begun(self, first: int) -> RunState:
        """Return the state before step `first`."""
        setup = self.run.first.setup
        text = self.rows[first - 1].state if first else None
        if text is None:
            return new_state(setup)
        calls = self.calls[first - 1]
        past = RunState(
            setup,
            steps=self.steps.upto(first),
            settled=PersistentList.over(_Settled(self, first - 1)),
            past_calls=self._past_calls.upto(calls),
            observations=self._observations.upto(calls),
        )
        return state_of(past, self.run.events.snapshot(text))


def _unbroken(rows: Sequence[StepRecord]) -> list[int]:
    """Return, for each step, the first step since which the conversation has only grown."""
    since: list[int] = []
    for at, row in enumerate(rows):
        grew = at > 0 and row.kept == rows[at - 1].messages
        since.append(since[-1] if grew else at)
    return since


class StoredSteps(LazySequence[Step]):
    """The steps of a branch; each is computed when it is read."""

    def __init__(self, way: _Way) -> None:
        self._way = way

    def __len__(self) -> int:
        return len(self._way.rows)

    def _make(self, index: int) -> Step:
        return self._way.state_after(index).steps[index]

    def shapes(self, count: int) -> list[str]:
        """Return the shapes of the first steps without computing them (`run_index.shape_of`)."""
        return [row.shape for row in self._way.rows[:count]]

    def step_summary(self, index: int) -> Step:
        """Return a step for display in cards; computed only if no summary of it is stored."""
        text = self._way.rows[index].step_summary
        made = summarized_step(text) if text else None
        return made if made is not None else self[index]

    def shares(self, other: StoredSteps) -> int:
        """Return the number of first steps that two branches share."""
        mine, its = self._way.rows, other._way.rows
        low, high = 0, min(len(mine), len(its)) if self._way.run is other._way.run else 0
        while low < high:
            middle = (low + high + 1) // 2
            if mine[middle - 1] is its[middle - 1]:
                low = middle
            else:
                high = middle - 1
        return low


class _Settled(LazySequence[Message]):
    """The conversation after a step."""

    def __init__(self, way: _Way, row: int) -> None:
        self._way = way
        self._row = row

    def __len__(self) -> int:
        return self._way.lengths[self._row]

    def _make(self, index: int) -> Message:
        way, row = self._way, self._row
        while True:
            since = way.since[row]
            at = bisect_right(way.lengths, index, since, row)
            if at > since or not since or index >= way.rows[since].kept:
                return way.state_after(at).settled[index]
            row = since - 1

    def shares(self, other: _Settled) -> int:
        """Return the number of first messages that two branches are known to share."""
        early, late = sorted((self._row, other._row))
        if self._way is not other._way or self._way.since[late] > early:
            return 0
        return self._way.lengths[early]


class _Calls(LazySequence[T], Generic[T]):
    """The calls in a branch's states, one by one."""

    def __init__(self, way: _Way, name: str) -> None:
        self._way = way
        self._name = name

    def __len__(self) -> int:
        return self._way.calls[-1] if self._way.calls else 0

    def _make(self, index: int) -> T:
        state = self._way.state_after(bisect_right(self._way.calls, index))
        held: Any = getattr(state, self._name)
        return cast("T", held[index])
