"""The grid of an experiment as an item model: one item for all repeats of a row and variant.

The answers of a result: looked at, and accepted, rated or preferred by the user.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from studio.application.experiments.generate import AcceptedAnswer, AcceptError, accept_answer
from studio.application.experiments.grid import (
    DotState,
    ExperimentGrid,
    GridCell,
    GridRow,
    RowFilter,
)
from studio.application.words import tr
from studio.core.experiments.results.cells import CellKey, CellOutcome, ResultRow
from studio.core.experiments.results.database import LedgerError
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.results.ratings import Rating
from studio.core.text.values import named_reason

# One cell looked at: its outcome beside the baseline's, its row, and the user's rating of it.


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
    """Outcome of the cell; None while it waits."""

    baseline: CellOutcome | None
    """The same repeat of the baseline; None for the baseline itself."""

    repeats: tuple[CellKey, ...]
    """All repeats of the cell."""

    has_run: bool
    """Whether its run was kept."""

    rating: Rating = field(default_factory=Rating)
    """Rating of the user."""

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


CELL_ROLE = int(Qt.ItemDataRole.UserRole)
"""Role that gives the `GridCell` of a variant's column."""

ROW_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""Role that gives the `GridRow`."""

FIRST_VARIANT = 2
"""Columns before the variants: the number and the row."""

_Index = QModelIndex | QPersistentModelIndex


class ExperimentGridModel(QAbstractTableModel):
    """Shows a grid by a list of rows; a row that stops fitting stays until it is asked again."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.grid: ExperimentGrid | None = None
        """Grid that is shown."""
        self._shown: list[int] = []
        self._place: dict[int, int] = {}
        self._filter: tuple[RowFilter, str, str] = ("all", "", "")
        self._among: frozenset[int] | None = None
        self._sorted_by: int | None = None

    def show(self, grid: ExperimentGrid | None) -> None:
        """Show another grid."""
        self.beginResetModel()
        self.grid = grid
        self._choose_rows()
        self.endResetModel()

    def set_filter(
        self, wanted: RowFilter, words: str = "", tag: str = "", among: frozenset[int] | None = None
    ) -> None:
        """Show only some rows of the present state; `among` names the rows that can be shown."""
        self._filter, self._among = (wanted, words, tag), among
        self.beginResetModel()
        self._choose_rows()
        self.endResetModel()

    def sort_by(self, variant: int | None) -> None:
        """Show rows with a low score of a variant first; the same again, in their order."""
        self._sorted_by = None if variant == self._sorted_by else variant
        self.beginResetModel()
        self._choose_rows()
        self.endResetModel()

    def put(self, key: CellKey, state: DotState, score: float) -> None:
        """Set one cell, and say so where it is shown."""
        if self.grid is None:
            return
        self.grid.put(key, state, score)
        at = self._place.get(key.row)
        if at is not None:
            index = self.index(at, FIRST_VARIANT + key.variant)
            self.dataChanged.emit(index, index, [CELL_ROLE])

    def row_at(self, index: _Index) -> int | None:
        """Number of the row of an item, from 1."""
        is_one = index.isValid() and index.row() < len(self._shown)
        return self._shown[index.row()] if is_one else None

    @property
    def shown_rows(self) -> tuple[int, ...]:
        """Numbers of the rows that are shown, in order."""
        return tuple(self._shown)

    def index_of(self, row: int, variant: int) -> QModelIndex:
        """The item of a row and variant; none where the row is not shown."""
        at = self._place.get(row)
        return self.index(at, FIRST_VARIANT + variant) if at is not None else QModelIndex()

    def _choose_rows(self) -> None:
        grid = self.grid
        wanted, words, tag = self._filter
        self._shown = (
            []
            if grid is None
            else [
                row.number
                for row in grid.rows
                if (self._among is None or row.number in self._among)
                and grid.fits(row.number, wanted, words, tag)
            ]
        )
        at = self._sorted_by
        if grid is not None and at is not None and at < len(grid.variants):
            scores = {row: grid.cell(row, at).score for row in self._shown}
            self._shown.sort(key=lambda row: (scores[row] is None, scores[row] or 0.0))
        self._place = {row: at for at, row in enumerate(self._shown)}

    # -- QAbstractTableModel --------------------------------------------------------------------

    def rowCount(self, parent: _Index | None = None) -> int:
        """Rows that are shown."""
        return 0 if parent is not None and parent.isValid() else len(self._shown)

    def columnCount(self, parent: _Index | None = None) -> int:
        """Number, row, and a column for each variant."""
        if (parent is not None and parent.isValid()) or self.grid is None:
            return 0
        return FIRST_VARIANT + len(self.grid.variants)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Names of the columns."""
        grid = self.grid
        if orientation != Qt.Orientation.Horizontal or grid is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            if section < FIRST_VARIANT:
                return ("#", tr("Row"))[section]
            name = grid.variants[section - FIRST_VARIANT]
            if names := ", ".join(grid.left_out.get(section - FIRST_VARIANT, ())):
                name = tr("{name}  (without {names})").format(name=name, names=names)
            is_base = grid.baseline == section - FIRST_VARIANT
            return tr("{name}  (baseline)").format(name=name) if is_base else name
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the data of an item."""
        grid, number = self.grid, self.row_at(index)
        if grid is None or number is None:
            return None
        row: GridRow = grid.rows[number - 1]
        variant = index.column() - FIRST_VARIANT
        if role == ROW_ROLE:
            return row
        if variant < 0:
            if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
                return (str(number), row.title)[index.column()]
            return row.title if role == Qt.ItemDataRole.ToolTipRole else None
        if role == CELL_ROLE:
            return grid.cell(number, variant)
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            return cell_words(grid.cell(number, variant))
        return None


def cell_words(cell: GridCell) -> str:
    """A cell in words, for those who do not see the dots."""
    names = {
        DotState.PASSED: tr("pass"),
        DotState.FAILED: tr("fail"),
        DotState.ERROR: tr("without an answer"),
        DotState.UNDECIDED: tr("undecided"),
        DotState.WAITING: tr("waiting"),
        DotState.NOT_PLANNED: tr("not planned"),
    }
    counts = [(cell.dots.count(state), name) for state, name in names.items()]
    words = ", ".join(f"{count} {name}" for count, name in counts if count)
    changes = {"won": tr("won"), "lost": tr("lost")}
    return f"{words}, {changes[cell.change]}" if cell.change else words


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
            self.failed.emit(tr("The cell has no answer."))
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
            tr("The expected answer of row {row} is written to {name}.").format(
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
        self.reported.emit(tr("{name} is as it was.").format(name=change.path.name))
        self.written.emit()
