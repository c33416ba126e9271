"""The answers of a result: looked at, and accepted, rated or preferred by the user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.application.experiments.accept import AcceptedAnswer, AcceptError, accept_answer
from studio.core.experiments.results.cells import CellKey
from studio.core.experiments.results.database import LedgerError
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.results.ratings import Rating
from studio.core.text.reason import named_reason
from studio.viewmodels.experiments.grid_model import ExperimentGridModel
from studio.viewmodels.experiments.shown_cell import AnswerPair, ShownCell, shown_cell


@dataclass(frozen=True, slots=True)
class ShownResult:
    """The result of an experiment that is shown."""

    ledger: ExperimentLedger
    """What has it."""

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
        shown, grid = self._shown(), self._model.grid
        if shown is None or grid is None:
            return
        self._key = key
        try:
            cell = shown_cell(shown.ledger, shown.number, grid, key)
        except LedgerError as error:
            self.failed.emit(named_reason(error))
            return
        self.cell_changed.emit(cell)

    def update(self, key: CellKey) -> None:
        """Something came of a cell: it is shown anew if it is the one that is looked at."""
        if key == self._key:
            self.look_at(key)

    def journal_of(self, key: CellKey) -> bytes | None:
        """The kept run of a cell."""
        shown = self._shown()
        return None if shown is None else shown.ledger.journal(shown.number, key)

    def pairs(self, one: int, other: int, rows: Sequence[int]) -> list[AnswerPair]:
        """The answers of two variants to the same rows, where both have one and they differ."""
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
        shown = self._shown()
        if shown is None:
            return
        outcome = shown.ledger.outcome(shown.number, key)
        if outcome is None or outcome.error:
            self.failed.emit(self.tr("The cell has no answer."))
            return
        row = shown.ledger.rows(shown.number, key.row, key.row)[0]
        try:
            change = accept_answer(self._path, row, outcome.output)
            change.write()
        except (AcceptError, OSError) as error:
            self.failed.emit(named_reason(error))
            return
        self._accepted.append(change)
        self.reported.emit(
            self.tr("The expected answer of row {row} is written to {name}.").format(
                row=key.row, name=change.path.name
            )
        )
        self.written.emit()

    def rate(self, key: CellKey, rating: Rating) -> None:
        """Keep what the user says of an answer."""
        shown = self._shown()
        if shown is None or shown.ledger.outcome(shown.number, key) is None:
            return
        try:
            shown.ledger.ratings.rate(shown.number, key, rating)
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
        self.reported.emit(self.tr("{name} is as it was.").format(name=change.path.name))
        self.written.emit()
