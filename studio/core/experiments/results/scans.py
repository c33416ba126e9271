"""Queries over all cells of a result: states, sums, times."""

import hashlib
import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from studio.core.experiments.assertions.marking import results_of_json
from studio.core.experiments.assertions.result import AssertionResult
from studio.core.experiments.results.cells import (
    CellKey,
    CellOutcome,
    CellState,
    RowTotal,
    VariantTotal,
)
from studio.core.experiments.results.database import LedgerDatabase, unpacked

# Totals of each variant, kept beside the cells: a summary of a million cells adds nothing up.

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
        f"INSERT INTO total VALUES ({', '.join('?' * 11)})", [(experiment, *each) for each in found]
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


CellStanding: TypeAlias = tuple[int, int, int, int, int | None, float | None]
"""Repeat, row, variant, state, whether it passed, and score of a cell."""

WAITS, PASSED, FAILED, LACKS_ANSWER, UNDECIDED = "w", "p", "f", "e", "u"
"""Letters for the states of a cell; an upper-case letter has the score 1."""

_STANDING = (
    "CASE WHEN state < 2 THEN 'w' WHEN state > 2 THEN 'e' WHEN passed IS NULL THEN"
    " CASE WHEN score = 1 THEN 'U' ELSE 'u' END WHEN passed = 1 THEN"
    " CASE WHEN score = 1 THEN 'P' ELSE 'p' END"
    " ELSE CASE WHEN score = 1 THEN 'F' ELSE 'f' END END"
)


class LedgerScans:
    """Reads of a ledger that grow with the result."""

    def __init__(self, database: LedgerDatabase) -> None:
        self._read, self._scan = database.read, database.scan

    def states(self, experiment: int) -> list[CellStanding]:
        """Return the state of every cell, in the order of repeats, rows and variants."""
        return self._scan(
            "SELECT repeat, row, variant, state, passed, score FROM cell WHERE experiment = ?",
            experiment,
        )

    def answers(self, experiment: int) -> dict[int, dict[int, int]]:
        """Return a number for the first answer of each cell, by row and variant: equal if equal."""
        found = self._scan(
            "SELECT row, variant, output FROM cell WHERE experiment = ? AND repeat = 1"
            " AND state = 2",
            experiment,
        )
        made: defaultdict[int, dict[int, int]] = defaultdict(dict)
        for row, variant, answer in found:
            made[row][variant] = answer
        return made

    def standings(self, experiment: int) -> dict[int, str]:
        """Return the states by repeat: a letter for each row and variant, in order.

        One text for each repeat: a million rows of a cursor take seconds, and so does sorting them.
        """
        found = (
            (
                repeat,
                self._scan(
                    f"SELECT group_concat(stands, '') FROM (SELECT {_STANDING} AS stands FROM cell"
                    " WHERE experiment = ? AND repeat = ? ORDER BY row, variant)",
                    experiment,
                    repeat,
                )[0][0],
            )
            for repeat in range(1, self._repeats(experiment) + 1)
        )
        return {repeat: text for repeat, text in found if text}

    def shares(self, experiment: int) -> list[tuple[CellKey, float]]:
        """Return the scores of cells that are neither 0 nor 1."""
        found = self._scan(
            "SELECT repeat, row, variant, score FROM cell WHERE experiment = ?"
            " AND score > 0 AND score <> 1",
            experiment,
        )
        return [(CellKey(*where), score) for *where, score in found]

    def row_totals(self, experiment: int) -> list[RowTotal]:
        """Return the repeats of each row and variant, added up."""
        return [
            RowTotal(row, variant, done, passed or 0, score or 0.0, errors, undecided, ms or 0.0)
            for row, variant, done, passed, score, errors, undecided, ms in self._scan(
                "SELECT row, variant, sum(state = 2), sum(passed = 1),"
                " avg(CASE WHEN state = 2 THEN score END), sum(state IN (3, 4)),"
                " sum(state = 2 AND passed IS NULL), avg(CASE WHEN state = 2 THEN ms END)"
                " FROM cell WHERE experiment = ? GROUP BY row, variant ORDER BY row, variant",
                experiment,
            )
        ]

    def variant_totals(self, experiment: int) -> list[VariantTotal]:
        """Return all cells of each variant, added up."""
        found = self._read(KEPT, experiment) or self._scan(TOTALS, experiment)
        return [VariantTotal(*each) for each in found]

    def rows_over(self, experiment: int, variant: int, ms: float) -> list[int]:
        """Return the rows with a cell of a variant that took longer."""
        rows = self._scan(
            "SELECT DISTINCT row FROM cell WHERE experiment = ? AND variant = ? AND state = 2"
            " AND ms > ?",
            experiment,
            variant,
            ms,
        )
        return [int(row) for (row,) in rows]

    def marks(self, experiment: int) -> Iterator[tuple[CellKey, tuple[AssertionResult, ...]]]:
        """Return the results of every assertion of every cell."""
        found = self._scan(
            "SELECT repeat, row, variant, results FROM mark WHERE experiment = ?"
            " ORDER BY repeat, row, variant",
            experiment,
        )
        for *where, results in found:
            yield CellKey(*where), tuple(results_of_json(unpacked(results)))

    def times(self, experiment: int, variant: int) -> list[float]:
        """Return the times of a variant's answered cells, in milliseconds."""
        rows = self._scan(
            "SELECT ms FROM cell WHERE experiment = ? AND variant = ? AND state = 2",
            experiment,
            variant,
        )
        return [float(ms or 0.0) for (ms,) in rows]

    def left_out(self, experiment: int) -> dict[int, tuple[str, ...]]:
        """Return the options that servers refused, which were therefore not sent, by variant."""
        found = self._scan(
            "SELECT DISTINCT variant, json_extract(facts, '$.left_out') FROM cell"
            " WHERE experiment = ? AND facts LIKE '%\"left_out\"%'",
            experiment,
        )
        made: defaultdict[int, dict[str, None]] = defaultdict(dict)
        for variant, names in found:
            made[variant].update(dict.fromkeys(json.loads(names or "[]")))
        return {variant: tuple(names) for variant, names in made.items() if names}

    def same_variants(self, experiment: int) -> dict[int, int]:
        """Return the variants whose cells all send what an earlier one sends, with that one."""
        digests: defaultdict[int, Any] = defaultdict(hashlib.sha256)
        cells = self._scan(
            "SELECT variant, row, repeat, identity FROM cell WHERE experiment = ?"
            " ORDER BY repeat, row, variant",
            experiment,
        )
        for variant, row, repeat, identity in cells:
            digests[variant].update(b"%d %d " % (row, repeat) + bytes(identity))
        first: dict[bytes, int] = {}
        found = {at: first.setdefault(digests[at].digest(), at) for at in sorted(digests)}
        return {at: earlier for at, earlier in found.items() if at != earlier}

    def _repeats(self, experiment: int) -> int:
        found = self._read("SELECT repeats FROM experiment WHERE id = ?", experiment)
        return int(found[0][0]) if found else 0
