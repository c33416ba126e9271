"""The points of a step at which a run can pause (docs/design/agent-loop.md).

What the world must do next for a run; the runner does it and answers with an event.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from studio.core.wire.reply import Reply


class PausePoint(StrEnum):
    """One of them, in the order of one step. Its value is what journals and settings hold."""

    BEFORE_REQUEST = "P1"
    """The request is ready to be sent."""

    REPLY = "P2"
    """The reply is here and not yet read."""

    TOOL_CALL = "P3"
    """A tool call is ready; reached once for each call."""

    OBSERVATION = "P4"
    """A call has a result that the model has not seen; reached once for each call."""

    STEP_END = "P5"
    """The step is done."""

    ANSWER = "P6"
    """The final answer is ready."""

    ERROR = "PX"
    """Something went wrong."""

    @property
    def word(self) -> str:
        """The name that users write: `before_request`."""
        return self.name.lower()

    @classmethod
    def of(cls, text: str) -> PausePoint | None:
        """The point that a word (`tool_call`) or an old code (`P3`) names; None for any other."""
        wanted = text.strip().lower().replace("-", "_")
        return next((each for each in cls if wanted in (each.word, each.value.lower())), None)


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
