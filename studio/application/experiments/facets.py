"""Find what failing rows have in common: time, metrics, and shared inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from studio.application.words import tr
from studio.core.experiments.assertions.result import AssertionResult
from studio.core.experiments.results.cells import ResultRow
from studio.core.experiments.results.comparison import PairedComparison
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.statistics import quantile
from studio.core.text.values import object_of

_SLOW = 0.95
_MOST_MARKS = 200_000
"""Marked cells that are looked at: reading a million takes longer than anybody waits."""

_LEAST_SHARED = 2
_MOST_COMPARED = 400
"""Failed rows, and passing rows, that are compared pair by pair."""


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Rows of a variant that fail, and what sets their requests apart from those that pass."""

    variant: int
    """The column."""

    inputs: tuple[str, ...]
    """The inputs whose part of the request differs from that of passing rows."""

    value: str | None
    """Common value of the rows; None if each has its own."""

    rows: frozenset[int]
    """The rows that fail."""

    of: int
    """Number of rows with the value; of failing rows if each has its own."""


@dataclass(frozen=True)
class RowFacets:
    """Rows of a result by what they have in common."""

    slow: frozenset[int] = frozenset()
    """Rows with a cell that took longer than 95 of 100 of its variant."""

    lost: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Rows with a cell in which an assertion of the metric does not hold, by metric."""

    groups: tuple[FailureGroup, ...] = ()
    """Rows that fail, by the input that differs; the largest first."""

    differs: frozenset[int] = frozenset()
    """Rows whose answers differ between the first column and another one."""

    saved: frozenset[int] = frozenset()
    """Rows whose answer in the first column differs from the result before."""


def facets_of(
    ledger: ExperimentLedger,
    result: int,
    failed: Sequence[frozenset[int]],
    reads: Sequence[frozenset[str] | None],
    before: int | None = None,
) -> RowFacets:
    """Find the facets of a result.

    Args:
        ledger: where it is.
        result: its number.
        failed: the rows that do not pass, of each variant.
        reads: the inputs that each variant's prompt reads; None where nobody knows.
        before: the result whose answers are compared; None compares none.
    """
    rows = ledger.rows(result)
    groups = [
        group
        for at, (these, names) in enumerate(zip(failed, reads, strict=True))
        for group in failure_groups(at, rows, these, names)
    ]
    return RowFacets(
        _slow(ledger, result, len(failed)),
        _lost(ledger, result),
        tuple(sorted(groups, key=lambda each: -len(each.rows))),
        *_changed_answers(ledger, result, before),
    )


def _changed_answers(
    ledger: ExperimentLedger, result: int, before: int | None
) -> tuple[frozenset[int], frozenset[int]]:
    """Return the rows whose columns differ, and those whose first answer is another than before."""
    answers = ledger.scans.answers(result)
    differs = {row for row, found in answers.items() if len(set(found.values())) > 1}
    if before is None:
        return frozenset(differs), frozenset()
    keys = {row.number: row.key for row in ledger.rows(before, with_values=False)}
    earlier = {keys[row]: found.get(0) for row, found in ledger.scans.answers(before).items()}
    saved = {
        row.number
        for row in ledger.rows(result, with_values=False)
        if earlier.get(row.key) not in (None, answers.get(row.number, {}).get(0))
    }
    return frozenset(differs), frozenset(saved)


def _slow(ledger: ExperimentLedger, result: int, variants: int) -> frozenset[int]:
    found: set[int] = set()
    for at in range(variants):
        bound = quantile(ledger.scans.times(result, at), _SLOW)
        found.update(ledger.scans.rows_over(result, at, bound))
    return frozenset(found)


def _lost(ledger: ExperimentLedger, result: int) -> dict[str, frozenset[int]]:
    made: dict[str, set[int]] = {}
    for key, results in islice(ledger.scans.marks(result), _MOST_MARKS):
        for each in _flat(results):
            held = made.setdefault(each.metric or each.label, set())
            if not each.passed:
                held.add(key.row)
    return {name: frozenset(rows) for name, rows in made.items()}


def _flat(results: Sequence[AssertionResult]) -> list[AssertionResult]:
    """Return the assertions with a metric at any depth, and all others at the top."""
    return [
        inner
        for each in results
        for inner in (each, *(deep for deep in _flat(each.nested) if deep.metric))
    ]


# Failures by the input that differs ---------------------------------------------------------------


def failure_groups(
    variant: int,
    rows: Sequence[ResultRow],
    failed: Collection[int],
    reads: frozenset[str] | None,
) -> list[FailureGroup]:
    """Group the rows that fail by the part of their request that differs from rows that pass.

    All that differs between two rows of one prompt comes from its inputs. A value that several
    rows share, of an input or a fact (`metadata`), and that fails more often than the others,
    makes a group; each of the other rows goes by the inputs in which it differs from the passing
    row nearest to it.
    """
    values = {row.number: _values(row, reads) for row in rows}
    bad = [number for number in values if number in failed]
    shared = {row.number: {**_texts(row, "metadata"), **values[row.number]} for row in rows}
    made = _shared(variant, shared, frozenset(bad))
    grouped = frozenset[int]().union(*(each.rows for each in made))
    good = [number for number in values if number not in failed][:_MOST_COMPARED]
    by_inputs: dict[tuple[str, ...], set[int]] = {}
    for number in [each for each in bad if each not in grouped][:_MOST_COMPARED]:
        nearest = min(
            (_differing(values[number], values[other]) for other in good), key=len, default=()
        )
        if nearest:
            by_inputs.setdefault(nearest, set()).add(number)
    made += [
        FailureGroup(variant, names, None, frozenset(these), len(these))
        for names, these in by_inputs.items()
    ]
    return made


def _values(row: ResultRow, reads: frozenset[str] | None) -> dict[str, str]:
    return {
        name: value
        for name, value in _texts(row, "vars").items()
        if (reads is None and name != "expected") or (reads is not None and name in reads)
    }


def _texts(row: ResultRow, key: str) -> dict[str, str]:
    return {name: str(value) for name, value in object_of(row.facts.get(key)).items()}


def _shared(
    variant: int, values: Mapping[int, Mapping[str, str]], bad: frozenset[int]
) -> list[FailureGroup]:
    """Return the values of several rows that fail more often than the rows without them."""
    holders: dict[tuple[str, str], set[int]] = {}
    for number, given in values.items():
        for name, value in given.items():
            holders.setdefault((name, value), set()).add(number)
    made = []
    for (name, value), numbers in holders.items():
        these = frozenset(numbers & bad)
        others, missed = len(values) - len(numbers), len(bad) - len(these)
        if len(these) < _LEAST_SHARED or not others:
            continue
        if len(these) / len(numbers) > missed / others:
            made.append(FailureGroup(variant, (name,), value, these, len(numbers)))
    return made


def _differing(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in {*one, *other} if one.get(name) != other.get(name)))


def slice_sentences(
    found: PairedComparison | None, slices: Mapping[str, Mapping[str, frozenset[str]]]
) -> Iterator[str]:
    """Name the slices in which a variant wins rows on one side and loses them on the other."""
    if found is None:
        return
    for name, values in slices.items():
        nets = {
            value: len(keys.intersection(found.won)) - len(keys.intersection(found.lost))
            for value, keys in values.items()
        }
        better = ", ".join(f"{value} (+{net})" for value, net in nets.items() if net > 0)
        worse = ", ".join(f"{value} ({net})" for value, net in nets.items() if net < 0)
        if better and worse:
            words = tr("By {name}, rows: better in {better}, worse in {worse}.")
            yield words.format(name=name, better=better, worse=worse)
