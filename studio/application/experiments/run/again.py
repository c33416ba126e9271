"""Rows that did not pass, asked again after the prompt was edited."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from studio.application.experiments.grid import grid_of
from studio.application.experiments.plan import ExperimentPlan
from studio.core.experiments.results.ledger import ExperimentLedger


def lost_rows(ledger: ExperimentLedger, result: int, plan: ExperimentPlan) -> frozenset[str]:
    """Keys of the rows of a plan that some variant of an earlier result did not pass.

    Raises:
        LedgerError: the results cannot be read.
    """
    grid = grid_of(ledger, result)
    columns = range(len(grid.variants))
    lost = {
        row.key for row in grid.rows
        if any(
            grid.passes(row.number, at) is not True and grid.is_planned(row.number, at)
            for at in columns
        )
    }  # fmt: skip
    return frozenset(lost & {row.key for row in plan.rows})


def with_rows(plan: ExperimentPlan, keys: Collection[str]) -> ExperimentPlan:
    """The plan of some of its rows."""
    kept = [row for row in plan.rows if row.key in keys]
    numbers = {row.number: number for number, row in enumerate(kept, 1)}
    return replace(
        plan,
        rows=tuple(replace(row, number=numbers[row.number]) for row in kept),
        values={
            (at, numbers[number]): values
            for (at, number), values in plan.values.items()
            if number in numbers
        },
    )
