"""Options of a run, set by the user, the command line, or a test."""

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
"""Kind of event at which a run pauses without a breakpoint."""

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
"""Default exceptions; without failed tools, whose failure is an observation."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run."""

    protocol: ProtocolName | None = None
    """The protocol; None takes the prompt's own."""

    limits: Limits | None = None
    """Limits; None for the prompt's `metadata.agent.max_iterations`, else 10 steps."""

    stop: tuple[str, ...] | None = None
    """Stop sequences; None for the prompt's, else the protocol's default."""

    headless: bool = False
    """Whether the run has no user to ask. It never pauses: the model is informed of errors; a limit
    or a model failure ends the run.
    """

    approve: Literal["ask", "never", "always"] = "ask"
    """Handling of calls that need approval: ask, refuse all, allow all. Headless, `ask` refuses."""

    stop_at_entry: bool = False
    """Whether the run pauses before the first request."""

    pause_at: frozenset[PausePoint] = frozenset()
    """Pause points at which it always pauses."""

    breakpoints: tuple[Breakpoint, ...] = ()
    """The breakpoints."""

    exceptions: frozenset[ExceptionFilter] = USUAL_EXCEPTIONS
    """Kinds of events at which it pauses without a breakpoint."""

    repairs: frozenset[str] = frozenset()
    """Repairs that are made without asking."""

    repair: Literal["ask", "always", "never"] = "ask"
    """Whether any other repair is offered, made without asking, or not offered."""

    plain_is_final: bool = False
    """Whether a reply without any label counts as the answer."""

    parallel: bool | None = None
    """Whether the calls of one reply run in parallel; None for the prompt's setting, else no."""

    context_budget: int | None = None
    """Characters above which the conversation is trimmed (native only)."""

    attempts: int = 3
    """Maximum number of attempts of a model call that fails temporarily."""

    backoff: float = 1.0
    """Seconds before the first retry; doubled for each further one, up to 60."""

    guards: tuple[Guard, ...] = field(default=())
    """Rules that calls, replies and requests must meet."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A rule in the expression language of breakpoints that forbids something."""

    on: Literal["request", "reply", "call"]
    """Subject of the rule."""

    forbid: str
    """Expression; it forbids if it is true (`tool == "delete"`)."""

    reason: str
    """Reason, for the user and, for a call, also for the model."""
