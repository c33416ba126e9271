"""Performs the effects of a run, one at a time, with what answers as the model of its branch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AsyncExitStack
from functools import partial
from typing import assert_never

from studio.core.agent.loop.calls import call_key
from studio.core.agent.loop.setup import run_model_of
from studio.core.agent.run.event_log import EventLog
from studio.core.agent.run.gate import Gate
from studio.core.agent.run.performer import Emit, Performer
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.run.requests import passing
from studio.core.agent.run.secrets import RunSecrets
from studio.core.agent.values.events import Event, Failed, OutcomeLost
from studio.core.agent.values.pause_point import (
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
from studio.core.agent.values.run_setup import RunModel
from studio.core.agent.values.user_events import CallDecided
from studio.core.models.base import (
    ChatModel,
    ModelError,
    ModelRequest,
    TellOpening,
    WrappingModel,
)
from studio.core.wire.reply import Reply, ReplyDelta
from studio.core.wire.wire_call import WireRecorder

STOP_SECONDS = 0.15
"""Time that a cancelled effect gets to end before the run continues without it, in seconds."""


class EffectRunner:
    """Does what the machine asks for, until it is done or given up."""

    def __init__(
        self,
        plan: RunPlan,
        secrets: RunSecrets,
        gate: Gate,
        log: EventLog,
        emit: Emit,
        wake: asyncio.Event,
    ) -> None:
        """Make it idle.

        Args:
            plan: what the run works with.
            secrets: what masks what comes, and reveals what is sent.
            gate: whose options say how the run goes.
            log: where the run is.
            emit: where facts go.
            wake: set whenever the run is told something.
        """
        self._plan = plan
        self._secrets = secrets
        self._gate = gate
        self._log = log
        self._emit = emit
        self._task = EffectTask(wake)
        self._answers = [(run_model_of(plan.model), plan.model)]
        """Models that were chosen and their clients, newest last."""
        self._performer = self._new_performer()

    @property
    def is_running(self) -> bool:
        """Whether an effect is under way."""
        return self._task.is_running

    async def perform(
        self, effect: Effect, is_given_up: Callable[[], bool], *, accepted: bool
    ) -> None:
        """Perform an effect until it ends or is cancelled.

        Args:
            effect: what to do; whatever it raises is raised here.
            is_given_up: asked whenever the run was told something.
            accepted: whether who lets the run go on knows of a flaw of its answer.
        """
        await self._task.perform(self._perform(effect, accepted=accepted), is_given_up)

    async def cancel(self) -> None:
        """Cancel what is under way; wait for its end, but not longer than `STOP_SECONDS`."""
        await self._task.cancel()

    def stop_call(self, call: int) -> None:
        """End a call that is under way; its siblings go on."""
        self._performer.stop_call(call)

    def dropped_reply(self) -> tuple[Reply | None, float]:
        """Return the partial reply and its seconds so far, and stop receiving it."""
        partial, seconds = self._performer.partial, self._performer.seconds
        self._performer = self._new_performer()
        return partial, seconds

    # Models ---------------------------------------------------------------------------------------

    def add_model(self, model: RunModel, answers: ChatModel) -> None:
        """Take what answers as a model; it is closed with the run, whether or not it is taken."""
        self._answers.append((model, answers))

    async def close_models(self) -> None:
        """Let go of what answered; a run that is gone on with opens it again."""
        async with AsyncExitStack() as opened:  # one that fails keeps no other open
            for _, model in self._answers:
                opened.push_async_callback(model.close)

    def _answerer(self) -> ChatModel:
        """Return the client of the model that the user chose last on this branch."""
        wanted = self._log.state.answered_by
        for model, answers in reversed(self._answers):
            if model.is_same(wanted):
                return answers
        own = self._plan.model
        # A run of the past is answered from its record; the oldest journals name no model.
        if self._plan.reenactment is not None or not wanted.name:
            return own
        return ModelNotAtHand(own, wanted)

    def _new_performer(self) -> Performer:
        """A performer for one effect; the next one makes it mute, should it outlive its end."""

        def emit(event: Event) -> None:
            if self._performer is performer:
                self._emit(event)

        performer = Performer(
            self._plan,
            self._answerer(),
            self._gate.options,
            emit,
            self._recorder,
            self._secrets,
            ran=self._log.ran,
        )
        return performer

    def _recorder(self) -> WireRecorder | None:
        """Return the recorder of the model call whose event was just written."""
        keep = self._plan.keep_call
        if keep is None:
            return None
        return WireRecorder(partial(keep, len(self._log.events)), self._secrets.masker)

    # Effects --------------------------------------------------------------------------------------

    async def _perform(self, effect: Effect, *, accepted: bool) -> None:
        state = self._log.state
        performer = self._performer = self._new_performer()
        match effect:
            case RenderPrompt():
                await self._render(performer)
            case TrimContext(budget=budget):
                performer.trim(state, budget)
            case CallModel():
                self._gate.rendered = frozenset()
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
                headless = self._gate.options.headless
                self._emit(passing(state, place, headless=headless, accepted=accepted))
            case _:
                assert_never(effect)

    async def _render(self, performer: Performer) -> None:
        """Render the prompt; the first time it may have been done before the run."""
        if self._plan.conversation is not None:
            self._emit(await self._plan.conversation(self._log.state))
            return
        if self._plan.rendered is not None and len(self._log.events) == 1:
            self._emit(self._plan.rendered)
            return
        performer.render(self._log.state)
        self._gate.rendered = performer.rendered

    def _without_lost(self, calls: tuple[int, ...]) -> tuple[int, ...]:
        """The calls that can be made; of one that was interrupted the user is asked first.

        That is a call with effects on another branch, which died with the program or was stopped;
        it is not asked about twice where the gate did.
        """
        effects = {tool.name for tool in self._plan.toolbox.specs if tool.has_effects}
        made: list[int] = []
        for index in calls:
            call = self._log.state.step.calls[index]
            is_lost = call_key(call) in self._log.lost and call.tool in effects
            if is_lost and not call.again:
                self._emit(OutcomeLost(index))
            else:
                made.append(index)
        return tuple(made)

    def _decide(self, index: int) -> None:
        """Pass the gate: run the call, unless it needs an approval that cannot be given."""
        call = self._log.state.step.calls[index]
        options = self._gate.options
        if call.needs_approval and options.approve != "always":
            if options.headless or options.approve == "never":
                why = f" ({call.why.splitlines()[0]})" if call.why else ""
                self._emit(CallDecided(index, "reject", f"there is no user to allow it{why}"))
                return
            self._plan.toolbox.approve(call.tool)
            self._emit(CallDecided(index, "approve", by="person"))
            return
        self._emit(CallDecided(index, "approve"))


class EffectTask:
    """Holds the task of the effect under way."""

    def __init__(self, wake: asyncio.Event) -> None:
        """Start idle; `wake` is set whenever the run receives a command."""
        self._wake = wake
        self._task: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether an effect is under way."""
        return self._task is not None and not self._task.done()

    async def perform(
        self, effect: Coroutine[None, None, None], is_given_up: Callable[[], bool]
    ) -> None:
        """Perform an effect until it ends or is cancelled.

        Args:
            effect: what to do; whatever it raises is raised here.
            is_given_up: asked whenever the run was told something.
        """
        task = self._task = asyncio.ensure_future(effect)
        while not task.done():
            self._wake.clear()
            waker = asyncio.ensure_future(self._wake.wait())
            try:
                await asyncio.wait({task, waker}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                waker.cancel()
            if is_given_up():
                await self.cancel()
                break
        if task.done() and not task.cancelled():
            task.result()

    async def cancel(self) -> None:
        """Cancel what is under way; wait for its end, but not longer than `STOP_SECONDS`."""
        task = self._task
        if task is None or task.done():
            return
        task.cancel()
        await asyncio.wait({task}, timeout=STOP_SECONDS)


class ModelNotAtHand(WrappingModel[ChatModel]):
    """Sends nothing: a request that is meant for one model goes to no other."""

    def __init__(self, inner: ChatModel, wanted: RunModel) -> None:
        """Take the model that is open, and the one that would have to answer.

        Args:
            inner: says what may be sent; it is not asked.
            wanted: the model that the journal names.
        """
        super().__init__(inner)
        self._wanted = wanted

    async def prepare(self, tell: TellOpening) -> None:
        """Open nothing: the model at hand is not asked."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Answer nothing.

        Raises:
            ModelError: always.
        """
        raise ModelError(
            "missing-model",
            f"{self._wanted.name} answered here and is not open in this run; nothing was sent.",
            "Open the run from History at this place, or choose another model.",
        )
        yield  # makes this the generator that a model's stream is
