"""The facts of a run and where they have led it: what a run is, apart from what it is doing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from studio.core.agent.loop.calls import call_key
from studio.core.agent.loop.flow import Effects, pending
from studio.core.agent.loop.machine import advance
from studio.core.agent.loop.steps import new_state
from studio.core.agent.past.tree import Past, PastStates, RanCalls, RunTree, walk
from studio.core.agent.run.dependencies import OnEvent
from studio.core.agent.values.events import (
    AnswerChecked,
    Event,
    Failed,
    Forked,
    OutcomeLost,
    Resumed,
    Stopped,
    ToolCalled,
)
from studio.core.agent.values.persistent_list import PersistentList
from studio.core.agent.values.state import RunSetup, RunState


class EventLog:
    """A run's journal, its tree of places, and the state at its end."""

    def __init__(self, setup: RunSetup, events: Sequence[Event] | Past) -> None:
        """Begin, or take up again what `events` tell."""
        past: Past = walk(events) if isinstance(events, Sequence) else events
        self.events: PersistentList[Event] = PersistentList.over(past.events)
        """The journal so far."""
        self.tree: RunTree = past.tree.copy()
        """The places reached so far."""
        self.state: RunState = past.state if past.state is not None else new_state(setup)
        """Where the run is."""
        self.ran = RanCalls(past)
        """The calls that were made, on any branch."""
        self.lost: set[tuple[str, str]] = set()
        """Calls that were interrupted, and of which nobody has said yet what became of them."""
        self.effects: Effects = pending(self.state)
        """What the last fact asked for."""
        self._past = PastStates(past)

    def stamp(self, event: Event) -> Event:
        """A fact with its place in the journal, and the time."""
        return replace(event, seq=len(self.events) + 1, at=round(time.time(), 4))

    def take(self, event: Event) -> bool:
        """Go where a fact leads; whether that is a place."""
        before = self.state
        if isinstance(event, Forked):
            calls = before.step.calls
            self.lost |= {call_key(call) for call in calls if call.status == "unknown"}
            before = self._past.at(event.checkpoint)
        if isinstance(event, ToolCalled):
            self.ran.add(call_key(before.step.calls[event.call]))
        if isinstance(event, ToolCalled | OutcomeLost):
            self.lost.discard(call_key(before.step.calls[event.call]))
        self.events = self.events.plus((event,))
        self.state, self.effects = advance(before, event)
        self._past.note(event, self.state)
        return self.tree.add(event, self.state) is not None


class RunJournal:
    """Writes facts; one that fails does not take the run with it.

    What it missed waits here, in order, and is tried again whenever the user goes on, and at the
    end.
    """

    def __init__(self, write: OnEvent | None) -> None:
        """Take what writes one fact; None keeps none."""
        self._write = write
        self._unwritten: list[Event] = []
        self._told = False
        self.fault = ""
        """Why it could not be written; empty while it can. Nothing is lost in memory."""

    def write(self, event: Event) -> None:
        """Write a fact, after those that could not be written before it."""
        if self._write is None:
            return
        self._unwritten.append(event)
        if self.fault and not isinstance(event, Resumed | Stopped | Failed | AnswerChecked):
            return
        try:
            while self._unwritten:
                self._write(self._unwritten[0])
                del self._unwritten[0]
        except Exception as error:  # noqa: BLE001 - the border to the store: named and shown
            self.fault = str(error) or type(error).__name__
            return
        self.fault, self._told = "", False

    def new_fault(self) -> str:
        """Why it cannot be written, once for each time that it began to fail."""
        if not self.fault or self._told:
            return ""
        self._told = True
        return self.fault
