"""Group rows of a result: slow ones, different answers, slices."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from studio.application.words import tr
from studio.core.experiments.results.comparison import PairedComparison, quantile
from studio.core.experiments.results.ledger import ExperimentLedger

_SLOW = 0.95


@dataclass(frozen=True)
class RowFacets:
    """Rows of a result by common properties."""

    slow: frozenset[int] = frozenset()
    """Rows with a cell slower than 95 % of its variant's cells."""

    differs: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """Rows whose answer differs from that of the first variant, by variant."""

    saved: frozenset[int] = frozenset()
    """Rows whose answer from the first variant differs from the previous result."""


def facets_of(
    ledger: ExperimentLedger, result: int, variants: int, before: int | None = None
) -> RowFacets:
    """Return the facets of a result.

    Args:
        ledger: the ledger with the result.
        result: number of the result.
        variants: number of its variants.
        before: number of the previous result; None for no comparison.
    """
    differs, saved = _changed_answers(ledger, result, before)
    return RowFacets(_slow(ledger, result, variants), differs, saved)


def _changed_answers(
    ledger: ExperimentLedger, result: int, before: int | None
) -> tuple[dict[int, frozenset[int]], frozenset[int]]:
    """Return the rows that differ from the first variant, and from the previous result."""
    answers = ledger.scans.answers(result)
    made: dict[int, set[int]] = {}
    for row, found in answers.items():
        for at, answer in found.items():
            if 0 in found and answer != found[0]:
                made.setdefault(at, set()).add(row)
    differs = {at: frozenset(rows) for at, rows in made.items()}
    if before is None:
        return differs, frozenset()
    keys = {row.number: row.key for row in ledger.rows(before, with_values=False)}
    earlier = {keys[row]: found.get(0) for row, found in ledger.scans.answers(before).items()}
    saved = {
        row.number
        for row in ledger.rows(result, with_values=False)
        if earlier.get(row.key) not in (None, answers.get(row.number, {}).get(0))
    }
    return differs, frozenset(saved)


def _slow(ledger: ExperimentLedger, result: int, variants: int) -> frozenset[int]:
    found: set[int] = set()
    for at in range(variants):
        bound = quantile(ledger.scans.times(result, at), _SLOW)
        found.update(ledger.scans.rows_over(result, at, bound))
    return frozenset(found)


def slice_sentences(
    found: PairedComparison | None, slices: Mapping[str, Mapping[str, frozenset[str]]]
) -> Iterator[str]:
    """Yield the slices in which a variant wins rows, and those in which it loses rows."""
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
