"""What people say of answers, in the ledger."""

from __future__ import annotations

import time

from studio.core.experiments.results.cells import CellKey
from studio.core.experiments.results.database import LedgerDatabase
from studio.core.experiments.results.ratings import Rating


class RatingStore:
    """Marks of answers, and which of two was found better."""

    def __init__(self, database: LedgerDatabase) -> None:
        self._transaction, self._read = database.transaction, database.read

    def rate(self, experiment: int, key: CellKey, rating: Rating) -> None:
        """Keep what a person says of an answer; an empty rating takes it back."""
        where = (experiment, key.repeat, key.row, key.variant)
        with self._transaction() as run:
            run.execute(
                "DELETE FROM rating WHERE experiment = ? AND repeat = ? AND row = ?"
                " AND variant = ?", where,
            )  # fmt: skip
            if not rating.is_empty:
                run.execute(
                    "INSERT INTO rating VALUES (?,?,?,?,?,?,?,?)",
                    (*where, rating.points, rating.passed, rating.note, time.time()),
                )

    def of(self, experiment: int) -> dict[CellKey, Rating]:
        """What people said of the answers of a result."""
        return {
            CellKey(repeat, row, variant):
                Rating(points, None if passed is None else bool(passed), note)
            for repeat, row, variant, points, passed, note in self._read(
                "SELECT repeat, row, variant, points, passed, note FROM rating"
                " WHERE experiment = ? ORDER BY repeat, row, variant", experiment,
            )
        }  # fmt: skip

    def prefer(self, experiment: int, row: int, pair: tuple[int, int], winner: int | None) -> None:
        """Keep which of two variants a person found better, without their names; None: neither."""
        with self._transaction() as run:
            run.execute(
                "INSERT OR REPLACE INTO preference VALUES (?,?,?,?,?,?)",
                (experiment, row, min(pair), max(pair), winner, time.time()),
            )

    def preferences(self, experiment: int) -> list[tuple[int, int, int, int | None]]:
        """Row, both variants, and which was better."""
        return self._read(
            "SELECT row, one, other, winner FROM preference WHERE experiment = ?"
            " ORDER BY row, one, other", experiment,
        )  # fmt: skip
