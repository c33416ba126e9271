"""Runs the machine: performs its effects on asyncio, with the gate in front of every one.

Everything happens on one event loop: `go` drives, `send` is called on the same loop. A fact is
written by the journal first, then shown; a reply's deltas go to `stream` and are not journaled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import assert_never

from studio.core.agent.loop.calls import call_key
from studio.core.agent.loop.flow import Effects
from studio.core.agent.loop.setup import run_model_of
from studio.core.agent.past.tree import Past, RunTree
from studio.core.agent.run.dependencies import RunDependencies
from studio.core.agent.run.effect_task import EffectTask
from studio.core.agent.run.event_log import EventLog, RunJournal
from studio.core.agent.run.gate import Gate, PauseDecision, RunTarget
from studio.core.agent.run.not_at_hand import ModelNotAtHand
from studio.core.agent.run.performer import Performer
from studio.core.agent.run.requests import NotAllowedError, facts_of, passing, repair_switched_on
from studio.core.agent.run.secrets import run_secrets
from studio.core.agent.values import commands
from studio.core.agent.values.commands import Command
from studio.core.agent.values.effects import (
    AskOutcome,
    CallModel,
    CheckAnswer,
    CheckCalls,
    DecideCall,
    Effect,
    Pass,
    ReadReply,
    RenderPrompt,
    RunTools,
    TrimContext,
)
from studio.core.agent.values.events import (
    CallDecided,
    Event,
    Failed,
    LimitRaised,
    Logged,
    ModelChosen,
    ModelFailed,
    ModelReplied,
    OutcomeLost,
    Paused,
    Resumed,
    Started,
    Steered,
    Stopped,
)
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.state import RunSetup, RunState, StepError
from studio.core.models.base import ChatModel


class Run:
    """One run, from its start to its end and through all its forks."""

    def __init__(
        self,
        dependencies: RunDependencies,
        options: RunOptions,
        setup: RunSetup,
        events: Sequence[Event] | Past = (),
    ) -> None:
        """Make a run; nothing happens before `go`.

        Args:
            dependencies: what it works with.
            options: how it goes.
            setup: what it is started with.
            events: the journal of a run that is taken up again, or that run as it was read; empty
                for a new one.
        """
        self.gate = Gate(options)
        """What decides on pauses; its options may be replaced while the run goes."""
        self._dependencies = dependencies
        self._secrets = run_secrets(
            dependencies.references, dependencies.document, dependencies.reenactment
        )
        self._event_log = EventLog(setup, events)
        self._journal = RunJournal(dependencies.journal)
        self._effects: Effects = self._event_log.effects
        # The gate is asked once for each place: set when it has answered, or when an edit or a
        # command leads on from there; a fact that leads to another place clears it.
        self._passed_gate = False
        # The run stood still here, so whoever lets it go on knows of a flaw of the answer.
        self._is_accepted = False
        # Set by each command: wakes a run that stands still, and one that waits for an effect.
        self._wake = asyncio.Event()
        self._work = EffectTask(self._wake)
        # Asked for while an effect is under way: stop the run, or cut off the reply only.
        self._stopping = False
        self._aborting = False
        self._answers = [(run_model_of(dependencies.model), dependencies.model)]
        """What answers as each model that was taken, the newest last."""
        self._performer = self._new_performer()

    @property
    def state(self) -> RunState:
        """Where the run is."""
        return self._event_log.state

    @property
    def tree(self) -> RunTree:
        """The places reached so far."""
        return self._event_log.tree

    @property
    def events(self) -> Sequence[Event]:
        """The journal so far."""
        return self._event_log.events

    @property
    def is_working(self) -> bool:
        """Whether an effect is under way."""
        return self._work.is_running

    def live_output(self, call: int) -> str:
        """What a call that is under way has printed, or said of its progress.

        Args:
            call: its row in the step.
        """
        calls = self.state.step.calls
        return self._dependencies.toolbox.live_output(calls[call].id) if call < len(calls) else ""

    async def close_models(self) -> None:
        """Let go of what answered; a run that is gone on with opens it again."""
        async with AsyncExitStack() as opened:  # one that fails keeps no other open
            for _, model in self._answers:
                opened.push_async_callback(model.close)

    # Going ----------------------------------------------------------------------------------------

    async def go(self, *first: Command) -> RunState:
        """Drive the run until it is over; pauses wait inside. Cancelling stops the run.

        Args:
            first: commands to begin with; a run that is over goes on with `ForkFrom` or `SendBack`.

        Raises:
            NotAllowedError: one of them makes no sense where the run stands.
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
                    await self._work.cancel()
                finally:  # a loop that ends cancels what is still being cancelled once more
                    self._emit_stop()
            raise
        return self.state

    def _stops_here(self) -> bool:
        """Ask the gate, once for each place reached; a repair that is switched on comes first."""
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
        """Make the edits that a run of the past had here; whether the run goes on from here now."""
        past = self._dependencies.reenactment
        if past is None:
            return False
        while (fact := past.due(self.state)) is not None:
            self._emit(fact)
            if self.state.place is None and not isinstance(fact, ModelChosen):
                return True
        # What was a problem then was gone on from; only the user's breakpoints stop.
        self._is_accepted = self.state.place == PausePoint.ERROR and past.goes_on
        return self._is_accepted

    def _ends(self) -> bool:
        """Whether it is over; a run of the past may have gone on with one more message."""
        if self.state.status == "done":
            self._reenacted()
        return self.state.is_over

    def _pause(self, stop: PauseDecision) -> None:
        place = self.state.place
        if place is not None:
            self._emit(Paused(place, stop.reason, stop.breakpoints, stop.text))

    async def _stand_still(self) -> None:
        """Wait for the user; what an edit makes necessary (checks, reading) is done meanwhile."""
        if self.state.place is None and self._effects:
            await self._perform_all()
            now, pause = self.state.place, self.state.pause
            if now is not None and pause is not None and now != pause.place:
                self._pause(PauseDecision("step"))
            return
        self._wake.clear()
        await self._wake.wait()

    async def _perform_all(self) -> None:
        effects, self._effects = self._effects, ()
        if not effects:
            raise RuntimeError(f"nothing follows {self.state.place} of a run that goes on")
        for effect in effects:
            await self._work.perform(
                self._perform(effect), lambda: self._stopping or self._aborting
            )
            if self._aborting and not self._stopping:
                self._emit_aborted()
            self._aborting = False

    def _emit_stop(self) -> None:
        self._stopping = False
        partial = self._performer.partial
        self._performer = self._new_performer()
        self._emit(Stopped(partial))

    def _emit_aborted(self) -> None:
        if self.state.place is None and self.state.step.reply is None:
            partial, seconds = self._performer.partial, self._performer.seconds
            self._performer = self._new_performer()
            if partial is not None and partial.says_something:
                # What came is a reply: it is read, and the run stands still with it.
                self._emit(ModelReplied(partial, seconds, stopped_by="user"))
            else:
                message = "The reply was cut off by you before anything came."
                self._emit(ModelFailed("aborted", message, retryable=True))

    def _answerer(self) -> ChatModel:
        """What answers as the model that the user took last on this branch."""
        wanted = self.state.answered_by
        for model, answers in reversed(self._answers):
            if model.is_same(wanted):
                return answers
        own = self._dependencies.model
        # A run of the past is answered from its record; the oldest journals name no model.
        if self._dependencies.reenactment is not None or not wanted.name:
            return own
        return ModelNotAtHand(own, wanted)

    def _new_performer(self) -> Performer:
        """A performer for one effect; the next one makes it mute, should it outlive its end."""
        dependencies = self._dependencies

        def emit(event: Event) -> None:
            if self._performer is performer:
                self._emit(event)

        performer = Performer(
            dependencies.document,
            dependencies.inputs,
            self._answerer(),
            dependencies.toolbox,
            self.gate.options,
            emit,
            dependencies.stream,
            dependencies.kept,
            self._secrets,
            ran=self._event_log.ran,
        )
        return performer

    # Effects --------------------------------------------------------------------------------------

    async def _perform(self, effect: Effect) -> None:
        state = self.state
        performer = self._performer = self._new_performer()
        match effect:
            case RenderPrompt():
                self._render(performer)
            case TrimContext(budget=budget):
                performer.trim(state, budget)
            case CallModel():
                self.gate.rendered = frozenset()
                await performer.call_model(state, effect)
            case ReadReply():
                performer.read(state, effect)
            case CheckCalls():
                performer.check_calls(state)
            case DecideCall(call=index):
                self._decide(index)
            case RunTools(calls=calls):
                await performer.run_tools(state, self._without_lost(calls))
            case AskOutcome():
                if state.error is not None:
                    self._emit(Failed(state.error))
            case CheckAnswer(answer=answer):
                performer.check_answer(state, answer)
            case Pass(place=place):
                headless = self.gate.options.headless
                self._emit(passing(state, place, headless=headless, accepted=self._is_accepted))
            case _:
                assert_never(effect)

    def _render(self, performer: Performer) -> None:
        """Render the prompt; the first time it may have been done before the run."""
        if self._dependencies.rendered is not None and len(self.events) == 1:
            self._emit(self._dependencies.rendered)
            return
        performer.render(self.state)
        self.gate.rendered = performer.rendered

    def _without_lost(self, calls: tuple[int, ...]) -> tuple[int, ...]:
        """The calls that can be made; of one that was interrupted the user is asked first.

        That is a call with effects on another branch, which died with the program or was stopped;
        it is not asked about twice where the gate did.
        """
        effects = {tool.name for tool in self._dependencies.toolbox.specs if tool.has_effects}
        made: list[int] = []
        for index in calls:
            call = self.state.step.calls[index]
            is_lost = call_key(call) in self._event_log.lost and call.tool in effects
            if is_lost and not call.again:
                self._emit(OutcomeLost(index))
            else:
                made.append(index)
        return tuple(made)

    def _decide(self, index: int) -> None:
        """The gate was passed: the call runs, unless it wants a word that nobody can give."""
        call = self.state.step.calls[index]
        options = self.gate.options
        if call.needs_approval and options.approve != "always":
            if options.headless or options.approve == "never":
                why = f" ({call.why.splitlines()[0]})" if call.why else ""
                self._emit(CallDecided(index, "reject", f"nobody is there to allow it{why}"))
                return
            self._dependencies.toolbox.approve(call.tool)
            self._emit(CallDecided(index, "approve", by="person"))
            return
        self._emit(CallDecided(index, "approve"))

    # Facts ----------------------------------------------------------------------------------------

    def _emit(self, event: Event) -> None:
        event = self._event_log.stamp(self._secrets.fact(event, self.state))
        self._journal.write(event)
        if self._event_log.take(event):
            self._passed_gate = False
        if self._dependencies.reenactment is not None:
            self._dependencies.reenactment.saw(event)
        # What is said meanwhile must not take away an effect that is still to be performed.
        if self.state.place is not None or not isinstance(
            event, Steered | LimitRaised | Logged | Resumed | ModelChosen
        ):
            self._effects = self._event_log.effects
        if self._dependencies.shown is not None:
            self._dependencies.shown(event)

    def _stops_unwritten(self) -> bool:
        """Stand still (headless: end) once where the journal cannot be written."""
        fault = self._journal.new_fault()
        if not fault:
            return False
        message = f"The run cannot be kept: {fault}."
        if self.gate.options.headless:
            self._emit(Failed(StepError("journal", "unwritten", message)))
        else:
            text = f"{message} It is in memory; going on tries to write it again."
            self._pause(PauseDecision("exception", text=text))
            self._passed_gate = True
        return True

    # Commands -------------------------------------------------------------------------------------

    def send(self, command: Command) -> None:  # noqa: C901 - one arm per command
        """Tell the run something; must be called on the loop that drives it.

        Raises:
            NotAllowedError: it makes no sense where the run stands.
        """
        if isinstance(command, commands.ChooseModel) and command.answers is not None:
            # First: it is closed with the run, whether or not it is taken.
            self._answers.append((command.model, command.answers))
        facts = facts_of(self.state, command)
        if isinstance(command, commands.ForkFrom) and self.tree.get(command.checkpoint) is None:
            raise NotAllowedError(f"there is no checkpoint {command.checkpoint}")
        for fact in facts:
            self._emit(fact)
        match command:
            case commands.StopRun():
                self._stopping = True
            case commands.StopCall(call=call):
                self._performer.stop_call(call)
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
                commands.Approve() | commands.Reject() | commands.AnswerCall()
                | commands.SkipCall() | commands.SendBack()
            ):  # fmt: skip
                self._decided(command)
            case commands.TakeRepair() | commands.TreatAsFinal() | commands.TellOutcome():
                self._stay(command)
            case commands.ForkFrom():
                self._pause(
                    PauseDecision("entry", text="Went back to here; going on makes a new branch.")
                )
                self._passed_gate = True
            case _:
                self._passed_gate = self.state.pause is not None
        self._wake.set()

    def _resume(self, how: str) -> None:
        self.gate.stepping = how if how in ("into", "over", "out") else ""  # type: ignore[assignment]
        self.gate.wants_pause = False
        self._emit(Resumed(how or "continue"))
        self._passed_gate = True

    def _decided(self, command: Command) -> None:
        """The run goes on as it was going."""
        if isinstance(command, commands.Approve):
            self._dependencies.toolbox.approve(self.state.step.calls[command.call].tool)
        if self.state.pause is not None:
            self._emit(Resumed("continue"))
        self._passed_gate = False

    def _stay(self, command: Command) -> None:
        """After a repair the reply is read again, and the run stands still at what comes of it."""
        self._emit(Resumed("into"))
        self._passed_gate = isinstance(command, commands.TakeRepair)
        self.gate.wants_pause = True
