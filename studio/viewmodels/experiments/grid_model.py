"""Item model of an experiment's grid: one item for all repeats of a row and variant."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from studio.application.comparison import changed_words
from studio.application.experiments.asking import CellProgress
from studio.application.experiments.grid import (
    DotState,
    ExperimentGrid,
    GridCell,
    RowFilter,
    answer_fields,
    cell_lines,
)
from studio.application.run.answer import fields_so_far
from studio.application.words import tr
from studio.core.experiments.results.cells import CellKey, CellOutcome

CELL_ROLE = int(Qt.ItemDataRole.UserRole)
"""Role for the `GridCell` in a variant's column."""

ANSWER_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""Role for the `ShownAnswer` in a variant's column."""

GROUP_ROLE = int(Qt.ItemDataRole.UserRole) + 2
"""Role for the `RowGroup` in a group header."""

_SAMPLED = 100
"""Number of rows whose values, facts and descriptions determine the columns."""

_MOST_GROUPS = 8
"""Maximum number of values of a column by which rows can be grouped."""

_NO_COLUMN = frozenset(("id", "tags", "expected"))
_MOST_KEPT = 2_000
_MOST_COUNTED = 1_000
_WORDS = re.compile(r"\s+|\S+")


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """The answer of a cell as the grid shows it."""

    first: str = ""
    """First line: the first declared outputs."""

    rest: str = ""
    """Remaining lines."""

    tone: Literal["", "error", "waits", "comes"] = ""
    """State if it is no finished answer: an error, a busy server, or still arriving."""

    changed: tuple[tuple[int, int], ...] = ()
    """Ranges in `text` of words that the first column's answer does not have."""

    @property
    def text(self) -> str:
        """The whole text."""
        return f"{self.first}\n{self.rest}"


@dataclass(frozen=True, slots=True)
class RowGroup:
    """A group header above rows with one value."""

    value: str
    """Common value of the rows."""

    rows: tuple[int, ...]
    """Numbers of the rows."""

    is_folded: bool = False
    """Whether the group is collapsed."""


def compared_answer(answer: ShownAnswer, base: ShownAnswer) -> ShownAnswer:
    """Return the answer with the ranges of the words that differ from another answer."""
    places, at = [], 0
    words = (_WORDS.findall(each.text[:_MOST_KEPT]) for each in (base, answer))
    for _, now, is_changed in changed_words(*words):
        if is_changed and now.strip():
            places.append((at, at + len(now.rstrip())))
        at += len(now)
    return replace(answer, changed=tuple(places))


_TEXT_ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.EditRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
)
_Index = QModelIndex | QPersistentModelIndex


class ExperimentGridModel(QAbstractTableModel):
    """Shows a grid by a list of row numbers; rows that no longer match stay until refiltered."""

    request_value = Signal(int, str, str)  # number of a row, column, and the value as text

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.grid: ExperimentGrid | None = None
        """The shown grid."""
        self._shown: list[int] = []
        """Numbers of the rows, or -1 - n for the header of group n."""
        self._groups: list[RowGroup] = []
        self._grouped_by = ""
        self._folded: set[str] = set()
        self._place: dict[int, int] = {}
        self._filter: tuple[RowFilter, str] = ("all", "")
        self._among: frozenset[int] | None = None
        self._sorted_by: int | None = None
        self.inputs: tuple[str, ...] = ()
        """Inputs that always have a column, even if no row has a value for them."""
        self.outputs: tuple[str, ...] = ()
        """Declared outputs, which are shown first."""
        self.heads: Mapping[int, str] = {}
        """Second lines of the column headers of answers."""
        self.is_editable = False
        """Whether values of rows can be changed."""
        self.read: Callable[[CellKey], CellOutcome | None] = lambda _key: None
        """Reads the outcome of a cell."""
        self.columns: tuple[str, ...] = ()
        """Names of the columns between the row number and the answers."""
        self._coming: dict[CellKey, CellProgress] = {}
        self._answers: dict[tuple[int, int], ShownAnswer | None] = {}

    @property
    def first_variant(self) -> int:
        """Index of the first column of answers."""
        return 1 + len(self.columns)

    def show(self, grid: ExperimentGrid | None) -> None:
        """Show another grid; if its rows and columns are the same, selection and position stay."""
        is_same = self._is_like(grid)
        if not is_same:
            self.beginResetModel()
        self.grid = grid
        self._answers.clear()
        self._coming.clear()
        self.columns = self._columns_of(grid)
        if is_same:
            last = self.index(self.rowCount() - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last)
            self._renew_heads()
            return
        self._choose_rows()
        self.endResetModel()

    def _is_like(self, grid: ExperimentGrid | None) -> bool:
        now = self.grid
        if now is None or grid is None or len(now.rows) != len(grid.rows) or not self._shown:
            return False
        is_whole = len(self._place) == len(grid.rows)
        same = (list(now.variants), now.repeats) == (list(grid.variants), grid.repeats)
        return is_whole and same and self.columns == self._columns_of(grid)

    def _columns_of(self, grid: ExperimentGrid | None) -> tuple[str, ...]:
        """Return the columns: description if rows have one, inputs, facts and expected answer."""
        rows = [] if grid is None else grid.rows[:_SAMPLED]
        values = [name for row in rows for name in row.values]
        facts = [name for row in rows for name in row.metadata]
        names = dict.fromkeys((*self.inputs, *values, *facts))
        stated = tuple(dict.fromkeys(name for row in rows for name in row.stated))
        is_free = self.is_editable and not stated
        has_expected = is_free or any(row.text("expected") for row in rows)
        return (
            *(("description",) if any(row.text("description") for row in rows) else ()),
            *(name for name in names if name not in _NO_COLUMN),
            *stated,
            *(("expected",) if has_expected else ()),
        )

    def set_filter(
        self, wanted: RowFilter, words: str = "", among: frozenset[int] | None = None
    ) -> None:
        """Show only matching rows of the current state; `among` limits them to row numbers."""
        self._filter, self._among = (wanted, words), among
        self._renew_rows()

    def sort_by(self, variant: int) -> None:
        """Sort rows by a variant's score, lowest first; called again, restore the order."""
        self.sort_by_column(self.first_variant + variant)

    def sort_by_column(self, section: int | None) -> None:
        """Sort rows by a column's value or a variant's score; called again, restore the order."""
        self._sorted_by = None if section in (0, self._sorted_by) else section
        self._renew_rows()

    @property
    def groupable(self) -> tuple[str, ...]:
        """Columns with few distinct values."""
        rows = self.grid.rows[:_SAMPLED] if self.grid is not None else ()
        counts = {name: len({row.text(name) for row in rows}) for name in self.columns}
        return tuple(name for name, count in counts.items() if 1 < count <= _MOST_GROUPS)

    def group_by(self, column: str) -> None:
        """Group the rows by the values of a column, the worst group first."""
        self._folded.clear()
        self._grouped_by = column
        self._renew_rows()

    def fold(self, index: _Index) -> bool:
        """Collapse or expand the group of a header; return whether the item is a group header."""
        group = self.group_at(index.row())
        if group is not None:
            self._folded ^= {group.value}
            self._renew_rows()
        return group is not None

    def group_at(self, place: int) -> RowGroup | None:
        """Return the group whose header is at a table row."""
        number = self._shown[place] if 0 <= place < len(self._shown) else 0
        return self._groups[-1 - number] if number < 0 else None

    @property
    def lines(self) -> tuple[int, ...]:
        """Table rows of the group headers."""
        numbers = enumerate(self._shown) if self._groups else ()
        return tuple(at for at, number in numbers if number < 0)

    def _renew_rows(self) -> None:
        self.beginResetModel()
        self._choose_rows()
        self.endResetModel()

    def put(self, key: CellKey, state: DotState, score: float) -> None:
        """Update one cell and emit a signal if it is shown."""
        if self.grid is None:
            return
        self.grid.put(key, state, score)
        self._coming.pop(key, None)
        self._renew(key)
        self._renew_heads()

    def show_progress(self, key: CellKey, progress: CellProgress) -> None:
        """Show the progress of a cell."""
        self._coming[key] = progress
        self._renew(key)

    def _renew_heads(self) -> None:
        last = self.columnCount() - 1
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, self.first_variant, last)

    def _renew(self, key: CellKey) -> None:
        first = self.grid.baseline or 0 if self.grid is not None else 0
        if key.variant == first:  # other columns are compared with it
            for variant in range(len(self.grid.variants) if self.grid is not None else 0):
                self._answers.pop((key.row, variant), None)
        self._answers.pop((key.row, key.variant), None)
        index = self.index_of(key.row, key.variant)
        if index.isValid():
            self.dataChanged.emit(index, index, [CELL_ROLE])

    def answer(self, row: int, variant: int) -> ShownAnswer | None:
        """Return the answer of the first repeat of a cell; None before it starts."""
        place = (row, variant)
        if place not in self._answers:
            if len(self._answers) > _MOST_KEPT:
                self._answers.clear()
            self._answers[place] = self._read_answer(row, variant)
        return self._answers[place]

    def _read_answer(self, row: int, variant: int) -> ShownAnswer | None:
        key = CellKey(1, row, variant)
        coming = self._coming.get(key)
        if coming is not None and coming.waits:
            return ShownAnswer(tr("Busy"), coming.waits, "waits")
        if coming is not None:
            text = coming.text
            if text.lstrip().startswith("{") and (fields := fields_so_far(text)[0]):
                text = json.dumps(fields, ensure_ascii=False)
            return ShownAnswer(*cell_lines(answer_fields(text, self.outputs)), "comes")
        kept = self.grid.kept(key) if self.grid is not None else None
        outcome = self.read(kept) if kept is not None else None
        if outcome is None:
            return None
        if outcome.error:
            return ShownAnswer(tr("No answer"), outcome.error, "error")
        answer = ShownAnswer(*cell_lines(answer_fields(outcome.output, self.outputs)))
        first = self.grid.baseline or 0 if self.grid is not None else 0
        base = self.answer(row, first) if variant != first else None
        return answer if base is None or base.tone else compared_answer(answer, base)

    def row_at(self, index: _Index) -> int | None:
        """Return the row number of an item, from 1."""
        is_one = index.isValid() and index.row() < len(self._shown)
        return self._shown[index.row()] if is_one and self._shown[index.row()] > 0 else None

    @property
    def shown_rows(self) -> tuple[int, ...]:
        """Numbers of the shown rows, in order."""
        return tuple(number for number in self._shown if number > 0)

    def index_of(self, row: int, variant: int) -> QModelIndex:
        """Return the item of a row and variant; invalid if the row is not shown."""
        at = self._place.get(row)
        return self.index(at, self.first_variant + variant) if at is not None else QModelIndex()

    def _choose_rows(self) -> None:
        grid = self.grid
        wanted, words = self._filter
        self._shown = list(range(1, len(grid.rows) + 1)) if grid is not None else []
        if grid is not None and (self._among is not None or self._filter != ("all", "")):
            self._shown = [
                number
                for number in self._shown
                if (self._among is None or _kept_row(grid, number) in self._among)
                and grid.fits(number, wanted, words)
            ]
        section = self._sorted_by
        if grid is not None and section is not None and section < self.columnCount():
            variant = section - self.first_variant
            if variant < 0:
                name = self.columns[section - 1]
                self._shown.sort(key=lambda row: grid.rows[row - 1].text(name))
            else:
                scores = {row: grid.cell(row, variant).score for row in self._shown}
                self._shown.sort(key=lambda row: (scores[row] is None, scores[row] or 0.0))
        self._groups = []
        if grid is not None and self._grouped_by in self.columns:
            self._shown = list(self._grouped(grid))
        self._place = {row: at for at, row in enumerate(self._shown) if row > 0}

    def _grouped(self, grid: ExperimentGrid) -> Iterator[int]:
        held: dict[str, list[int]] = {}
        for number in self._shown:
            held.setdefault(grid.rows[number - 1].text(self._grouped_by), []).append(number)
        for value, rows in sorted(held.items(), key=lambda each: self._share(each[1])):
            self._groups.append(RowGroup(value, tuple(rows), value in self._folded))
            yield -len(self._groups)
            if value not in self._folded:
                yield from rows

    def _share(self, rows: Sequence[int]) -> float:
        """Return the share of the cells of rows that pass; 1 if no cell has a verdict."""
        columns = range(len(self.grid.variants)) if self.grid is not None else ()
        found = [self._decided(rows, at) for at in columns] if len(rows) <= _MOST_COUNTED else []
        decided = [each for column in found for each in column]
        return sum(decided) / len(decided) if decided else 1.0

    def _decided(self, rows: Iterable[int], variant: int) -> list[bool]:
        """Return whether each row with a check and an answer passes."""
        grid = self.grid
        if grid is None:
            return []
        checked = (grid.passes(row, variant) for row in rows if grid.rows[row - 1].is_checked)
        return [each for each in checked if each is not None]

    # -- QAbstractTableModel --------------------------------------------------------------------

    def rowCount(self, parent: _Index | None = None) -> int:
        """Return the number of shown rows."""
        return 0 if parent is not None and parent.isValid() else len(self._shown)

    def columnCount(self, parent: _Index | None = None) -> int:
        """Return the number of columns: row number, values of the row, and variants."""
        if (parent is not None and parent.isValid()) or self.grid is None:
            return 0
        return self.first_variant + len(self.grid.variants)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return the names of the columns."""
        grid = self.grid
        if orientation != Qt.Orientation.Horizontal or grid is None:
            return None
        variant = section - self.first_variant
        if role == Qt.ItemDataRole.DisplayRole:
            if variant < 0:
                return ("#", *self.columns)[section].removeprefix("__")
            name = grid.variants[variant]
            if names := ", ".join(grid.left_out.get(variant, ())):
                name = tr("{name}  (without {names})").format(name=name, names=names)
            if self.is_editable:
                return f"{chr(ord('A') + variant % 26)}  {name}"
            is_base = grid.baseline == variant
            return tr("{name}  (baseline)").format(name=name) if is_base else name
        if role == ANSWER_ROLE:
            return self._below_name(variant) if variant >= 0 else ""
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the data of an item for a role."""
        grid, number = self.grid, self.row_at(index)
        variant = index.column() - self.first_variant
        if (group := self.group_at(index.row())) is not None:
            if role == GROUP_ROLE:
                return group
            return self._group_words(group, variant) if role in _TEXT_ROLES else None
        if grid is None or number is None:
            return None
        if variant < 0:
            if role not in _TEXT_ROLES:
                return None
            section = index.column()
            return grid.rows[number - 1].text(self.columns[section - 1]) if section else str(number)
        if role == CELL_ROLE:
            return grid.cell(number, variant)
        if role == ANSWER_ROLE:
            return self.answer(number, variant)
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            answer = self.answer(number, variant)
            words = cell_words(grid.cell(number, variant))
            return f"{words}: {answer.text.strip()}" if answer is not None else words
        return None

    def _group_words(self, group: RowGroup, variant: int) -> str:
        """Return the value of a group with its row count; for answers, the number of passes."""
        if variant < 0:
            words = tr("1 row") if len(group.rows) == 1 else tr("{count:,} rows")
            return f"{group.value or '–'}   {words.format(count=len(group.rows))}"
        decided = self._decided(group.rows, variant) if len(group.rows) <= _MOST_COUNTED else []
        if self.grid is None or not decided:
            return ""
        changes = [self.grid.cell(row, variant).change for row in group.rows]
        counts = ((sum(decided), tr("{n} pass")), (changes.count("lost"), tr("{n} lost")))
        return "   ".join(words.format(n=n) for n, words in counts if n or words is counts[0][1])

    def _below_name(self, variant: int) -> str:
        """Return the pass count, if the rows are few enough to be counted, and the model."""
        grid, words = self.grid, [self.heads.get(variant, "")]
        if grid is not None and len(grid.rows) <= _MOST_COUNTED:
            decided = self._decided(range(1, len(grid.rows) + 1), variant)
            if decided:
                count = tr("{passed} of {count}")
                words.insert(0, count.format(passed=sum(decided), count=len(decided)))
        return "  ".join(filter(None, words))

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Return the item flags: values of rows are editable if they come from a file."""
        is_value = self.is_editable and 0 < index.column() < self.first_variant
        is_value = is_value and self.row_at(index) is not None
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if is_value else flags

    def setData(self, index: _Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Request a change of a row's value."""
        number = self.row_at(index)
        if number is None or role != Qt.ItemDataRole.EditRole or value == index.data():
            return False
        self.request_value.emit(number, self.columns[index.column() - 1], str(value))
        return True


def _kept_row(grid: ExperimentGrid, number: int) -> int | None:
    """Return the number of a row in the stored result."""
    kept = grid.kept(CellKey(1, number, 0))
    return kept.row if kept is not None else None


def cell_words(cell: GridCell) -> str:
    """Describe a cell in words for users who cannot see the dots."""
    names = {
        DotState.PASSED: tr("pass"),
        DotState.FAILED: tr("fail"),
        DotState.ERROR: tr("without an answer"),
        DotState.UNDECIDED: tr("undecided"),
        DotState.WAITING: tr("waiting"),
        DotState.NOT_PLANNED: tr("not planned"),
        DotState.UNCHECKED: tr("not checked"),
    }
    counts = [(cell.dots.count(state), name) for state, name in names.items()]
    words = ", ".join(f"{count} {name}" for count, name in counts if count)
    changes = {"won": tr("won"), "lost": tr("lost")}
    return f"{words}, {changes[cell.change]}" if cell.change else words
