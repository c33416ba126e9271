"""Cells of a result: where each is, what came of it, and queries over all of them.

An answer and its marks become a kept cell, and come back from one.
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
    """The state of a cell; the numbers are those of the file."""

    PENDING = 0
    """Not begun."""

    LEASED = 1
    """It is under way."""

    DONE = 2
    """It has an answer, and marks."""

    ERROR = 3
    """It has no answer: the model or a tool could not be used. Never "failed"."""

    CANCELLED = 4
    """It was given up."""


@dataclass(frozen=True, slots=True, order=True)
class CellKey:
    """One cell of a result."""

    repeat: int
    """From 1."""

    row: int
    """From 1."""

    variant: int
    """From 0."""


@dataclass(frozen=True)
class CellOutcome:
    """The outcome of a cell."""

    state: CellState
    """`DONE` or `ERROR`."""

    output: str = ""
    """The answer."""

    passed: bool | None = None
    """Whether it passes; None where an assertion could not be decided."""

    score: float = 0.0
    """From 0 to 1."""

    cost: float | None = None
    """US dollars, judges included; None where the price is not known."""

    input_tokens: int = 0
    """Tokens of all requests."""

    output_tokens: int = 0
    """Tokens of all replies."""

    ms: float = 0.0
    """Duration of the request in milliseconds, when it was asked."""

    steps: int = 0
    """Model calls."""

    error: str = ""
    """Reason why there is no answer, one sentence."""

    is_cached: bool = False
    """Whether it was taken from an earlier result."""

    results: tuple[AssertionResult, ...] = ()
    """Results of its assertions."""

    facts: JsonObject = field(default_factory=dict)
    """Facts for judging it again: calls, finish reason, errors, the first price, options that
    were not sent."""


@dataclass(frozen=True, slots=True)
class RowTotal:
    """The repeats of one row and variant, added up."""

    row: int
    """From 1."""

    variant: int
    """From 0."""

    done: int
    """Repeats with an answer."""

    passed: int
    """Repeats that pass."""

    score: float
    """Mean score of those with an answer."""

    errors: int
    """Repeats without an answer."""

    undecided: int = 0
    """Repeats of which an assertion could not be decided."""

    ms: float = 0.0
    """Mean time."""

    @property
    def is_flaky(self) -> bool:
        """Whether some repeats pass and others do not."""
        return 0 < self.passed < self.done


@dataclass(frozen=True, slots=True)
class VariantTotal:
    """All cells of one variant, added up."""

    variant: int
    """From 0."""

    cells: int
    """All."""

    done: int
    """With an answer."""

    passed: int
    """That pass."""

    errors: int
    """Without an answer."""

    undecided: int
    """Of which an assertion could not be decided."""

    cached: int
    """Taken from earlier results."""

    cost: float
    """US dollars of what was asked now."""

    tokens: int
    """Of what was asked now."""

    unpriced: int = 0
    """Cells whose price is not known."""


def facts_of(calls: tuple[MadeCall, ...], **others: Json) -> JsonDict:
    """Return the facts for judging again, as they are stored."""
    made: JsonDict = {name: value for name, value in others.items() if value}
    if calls:
        made["calls"] = [asdict(each) for each in calls]
    return made


def calls_of(facts: JsonObject) -> tuple[MadeCall, ...]:
    """Return the kept tool calls."""
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
    """Return a cell with an answer and its marks; the judges' cost is added to its own."""
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
    """Return whether an assertion that can be decided fails the cell already."""
    return any(each.state == "failed" and each.weight > 0 for each in marks.results)


def answer_of(outcome: CellOutcome) -> CellAnswer:
    """Return the kept answer, to be marked again."""
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
    """Return the options that were not sent, because the server refuses them."""
    names = outcome.facts.get("left_out")
    return tuple(map(str, names)) if isinstance(names, list) else ()


def row_facts(row: ExperimentRow, mask: Callable[[str], str]) -> JsonDict:
    """Return the stored facts of a row, with secrets among its values masked."""
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


# Results as values: the head of one, its rows, and what a new one begins with.


@dataclass(frozen=True, slots=True)
class ResultHead:
    """One result in the list of results."""

    id: int
    """Its number in the ledger."""

    name: str
    """The experiment's."""

    file: str
    """The experiment file."""

    started: float
    """When, in seconds since the epoch."""

    finished: float | None
    """When it ended; None while it has not."""

    state: str
    """`running`, `done`, `paused`, `cancelled`, or `interrupted`: its process was killed."""

    repeats: int
    """Repeats of each row."""

    spec: JsonObject
    """Pass rule, baseline, seed: what reading the result needs."""

    is_accepted: bool = False
    """Whether it was blessed as the baseline."""

    label: str = ""
    """A name that was given to it."""


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A row as the result keeps it."""

    number: int
    """From 1."""

    key: str
    """The same in other results of the same case."""

    facts: JsonObject
    """`vars`, `tags`, `description`, `metadata`, `expected`, `file`, `line`, `threshold`."""


@dataclass(frozen=True)
class NewResult:
    """The head of a new result."""

    name: str
    """The experiment's."""

    file: str
    """The experiment file."""

    spec: JsonObject
    """Facts for reading the result."""

    variants: Sequence[str]
    """Names of the columns."""

    rows: Sequence[ResultRow]
    """In order."""

    repeats: int
    """Repeats of each row."""

    cells: Iterable[tuple[CellKey, bytes]] = field(default=())
    """Every cell with its identity."""


# Totals of each variant, kept beside the cells: a summary of a million cells adds nothing up.

TOTALS = """
SELECT variant, count(*), sum(state = 2), coalesce(sum(state = 2 AND passed = 1), 0),
  sum(state IN (3, 4)),
  sum(state = 2 AND passed IS NULL), sum(cached),
  coalesce(sum(CASE WHEN state >= 2 AND cached = 0 THEN cost END), 0.0),
  coalesce(sum(CASE WHEN state >= 2 AND cached = 0 THEN in_tokens + out_tokens END), 0),
  sum(state = 2 AND cost IS NULL)
FROM cell WHERE experiment = ? GROUP BY variant ORDER BY variant
"""
"""Adds up the cells of a result, in the order of the fields of `VariantTotal`."""

KEPT = """
SELECT variant, cells, done, passed, errors, undecided, cached, cost, tokens, unpriced
FROM total WHERE experiment = ? ORDER BY variant
"""
"""The same from what is kept."""


def begin_totals(run: sqlite3.Connection, experiment: int, cells: Sequence[int]) -> None:
    """Begin with cells that wait, so many of each variant."""
    run.executemany(
        "INSERT INTO total (experiment, variant, cells) VALUES (?, ?, ?)",
        [(experiment, at, count) for at, count in enumerate(cells)],
    )


def sum_up(run: sqlite3.Connection, experiment: int) -> None:
    """Add all cells up anew: what was over waits again."""
    found = run.execute(TOTALS, (experiment,)).fetchall()
    run.execute("DELETE FROM total WHERE experiment = ?", (experiment,))
    run.executemany(
        f"INSERT INTO total VALUES ({', '.join('?' * 11)})", [(experiment, *each) for each in found]
    )


def add_outcome(
    run: sqlite3.Connection, experiment: int, variant: int, outcome: CellOutcome
) -> None:
    """Count a cell that has just come over; to be called in the transaction that keeps it."""
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
"""Letters for the states of a cell; an upper-case letter has the score 1."""

_STANDING = (
    "CASE WHEN state < 2 THEN 'w' WHEN state > 2 THEN 'e' WHEN passed IS NULL THEN"
    " CASE WHEN score = 1 THEN 'U' ELSE 'u' END WHEN passed = 1 THEN"
    " CASE WHEN score = 1 THEN 'P' ELSE 'p' END"
    " ELSE CASE WHEN score = 1 THEN 'F' ELSE 'f' END END"
)


class LedgerScans:
    """Reads of a ledger that grow with the result."""

    def __init__(self, database: LedgerDatabase) -> None:
        self._read, self._scan = database.read, database.scan

    def states(self, experiment: int) -> list[CellStanding]:
        """Return the state of every cell, in the order of repeats, rows and variants."""
        return self._scan(
            "SELECT repeat, row, variant, state, passed, score FROM cell WHERE experiment = ?",
            experiment,
        )

    def answers(self, experiment: int) -> dict[int, dict[int, int]]:
        """Return a number for the first answer of each cell, by row and variant: equal if equal."""
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
        """Return the states by repeat: a letter for each row and variant, in order.

        One text for each repeat: a million rows of a cursor take seconds, and so does sorting them.
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
        """Return the scores of cells that are neither 0 nor 1."""
        found = self._scan(
            "SELECT repeat, row, variant, score FROM cell WHERE experiment = ?"
            " AND score > 0 AND score <> 1",
            experiment,
        )
        return [(CellKey(*where), score) for *where, score in found]

    def row_totals(self, experiment: int) -> list[RowTotal]:
        """Return the repeats of each row and variant, added up."""
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
        """Return all cells of each variant, added up."""
        found = self._read(KEPT, experiment) or self._scan(TOTALS, experiment)
        return [VariantTotal(*each) for each in found]

    def rows_over(self, experiment: int, variant: int, ms: float) -> list[int]:
        """Return the rows with a cell of a variant that took longer."""
        rows = self._scan(
            "SELECT DISTINCT row FROM cell WHERE experiment = ? AND variant = ? AND state = 2"
            " AND ms > ?",
            experiment,
            variant,
            ms,
        )
        return [int(row) for (row,) in rows]

    def marks(self, experiment: int) -> Iterator[tuple[CellKey, tuple[AssertionResult, ...]]]:
        """Return the results of every assertion of every cell."""
        found = self._scan(
            "SELECT repeat, row, variant, results FROM mark WHERE experiment = ?"
            " ORDER BY repeat, row, variant",
            experiment,
        )
        for *where, results in found:
            yield CellKey(*where), tuple(results_of_json(unpacked(results)))

    def times(self, experiment: int, variant: int) -> list[float]:
        """Return the times of a variant's answered cells, in milliseconds."""
        rows = self._scan(
            "SELECT ms FROM cell WHERE experiment = ? AND variant = ? AND state = 2",
            experiment,
            variant,
        )
        return [float(ms or 0.0) for (ms,) in rows]

    def left_out(self, experiment: int) -> dict[int, tuple[str, ...]]:
        """Return the options that servers refused, which were therefore not sent, by variant."""
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
        """Return the variants whose cells all send what an earlier one sends, with that one."""
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
