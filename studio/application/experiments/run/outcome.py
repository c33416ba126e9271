"""An answer and its marks as a kept cell, and back; what a result keeps of a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from studio.core.experiments.assertions.marking import CellMarks
from studio.core.experiments.assertions.result import CellAnswer
from studio.core.experiments.results.cells import CellOutcome, CellState, calls_of, facts_of
from studio.core.experiments.values import ExperimentRow
from studio.core.text.values import Json


def done_outcome(
    answer: CellAnswer, marks: CellMarks, cost: float | None, *, is_cached: bool = False
) -> CellOutcome:
    """A cell with an answer and its marks; the judges' cost is added to its own."""
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
            answer.calls, finish=answer.finish_reason, refused=answer.is_refusal,
            errors=answer.errors, asked_cost=answer.cost, untimed=not answer.is_timed,
        ),
    )  # fmt: skip


def _is_lost_anyway(marks: CellMarks) -> bool:
    """Whether an assertion that could be decided fails the cell already."""
    return any(each.state == "failed" and each.weight > 0 for each in marks.results)


def answer_of(outcome: CellOutcome) -> CellAnswer:
    """The kept answer, to be marked again."""
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
        is_timed=facts.get("untimed") is not True,
    )


def row_facts(row: ExperimentRow, mask: Callable[[str], str]) -> dict[str, Json]:
    """What a result keeps of a row; secrets among its values are masked."""
    case = row.case
    others: dict[str, Json] = {
        "tags": list(case.tags), "description": case.description, "file": case.file,
        "line": case.line, "metadata": dict(case.metadata), "threshold": case.threshold,
        "expected": case.expected,
    }  # fmt: skip
    kept = {name: value for name, value in others.items() if value}
    return {"vars": _masked(dict(case.variables), mask), **kept}


def _masked(value: Json, mask: Callable[[str], str]) -> Json:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {key: _masked(item, mask) for key, item in value.items()}
    return [_masked(each, mask) for each in value] if isinstance(value, list) else value
