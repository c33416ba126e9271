"""The grid of a result as values: one byte per cell, filtered rows, and changes."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Literal, TypeAlias, overload

from studio.application.experiments.exports.cells import row_title
from studio.application.experiments.plan import ExperimentPlan
from studio.application.experiments.report import pass_rule_of
from studio.core.experiments.datasets import table_rows
from studio.core.experiments.results.cells import (
    FAILED,
    LACKS_ANSWER,
    PASSED,
    UNDECIDED,
    WAITS,
    CellKey,
    CellOutcome,
    CellStanding,
    CellState,
    ResultRow,
    RowTotal,
    row_facts,
)
from studio.core.experiments.results.comparison import row_passes
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.values import PassRule
from studio.core.text.values import JsonObject, object_of, parse_json, text_or_json

RowFilter: TypeAlias = Literal[
    "all", "changed", "failed", "flaky", "slow", "errors", "differs", "saved"
]
"""Filter of the shown rows."""

RowChange: TypeAlias = Literal["", "won", "lost"]
"""Change of a row compared with the baseline."""


class DotState(IntEnum):
    """State of one repeat of a row and variant, drawn as a dot."""

    WAITING = 0
    """Not finished."""

    PASSED = 1
    """Passes."""

    FAILED = 2
    """Fails."""

    ERROR = 3
    """Has no answer."""

    UNDECIDED = 4
    """Has an assertion that could not be decided."""

    NOT_PLANNED = 5
    """Not planned: the row's `prompts` or `providers` exclude the variant."""

    COMING = 6
    """Running; only drawn, never stored."""

    UNCHECKED = 7
    """Has an answer without assertions; only drawn, never stored."""


@dataclass(frozen=True, slots=True)
class GridCell:
    """All repeats of one row and variant."""

    dots: tuple[DotState, ...]
    """State of each repeat."""

    score: float | None
    """Mean score; None before a repeat is finished."""

    change: RowChange
    """Change compared with the baseline."""


_NO_ROW = ResultRow(0, "", {})


@dataclass(frozen=True)
class GridRow:
    """The description of a row."""

    number: int
    """Number of the row, from 1."""

    key: str
    """Key, which is the same in other results."""

    title: str
    """Short title."""

    tags: tuple[str, ...]
    """Tags of the row."""

    threshold: float | None
    """Threshold of its score."""

    facts: str = ""
    """Metadata, one per line: `language: de`."""

    row: ResultRow = _NO_ROW
    """Stored values and facts of the row."""

    @cached_property
    def searched(self) -> str:
        """Text that is searched by a filter."""
        texts = (text_or_json(value) for value in self.values.values())
        return "\n".join((self.title, *self.tags, self.facts, *texts)).casefold()

    @property
    def is_checked(self) -> bool:
        """Whether an assertion decides if an answer passes."""
        return not self.row.facts.get("unchecked")

    @property
    def values(self) -> JsonObject:
        """Values by input name."""
        return object_of(self.row.facts.get("vars"))

    @property
    def metadata(self) -> JsonObject:
        """Metadata by name."""
        return object_of(self.row.facts.get("metadata"))

    @property
    def stated(self) -> JsonObject:
        """Texts of the `__expected…` columns, by column."""
        return object_of(self.row.facts.get("stated"))

    def text(self, column: str) -> str:
        """Return the text of a column: a value, the expected answer, or metadata."""
        if column == "expected" and "expected" in self.row.facts:
            return text_or_json(self.row.facts["expected"])
        if column == "description":
            return str(self.row.facts.get("description", ""))
        value = self.values.get(column, self.stated.get(column, self.metadata.get(column)))
        return "" if value is None else text_or_json(value)


class LazyRows(Sequence[GridRow]):
    """Rows that are created when they are read, so that a table of 10,000 opens at once."""

    def __init__(self, count: int, make: Callable[[int], ResultRow]) -> None:
        """Store the function that creates a row for its index, from 0."""
        self._rows: list[GridRow | None] = [None] * count
        self._make = make

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def made(self) -> int:
        """Number of rows created so far."""
        return sum(row is not None for row in self._rows)

    @overload
    def __getitem__(self, at: int) -> GridRow: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[GridRow]: ...
    def __getitem__(self, at: int | slice) -> GridRow | Sequence[GridRow]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        row = self._rows[at]
        if row is None:
            row = self._rows[at] = grid_row(self._make(at))
        return row


@dataclass
class ExperimentGrid:
    """A result in memory, whose cells are updated during a run."""

    variants: Sequence[str]
    """Names of the variants."""

    rows: Sequence[GridRow]
    """Rows, in order."""

    repeats: int
    """Number of repeats of each row."""

    rule: PassRule = "mean"
    """Rule by which repeats decide a row."""

    baseline: int | None = None
    """Index of the variant with which others are compared; None for none."""

    left_out: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """Options not sent because the server rejects them, by variant."""

    places: tuple[Mapping[int, int], Mapping[int, int]] | None = None
    """Rows and variants of the stored result by those shown; None if they are the same."""

    _states: bytearray = field(default_factory=bytearray, repr=False)
    _scores: array[float] = field(default_factory=lambda: array("f"), repr=False)

    def __post_init__(self) -> None:
        count = len(self.rows) * len(self.variants) * self.repeats
        self._states = bytearray(count)
        self._scores = array("f", bytes(4 * count))

    def kept(self, key: CellKey) -> CellKey | None:
        """Return the stored cell with the answer for a cell; None if there is none."""
        if self.places is None:
            return key
        row, variant = self.places[0].get(key.row), self.places[1].get(key.variant)
        return None if row is None or variant is None else CellKey(key.repeat, row, variant)

    def put(self, key: CellKey, state: DotState, score: float) -> None:
        """Set the state of one cell."""
        at = self._at(key.row, key.variant) + key.repeat - 1
        self._states[at] = state
        self._scores[at] = score

    def fill(self, standing: Mapping[int, str], shares: Iterable[tuple[CellKey, float]]) -> None:
        """Set all cells from a ledger: their states, and scores between 0 and 1."""
        count = len(self.rows) * len(self.variants)
        for repeat, text in standing.items():
            if len(text) != count:
                raise ValueError(f"repeat {repeat} has {len(text)} cells of {count}")
            raw = text.encode("ascii")
            self._states[repeat - 1 :: self.repeats] = raw.translate(_DOTS)
            self._scores[repeat - 1 :: self.repeats] = array("f", list(raw.translate(_ONES)))
        for key, score in shares:
            self._scores[self._at(key.row, key.variant) + key.repeat - 1] = score

    def fill_some(self, cells: Iterable[CellStanding]) -> None:
        """Set the existing cells, if rows are not for every variant."""
        self._states = bytearray([DotState.NOT_PLANNED]) * len(self._states)
        for repeat, row, variant, state, passed, score in cells:
            decided = None if passed is None else bool(passed)
            self.put(CellKey(repeat, row, variant), dot_state(state, decided), score or 0.0)

    def cell(self, row: int, variant: int) -> GridCell:
        """Return all repeats of a row (from 1) and variant (from 0)."""
        at = self._at(row, variant)
        dots = tuple(map(DotState, self._states[at : at + self.repeats]))
        over = [
            self._scores[at + each]
            for each, dot in enumerate(dots)
            if dot not in (DotState.WAITING, DotState.ERROR, DotState.NOT_PLANNED)
        ]
        score = sum(over) / len(over) if over else None
        if not self.rows[row - 1].is_checked:
            is_done = {DotState.PASSED: DotState.UNCHECKED}
            dots, score = tuple(is_done.get(dot, dot) for dot in dots), None
        return GridCell(dots, score, self._change(row, variant))

    def is_planned(self, row: int, variant: int) -> bool:
        """Return whether the row is for the variant."""
        return self._states[self._at(row, variant)] != DotState.NOT_PLANNED

    def passes(self, row: int, variant: int) -> bool | None:
        """Return whether a row passes; None before a repeat is finished."""
        at = self._at(row, variant)
        dots = self._states[at : at + self.repeats]
        over = [each for each in range(self.repeats) if dots[each] in _WITH_ANSWER]
        if not over:
            return None
        score = sum(self._scores[at + each] for each in over) / len(over)
        passed = dots.count(DotState.PASSED)
        total = RowTotal(row, variant, len(over), passed, score, 0)
        return row_passes(total, self.rule, self.rows[row - 1].threshold)

    def is_flaky(self, row: int, variant: int) -> bool:
        """Return whether some repeats pass and others fail."""
        dots = self._dots(row, variant)
        return DotState.PASSED in dots and DotState.FAILED in dots

    def is_failed(self, row: int, variant: int) -> bool:
        """Return whether a row does not pass; one that no check has decided has not failed."""
        is_decided = DotState.FAILED in self._dots(row, variant)
        return is_decided and self.passes(row, variant) is False

    def _dots(self, row: int, variant: int) -> bytearray:
        at = self._at(row, variant)
        return self._states[at : at + self.repeats]

    def fits(self, row: int, wanted: RowFilter, words: str = "") -> bool:
        """Return whether a row matches the filter.

        Args:
            row: number of the row, from 1.
            wanted: the filter.
            words: words that its title, tags, metadata or values must contain.
        """
        if not words and wanted == "all":
            return True
        head = self.rows[row - 1]
        if words and words.casefold() not in head.searched:
            return False
        columns = range(len(self.variants))
        match wanted:
            case "changed":
                return any(self._change(row, each) for each in columns)
            case "failed":
                return any(self.is_failed(row, each) for each in columns)
            case "flaky":
                return any(self.is_flaky(row, each) for each in columns)
            case "errors":
                first = self._at(row, 0)
                last = first + len(self.variants) * self.repeats
                return DotState.ERROR in self._states[first:last]
            case _:
                return True

    def _change(self, row: int, variant: int) -> RowChange:
        if self.baseline is None or variant == self.baseline:
            return ""
        mine, theirs = self.passes(row, variant), self.passes(row, self.baseline)
        if mine is None or theirs is None or mine == theirs:
            return ""
        return "won" if mine else "lost"

    def _at(self, row: int, variant: int) -> int:
        return ((row - 1) * len(self.variants) + variant) * self.repeats


_LETTERS = {
    WAITS: DotState.WAITING,
    PASSED: DotState.PASSED,
    FAILED: DotState.FAILED,
    LACKS_ANSWER: DotState.ERROR,
    UNDECIDED: DotState.UNDECIDED,
}
_DOTS = bytes(_LETTERS.get(chr(each).lower(), 0) for each in range(256))
_ONES = bytes(chr(each) in "PFU" for each in range(256))

_WITH_ANSWER = (DotState.PASSED, DotState.FAILED, DotState.UNDECIDED)


def grid_of(ledger: ExperimentLedger, result: int) -> ExperimentGrid:
    """Return the grid of a stored result."""
    head = ledger.result(result)
    names, rows = ledger.variants(result), ledger.rows(result)
    baseline = str(head.spec.get("baseline") or "")
    grid = ExperimentGrid(
        names,
        LazyRows(len(rows), rows.__getitem__),
        head.repeats,
        pass_rule_of(head.spec),
        names.index(baseline) if baseline in names else None,
        ledger.scans.left_out(result),
    )
    standing = ledger.scans.standings(result)
    if all(len(text) == len(rows) * len(names) for text in standing.values()):
        grid.fill(standing, ledger.scans.shares(result))
    else:
        grid.fill_some(ledger.scans.states(result))
    return grid


def dot_of(outcome: CellOutcome) -> DotState:
    """Return the state of a finished cell."""
    return dot_state(outcome.state, outcome.passed)


def dot_state(state: int, passed: bool | None) -> DotState:
    """Return the state for a stored cell."""
    if state < CellState.DONE:
        return DotState.WAITING
    if state != CellState.DONE:
        return DotState.ERROR
    if passed is None:
        return DotState.UNDECIDED
    return DotState.PASSED if passed else DotState.FAILED


def planned_grid(
    plan: ExperimentPlan, ledger: ExperimentLedger | None = None, result: int | None = None
) -> ExperimentGrid:
    """Return the grid of a plan, with a stored result's answers for matching rows and variants.

    Raises:
        LedgerError: the result cannot be read.
    """
    names = [each.name for each in plan.variants]

    def row(at: int) -> ResultRow:
        each = plan.rows[at]
        return ResultRow(each.number, each.key, row_facts(each, str))

    baseline = names.index(plan.baseline) if plan.baseline in names else None
    rows, rule = LazyRows(len(plan.rows), row), plan.file.pass_rule
    grid = ExperimentGrid(names, rows, plan.repeats, rule, baseline)
    for at, variant in enumerate(plan.variants):
        for each in plan.rows:
            if not variant.takes(each.case):
                for repeat in range(1, plan.repeats + 1):
                    grid.put(CellKey(repeat, each.number, at), DotState.NOT_PLANNED, 0.0)
    if ledger is not None and result is not None:
        _take_answers(grid, {each.key: each.number for each in plan.rows}, ledger, result)
    return grid


def table_grid(path: Path, names: Sequence[str]) -> ExperimentGrid:
    """Return the grid of a CSV file before its rows are planned.

    Raises:
        DatasetError: a line is invalid.
        OSError: the file cannot be read.
        UnicodeDecodeError: the file is not UTF-8.
    """
    head, records = table_rows(path)

    def row(at: int) -> ResultRow:
        line, cells = records[at]
        values = {name: cell for name, cell in zip(head, cells, strict=True) if name}
        return ResultRow(at + 1, str(line), {"vars": values, "line": line})

    return ExperimentGrid(names, LazyRows(len(records), row), 1)


def _take_answers(
    grid: ExperimentGrid, numbers: Mapping[str, int], ledger: ExperimentLedger, result: int
) -> None:
    """Set the cells of a grid that a stored result also has."""
    kept = ledger.rows(result, with_values=False)
    rows = {row.number: numbers[row.key] for row in kept if row.key in numbers}
    names = list(grid.variants)
    columns = {
        at: names.index(name) for at, name in enumerate(ledger.variants(result)) if name in names
    }
    for repeat, row, variant, state, passed, score in ledger.scans.states(result):
        if row in rows and variant in columns and repeat <= grid.repeats:
            key = CellKey(repeat, rows[row], columns[variant])
            decided = None if passed is None else bool(passed)
            grid.put(key, dot_state(state, decided), score or 0.0)
    grid.places = (
        {now: before for before, now in rows.items()},
        {now: before for before, now in columns.items()},
    )


def grid_row(row: ResultRow) -> GridRow:
    """Return the description of a row of a result."""
    tags, threshold = row.facts.get("tags"), row.facts.get("threshold")
    facts = (f"{k}: {v}" for k, v in object_of(row.facts.get("metadata")).items())
    return GridRow(
        row.number,
        row.key,
        row_title(row),
        tuple(str(each) for each in tags) if isinstance(tags, list) else (),
        float(threshold) if isinstance(threshold, int | float) else None,
        "\n".join(facts),
        row,
    )


_SHORT = 24
"""Maximum number of characters of a value in the first line of a cell."""


def answer_fields(text: str, outputs: Sequence[str] = ()) -> tuple[tuple[str, str], ...]:
    """Return the fields of an answer, declared ones first; a text is one unnamed field.

    Args:
        text: the answer.
        outputs: names of the declared outputs.
    """
    try:
        value = parse_json(text) if text.lstrip().startswith("{") else None
    except ValueError:
        value = None
    if not isinstance(value, Mapping) or not value:
        return (("", text),)
    names = dict.fromkeys((*(name for name in outputs if name in value), *map(str, value)))
    return tuple((name, text_or_json(value[name])) for name in names)


def cell_lines(fields: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Return the first line of a cell, and the rest of the answer."""
    if len(fields) == 1 and not fields[0][0]:
        first, _, rest = fields[0][1].strip().partition("\n")
        return first, rest.strip()
    heads = list(takewhile(lambda value: len(value) <= _SHORT, (value for _, value in fields)))
    heads = heads or [fields[0][1]]
    return " · ".join(heads), "  ".join(value for _, value in fields[len(heads) :])


def lost_rows(ledger: ExperimentLedger, result: int, plan: ExperimentPlan) -> frozenset[str]:
    """Return the keys of a plan's rows that a variant of an earlier result did not pass.

    Raises:
        LedgerError: the results cannot be read.
    """
    grid = grid_of(ledger, result)
    columns = range(len(grid.variants))
    lost = {
        row.key
        for row in grid.rows
        if any(
            grid.passes(row.number, at) is not True and grid.is_planned(row.number, at)
            for at in columns
        )
    }
    return frozenset(lost & {row.key for row in plan.rows})
