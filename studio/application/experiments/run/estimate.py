"""What a run would send and cost, before it does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from studio.application.experiments.plan import ExperimentPlan
from studio.application.experiments.providers import price_of
from studio.core.wire.reply import Usage

_REPLY_TOKENS = 400
"""Tokens of a reply that an estimate assumes where the prompt sets no bound."""


@dataclass(frozen=True, slots=True)
class ExperimentEstimate:
    """What a run would do, before it does."""

    cells: int
    """All cells."""

    equal: int
    """Cells whose request is equal to one that was answered before: they cost nothing."""

    to_send: int
    """Cells that will be asked."""

    tokens: int
    """About how many tokens of requests and replies."""

    cost: float | None
    """About how many US dollars; None where a price is not known."""

    faults: tuple[str, ...] = ()
    """Rows whose prompt cannot be rendered, a sentence each."""


def estimated_spending(
    plan: ExperimentPlan, to_send: Iterable[tuple[int, int]], price_share: float = 1.0
) -> tuple[int, float | None]:
    """Tokens and dollars of what will be sent, a call for each cell.

    Args:
        plan: what is run.
        to_send: the variant and the tokens of the request of each cell that will be asked.
        price_share: what a request costs, of its price.
    """
    tokens, cost, is_priced = 0, 0.0, True
    prices = [price_of(each.choice) for each in plan.variants]
    for at, into in to_send:
        tokens += into + _REPLY_TOKENS
        choice = plan.variants[at].choice
        if choice is None or not choice.connection.is_remote:
            continue
        price = prices[at]
        spent = price.of(Usage(into, _REPLY_TOKENS)) if price is not None else None
        is_priced = is_priced and spent is not None
        cost += spent or 0.0
    return tokens, cost * price_share if is_priced else None
