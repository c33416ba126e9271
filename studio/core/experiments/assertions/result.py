"""The input and the result of an assertion."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from studio.core.text.source import Span
from studio.core.text.values import JsonObject

AssertionState: TypeAlias = Literal["passed", "failed", "error", "not_run"]
"""State of an assertion. `error`: could not be decided. `not_run`: cannot be decided here. Both
count neither as passed nor as failed.
"""


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A tool call that a run made."""

    tool: str
    """Name of the tool."""

    arguments: JsonObject
    """Arguments as the model wrote them."""

    is_error: bool = False
    """Whether the call failed."""

    is_valid: bool = True
    """Whether the name is that of a tool and the arguments match its schema."""


@dataclass(frozen=True)
class CellAnswer:
    """The result of one cell, as input of assertions."""

    text: str
    """The answer."""

    latency_ms: float = 0.0
    """Duration of the request in milliseconds, when it was sent."""

    cost: float | None = None
    """Cost in US dollars; None if the price is not known."""

    input_tokens: int = 0
    """Tokens of all requests."""

    output_tokens: int = 0
    """Tokens of all replies."""

    steps: int = 1
    """Number of model calls."""

    calls: tuple[MadeCall, ...] = ()
    """Tool calls, in order."""

    finish_reason: str = ""
    """Reason why the last reply ended."""

    is_refusal: bool = False
    """Whether the model declined."""

    errors: int = 0
    """Number of format errors and failed calls of the run."""

    left_out: tuple[str, ...] = ()
    """Options that were not sent because the server rejects them."""

    is_timed: bool = True
    """Whether `latency_ms` is the time of the model; False for answers from a batch."""


@dataclass(frozen=True)
class AssertionResult:
    """The result of one assertion."""

    label: str
    """The assertion, for the user."""

    state: AssertionState
    """State of the assertion."""

    score: float
    """Score from 0 to 1."""

    reason: str
    """Reason, one sentence."""

    weight: float = 1.0
    """Weight in the cell's score."""

    metric: str = ""
    """Name of the metric that it counts toward; empty for none."""

    span: Span | None = None
    """Span in the answer that decided it; None if there is none."""

    nested: tuple[AssertionResult, ...] = ()
    """Results of the assertions of a set."""

    cost: float = 0.0
    """Cost of the judge, in US dollars."""

    @property
    def passed(self) -> bool:
        """Whether the assertion passed."""
        return self.state == "passed"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision on one assertion, before negation and weight."""

    passed: bool
    """Whether the assertion passes."""

    reason: str
    """Reason, one sentence."""

    score: float | None = None
    """Score from 0 to 1; None for 1 if it passes, else 0."""

    span: Span | None = None
    """Span in the answer that decided it."""

    cost: float = 0.0
    """Cost of the decision, in US dollars."""

    is_final: bool = False
    """Whether negation leaves the score unchanged, as in promptfoo."""


class UndecidedError(Exception):
    """Raised when an assertion cannot be decided; the text says why."""


class NotRunError(Exception):
    """Raised when an assertion cannot be decided here; the text says what to do."""


@dataclass(frozen=True)
class AssertionContext:
    """The input of assertions besides the answer."""

    variables: JsonObject = field(default_factory=dict)
    """The row's values, including `expected`."""

    prompt: str = ""
    """The prompt that was sent."""

    tools: tuple[str, ...] = ()
    """Names of the tools that the model was offered."""

    is_json: bool = False
    """Whether code gets the answer's JSON value instead of its text."""
