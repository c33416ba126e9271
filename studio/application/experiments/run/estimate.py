"""What a run would send and cost, before it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from studio.application.experiments.plan import ExperimentPlan
from studio.application.experiments.providers import price_of
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.models.choice import ModelChoice
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


@dataclass(frozen=True, slots=True)
class UsualSpending:
    """What a cell of a variant took in an earlier result, on average."""

    tokens: float
    """Of its requests and replies."""

    cost: float | None
    """US dollars at the full price; None where that is not known."""


def usual_spending(ledger: ExperimentLedger, plan: ExperimentPlan) -> dict[int, UsualSpending]:
    """What cells took in the newest results of the same file, by variant (from 0).

    Only a variant of the same name and model says something.
    """
    made: dict[int, UsualSpending] = {}
    for head in ledger.results(str(plan.file.path or "")):
        names, models = ledger.variants(head.id), head.spec.get("models")
        for total in ledger.scans.variant_totals(head.id):
            asked = total.done + total.errors - total.cached
            at = next(
                (n for n, v in enumerate(plan.variants) if v.name == names[total.variant]), -1
            )
            if asked <= 0 or at < 0 or at in made or not isinstance(models, list):
                continue
            if models[total.variant] != model_name(plan.variants[at].choice):
                continue
            share = float(str(head.spec.get("price_share") or 1.0))
            cost = None if total.unpriced else total.cost / asked / share
            made[at] = UsualSpending(total.tokens / asked, cost)
        if len(made) == len(plan.variants):
            break
    return made


def model_name(choice: ModelChoice | None) -> str:
    """The model of a variant as results keep it."""
    return choice.declaration.id if choice is not None else "echo"


def estimated_spending(
    plan: ExperimentPlan,
    usual: Mapping[int, UsualSpending],
    to_send: Iterable[tuple[int, int]],
    price_share: float = 1.0,
) -> tuple[int, float | None]:
    """Tokens and dollars of what will be sent, a call for each cell.

    Args:
        plan: what is run.
        usual: what cells took in earlier results, by variant.
        to_send: the variant and the tokens of the request of each cell that will be asked.
        price_share: what a request costs, of its price.
    """
    cells: Counter[int] = Counter()
    asked: Counter[int] = Counter()
    for at, into in to_send:
        cells[at] += 1
        asked[at] += into
    tokens, cost, is_priced = 0.0, 0.0, True
    for at, count in cells.items():
        choice, known = plan.variants[at].choice, usual.get(at)
        into = asked[at] // count
        tokens += count * (known.tokens if known is not None else into + _REPLY_TOKENS)
        if choice is None or not choice.connection.is_remote:
            continue
        spent = known.cost if known is not None else None
        if spent is None:  # the price is asked once for each variant, of a cell as large as usual
            price = price_of(choice)
            reply = max(1, round(known.tokens - into)) if known is not None else _REPLY_TOKENS
            spent = price.of(Usage(into, reply)) if price is not None else None
        is_priced = is_priced and spent is not None
        cost += count * (spent or 0.0)
    return round(tokens), cost * price_share if is_priced else None
