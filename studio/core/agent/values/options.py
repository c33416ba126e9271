"""Options of a run: chosen by the user, the command line, or a test."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.step import Limits, PausePoint
from studio.core.models.base import ProtocolName

ExceptionFilter: TypeAlias = Literal[
    "format",
    "model",
    "unknown_tool",
    "schema",
    "tool",
    "timeout",
    "limit",
    "guardrail",
    "render",
    "warning",
    "truncated",
    "repeated_action",
    "output",
]
"""Event at which a run pauses without a breakpoint."""

USUAL_EXCEPTIONS: frozenset[ExceptionFilter] = frozenset(
    {
        "format",
        "model",
        "unknown_tool",
        "schema",
        "limit",
        "guardrail",
        "render",
        "truncated",
        "output",
    }
)
"""A tool's failure is not among them: it is an observation, and the run goes on."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run."""

    protocol: ProtocolName | None = None
    """The protocol; None takes the prompt's own."""

    limits: Limits | None = None
    """Allowances; None takes the prompt's `metadata.agent.max_iterations`, else 10 steps."""

    stop: tuple[str, ...] | None = None
    """Stop sequences; None takes the prompt's, else the protocol's usual ones."""

    headless: bool = False
    """Whether the run has no user to ask. It never pauses: the model is informed of errors, a
    limit or a model failure ends it."""

    approve: Literal["ask", "never", "always"] = "ask"
    """Whether calls that want the user's word get it: ask, refuse all, allow all. Headless,
    `ask` refuses."""

    stop_at_entry: bool = False
    """Whether it pauses before the first request."""

    pause_at: frozenset[PausePoint] = frozenset()
    """Places at which it always pauses."""

    breakpoints: tuple[Breakpoint, ...] = ()
    """Breakpoints."""

    exceptions: frozenset[ExceptionFilter] = USUAL_EXCEPTIONS
    """Events at which it pauses without a breakpoint."""

    repairs: frozenset[str] = frozenset()
    """Repairs that are made without asking."""

    repair: Literal["ask", "always", "never"] = "ask"
    """Whether any other repair is offered, made without asking, or neither."""

    plain_is_final: bool = False
    """Whether a reply without any label counts as the answer."""

    parallel: bool | None = None
    """Whether the calls of one reply run at once; None takes the prompt's word, else no."""

    context_budget: int | None = None
    """Characters before the conversation is trimmed (native only)."""

    attempts: int = 3
    """Number of tries of a model call whose failure can be temporary."""

    backoff: float = 1.0
    """Seconds before the first retry; doubled for each further one, 60 at most."""

    guards: tuple[Guard, ...] = field(default=())
    """Rules that calls, replies and requests must meet."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A rule in the breakpoints' expression language that forbids something."""

    on: Literal["request", "reply", "call"]
    """Subject of the check."""

    forbid: str
    """It is forbidden where this holds (`tool == "delete"`)."""

    reason: str
    """Reason, for the user and, of a call, for the model."""
