"""Decide whether a run pauses at a place; the runner waits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from studio.core.agent.values.breakpoints import HitCounter
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.state import PauseReason, RunState

Stepping = Literal["", "into", "over", "out"]
"""Last stepping command; empty for "continue"."""

_OUT: frozenset[PausePoint] = frozenset({PausePoint.STEP_END, PausePoint.ANSWER, PausePoint.ERROR})


@dataclass(frozen=True, slots=True)
class PauseDecision:
    """The reason for a pause."""

    reason: PauseReason
    """The reason, in debugger words."""

    breakpoints: tuple[str, ...] = ()
    """Ids of the breakpoints hit."""

    text: str = ""
    """A sentence for the user."""


@dataclass(frozen=True, slots=True)
class RunTarget:
    """A place that a run is to go to."""

    place: PausePoint | None
    """Place; None for the first place of the step."""

    iteration: int | None
    """In which step; None for any."""

    def is_at(self, state: RunState) -> bool:
        """Return whether the run is at a place."""
        fits = self.iteration is None or state.iteration == self.iteration
        return fits and self.place in (None, state.place)


@dataclass
class Gate:
    """The gate before every effect."""

    options: RunOptions
    """The run's options; breakpoints and filters may be changed while it runs."""

    stepping: Stepping = ""
    """Last stepping command."""

    target: RunTarget | None = None
    """Target of "run to"; cleared at the first pause, whatever its reason."""

    wants_pause: bool = False
    """Whether the user asked for a pause at the next place."""

    counter: HitCounter = field(default_factory=HitCounter)
    """Hit counts of the breakpoints."""

    logs: list[tuple[str, str]] = field(default_factory=list)
    """(id, line) of log points that were met and not yet written."""

    rendered: frozenset[int] = frozenset()
    """Places in the source of the role markers whose messages were rendered for this request."""

    entered: bool = False
    """Whether the first place is behind."""

    def decide(self, state: RunState) -> PauseDecision | None:
        """Decide whether the run pauses at the place that it has reached; None to continue."""
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
            return PauseDecision("approval", text="The call waits for your word.")
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
