"""Totals of each variant, kept beside the cells: a summary of a million cells adds nothing up."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from studio.core.experiments.results.cells import CellOutcome, CellState

TOTALS = """
SELECT variant, count(*), sum(state = 2), coalesce(sum(state = 2 AND passed = 1), 0),
  sum(state IN (3, 4)),
  sum(state = 2 AND passed IS NULL), sum(cached),
  coalesce(sum(CASE WHEN state >= 2 AND cached = 0 THEN cost END), 0.0),
  coalesce(sum(CASE WHEN state >= 2 AND cached = 0 THEN in_tokens + out_tokens END), 0),
  sum(state = 2 AND cost IS NULL)
FROM cell WHERE experiment = ? GROUP BY variant ORDER BY variant
"""
"""Adds up the cells of a result, in the order of the fields of `VariantTotal`."""

KEPT = """
SELECT variant, cells, done, passed, errors, undecided, cached, cost, tokens, unpriced
FROM total WHERE experiment = ? ORDER BY variant
"""
"""The same from what is kept."""


def begin_totals(run: sqlite3.Connection, experiment: int, cells: Sequence[int]) -> None:
    """Begin with cells that wait, so many of each variant."""
    run.executemany(
        "INSERT INTO total (experiment, variant, cells) VALUES (?, ?, ?)",
        [(experiment, at, count) for at, count in enumerate(cells)],
    )


def sum_up(run: sqlite3.Connection, experiment: int) -> None:
    """Add all cells up anew: what was over waits again."""
    found = run.execute(TOTALS, (experiment,)).fetchall()
    run.execute("DELETE FROM total WHERE experiment = ?", (experiment,))
    run.executemany(
        f"INSERT INTO total VALUES ({', '.join('?' * 11)})",
        [(experiment, *each) for each in found],
    )


def add_outcome(
    run: sqlite3.Connection, experiment: int, variant: int, outcome: CellOutcome
) -> None:
    """Count a cell that has just come over; to be called in the transaction that keeps it."""
    is_done = outcome.state is CellState.DONE
    is_asked = not outcome.is_cached
    run.execute(
        "UPDATE total SET done = done + ?, passed = passed + ?, errors = errors + ?,"
        " undecided = undecided + ?, cached = cached + ?, cost = cost + ?, tokens = tokens + ?,"
        " unpriced = unpriced + ? WHERE experiment = ? AND variant = ?",
        (
            is_done,
            outcome.passed is True,
            not is_done,
            is_done and outcome.passed is None,
            outcome.is_cached,
            (outcome.cost or 0.0) * is_asked,
            (outcome.input_tokens + outcome.output_tokens) * is_asked,
            is_done and outcome.cost is None,
            experiment,
            variant,
        ),
    )
