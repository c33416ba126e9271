"""Cells of a result: where each is, and what came of it.

An answer and its marks become a kept cell, and come back from one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import IntEnum

from studio.core.experiments.assertions.marking import CellMarks
from studio.core.experiments.assertions.result import AssertionResult, CellAnswer, MadeCall
from studio.core.experiments.values import ExperimentRow
from studio.core.text.values import Json, object_of, objects_of


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

    facts: Mapping[str, Json] = field(default_factory=dict)
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


def facts_of(calls: tuple[MadeCall, ...], **others: Json) -> dict[str, Json]:
    """Return the facts for judging again, as they are stored."""
    made: dict[str, Json] = {name: value for name, value in others.items() if value}
    if calls:
        made["calls"] = [asdict(each) for each in calls]
    return made


def calls_of(facts: Mapping[str, Json]) -> tuple[MadeCall, ...]:
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


def row_facts(row: ExperimentRow, mask: Callable[[str], str]) -> dict[str, Json]:
    """Return the stored facts of a row, with secrets among its values masked."""
    case = row.case
    others: dict[str, Json] = {
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

    spec: Mapping[str, Json]
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

    facts: Mapping[str, Json]
    """`vars`, `tags`, `description`, `metadata`, `expected`, `file`, `line`, `threshold`."""


@dataclass(frozen=True)
class NewResult:
    """The head of a new result."""

    name: str
    """The experiment's."""

    file: str
    """The experiment file."""

    spec: Mapping[str, Json]
    """Facts for reading the result."""

    variants: Sequence[str]
    """Names of the columns."""

    rows: Sequence[ResultRow]
    """In order."""

    repeats: int
    """Repeats of each row."""

    cells: Iterable[tuple[CellKey, bytes]] = field(default=())
    """Every cell with its identity."""
