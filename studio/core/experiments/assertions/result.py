"""The input and the result of an assertion."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from studio.core.text.source import Span
from studio.core.text.values import JsonObject

AssertionState: TypeAlias = Literal["passed", "failed", "error", "not_run"]
"""`error`: it could not be decided. `not_run`: nothing here decides it. Neither passes."""


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A tool call that a run made."""

    tool: str
    """The tool."""

    arguments: JsonObject
    """As the model gave them."""

    is_error: bool = False
    """Whether it failed."""

    is_valid: bool = True
    """Whether its name and arguments were those of a tool."""


@dataclass(frozen=True)
class CellAnswer:
    """The result of one cell, as assertions see it."""

    text: str
    """The answer."""

    latency_ms: float = 0.0
    """Duration of the request in milliseconds, when it was asked."""

    cost: float | None = None
    """US dollars; None where the price is not known."""

    input_tokens: int = 0
    """Tokens of all requests."""

    output_tokens: int = 0
    """Tokens of all replies."""

    steps: int = 1
    """Model calls."""

    calls: tuple[MadeCall, ...] = ()
    """Tool calls, in order."""

    finish_reason: str = ""
    """Reason why the last reply ended."""

    is_refusal: bool = False
    """Whether the model declined."""

    errors: int = 0
    """Format errors and failed calls on the way."""

    left_out: tuple[str, ...] = ()
    """Options that were not sent, because the server refuses them."""

    is_timed: bool = True
    """Whether `latency_ms` is the time of the model; False where it was asked in a batch."""


@dataclass(frozen=True)
class AssertionResult:
    """The result of one assertion."""

    label: str
    """The assertion, for people."""

    state: AssertionState
    """Whether it holds."""

    score: float
    """From 0 to 1."""

    reason: str
    """Reason, in a sentence."""

    weight: float = 1.0
    """Its part in the cell's score."""

    metric: str = ""
    """The name under which it is added up."""

    span: Span | None = None
    """The place in the answer that it is about, where there is one."""

    nested: tuple[AssertionResult, ...] = ()
    """The results of a set."""

    cost: float = 0.0
    """Cost of the judge, in US dollars."""

    @property
    def passed(self) -> bool:
        """Whether it holds."""
        return self.state == "passed"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision on one assertion, before negation and weight."""

    passed: bool
    """Whether it holds."""

    reason: str
    """Reason, in a sentence."""

    score: float | None = None
    """From 0 to 1; None means 1 where it holds, else 0."""

    span: Span | None = None
    """The place in the answer."""

    cost: float = 0.0
    """Cost of the decision, in US dollars."""

    is_final: bool = False
    """Whether the score stays as it is where the assertion is negated, as promptfoo has it."""


class UndecidedError(Exception):
    """An assertion that could not be decided; the text says why."""


class NotRunError(Exception):
    """An assertion that nothing here decides; the text says what to do."""


@dataclass(frozen=True)
class AssertionContext:
    """The context of assertions besides the answer."""

    variables: JsonObject = field(default_factory=dict)
    """The row's values, `expected` among them."""

    prompt: str = ""
    """The text that was sent."""

    tools: tuple[str, ...] = ()
    """Names of the tools that the model was offered."""

    is_json: bool = False
    """Whether code gets the value of the answer's JSON, and not its text."""
