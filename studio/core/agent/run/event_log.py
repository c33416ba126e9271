"""The events of a run and the state they lead to.

An event is first written to the journal, then applied to the state.
"""

import time
from dataclasses import replace

from studio.core.agent.loop.calls import call_key
from studio.core.agent.loop.machine import advance
from studio.core.agent.loop.steps import Effects, new_state, pending
from studio.core.agent.past.replay import PastStates, RanCalls, RunTree, walk
from studio.core.agent.run.plan import OnEvent, RunPlan
from studio.core.agent.run.secrets import RunSecrets
from studio.core.agent.values import events
from studio.core.agent.values.state import PersistentList, RunState
from studio.core.agent.values.step import RunSetup

_SAID_MEANWHILE = (
    events.Steered,
    events.LimitRaised,
    events.Logged,
    events.Resumed,
    events.ModelChosen,
)
"""Events that can come while an effect waits or runs."""


class EventLog:
    """A run's events, its checkpoints, and its current state."""

    def __init__(self, plan: RunPlan, secrets: RunSecrets, setup: RunSetup) -> None:
        """Begin a new run, or continue the plan's past run.

        Args:
            plan: the past run, and the function that writes each event.
            secrets: masks each event before it is written.
            setup: the setup of a new run.
        """
        past = plan.past if plan.past is not None else walk(())
        self.events: PersistentList[events.Event] = PersistentList.over(past.events)
        """The events so far."""
        self.tree: RunTree = past.tree.copy()
        """The checkpoints so far."""
        self.state: RunState = past.state if past.state is not None else new_state(setup)
        """Current state of the run."""
        self.ran = RanCalls(past)
        """The calls made on all branches."""
        self.lost: set[tuple[str, str]] = set()
        """Interrupted calls whose outcome is still unknown."""
        self.effects: Effects = pending(self.state)
        """Effects that are not yet performed."""
        self._past = PastStates(past)
        self._secrets = secrets
        self._journal = _Journal(plan.journal)
        self._reenactment = plan.reenactment
        self._paused_at: float | None = None

    def add(self, event: events.Event) -> bool:
        """Write an event and apply it; return whether it reached a pause point."""
        masked = self._secrets.fact(event, self.state)
        now, pause = time.monotonic(), self.state.pause
        waited = None if self._paused_at is None else round(now - self._paused_at, 4)
        at = round(time.time(), 4)
        fact = replace(masked, seq=len(self.events) + 1, at=at, waited=waited)
        self._journal.write(fact)
        is_place = self._take(fact)
        if self.state.pause is not pause:
            self._paused_at = now if self.state.pause is not None else None
        if self._reenactment is not None:
            self._reenactment.saw(fact)
        return is_place

    def take_effects(self) -> Effects:
        """Return the effects to perform and clear the list."""
        effects, self.effects = self.effects, ()
        return effects

    @property
    def fault(self) -> str:
        """Return why the newest events are not written; empty if they are."""
        return self._journal.fault

    def new_fault(self) -> str:
        """Return why the journal cannot be written, once each time that writing begins to fail."""
        return self._journal.new_fault()

    def _take(self, event: events.Event) -> bool:
        before = self.state
        if isinstance(event, events.Forked):
            calls = before.step.calls
            self.lost |= {call_key(call) for call in calls if call.status == "unknown"}
            before = self._past.at(event.checkpoint)
        if isinstance(event, events.ToolCalled):
            self.ran.add(call_key(before.step.calls[event.call]))
        if isinstance(event, events.ToolCalled | events.OutcomeLost):
            self.lost.discard(call_key(before.step.calls[event.call]))
        self.events = self.events.plus((event,))
        self.state, effects = advance(before, event)
        # A command that arrives meanwhile must not remove an effect that is not yet performed.
        if self.state.place is not None or not isinstance(event, _SAID_MEANWHILE):
            self.effects = effects
        self._past.note(event, self.state)
        return self.tree.add(event, self.state) is not None


class _Journal:
    """A writer of events whose failure does not end the run.

    Events that could not be written are kept in order and tried again whenever the user continues,
    and at the end.
    """

    def __init__(self, write: OnEvent | None) -> None:
        """Take the function that writes one event; None to keep none."""
        self._write = write
        self._unwritten: list[events.Event] = []
        self._told = False
        self.fault = ""
        """Reason why events could not be written; empty if they were. They are kept in memory."""

    def write(self, event: events.Event) -> None:
        """Write an event, after those that could not be written before."""
        if self._write is None:
            return
        self._unwritten.append(event)
        if self.fault and not isinstance(
            event, events.Resumed | events.Stopped | events.Failed | events.AnswerChecked
        ):
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
        """Return why the journal cannot be written, once each time that writing begins to fail."""
        if not self.fault or self._told:
            return ""
        self._told = True
        return self.fault
