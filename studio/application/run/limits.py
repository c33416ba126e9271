"""What a run has used of each of its limits, in words, and how each is raised."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from studio.application.run.words import money, seconds
from studio.application.words import translate
from studio.core.agent.values.state import LimitName, RunState

_tr = partial(translate, "RunLimits")


@dataclass(frozen=True, slots=True)
class LimitLine:
    """One limit."""

    name: LimitName
    """Which."""

    used: float
    """What of it is used: iterations, tokens, dollars or seconds."""

    allowed: float | None
    """The limit; None for none."""

    words: str
    """Both, for people."""

    more: float
    """The limit that "more" allows."""

    more_words: str
    """What allowing more is called."""

    question: str
    """What is asked for another limit."""


def limit_lines(state: RunState) -> tuple[LimitLine, ...]:
    """The limits that a run adds up to, as they stand; that of one reply is no sum."""
    limits = state.limits
    cost = state.usage.cost or 0.0
    return (
        _line("iterations", _tr("Iterations"), state.iteration, limits.iterations, 5),
        _line("tokens", _tr("Tokens"), state.usage.total_tokens, limits.tokens, 100_000),
        _line("cost", _tr("Cost"), cost, limits.cost, 1.0),
        _line("seconds", _tr("Time of work"), state.seconds, limits.seconds, 600.0),
    )


def _line(
    name: LimitName, title: str, used: float, allowed: float | None, step: float
) -> LimitLine:
    most = _amount(name, allowed) if allowed is not None else _tr("no limit")
    more = (allowed if allowed is not None else used) + step
    unit = {"cost": _tr("dollars"), "seconds": _tr("seconds")}.get(name, title)
    return LimitLine(
        name,
        used,
        allowed,
        _tr("{title}: {used} of {most}").format(title=title, used=_amount(name, used), most=most),
        more,
        _tr("Allow up to {amount}").format(amount=_amount(name, more)),
        _tr("The run stands still at this many ({unit}):").format(unit=unit),
    )


def _amount(name: LimitName, value: float) -> str:
    match name:
        case "cost":
            return money(value)
        case "seconds":
            return seconds(value)
        case "iterations" | "tokens" | "reply":
            return f"{value:,.0f}"
