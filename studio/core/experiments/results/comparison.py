"""Which rows a variant wins and loses against a baseline, and whether that may be chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from studio.core.experiments.results.cells import RowTotal
from studio.core.experiments.statistics import holm, mcnemar, rows_needed, wilson
from studio.core.experiments.values import PassRule


@dataclass(frozen=True, slots=True)
class RowVerdict:
    """One row of one variant."""

    key: str
    """The row's, the same in other results."""

    passed: bool
    """Whether it passes by the rule of the experiment."""

    is_flaky: bool
    """Whether some repeats pass and others do not."""


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """A variant beside a baseline, over the rows that both have."""

    rows: int
    """Rows that both have."""

    passed: int
    """That the variant passes."""

    baseline_passed: int
    """That the baseline passes."""

    won: tuple[str, ...]
    """Keys of rows that only the variant passes."""

    lost: tuple[str, ...]
    """Keys of rows that only the baseline passes."""

    flaky_in_both: int
    """Rows whose repeats differ in both; those are no news."""

    missing: int
    """Rows that only one side has: a gap, no loss."""

    p_value: float
    """Exact McNemar, two-sided."""

    corrected: float
    """The same by Holm, where several variants are compared with one baseline."""

    enough_for: int
    """Rows that 5 points would need at this much change."""

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of the variant's share of rows."""
        return wilson(self.passed, self.rows)

    @property
    def is_clear(self) -> bool:
        """Whether chance is an unlikely reason."""
        return self.corrected < 0.05 and bool(self.won or self.lost)


def row_passes(total: RowTotal, rule: PassRule, threshold: float | None = None) -> bool:
    """Whether a row passes with its repeats.

    Args:
        total: its repeats; those without an answer do not count.
        rule: of the experiment.
        threshold: of the row, for the mean.
    """
    if not total.done:
        return False
    if rule == "any":
        return total.passed > 0
    if rule == "all":
        return total.passed == total.done
    if rule == "mean":
        if total.done == 1 or threshold is None:
            # Without a threshold a repeat passes only as a whole: most of them decide.
            return total.passed * 2 > total.done
        return total.score >= threshold
    assert isinstance(rule, float)
    return total.passed >= rule * total.done - 1e-9


def row_verdicts(
    totals: Sequence[RowTotal],
    keys: Mapping[int, str],
    rule: PassRule,
    thresholds: Mapping[int, float | None],
) -> dict[int, dict[str, RowVerdict]]:
    """The verdict of each row, by variant and the row's key; rows without answers are left out."""
    made: dict[int, dict[str, RowVerdict]] = {}
    for total in totals:
        if not total.done or total.undecided == total.done:
            continue
        key = keys[total.row]
        passed = row_passes(total, rule, thresholds.get(total.row))
        made.setdefault(total.variant, {})[key] = RowVerdict(key, passed, total.is_flaky)
    return made


def compare(
    variant: Mapping[str, RowVerdict], baseline: Mapping[str, RowVerdict]
) -> PairedComparison:
    """A variant beside a baseline; `corrected` is the p-value itself."""
    both = [key for key in variant if key in baseline]
    won = tuple(key for key in both if variant[key].passed and not baseline[key].passed)
    lost = tuple(key for key in both if baseline[key].passed and not variant[key].passed)
    p_value = mcnemar(len(lost), len(won))
    flips = (len(won) + len(lost)) / len(both) if both else 0.0
    return PairedComparison(
        rows=len(both),
        passed=sum(variant[key].passed for key in both),
        baseline_passed=sum(baseline[key].passed for key in both),
        won=won,
        lost=lost,
        flaky_in_both=sum(variant[key].is_flaky and baseline[key].is_flaky for key in both),
        missing=len(variant.keys() ^ baseline.keys()),
        p_value=p_value,
        corrected=p_value,
        enough_for=rows_needed(0.05, flips),
    )


def corrected(comparisons: Sequence[PairedComparison]) -> list[PairedComparison]:
    """Several comparisons with one baseline, their p-values corrected by Holm."""
    from dataclasses import replace

    values = holm([each.p_value for each in comparisons])
    return [replace(each, corrected=value) for each, value in zip(comparisons, values, strict=True)]
