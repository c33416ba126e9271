"""Iterate over the cells of a result for all exports."""

from collections.abc import Iterator
from dataclasses import dataclass

from studio.application.experiments.report import ExperimentReport
from studio.core.experiments.assertions.result import AssertionResult
from studio.core.experiments.results.cells import CellKey, CellOutcome, ResultRow
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.text.amounts import shortened
from studio.core.text.values import text_or_json


@dataclass(frozen=True)
class ExportedCell:
    """One cell with its row."""

    variant: str
    """Name of the variant."""

    row: ResultRow
    """The row."""

    key: CellKey
    """Key of the cell."""

    outcome: CellOutcome
    """Outcome of the cell."""

    @property
    def title(self) -> str:
        """Title of the row, for the user."""
        return row_title(self.row)


def row_title(row: ResultRow) -> str:
    """Return a short title of a row: its description, else its first text."""
    described = row.facts.get("description")
    if isinstance(described, str) and described:
        return described
    variables = row.facts.get("vars")
    texts = [
        text_or_json(value)
        for name, value in (variables.items() if isinstance(variables, dict) else ())
        if name not in ("id", "tags", "expected") and value not in (None, "")
    ]
    text = " ".join(" ".join(texts[:2]).split()) if texts else row.key
    return shortened(text, 100)


def cells_of(ledger: ExperimentLedger, report: ExperimentReport) -> Iterator[ExportedCell]:
    """Yield every finished cell, by variant, row and repeat."""
    rows = ledger.rows(report.head.id)
    for at, variant in enumerate(report.variants):
        for row in rows:
            for repeat in range(1, report.head.repeats + 1):
                key = CellKey(repeat, row.number, at)
                outcome = ledger.outcome(report.head.id, key)
                if outcome is not None:
                    yield ExportedCell(variant.name, row, key, outcome)


def lost(results: tuple[AssertionResult, ...]) -> Iterator[AssertionResult]:
    """Yield the assertions that did not pass."""
    return (each for each in results if not each.passed and each.weight > 0)
