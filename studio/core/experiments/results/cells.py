"""The cells of a result: their states and outcomes, and queries over all of them.

An answer with its marks is stored as an outcome, and can be restored from one.
"""

import hashlib
import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from typing import Any, TypeAlias

from studio.core.experiments.assertions.marking import CellMarks, results_of_json
from studio.core.experiments.assertions.result import AssertionResult, CellAnswer, MadeCall
from studio.core.experiments.results.database import LedgerDatabase, unpacked
from studio.core.experiments.values import ExperimentRow
from studio.core.text.values import Json, JsonDict, JsonObject, object_of, objects_of


class CellState(IntEnum):
    """The state of a cell; the numbers are stored in the file."""

    PENDING = 0
    """Not started."""

    LEASED = 1
    """Reserved by a process."""

    DONE = 2
    """Has an answer and marks."""

    ERROR = 3
    """Has no answer because the model or a tool could not be used. Never means "failed"."""

    CANCELLED = 4
    """Was given up."""


@dataclass(frozen=True, slots=True, order=True)
class CellKey:
    """The key of a cell within a result."""

    repeat: int
    """Number of the repeat, from 1."""

    row: int
    """Number of the row, from 1."""

    variant: int
    """Index of the variant, from 0."""


@dataclass(frozen=True)
class CellOutcome:
    """The outcome of a cell."""

    state: CellState
    """`DONE` or `ERROR`."""

    output: str = ""
    """The answer."""

    passed: bool | None = None
    """Whether it passes; None if an assertion could not be decided."""

    score: float = 0.0
    """Score from 0 to 1."""

    cost: float | None = None
    """Cost in US dollars, including judges; None if the price is not known."""

    input_tokens: int = 0
    """Tokens of all requests."""

    output_tokens: int = 0
    """Tokens of all replies."""

    ms: float = 0.0
    """Duration of the request in milliseconds, when it was sent."""

    steps: int = 0
    """Number of model calls."""

    error: str = ""
    """Reason why there is no answer, one sentence; empty if there is one."""

    is_cached: bool = False
    """Whether it was copied from an earlier result."""

    results: tuple[AssertionResult, ...] = ()
    """Results of its assertions."""

    facts: JsonObject = field(default_factory=dict)
    """Data for judging it again: calls, finish reason, errors, the first price, options that were
    not sent.
    """


@dataclass(frozen=True, slots=True)
class RowTotal:
    """The totals of one row and variant over its repeats."""

    row: int
    """Number of the row, from 1."""

    variant: int
    """Index of the variant, from 0."""

    done: int
    """Number of repeats with an answer."""

    passed: int
    """Number of repeats that pass."""

    score: float
    """Mean score of the repeats with an answer."""

    errors: int
    """Number of repeats without an answer."""

    undecided: int = 0
    """Number of repeats with an undecided assertion."""

    ms: float = 0.0
    """Mean time in milliseconds."""

    @property
    def is_flaky(self) -> bool:
        """Whether some repeats pass and others fail."""
        return 0 < self.passed < self.done


@dataclass(frozen=True, slots=True)
class VariantTotal:
    """The totals of one variant over all its cells."""

    variant: int
    """Index of the variant, from 0."""

    cells: int
    """Number of cells."""

    done: int
    """Number of cells with an answer."""

    passed: int
    """Number of cells that pass."""

    errors: int
    """Number of cells without an answer."""

    undecided: int
    """Number of cells with an undecided assertion."""

    cached: int
    """Number of cells copied from earlier results."""

    cost: float
    """Cost of the cells that were not copied, in US dollars."""

    tokens: int
    """Tokens of the cells that were not copied."""

    unpriced: int = 0
    """Number of cells whose price is not known."""


def facts_of(calls: tuple[MadeCall, ...], **others: Json) -> JsonDict:
    """Return the data for judging again, for storage."""
    made: JsonDict = {name: value for name, value in others.items() if value}
    if calls:
        made["calls"] = [asdict(each) for each in calls]
    return made


def calls_of(facts: JsonObject) -> tuple[MadeCall, ...]:
    """Return the stored tool calls."""
    return tuple(
        MadeCall(
            str(each.get("tool", "")),
            object_of(each.get("arguments")),
            is_error=each.get("is_error") is True,
            is_valid=each.get("is_valid") is not False,
        )
        for each in objects_of(facts.get("calls"))
    )


def done_outcome(
    answer: CellAnswer, marks: CellMarks, cost: float | None, *, is_cached: bool = False
) -> CellOutcome:
    """Build the outcome of a cell with an answer and marks; its cost includes the judges."""
    undecided = marks.is_undecided and not _is_lost_anyway(marks)
    whole = cost
    if not is_cached and marks.cost:
        whole = (cost or 0.0) + marks.cost
    return CellOutcome(
        CellState.DONE,
        answer.text,
        None if undecided else marks.passed,
        marks.score,
        whole,
        answer.input_tokens,
        answer.output_tokens,
        answer.latency_ms,
        answer.steps,
        is_cached=is_cached,
        results=marks.results,
        facts=facts_of(
            answer.calls,
            finish=answer.finish_reason,
            refused=answer.is_refusal,
            errors=answer.errors,
            asked_cost=answer.cost,
            untimed=not answer.is_timed,
            left_out=list(answer.left_out),
        ),
    )


def _is_lost_anyway(marks: CellMarks) -> bool:
    """Return whether a decided assertion already fails the cell."""
    return any(each.state == "failed" and each.weight > 0 for each in marks.results)


def answer_of(outcome: CellOutcome) -> CellAnswer:
    """Return the stored answer, to be marked again."""
    facts = outcome.facts
    errors, cost = facts.get("errors"), facts.get("asked_cost", outcome.cost)
    return CellAnswer(
        outcome.output,
        outcome.ms,
        cost if isinstance(cost, float) else outcome.cost,
        outcome.input_tokens,
        outcome.output_tokens,
        outcome.steps,
        calls_of(facts),
        str(facts.get("finish", "")),
        is_refusal=facts.get("refused") is True,
        errors=errors if isinstance(errors, int) else 0,
        left_out=left_out_of(outcome),
        is_timed=facts.get("untimed") is not True,
    )


def left_out_of(outcome: CellOutcome) -> tuple[str, ...]:
    """Return the options that were not sent because the server rejects them."""
    names = outcome.facts.get("left_out")
    return tuple(map(str, names)) if isinstance(names, list) else ()


def row_facts(row: ExperimentRow, mask: Callable[[str], str]) -> JsonDict:
    """Return a row's data for storage, with secrets in its values masked."""
    case = row.case
    others: JsonDict = {
        "tags": list(case.tags),
        "description": case.description,
        "file": case.file,
        "line": case.line,
        "metadata": dict(case.metadata),
        "threshold": case.threshold,
        "expected": case.expected,
        "stated": _masked(dict(case.stated), mask),
        "unchecked": all(each.weight == 0 for each in case.assertions),
    }
    kept = {name: value for name, value in others.items() if value}
    return {"vars": _masked(dict(case.variables), mask), **kept}


def _masked(value: Json, mask: Callable[[str], str]) -> Json:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {key: _masked(item, mask) for key, item in value.items()}
    return [_masked(each, mask) for each in value] if isinstance(value, list) else value


# Results as values: the head of one, its rows, and the data of a new one.


@dataclass(frozen=True, slots=True)
class ResultHead:
    """The head of a result, for the list of results."""

    id: int
    """Number in the ledger."""

    name: str
    """Name of the experiment."""

    file: str
    """The experiment file."""

    started: float
    """Start time, in seconds since 1970."""

    finished: float | None
    """End time, in seconds since 1970; None before the end."""

    state: str
    """State: `running`, `done`, `paused`, `cancelled`, or `interrupted` if its process was
    killed.
    """

    repeats: int
    """Number of repeats of each row."""

    spec: JsonObject
    """Settings needed to read the result: pass rule, baseline, seed."""

    is_accepted: bool = False
    """Whether the user accepted it as the baseline."""

    label: str = ""
    """Name given by the user; may be empty."""


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A row as stored in the result."""

    number: int
    """Number of the row, from 1."""

    key: str
    """Key, which is the same in other results of the same case."""

    facts: JsonObject
    """`vars`, `tags`, `description`, `metadata`, `expected`, `file`, `line`, `threshold`."""


@dataclass(frozen=True)
class NewResult:
    """The data of a new result."""

    name: str
    """Name of the experiment."""

    file: str
    """The experiment file."""

    spec: JsonObject
    """Settings needed to read the result."""

    variants: Sequence[str]
    """Names of the variants."""

    rows: Sequence[ResultRow]
    """The rows, in order."""

    repeats: int
    """Number of repeats of each row."""

    cells: Iterable[tuple[CellKey, bytes]] = field(default=())
    """Every cell with its identity."""


# Stored totals of each variant: the summary of a million cells needs no addition.

TOTALS = """
SELECT variant, count(*), sum(state = 2), coalesce(sum(state = 2 AND passed = 1), 0),
  sum(state IN (3, 4)),
  sum(state = 2 AND passed IS NULL), sum(cached),
  coalesce(sum(CASE WHEN state >= 2 AND cached = 0 THEN cost END), 0.0),
  coalesce(sum(CASE WHEN state >= 2 AND cached = 0 THEN in_tokens + out_tokens END), 0),
  sum(state = 2 AND cost IS NULL)
FROM cell WHERE experiment = ? GROUP BY variant ORDER BY variant
"""
"""Query that adds up the cells of a result, in the order of `VariantTotal`'s fields."""

KEPT = """
SELECT variant, cells, done, passed, errors, undecided, cached, cost, tokens, unpriced
FROM total WHERE experiment = ? ORDER BY variant
"""
"""Query for the same from the stored totals."""


def begin_totals(run: sqlite3.Connection, experiment: int, cells: Sequence[int]) -> None:
    """Create the totals for pending cells, given their number for each variant."""
    run.executemany(
        "INSERT INTO total (experiment, variant, cells) VALUES (?, ?, ?)",
        [(experiment, at, count) for at, count in enumerate(cells)],
    )


def sum_up(run: sqlite3.Connection, experiment: int) -> None:
    """Compute the totals again after finished cells became pending."""
    found = run.execute(TOTALS, (experiment,)).fetchall()
    run.execute("DELETE FROM total WHERE experiment = ?", (experiment,))
    run.executemany(
        f"INSERT INTO total VALUES ({', '.join('?' * 11)})", [(experiment, *each) for each in found]
    )


def add_outcome(
    run: sqlite3.Connection, experiment: int, variant: int, outcome: CellOutcome
) -> None:
    """Add a finished cell to the totals, within the transaction that stores it."""
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
"""Letters for the states of a cell; an upper-case letter means score 1."""

_STANDING = (
    "CASE WHEN state < 2 THEN 'w' WHEN state > 2 THEN 'e' WHEN passed IS NULL THEN"
    " CASE WHEN score = 1 THEN 'U' ELSE 'u' END WHEN passed = 1 THEN"
    " CASE WHEN score = 1 THEN 'P' ELSE 'p' END"
    " ELSE CASE WHEN score = 1 THEN 'F' ELSE 'f' END END"
)


class LedgerScans:
    """Queries of a ledger whose time grows with the result."""

    def __init__(self, database: LedgerDatabase) -> None:
        self._read, self._scan = database.read, database.scan

    def states(self, experiment: int) -> list[CellStanding]:
        """Return the state of every cell, ordered by repeat, row and variant."""
        return self._scan(
            "SELECT repeat, row, variant, state, passed, score FROM cell WHERE experiment = ?",
            experiment,
        )

    def answers(self, experiment: int) -> dict[int, dict[int, int]]:
        """Return a number for each cell's first answer, by row and variant: equal if texts are."""
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
        """Return the states by repeat: one letter for each row and variant, in order.

        One text per repeat, since fetching or sorting a million rows takes seconds.
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
        """Return the cells whose score is neither 0 nor 1, with the score."""
        found = self._scan(
            "SELECT repeat, row, variant, score FROM cell WHERE experiment = ?"
            " AND score > 0 AND score <> 1",
            experiment,
        )
        return [(CellKey(*where), score) for *where, score in found]

    def row_totals(self, experiment: int) -> list[RowTotal]:
        """Return the totals of each row and variant."""
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
        """Return the totals of each variant."""
        found = self._read(KEPT, experiment) or self._scan(TOTALS, experiment)
        return [VariantTotal(*each) for each in found]

    def rows_over(self, experiment: int, variant: int, ms: float) -> list[int]:
        """Return the rows with a cell of a variant that took longer than `ms`."""
        rows = self._scan(
            "SELECT DISTINCT row FROM cell WHERE experiment = ? AND variant = ? AND state = 2"
            " AND ms > ?",
            experiment,
            variant,
            ms,
        )
        return [int(row) for (row,) in rows]

    def marks(self, experiment: int) -> Iterator[tuple[CellKey, tuple[AssertionResult, ...]]]:
        """Yield the assertion results of every cell."""
        found = self._scan(
            "SELECT repeat, row, variant, results FROM mark WHERE experiment = ?"
            " ORDER BY repeat, row, variant",
            experiment,
        )
        for *where, results in found:
            yield CellKey(*where), tuple(results_of_json(unpacked(results)))

    def times(self, experiment: int, variant: int) -> list[float]:
        """Return the times of a variant's cells with an answer, in milliseconds."""
        rows = self._scan(
            "SELECT ms FROM cell WHERE experiment = ? AND variant = ? AND state = 2",
            experiment,
            variant,
        )
        return [float(ms or 0.0) for (ms,) in rows]

    def left_out(self, experiment: int) -> dict[int, tuple[str, ...]]:
        """Return the options that servers reject and that were not sent, by variant."""
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
        """Return the variants whose requests all equal those of an earlier one, with that one."""
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
