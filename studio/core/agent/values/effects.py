"""What the world must do next for a run; the runner does it and answers with an event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from studio.core.agent.values.pause_point import PausePoint
from studio.core.wire.reply import Reply


@dataclass(frozen=True, slots=True)
class RenderPrompt:
    """Render the prompt for a step. Answered by `Rendered` or `RenderFailed`."""

    iteration: int
    """The step's number."""


@dataclass(frozen=True, slots=True)
class TrimContext:
    """Make the conversation fit its budget. Answered by `ContextTrimmed`."""

    budget: int
    """Characters."""


@dataclass(frozen=True, slots=True)
class CallModel:
    """Send the step's messages (`request_of`), the same at every try.

    Answered by `ModelCalled`, then `ModelReplied` or `ModelFailed`.
    """

    attempt: int
    """Which try, from 1."""

    after: float = 0.0
    """Seconds to wait first (back-off)."""


@dataclass(frozen=True, slots=True)
class ReadReply:
    """Read a reply by the run's protocol. Answered by `ReplyRead`."""

    reply: Reply
    """The reply."""


@dataclass(frozen=True, slots=True)
class CheckCalls:
    """Check the step's calls against tools, schemas and rules. Answered by `CallsChecked`."""


@dataclass(frozen=True, slots=True)
class DecideCall:
    """Decide whether a call runs, asking where the rules say so. Answered by `CallDecided`."""

    call: int
    """Row of the step."""


@dataclass(frozen=True, slots=True)
class RunTools:
    """Run calls, several at once. Each gives `ToolCalled`, then `ToolEnded` or `OutcomeLost`."""

    calls: tuple[int, ...]
    """Rows of the step, in call order."""


@dataclass(frozen=True, slots=True)
class AskOutcome:
    """Only the user knows whether a call ran. Answered by `OutcomeTold`."""

    call: int
    """Row of the step."""


@dataclass(frozen=True, slots=True)
class CheckAnswer:
    """Compare the answer with the declared outputs. Answered by `AnswerChecked`."""

    answer: str
    """The answer."""


@dataclass(frozen=True, slots=True)
class Pass:
    """Go on from a place that no other effect follows. Answered by `Passed`."""

    place: PausePoint
    """Which."""


Effect: TypeAlias = (
    RenderPrompt
    | TrimContext
    | CallModel
    | ReadReply
    | CheckCalls
    | DecideCall
    | RunTools
    | AskOutcome
    | CheckAnswer
    | Pass
)
"""Closed: consumers `match` and `assert_never`."""
