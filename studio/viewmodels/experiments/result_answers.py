"""Edits of a prompt's cases and of a result's answers, each written at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from PySide6.QtCore import QObject, Signal

from studio.application.experiments import cases
from studio.application.experiments.grid import ExperimentGrid
from studio.application.experiments.plan import ExperimentPlan
from studio.application.inputs.fields import ABSENT, input_fields
from studio.application.inputs.sets import fit_values
from studio.application.words import tr
from studio.core.experiments.results.cells import CellKey, CellOutcome, ResultRow
from studio.core.experiments.results.database import LedgerError
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.results.ratings import Rating
from studio.core.experiments.row_edits import with_rows, with_value, without_rows
from studio.core.text.values import JsonDict, JsonObject, named_reason
from studio.viewmodels.experiments.grid_model import ExperimentGridModel


@dataclass(frozen=True)
class ShownCell:
    """The selected repeat of a cell."""

    key: CellKey
    """Key of the cell."""

    variant: str
    """Name of the column."""

    row: ResultRow
    """Row of the cell."""

    outcome: CellOutcome | None
    """Outcome of the cell; None while it waits."""

    baseline: CellOutcome | None
    """The same repeat of the baseline; None for the baseline itself."""

    repeats: tuple[CellKey, ...]
    """Keys of all repeats of the cell."""

    journal: bytes | None
    """Journal of its run or of an equal request; None if none was stored."""

    rating: Rating = field(default_factory=Rating)
    """Rating by the user."""

    is_planned: bool = True
    """Whether the row applies to the variant."""

    coming: str = ""
    """The answer so far, or why the server is busy; empty if the cell is not running."""


@dataclass(frozen=True)
class AnswerPair:
    """Answers of two variants to one row."""

    row: int
    """Number of the row, from 1."""

    variants: tuple[int, int]
    """Numbers of the two variants, in the order of the columns."""

    answers: tuple[str, str]
    """The answers, in the same order."""


def shown_cell(shown: ShownResult | None, grid: ExperimentGrid, key: CellKey) -> ShownCell:
    """Read a cell of a result, or of the plan if there is no result yet.

    Raises:
        LedgerError: the results cannot be read.
    """

    def outcome(place: CellKey | None) -> CellOutcome | None:
        if shown is None or place is None:
            return None
        return shown.ledger.outcome(shown.number, place)

    base, kept = None, grid.kept(key)
    if grid.baseline is not None and grid.baseline != key.variant:
        base = outcome(grid.kept(replace(key, variant=grid.baseline)))
    journal, rating = None, Rating()
    if shown is not None and kept is not None:
        journal = shown.ledger.journal(shown.number, kept)
        rating = shown.ledger.ratings.of(shown.number).get(kept, rating)
    return ShownCell(
        key,
        grid.variants[key.variant],
        grid.rows[key.row - 1].row,
        outcome(kept),
        base,
        tuple(CellKey(each, key.row, key.variant) for each in range(1, grid.repeats + 1)),
        journal,
        rating,
        grid.is_planned(key.row, key.variant),
    )


@dataclass(frozen=True, slots=True)
class ShownResult:
    """The shown result of an experiment."""

    ledger: ExperimentLedger
    """Ledger that contains it."""

    number: int
    """Number of the result in the ledger."""


class ResultAnswers(QObject):
    """Reads the cells of the shown result; writes the user's edits to rows and ledger."""

    cell_changed = Signal(ShownCell)  # the selected cell
    reported = Signal(str)  # a sentence: what was written where
    failed = Signal(str)
    written = Signal()  # the rows of the experiment have changed
    rated = Signal()  # an answer was rated, or one of two was preferred: counts have changed

    def __init__(
        self,
        path: Path,
        model: ExperimentGridModel,
        shown: Callable[[], ShownResult | None],
        parent: QObject | None = None,
    ) -> None:
        """Create it.

        Args:
            path: the experiment file.
            model: the grid of the shown result.
            shown: returns the shown result.
            parent: owner.
        """
        super().__init__(parent)
        self._path = path
        self._model = model
        self._shown = shown
        self._key: CellKey | None = None
        self._accepted: list[cases.AcceptedAnswer] = []

    def look_at(self, key: CellKey) -> None:
        """Select a cell and show it."""
        self._key = key
        grid = self._model.grid
        is_there = grid is not None and key.row <= len(grid.rows)
        if grid is None or not is_there or key.variant >= len(grid.variants):
            return
        try:
            cell = shown_cell(self._shown(), grid, key)
        except LedgerError as error:
            self.failed.emit(named_reason(error))
            return
        answer = self._model.answer(key.row, key.variant)
        if answer is not None and answer.tone in ("comes", "waits"):
            cell = replace(cell, outcome=None, coming=answer.text)
        self.cell_changed.emit(cell)

    def update(self, key: CellKey) -> None:
        """Show a changed cell again if it is the selected one."""
        if key == self._key:
            self.look_at(key)

    def journal_of(self, key: CellKey) -> bytes | None:
        """Return the journal of a cell's run."""
        shown, kept = self._shown(), self._kept(key)
        if shown is None or kept is None:
            return None
        return shown.ledger.journal(shown.number, kept)

    def outcome(self, key: CellKey) -> CellOutcome | None:
        """Return the outcome of a cell of the shown result; None before it ends."""
        shown = self._shown()
        return None if shown is None else shown.ledger.outcome(shown.number, key)

    def _kept(self, key: CellKey) -> CellKey | None:
        return self._model.grid.kept(key) if self._model.grid is not None else None

    def pairs(self, one: int, other: int, rows: Sequence[int]) -> list[AnswerPair]:
        """Return pairs of answers of two variants to the same rows if both exist and differ."""
        shown = self._shown()
        if shown is None:
            return []
        made = []
        for row in rows:
            first, second = (
                shown.ledger.outcome(shown.number, CellKey(1, row, at)) for at in (one, other)
            )
            if first is None or second is None or first.error or second.error:
                continue
            if first.output != second.output:
                made.append(AnswerPair(row, (one, other), (first.output, second.output)))
        return made

    def prefer(self, row: int, pair: tuple[int, int], winner: int | None) -> None:
        """Save which of two anonymous answers the user preferred."""
        shown = self._shown()
        if shown is None:
            return
        try:
            shown.ledger.ratings.prefer(shown.number, row, pair, winner)
        except LedgerError as error:
            self.failed.emit(named_reason(error))
            return
        self.rated.emit()

    def accept(self, key: CellKey) -> None:
        """Write a cell's answer to its row as the expected answer."""
        kept, grid = self._kept(key), self._model.grid
        outcome = self.outcome(kept) if kept is not None else None
        if outcome is None or outcome.error or grid is None:
            self.failed.emit(tr("The cell has no answer."))
            return
        row = grid.rows[key.row - 1].row
        words = tr("The expected answer of row {row} was saved in {name}.")
        self.write(lambda: cases.accept_answer(self._path, row, outcome.output), words, key.row)

    def write(self, make: Callable[[], cases.AcceptedAnswer], words: str, row: int = 0) -> None:
        """Change a file of rows; *Undo* reverts it.

        Args:
            make: returns the change.
            words: the message about it, with `{name}` for the file and `{row}` for the row.
            row: number of the row.
        """
        try:
            change = make()
            change.write()
        except (cases.AcceptError, OSError) as error:
            self.failed.emit(named_reason(error))
            return
        self._accepted.append(change)
        self.reported.emit(words.format(row=row, name=change.path.name))
        self.written.emit()

    def rate(self, key: CellKey, rating: Rating) -> None:
        """Save the user's rating of an answer."""
        shown, kept = self._shown(), self._kept(key)
        if shown is None or kept is None or self.outcome(kept) is None:
            return
        try:
            shown.ledger.ratings.rate(shown.number, kept, rating)
        except LedgerError as error:
            self.failed.emit(named_reason(error))
            return
        self.update(key)
        self.rated.emit()

    def undo_accept(self) -> None:
        """Revert the last accepted answer."""
        if not self._accepted:
            return
        change = self._accepted.pop()
        try:
            change.undo()
        except (cases.AcceptError, OSError) as error:
            self.failed.emit(named_reason(error))
            return
        self.reported.emit(tr("{name} was restored.").format(name=change.path.name))
        self.written.emit()


CasesNow: TypeAlias = Callable[[], tuple[cases.CasesTable | None, ExperimentPlan | None]]
"""Returns the current table and its plan."""


class CasesEditor(QObject):
    """Writes changes of rows to the file of cases; *Undo* reverts each."""

    file_made = Signal(Path)  # created with the first row

    def __init__(
        self, answers: ResultAnswers, model: ExperimentGridModel, now: CasesNow, parent: QObject
    ) -> None:
        """Create the editor for the grid and the answers, which write the rows."""
        super().__init__(parent)
        self._answers = answers
        self._model = model
        self._now = now
        model.request_value.connect(self.set_value)

    def set_value(self, number: int, column: str, text: str) -> None:
        """Write a value of a row, converted to the type of its input."""
        table, grid = self._now()[0], self._model.grid
        if table is None or grid is None:
            return
        row, path = grid.rows[number - 1], table.rows
        line = row.row.facts.get("line")
        (typed,) = self._typed([{column: text}])
        if path is None or not isinstance(line, int):
            self.add_rows([{**row.values, **typed}])
            return
        value, held = typed[column], row.values
        words = tr("Row {row} is saved in {name}.")

        def change(before: str) -> str:
            return with_value(before, path, line, column, value, held)

        self._answers.write(lambda: cases.changed_rows(path, change), words, number)

    def add_rows(self, rows: Sequence[JsonObject]) -> None:
        """Add rows; create the file if there is none."""
        table, plan = self._now()
        if table is None or plan is None or not rows:
            return
        path = table.rows or cases.new_case_file(plan.variants[0].document, table.prompt)
        first = dict.fromkeys((*self._model.inputs, "expected"), "")
        made = rows if path.exists() else [{**first, **rows[0]}, *rows[1:]]
        one, many = tr("1 row was added to {name}."), tr("Rows were added to {name}.")
        self.file_made.emit(path)

        def change(before: str) -> str:
            return with_rows(before, path, made)

        self._answers.write(
            lambda: cases.changed_rows(path, change), one if len(rows) == 1 else many
        )

    def add_empty(self) -> None:
        """Add a row with the defaults and samples of the prompt, or with a placeholder.

        A row without any value would be skipped when the file is read.
        """
        plan = self._now()[1]
        fields = input_fields(plan.variants[0].document) if plan is not None else ()
        row = {each.name: each.fallback for each in fields if each.fallback is not ABSENT}
        if fields and not row:
            row = {fields[0].name: tr("new case")}
        self.add_rows([row])

    def paste(self, text: str) -> None:
        """Add pasted rows (from a spreadsheet, CSV or JSON), converted to the input types."""
        rows = cases.pasted_rows(text, self._model.columns)
        if not rows:
            self._answers.failed.emit(tr("The clipboard contains no rows."))
            return
        self.add_rows(self._typed(rows))

    def remove_rows(self, numbers: Collection[int]) -> None:
        """Remove rows from the file."""
        table, grid = self._now()[0], self._model.grid
        if table is None or table.rows is None or grid is None:
            return
        path = table.rows
        lines = [grid.rows[number - 1].row.facts.get("line") for number in numbers]
        gone = {line for line in lines if isinstance(line, int)}

        def change(before: str) -> str:
            return without_rows(before, path, gone)

        words = tr("Rows were removed from {name}.")
        self._answers.write(lambda: cases.changed_rows(path, change), words)

    def _typed(self, rows: Sequence[JsonObject]) -> list[JsonDict]:
        """Return the rows with texts converted to the types of the prompt's inputs."""
        plan = self._now()[1]
        specs = input_fields(plan.variants[0].document) if plan is not None else ()
        return [fit_values(row, specs) for row in rows]
