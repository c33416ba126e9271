"""A run of the past told once more: its replies, its tools' results, and what the user did in it.

Nothing is asked and nothing is called; the machine goes through the same facts again, so that a
breakpoint set later, or a slow look at each place, finds the run as it was.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from studio.core.agent.loop.calls import call_key
from studio.core.agent.loop.machine import advance
from studio.core.agent.loop.steps import new_state
from studio.core.agent.past.replay import RecordedReply, RunRecording
from studio.core.agent.protocols.feedback import RAN_WITHOUT_RESULT
from studio.core.agent.values.events import (
    AnswerChecked,
    CallsChecked,
    ContextTrimmed,
    Event,
    ModelReplied,
    Rendered,
    ReplyRead,
    Started,
    ToolEnded,
)
from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.state import RunState
from studio.core.agent.values.user_events import (
    AnswerEdited,
    AnswerReturned,
    CallDecided,
    CallEdited,
    ErrorObservationEdited,
    LimitRaised,
    MessagesEdited,
    ModelChosen,
    ObservationEdited,
    OutcomeTold,
    ReplyEdited,
    Steered,
    TreatedAsFinal,
)
from studio.core.tools.source import ToolOutcome
from studio.core.wire.wire_call import KeptCall

_WORLD = (
    Rendered,
    ContextTrimmed,
    ModelReplied,
    ReplyRead,
    CallsChecked,
    ToolEnded,
    AnswerChecked,
)
"""Facts that the new run makes by itself; retries and pauses are not among them."""

_USER_EVENTS = (
    MessagesEdited,
    ReplyEdited,
    CallEdited,
    ObservationEdited,
    ErrorObservationEdited,
    TreatedAsFinal,
    AnswerEdited,
    AnswerReturned,
    CallDecided,
    LimitRaised,
    Steered,
    ModelChosen,
)
"""Facts that the user made, to be made again; an interrupted call's fate is its result now."""

_Where: TypeAlias = tuple[PausePoint | None, int, int | None]


@dataclass(frozen=True, slots=True)
class _Due:
    """One fact of the past, with the place where the run stood."""

    event: Event
    where: _Where

    @property
    def floats(self) -> bool:
        """Whether it was said while something was under way; it waits for the next place."""
        return isinstance(self.event, Steered | LimitRaised | ModelChosen)


class Reenactment:
    """What the user did in a run, given back where it was done.

    Used by one run, on its loop. A run that takes another way is left alone from there on.
    """

    def __init__(self, path: Iterable[Event]) -> None:
        """Take a branch of a journal (`tree.branch_path` of its last event).

        Raises:
            ValueError: it does not begin with `Started`.
        """
        calls: list[RecordedReply] = []
        outcomes: list[tuple[tuple[str, str], ToolOutcome]] = []
        self._due: deque[_Due] = deque()
        self._said: deque[Event] = deque()
        state: RunState | None = None
        for event in path:
            if isinstance(event, Started):
                state = new_state(event.setup)
            if state is None:
                raise ValueError("a journal begins with Started")
            match event:
                case ModelReplied(reply=reply):
                    call = KeptCall(state.setup.run, state.step.called)
                    calls.append(RecordedReply(tuple(state.step.messages), reply, call))
                case ToolEnded(call=row, outcome=outcome):
                    outcomes.append((call_key(state.step.calls[row]), outcome))
                case OutcomeTold(call=row, fate="ran" | "result" as fate, text=text):
                    observation = text if fate == "result" else RAN_WITHOUT_RESULT
                    outcomes.append(
                        (call_key(state.step.calls[row]), ToolOutcome(observation, "ok"))
                    )
                case _:
                    pass
            approves = isinstance(event, CallDecided) and event.decision == "approve"
            if isinstance(event, _WORLD + _USER_EVENTS) and not approves:
                self._due.append(_Due(event, _where(state)))
            state, _ = advance(state, event)
        self.recording = RunRecording(tuple(calls), tuple(outcomes))
        """Replies and results, as the model and the tools gave them."""
        self.released = state.released if state is not None else frozenset()
        """References of secrets that the run sent."""
        self.seconds = 0.0 if state is None else state.setup.recorded_seconds or state.seconds
        """Seconds of work of the run that was recorded."""

    @property
    def goes_on(self) -> bool:
        """Whether the run of the past did anything more from here."""
        return bool(self._due or self._said)

    def saw(self, event: Event) -> None:
        """A fact of the new run; one that the past does not have next ends the retelling."""
        if not isinstance(event, _WORLD):
            return
        while self._due and self._due[0].floats:
            self._said.append(self._due.popleft().event)
        if self._due and type(self._due[0].event) is type(event):
            self._due.popleft()
        else:
            self._due.clear()

    def due(self, state: RunState) -> Event | None:
        """What the user did next, where it was done here; each once."""
        if self._said:
            return self._said.popleft()
        if not self._due or isinstance(self._due[0].event, _WORLD):
            return None
        first = self._due.popleft()
        if first.floats or first.where == _where(state):
            return first.event
        self._due.clear()
        return None


def _where(state: RunState) -> _Where:
    return (state.place, state.iteration, state.call)
