"""A branch folded to its state, with the times at which its model and tool calls ran."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from studio.core.agent.loop.machine import advance
from studio.core.agent.loop.steps import new_state
from studio.core.agent.values.events import (
    Event,
    ModelCalled,
    ModelFailed,
    ModelReplied,
    Started,
    ToolCalled,
    ToolEnded,
)
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Step


class CallTimes:
    """When each model and tool call of each step began and ended, in seconds since 1970."""

    def __init__(self) -> None:
        self.steps: dict[int, list[float]] = {}
        self.models: dict[int, list[float]] = {}
        self.tools: dict[tuple[int, int], list[float]] = {}
        self._asked = 0.0

    def note(self, event: Event, state: RunState) -> None:
        """Take the time of an event that led to a state."""
        number = state.iteration
        self.steps.setdefault(number, [event.at, event.at])[1] = event.at
        match event:
            case ModelCalled():
                self.models.setdefault(number, [event.at, event.at])
                self._asked = event.at
            case ModelReplied(seconds=seconds) | ModelFailed(seconds=seconds):
                self.models.setdefault(number, [event.at, event.at])[1] = self._asked + seconds
            case ToolCalled(call=row):
                self.tools[number, row] = [event.at, event.at]
            case ToolEnded(call=row, outcome=outcome):
                span = self.tools.setdefault((number, row), [event.at, event.at])
                span[1] = span[0] + outcome.duration
            case _:
                pass


def fold_with_times(events: Iterable[Event]) -> tuple[RunState, CallTimes]:
    """The state that a branch leads to, and its times.

    Raises:
        ValueError: it is empty, or does not begin with `Started`.
    """
    state: RunState | None = None
    times = CallTimes()
    for event in events:
        if state is None:
            if not isinstance(event, Started):
                raise ValueError("a journal begins with Started")
            state = new_state(event.setup)
        state, _ = advance(state, event)
        times.note(event, state)
    if state is None:
        raise ValueError("the journal is empty")
    return state, times


def touch_lines(step: Step) -> list[str]:
    """What the user did in a step, a line each: `edited tool_call 0 2026-11-23T14:02:11Z`."""
    lines: list[str] = []
    for touch in step.touches:
        parts = [touch.kind, touch.place.value]
        if touch.call is not None:
            parts.append(str(touch.call))
        if touch.at:
            parts.append(f"{datetime.fromtimestamp(touch.at, UTC):%Y-%m-%dT%H:%M:%SZ}")
        if touch.text:
            parts.append(f"({touch.text})")
        lines.append(" ".join(parts))
    return lines
