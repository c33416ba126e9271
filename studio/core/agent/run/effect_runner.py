"""Perform the effects of a run, one at a time, and decide whether it pauses before them."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, assert_never

from studio.core.agent.loop.calls import call_key
from studio.core.agent.loop.setup import run_model_of
from studio.core.agent.run.event_log import EventLog
from studio.core.agent.run.performer import Emit, Performer
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.run.requests import passing
from studio.core.agent.run.secrets import RunSecrets
from studio.core.agent.values.breakpoints import HitCounter
from studio.core.agent.values.events import CallDecided, Event, Failed, OutcomeLost
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import PauseReason, RunState
from studio.core.agent.values.step import (
    AskOutcome,
    CallModel,
    CheckAnswer,
    CheckCalls,
    DecideCall,
    Effect,
    Pass,
    PausePoint,
    ReadReply,
    RenderPrompt,
    RunModel,
    RunTools,
    TrimContext,
)
from studio.core.models.base import ChatModel, ModelError, ModelRequest, TellOpening, WrappingModel
from studio.core.wire.reply import Reply, ReplyDelta
from studio.core.wire.wire_call import WireRecorder

# Decides whether a run pauses at a pause point; the runner then waits.

Stepping = Literal["", "into", "over", "out"]
"""Last stepping command; empty for "continue"."""

_OUT: frozenset[PausePoint] = frozenset({PausePoint.STEP_END, PausePoint.ANSWER, PausePoint.ERROR})


@dataclass(frozen=True, slots=True)
class PauseDecision:
    """The reason for a pause."""

    reason: PauseReason
    """The reason, as a debugger names it."""

    breakpoints: tuple[str, ...] = ()
    """Ids of the breakpoints hit."""

    text: str = ""
    """A sentence for the user."""


@dataclass(frozen=True, slots=True)
class RunTarget:
    """The target of a "run to" command."""

    place: PausePoint | None
    """The pause point; None for the first one of the step."""

    iteration: int | None
    """Number of the step; None for any."""

    def is_at(self, state: RunState) -> bool:
        """Return whether the run has reached the target."""
        fits = self.iteration is None or state.iteration == self.iteration
        return fits and self.place in (None, state.place)


@dataclass
class Gate:
    """The gate: decides before each effect whether the run pauses."""

    options: RunOptions
    """The run's options; breakpoints and filters may be changed while it runs."""

    stepping: Stepping = ""
    """Last stepping command."""

    target: RunTarget | None = None
    """Target of "run to"; cleared at the first pause, whatever its reason."""

    wants_pause: bool = False
    """Whether the user asked for a pause at the next pause point."""

    counter: HitCounter = field(default_factory=HitCounter)
    """Hit counts of the breakpoints."""

    logs: list[tuple[str, str]] = field(default_factory=list)
    """(id, line) of log points that were reached and are not yet written."""

    rendered: frozenset[int] = frozenset()
    """Source offsets of the role markers whose messages were rendered for this request."""

    entered: bool = False
    """Whether the first pause point was passed."""

    def decide(self, state: RunState) -> PauseDecision | None:
        """Decide whether the run pauses at the pause point that it reached; None to continue."""
        stop = self._decide(state)
        if stop is not None:
            self.target = None
        return stop

    def _decide(self, state: RunState) -> PauseDecision | None:
        if state.place is None:
            return None
        first, self.entered = not self.entered, True
        hit = self.counter.look(self.options.breakpoints, state, self.rendered)
        self.logs += hit.logs
        if self.options.headless:
            return None
        must = _must_ask(state)
        if must is not None:
            return must
        if hit.stops:
            return PauseDecision("breakpoint", hit.stops)
        failed = self._exception(state)
        if failed is not None:
            return failed
        if state.place == PausePoint.TOOL_CALL and self._asks_approval(state):
            return PauseDecision("approval", text="The call waits for your approval.")
        if self.wants_pause:
            self.wants_pause = False
            return PauseDecision("pause")
        if first and self.options.stop_at_entry:
            return PauseDecision("entry")
        if self.target is not None:
            return PauseDecision("step") if self.target.is_at(state) else None
        if state.place in self.options.pause_at or self._steps_here(state.place):
            return PauseDecision("step")
        return None

    def _steps_here(self, place: PausePoint) -> bool:
        match self.stepping:
            case "into":
                return True
            case "over":
                return place != PausePoint.STEP_END
            case "out":
                return place in _OUT
            case _:
                return False

    def _asks_approval(self, state: RunState) -> bool:
        if state.call is None:
            return False
        call = state.step.calls[state.call]
        return call.again or (self.options.approve == "ask" and call.needs_approval)

    def _exception(self, state: RunState) -> PauseDecision | None:
        wanted = self.options.exceptions
        if state.place == PausePoint.ERROR and state.error is not None:
            error = state.error
            filters = {error.kind, "truncated"} if error.code == "truncated" else {error.kind}
            if filters & wanted:
                return PauseDecision("exception", text=error.message)
            return None
        if state.place == PausePoint.OBSERVATION and state.call is not None:
            return self._tool_failed(state, state.call)
        if state.place in (PausePoint.TOOL_CALL, PausePoint.ANSWER) and state.step.warnings:
            repeated = any(item.code == "repeated_action" for item in state.step.warnings)
            if "warning" in wanted or (repeated and "repeated_action" in wanted):
                return PauseDecision("exception", text=state.step.warnings[-1].message)
        return None

    def _tool_failed(self, state: RunState, index: int) -> PauseDecision | None:
        call = state.step.calls[index]
        if not call.is_error:
            return None
        timed_out = call.outcome is not None and call.outcome.status == "timeout"
        if "tool" in self.options.exceptions or (
            timed_out and "timeout" in self.options.exceptions
        ):
            return PauseDecision("exception", text=call.observation or "")
        return None


def _must_ask(state: RunState) -> PauseDecision | None:
    """Return the pause that no filter can skip: unknown outcome, limit, repeated format error."""
    if state.place != PausePoint.ERROR or state.error is None:
        return None
    error = state.error
    if error.kind == "outcome_unknown":
        return PauseDecision("outcome", text=error.message)
    if error.kind == "limit":
        return PauseDecision("limit", text=error.message)
    if error.kind in ("model", "render"):
        return PauseDecision("exception", text=error.message)
    if error.kind == "format" and state.format_errors >= 2:
        return PauseDecision("exception", text=f"{error.message} It is the second reply in a row.")
    return None


STOP_SECONDS = 0.15
"""Maximum time for a canceled effect to end before the run continues without it, in seconds."""


class EffectRunner:
    """The runner of a loop's effects, until they end or are abandoned."""

    def __init__(
        self,
        plan: RunPlan,
        secrets: RunSecrets,
        gate: Gate,
        log: EventLog,
        emit: Emit,
        wake: asyncio.Event,
    ) -> None:
        """Create a runner without a task.

        Args:
            plan: the run's plan.
            secrets: masks what is received, and reveals what is sent.
            gate: holds the run's current options.
            log: holds the run's state.
            emit: receives events.
            wake: set whenever the run gets a command.
        """
        self._plan = plan
        self._secrets = secrets
        self._gate = gate
        self._log = log
        self._emit = emit
        self._task = EffectTask(wake)
        self._answers = [(run_model_of(plan.model), plan.model)]
        """The models that were chosen and their clients, newest last."""
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
            effect: the effect; its exceptions are raised here.
            is_given_up: called after each command; whether to cancel the effect.
            accepted: whether the user continues in spite of a warning about the answer.
        """
        await self._task.perform(self._perform(effect, accepted=accepted), is_given_up)

    async def cancel(self) -> None:
        """Cancel the task; wait for its end, `STOP_SECONDS` at most."""
        await self._task.cancel()

    def stop_call(self, call: int) -> None:
        """Cancel a running call; parallel calls continue."""
        self._performer.stop_call(call)

    def dropped_reply(self) -> tuple[Reply | None, float]:
        """Stop receiving the reply; return the partial reply and its seconds so far."""
        partial, seconds = self._performer.partial, self._performer.seconds
        self._performer = self._new_performer()
        return partial, seconds

    # Models ---------------------------------------------------------------------------------------

    def add_model(self, model: RunModel, answers: ChatModel) -> None:
        """Add the client of a model; it is closed with the run, even if it is never used."""
        self._answers.append((model, answers))

    async def close_models(self) -> None:
        """Close the clients of the models; a run that is continued later opens them again."""
        async with AsyncExitStack() as opened:  # one that fails does not keep the others open
            for _, model in self._answers:
                opened.push_async_callback(model.close)

    def _answerer(self) -> ChatModel:
        """Return the client of the model that the user chose last on this branch."""
        wanted = self._log.state.answered_by
        for model, answers in reversed(self._answers):
            if model.is_same(wanted):
                return answers
        own = self._plan.model
        # A reenactment answers from its recording; the oldest journals name no model.
        if self._plan.reenactment is not None or not wanted.name:
            return own
        return ModelNotAtHand(own, wanted)

    def _new_performer(self) -> Performer:
        """Return a performer for one effect; events of an older performer are then ignored."""

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
        """Return the recorder for the model call whose event was just written."""
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
        """Render the prompt; the first rendering may have been made before the run."""
        if self._plan.conversation is not None:
            self._emit(await self._plan.conversation(self._log.state))
            return
        if self._plan.rendered is not None and len(self._log.events) == 1:
            self._emit(self._plan.rendered)
            return
        performer.render(self._log.state)
        self._gate.rendered = performer.rendered

    def _without_lost(self, calls: tuple[int, ...]) -> tuple[int, ...]:
        """Return the calls that can be made; ask the user first about interrupted ones.

        An interrupted call has effects and was cut off on another branch when the program ended or
        the user stopped it. It is skipped here if the gate has asked already.
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
        """Approve the call, or reject it if it needs an approval that no user can give."""
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
    """The task of the current effect."""

    def __init__(self, wake: asyncio.Event) -> None:
        """Begin without a task; `wake` is set whenever the run gets a command."""
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
            effect: the effect; its exceptions are raised here.
            is_given_up: called after each command; whether to cancel the effect.
        """
        task = self._task = asyncio.ensure_future(effect)
        task.add_done_callback(lambda _: self._wake.set())
        while not task.done():
            self._wake.clear()
            await self._wake.wait()
            if is_given_up():
                await self.cancel()
                break
        if task.done() and not task.cancelled():
            task.result()

    async def cancel(self) -> None:
        """Cancel the task; wait for its end, `STOP_SECONDS` at most."""
        task = self._task
        if task is None or task.done():
            return
        task.cancel()
        await asyncio.wait({task}, timeout=STOP_SECONDS)


class ModelNotAtHand(WrappingModel[ChatModel]):
    """A model that sends nothing: a request meant for one model goes to no other."""

    def __init__(self, inner: ChatModel, wanted: RunModel) -> None:
        """Take the model that is open, and the one that should answer.

        Args:
            inner: the open model; only its capabilities are used.
            wanted: the model in the journal.
        """
        super().__init__(inner)
        self._wanted = wanted

    async def prepare(self, tell: TellOpening) -> None:
        """Do nothing, since the open model is not used."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Raise an error instead of answering.

        Raises:
            ModelError: always.
        """
        raise ModelError(
            "missing-model",
            f"{self._wanted.name} was used here and is not open in this run; nothing was sent.",
            "Open the run from History at this point, or choose another model.",
        )
        yield  # makes this a generator, like every model's stream
