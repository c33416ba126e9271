"""The facts of a run and where they have led it: what a run is, apart from what it is doing.

A fact is written by the journal first, then it moves the state.
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
"""Events that are possible while an effect waits or is running."""


class EventLog:
    """A run's journal, its tree of places, and the state at its end."""

    def __init__(self, plan: RunPlan, secrets: RunSecrets, setup: RunSetup) -> None:
        """Begin, or take up again the plan's run of the past.

        Args:
            plan: the past, and what writes each fact.
            secrets: what masks it before.
            setup: what the run is started with.
        """
        past = plan.past if plan.past is not None else walk(())
        self.events: PersistentList[events.Event] = PersistentList.over(past.events)
        """The journal so far."""
        self.tree: RunTree = past.tree.copy()
        """The places reached so far."""
        self.state: RunState = past.state if past.state is not None else new_state(setup)
        """Current state of the run."""
        self.ran = RanCalls(past)
        """The calls that were made, on any branch."""
        self.lost: set[tuple[str, str]] = set()
        """Interrupted calls whose outcome is still unknown."""
        self.effects: Effects = pending(self.state)
        """Effects that are requested and not yet performed."""
        self._past = PastStates(past)
        self._secrets = secrets
        self._journal = _Journal(plan.journal)
        self._reenactment = plan.reenactment
        self._paused_at: float | None = None

    def add(self, event: events.Event) -> bool:
        """Write a fact and go where it leads; whether that is a place."""
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
        """Return the effects to perform, and clear them."""
        effects, self.effects = self.effects, ()
        return effects

    @property
    def fault(self) -> str:
        """Return why the newest facts are not written; empty where they are."""
        return self._journal.fault

    def new_fault(self) -> str:
        """Return why the journal cannot be written, once for each time that it began to fail."""
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
        # A command that arrives meanwhile must not remove an effect that is still to be performed.
        if self.state.place is not None or not isinstance(event, _SAID_MEANWHILE):
            self.effects = effects
        self._past.note(event, self.state)
        return self.tree.add(event, self.state) is not None


class _Journal:
    """Writes facts; one that fails does not take the run with it.

    What it missed waits here, in order, and is tried again whenever the user goes on, and at the
    end.
    """

    def __init__(self, write: OnEvent | None) -> None:
        """Take what writes one fact; None keeps none."""
        self._write = write
        self._unwritten: list[events.Event] = []
        self._told = False
        self.fault = ""
        """Reason why it could not be written; empty while it can. Nothing is lost in memory."""

    def write(self, event: events.Event) -> None:
        """Write a fact, after those that could not be written before it."""
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
        """Return why it cannot be written, once for each time that it began to fail."""
        if not self.fault or self._told:
            return ""
        self._told = True
        return self.fault
