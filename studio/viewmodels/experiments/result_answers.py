"""The answers of a result: looked at, and accepted, rated or preferred by the user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.application.experiments.generate import AcceptedAnswer, AcceptError, accept_answer
from studio.application.experiments.grid import ExperimentGrid
from studio.application.words import tr
from studio.core.experiments.results.cells import CellKey, CellOutcome, ResultRow
from studio.core.experiments.results.database import LedgerError
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.results.ratings import Rating
from studio.core.text.values import named_reason
from studio.viewmodels.experiments.grid_model import ExperimentGridModel


@dataclass(frozen=True)
class ShownCell:
    """One repeat of a cell, looked at."""

    key: CellKey
    """Place of the cell."""

    variant: str
    """Name of its column."""

    row: ResultRow
    """Its row."""

    outcome: CellOutcome | None
    """Outcome of the cell; None while it waits."""

    baseline: CellOutcome | None
    """The same repeat of the baseline; None for the baseline itself."""

    repeats: tuple[CellKey, ...]
    """All repeats of the cell."""

    journal: bytes | None
    """Its kept run, or that of an equal request; None where none was kept."""

    rating: Rating = field(default_factory=Rating)
    """Rating of the user."""

    is_planned: bool = True
    """Whether the row is for the variant."""

    coming: str = ""
    """The answer so far, or why the server is waited for; empty where it is not being asked."""


@dataclass(frozen=True)
class AnswerPair:
    """Two answers to one row, of two variants."""

    row: int
    """From 1."""

    variants: tuple[int, int]
    """Whose answers they are, in the order of the columns."""

    answers: tuple[str, str]
    """The answers, in the same order."""


def shown_cell(shown: ShownResult | None, grid: ExperimentGrid, key: CellKey) -> ShownCell:
    """Read a cell of a result; before there is one, of the plan.

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
    """The result of an experiment that is shown."""

    ledger: ExperimentLedger
    """Ledger that contains it."""

    number: int
    """Its number there."""


class ResultAnswers(QObject):
    """Reads the cells of the shown result; writes what the user says to rows and ledger."""

    cell_changed = Signal(ShownCell)  # the one that is looked at
    reported = Signal(str)  # a sentence: what was written where
    failed = Signal(str)
    written = Signal()  # rows of the experiment are others now
    rated = Signal()  # an answer, or one of two was preferred: what is counted of it is other now

    def __init__(
        self,
        path: Path,
        model: ExperimentGridModel,
        shown: Callable[[], ShownResult | None],
        parent: QObject | None = None,
    ) -> None:
        """Make it.

        Args:
            path: the experiment's file.
            model: the cells of the shown result.
            shown: gives the result that is shown.
            parent: its owner.
        """
        super().__init__(parent)
        self._path = path
        self._model = model
        self._shown = shown
        self._key: CellKey | None = None
        self._accepted: list[AcceptedAnswer] = []

    def look_at(self, key: CellKey) -> None:
        """Show a cell."""
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
        """Show a cell anew, of which something came, if it is the one that is looked at."""
        if key == self._key:
            self.look_at(key)

    def journal_of(self, key: CellKey) -> bytes | None:
        """Return the kept run of a cell."""
        shown, kept = self._shown(), self._kept(key)
        if shown is None or kept is None:
            return None
        return shown.ledger.journal(shown.number, kept)

    def outcome(self, key: CellKey) -> CellOutcome | None:
        """Return the outcome of a cell of the shown result; None before it is over."""
        shown = self._shown()
        return None if shown is None else shown.ledger.outcome(shown.number, key)

    def _kept(self, key: CellKey) -> CellKey | None:
        return self._model.grid.kept(key) if self._model.grid is not None else None

    def pairs(self, one: int, other: int, rows: Sequence[int]) -> list[AnswerPair]:
        """Pair the answers of two variants to the same rows, where both exist and differ."""
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
        """Keep which of two answers the user found better without knowing whose they are."""
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
        """Write a cell's answer to its row as the expected one."""
        kept, grid = self._kept(key), self._model.grid
        outcome = self.outcome(kept) if kept is not None else None
        if outcome is None or outcome.error or grid is None:
            self.failed.emit(tr("The cell has no answer."))
            return
        row = grid.rows[key.row - 1].row
        words = tr("The expected answer of row {row} is written to {name}.")
        self.write(lambda: accept_answer(self._path, row, outcome.output), words, key.row)

    def write(self, make: Callable[[], AcceptedAnswer], words: str, row: int = 0) -> None:
        """Write a change of a file of rows; *Undo* takes it back.

        Args:
            make: gives the change.
            words: the message about it, with `{name}` for the file and `{row}` for the row.
            row: its number.
        """
        try:
            change = make()
            change.write()
        except (AcceptError, OSError) as error:
            self.failed.emit(named_reason(error))
            return
        self._accepted.append(change)
        self.reported.emit(words.format(row=row, name=change.path.name))
        self.written.emit()

    def rate(self, key: CellKey, rating: Rating) -> None:
        """Keep what the user says of an answer."""
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
        """Take the last accepted answer back."""
        if not self._accepted:
            return
        change = self._accepted.pop()
        try:
            change.undo()
        except (AcceptError, OSError) as error:
            self.failed.emit(named_reason(error))
            return
        self.reported.emit(tr("{name} is as it was.").format(name=change.path.name))
        self.written.emit()
