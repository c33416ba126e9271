"""Run the loop: perform its effects with asyncio, after the gate has let each pass.

Everything happens on one event loop: `go` runs on it, and `send` is called on it. An event is
written to the journal first, then shown; a reply's deltas go to `stream` and are not written.
"""

import asyncio
from collections.abc import Sequence

from studio.core.agent.past.replay import RunTree
from studio.core.agent.run.effect_runner import EffectRunner, Gate, PauseDecision, RunTarget
from studio.core.agent.run.event_log import EventLog
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.run.requests import NotAllowedError, facts_of, repair_switched_on
from studio.core.agent.run.secrets import run_secrets
from studio.core.agent.values import commands
from studio.core.agent.values.commands import Command
from studio.core.agent.values.events import (
    Event,
    Failed,
    Logged,
    ModelChosen,
    ModelFailed,
    ModelReplied,
    OutcomeTold,
    Paused,
    Resumed,
    Started,
    Stopped,
)
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import PausePoint, RunSetup, StepError, replace


class Run:
    """One run, from its start to its end, with all its forks."""

    def __init__(self, plan: RunPlan, setup: RunSetup) -> None:
        """Create a run; nothing happens before `go`.

        Args:
            plan: the plan, with its tools started.
            setup: the setup of a new run.
        """
        self.gate = Gate(plan.options)
        """Gate that decides on pauses; its options can be replaced during the run."""
        self._plan = plan
        secrets = run_secrets(plan.references, plan.document, plan.reenactment)
        if plan.reenactment is not None:
            setup = replace(setup, recorded_seconds=plan.reenactment.seconds)
        self._log = EventLog(plan, secrets, setup)
        # The gate is asked once for each pause point: set after its answer, or when an edit or a
        # command continues from there; cleared by an event that leads to another pause point.
        self._passed_gate = False
        # The run has paused here, so the user has seen any warning about the answer.
        self._is_accepted = False
        # Set by each command: wakes a paused run, and one that waits for an effect.
        self._wake = asyncio.Event()
        # Set while the run waits for the user, and after its end.
        self._settled = asyncio.Event()
        self._effects = EffectRunner(plan, secrets, self.gate, self._log, self._emit, self._wake)
        # Requested during an effect: stop the run, or cut off only the reply.
        self._stopping = False
        self._aborting = False

    @property
    def fault(self) -> str:
        """Return why the newest events are not saved; empty if they are."""
        return self._log.fault

    @property
    def state(self) -> RunState:
        """Return the current state."""
        return self._log.state

    @property
    def tree(self) -> RunTree:
        """The checkpoints so far."""
        return self._log.tree

    @property
    def events(self) -> Sequence[Event]:
        """The events so far."""
        return self._log.events

    @property
    def is_working(self) -> bool:
        """Whether an effect is under way."""
        return self._effects.is_running

    def live_output(self, call: int) -> str:
        """Return the output and progress of a running call.

        Args:
            call: its row in the step.
        """
        calls = self.state.step.calls
        return self._plan.toolbox.live_output(calls[call].id) if call < len(calls) else ""

    async def close_models(self) -> None:
        """Close the clients of the models; a run that is continued later opens them again."""
        await self._effects.close_models()

    # Driving the run ------------------------------------------------------------------------------

    async def go(self, *first: Command) -> RunState:
        """Drive the run until its end, including pauses. Canceling the task stops the run.

        Args:
            first: commands to begin with; a finished run continues with `ForkFrom` or `SendBack`.

        Raises:
            NotAllowedError: one of them is not possible at the current pause point.
        """
        if not self.events:
            self._emit(Started(self.state.setup))
        for command in first:
            self.send(command)
        try:
            while not self._ends():
                if self._stopping:
                    self._emit_stop()
                elif self.state.pause is not None:
                    await self._stand_still()
                elif not self._stops_here():
                    await self._perform_all()
        except asyncio.CancelledError:
            if not self.state.is_over:
                try:
                    await self._effects.cancel()
                finally:  # an event loop that ends cancels pending cancellations once more
                    self._emit_stop()
            raise
        finally:
            self._settled.set()
        return self.state

    async def settled(self) -> None:
        """Wait until the last command is processed: the run waits for the user or has ended."""
        await self._settled.wait()

    def _stops_here(self) -> bool:
        """Ask the gate once per pause point, after automatic repairs; return whether to pause."""
        if self.state.place is None or self._passed_gate:
            return False
        if self._stops_unwritten():
            return True
        if self._reenacted():
            return False
        repair = repair_switched_on(self.state)
        if repair is not None:
            self._emit(repair)
            return False
        stop = self.gate.decide(self.state)
        self._is_accepted = stop is not None
        for source, line in self.gate.logs:
            self._emit(Logged(line, source))
        self.gate.logs.clear()
        self._passed_gate = True
        if stop is None:
            return False
        self._pause(stop)
        return True

    def _reenacted(self) -> bool:
        """Repeat the recorded edits at this pause point; return whether the run continues."""
        past = self._plan.reenactment
        if past is None:
            return False
        while (fact := past.due(self.state)) is not None:
            self._emit(fact)
            if self.state.place is None and not isinstance(fact, ModelChosen):
                return True
        # The recorded run continued after its problems; only the user's breakpoints stop.
        self._is_accepted = self.state.place == PausePoint.ERROR and past.goes_on
        return self._is_accepted

    def _ends(self) -> bool:
        """Return whether the run has ended; a finished one may continue with one more message."""
        if self.state.status == "done":
            self._reenacted()
        return self.state.is_over

    def _pause(self, stop: PauseDecision) -> None:
        place = self.state.place
        if place is not None:
            self._emit(Paused(place, stop.reason, stop.breakpoints, stop.text))

    async def _stand_still(self) -> None:
        """Wait for the user; checks and readings that an edit requires are done meanwhile."""
        if self.state.place is None and self._log.effects:
            await self._perform_all()
            now, pause = self.state.place, self.state.pause
            if now is not None and pause is not None and now != pause.place:
                self._pause(PauseDecision("step"))
            return
        self._wake.clear()
        self._settled.set()
        await self._wake.wait()

    async def _perform_all(self) -> None:
        effects = self._log.take_effects()
        if not effects:
            raise RuntimeError(f"nothing follows {self.state.place} of a run that goes on")
        for effect in effects:
            await self._effects.perform(
                effect, lambda: self._stopping or self._aborting, accepted=self._is_accepted
            )
            if self._aborting and not self._stopping:
                self._emit_aborted()
            self._aborting = False

    def _emit_stop(self) -> None:
        self._stopping = False
        partial, _ = self._effects.dropped_reply()
        self._emit(Stopped(partial))

    def _emit_aborted(self) -> None:
        if self.state.place is None and self.state.step.reply is None:
            partial, seconds = self._effects.dropped_reply()
            if partial is not None and partial.says_something:
                # The text received becomes the reply: it is read, and the run pauses.
                self._emit(ModelReplied(partial, seconds, stopped_by="user"))
            else:
                message = "You cut off the reply before anything arrived."
                self._emit(ModelFailed("aborted", message, retryable=True))

    # Events ---------------------------------------------------------------------------------------

    def _emit(self, event: Event) -> None:
        if self._log.add(event):
            self._passed_gate = False
        if self._plan.shown is not None:
            self._plan.shown(self._log.events[-1])

    def _stops_unwritten(self) -> bool:
        """Pause (headless: end) once if the journal cannot be written; return whether it does."""
        fault = self._log.new_fault()
        if not fault:
            return False
        message = f"The run cannot be saved: {fault}."
        if self.gate.options.headless:
            self._emit(Failed(StepError("journal", "unwritten", message)))
        else:
            text = f"{message} It is in memory; continuing tries to save it again."
            self._pause(PauseDecision("exception", text=text))
            self._passed_gate = True
        return True

    # Commands -------------------------------------------------------------------------------------

    def send(self, command: Command) -> None:  # noqa: C901 - one arm per command
        """Handle a command; must be called on the loop that drives the run.

        Raises:
            NotAllowedError: the command is not possible at the current pause point.
        """
        if isinstance(command, commands.ChooseModel) and command.answers is not None:
            # First: the client is closed with the run even if it is never used.
            self._effects.add_model(command.model, command.answers)
        facts = facts_of(self.state, command)
        if isinstance(command, commands.ForkFrom) and self.tree.get(command.checkpoint) is None:
            raise NotAllowedError(f"there is no checkpoint {command.checkpoint}")
        for fact in facts:
            self._emit(fact)
        match command:
            case commands.StopRun():
                self._stopping = True
            case commands.StopCall(call=call):
                self._effects.stop_call(call)
            case commands.PauseRun(abort=abort):
                self.gate.wants_pause = True
                is_asking = self.is_working and self.state.step.reply is None
                self._aborting = abort and is_asking
            case commands.Continue():
                self._resume("")
            case commands.StepOn(how=how):
                self._resume(how)
            case commands.RunTo(place=place, iteration=iteration):
                self._resume("")
                self.gate.target = RunTarget(place, iteration)
            case (
                commands.Approve()
                | commands.Reject()
                | commands.AnswerCall()
                | commands.SkipCall()
                | commands.SendBack()
            ):
                self._decided(command)
            case commands.TakeRepair() | commands.TreatAsFinal() | OutcomeTold():
                self._stay(command)
            case commands.ForkFrom():
                self._pause(
                    PauseDecision(
                        "entry", text="Went back to this point; continuing starts a new branch."
                    )
                )
                self._passed_gate = True
            case _:
                self._passed_gate = self.state.pause is not None
        self._settled.clear()
        self._wake.set()

    def _resume(self, how: str) -> None:
        self.gate.stepping = how if how in ("into", "over", "out") else ""  # type: ignore[assignment]
        self.gate.wants_pause = False
        self._emit(Resumed(how or "continue"))
        self._passed_gate = True

    def _decided(self, command: Command) -> None:
        """Let the run continue as before, after a decision."""
        if isinstance(command, commands.Approve):
            self._plan.toolbox.approve(self.state.step.calls[command.call].tool)
            if command.how is not None:
                self.gate.stepping = command.how
        if self.state.pause is not None:
            self._emit(Resumed("continue"))
        self._passed_gate = False

    def _stay(self, command: Command) -> None:
        """Read the reply again after a repair, and pause with the result."""
        self._emit(Resumed("into"))
        self._passed_gate = isinstance(command, commands.TakeRepair)
        self.gate.wants_pause = True
