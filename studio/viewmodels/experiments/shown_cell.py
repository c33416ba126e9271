"""One cell looked at: its outcome beside the baseline's, its row, and the user's rating of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from studio.application.experiments.grid import ExperimentGrid
from studio.core.experiments.results.cells import CellKey, CellOutcome
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.results.ratings import Rating
from studio.core.experiments.results.result import ResultRow


@dataclass(frozen=True)
class ShownCell:
    """One repeat of a cell, looked at."""

    result: int
    """The result's number."""

    key: CellKey
    """Which."""

    variant: str
    """Name of its column."""

    row: ResultRow
    """Its row."""

    outcome: CellOutcome | None
    """What came of it; None while it waits."""

    baseline: CellOutcome | None
    """The same repeat of the baseline; None for the baseline itself."""

    repeats: tuple[CellKey, ...]
    """All repeats of the cell."""

    has_run: bool
    """Whether its run was kept."""

    rating: Rating = field(default_factory=Rating)
    """What the user said of it."""

    is_planned: bool = True
    """Whether the row is for the variant."""


@dataclass(frozen=True)
class AnswerPair:
    """Two answers to one row, of two variants."""

    row: int
    """From 1."""

    variants: tuple[int, int]
    """Whose answers they are, in the order of the columns."""

    answers: tuple[str, str]
    """The answers, in the same order."""


def shown_cell(
    ledger: ExperimentLedger, result: int, grid: ExperimentGrid, key: CellKey
) -> ShownCell:
    """Read a cell of a result.

    Raises:
        LedgerError: the results cannot be read.
    """
    base = None
    if grid.baseline is not None and grid.baseline != key.variant:
        base = ledger.outcome(result, CellKey(key.repeat, key.row, grid.baseline))
    return ShownCell(
        result,
        key,
        grid.variants[key.variant],
        ledger.rows(result, key.row, key.row)[0],
        ledger.outcome(result, key),
        base,
        tuple(CellKey(each, key.row, key.variant) for each in range(1, grid.repeats + 1)),
        ledger.journal(result, key) is not None,
        ledger.ratings.of(result).get(key, Rating()),
        grid.is_planned(key.row, key.variant),
    )
