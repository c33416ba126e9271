"""Compare a variant with a baseline: rows won and lost, and whether chance explains it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb, exp, lgamma, log, sqrt

from studio.core.experiments.results.cells import RowTotal, VariantTotal
from studio.core.experiments.values import Gates, PassRule
from studio.core.text.amounts import counted


@dataclass(frozen=True, slots=True)
class RowVerdict:
    """The verdict on one row of a variant."""

    key: str
    """Key of the row, which is the same in other results."""

    passed: bool
    """Whether it passes by the experiment's rule."""

    is_flaky: bool
    """Whether some repeats pass and others fail."""


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """The comparison of a variant with a baseline, over the rows that both have."""

    rows: int
    """Number of rows that both have."""

    passed: int
    """Number of rows that the variant passes."""

    baseline_passed: int
    """Number of rows that the baseline passes."""

    won: tuple[str, ...]
    """Keys of rows that only the variant passes."""

    lost: tuple[str, ...]
    """Keys of rows that only the baseline passes."""

    flaky_in_both: int
    """Number of rows whose repeats differ in both."""

    missing: int
    """Number of rows that only one side has, which count as neither won nor lost."""

    p_value: float
    """Two-sided p-value of McNemar's exact test."""

    corrected: float
    """The p-value corrected by Holm for several variants compared with one baseline."""

    enough_for: int
    """Number of rows needed to show 5 points of difference at this rate of change."""

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson interval of the variant's pass rate."""
        return wilson(self.passed, self.rows)

    @property
    def is_clear(self) -> bool:
        """Whether the difference is unlikely to be chance."""
        return self.corrected < 0.05 and bool(self.won or self.lost)


def row_passes(total: RowTotal, rule: PassRule, threshold: float | None = None) -> bool:
    """Return whether a row passes, given its repeats.

    Args:
        total: totals of its repeats; those without an answer do not count.
        rule: rule of the experiment.
        threshold: threshold of the row for the mean score.
    """
    if not total.done:
        return False
    if rule == "any":
        return total.passed > 0
    if rule == "all":
        return total.passed == total.done
    if rule == "mean":
        if total.done == 1 or threshold is None:
            # Without a threshold, a repeat passes or fails as a whole: the majority decides.
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
    """Return each row's verdict by variant and row key, without rows that have no answers."""
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
    """Compare a variant with a baseline; `corrected` is set to the p-value."""
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
    """Return comparisons with one baseline, their p-values corrected by Holm."""
    from dataclasses import replace

    values = holm([each.p_value for each in comparisons])
    return [replace(each, corrected=value) for each, value in zip(comparisons, values, strict=True)]


# The gates of an experiment: conditions on a result, each checked separately.


@dataclass(frozen=True, slots=True)
class GateCheck:
    """The check of one gate for one variant."""

    name: str
    """Key in the file: `pass_rate`, `slices.language=de.pass_rate`."""

    variant: str
    """Name of the variant."""

    held: bool
    """Whether the condition is met."""

    measured: float | None
    """Measured value; None if it could not be measured, so that the gate fails."""

    wanted: float
    """Bound of the gate."""

    is_least: bool = True
    """Whether the bound is a minimum; else a maximum."""

    @property
    def words(self) -> str:
        """The measured value, and the bound in parentheses."""
        bound = f"{'at least' if self.is_least else 'at most'} {self.wanted:g}"
        if self.measured is None:
            return f"could not be checked ({bound})"
        return f"{self.measured:g} ({bound})"


@dataclass(frozen=True)
class GateSubject:
    """A variant with the data that gates check."""

    name: str
    """Name of the variant."""

    total: VariantTotal
    """Totals of its cells."""

    rows: Sequence[RowTotal]
    """Totals of its rows."""

    verdicts: Mapping[str, RowVerdict]
    """Verdicts on its rows."""

    times: Sequence[float]
    """Times of its cells in milliseconds."""

    comparison: PairedComparison | None
    """Comparison with the baseline; None without one."""

    slices: Mapping[str, Mapping[str, frozenset[str]]]
    """Keys of rows by the value of each metadata key: `{language: {de: {…}}}`."""


def check_gates(gates: Gates, subject: GateSubject) -> list[GateCheck]:
    """Check every gate for a variant, in the order of the file."""
    total, name = subject.total, subject.name
    made: list[GateCheck] = []
    if gates.pass_rate is not None:
        done = sum(each.done for each in subject.rows)
        passed = sum(each.passed for each in subject.rows)
        made.append(_least("pass_rate", name, passed / done if done else None, gates.pass_rate))
    if gates.row_pass_rate is not None:
        made.append(_least("row_pass_rate", name, _row_rate(subject.verdicts), gates.row_pass_rate))
    if gates.pass_hat is not None:
        k, wanted = gates.pass_hat
        shares = [pass_hat(each.done, each.passed, k) for each in subject.rows if each.done >= k]
        share = sum(shares) / len(shares) if shares else None
        made.append(_least("pass_hat", name, share, wanted))
    made += _compared(gates, subject)
    if gates.cost is not None:
        cost = None if total.unpriced else total.cost
        made.append(_most("cost", name, cost, gates.cost))
    if gates.p95_ms is not None:
        slowest = quantile(subject.times, 0.95) if subject.times else None
        made.append(_most("p95_ms", name, slowest, gates.p95_ms))
    made += _sliced(gates, subject)
    return made


def _compared(gates: Gates, subject: GateSubject) -> Iterator[GateCheck]:
    found = subject.comparison
    if gates.lost_rows is not None:
        lost = len(found.lost) if found is not None else None
        yield _most("lost_rows", subject.name, lost, gates.lost_rows)
    if gates.p_value is not None:
        # The gate guards against a loss, so it does not depend on the number of variants.
        p_value = found.p_value if found is not None else None
        if found is not None and len(found.lost) <= len(found.won):
            p_value = 1.0
        yield _least("p_value", subject.name, p_value, gates.p_value)


def _sliced(gates: Gates, subject: GateSubject) -> Iterator[GateCheck]:
    for name, inner in gates.slices.items():
        wanted = inner.row_pass_rate if inner.pass_rate is None else inner.pass_rate
        if wanted is None:
            continue
        values = subject.slices.get(name, {})
        if not values:
            yield _least(f"slices.{name}", subject.name, None, wanted)
        for value, keys in sorted(values.items()):
            verdicts = {key: each for key, each in subject.verdicts.items() if key in keys}
            yield _least(f"slices.{name}={value}", subject.name, _row_rate(verdicts), wanted)


def _least(name: str, variant: str, measured: float | None, wanted: float) -> GateCheck:
    held = measured is not None and measured >= wanted - 1e-9
    return GateCheck(name, variant, held, measured, wanted)


def _most(name: str, variant: str, measured: float | None, wanted: float) -> GateCheck:
    held = measured is not None and measured <= wanted + 1e-9
    return GateCheck(name, variant, held, measured, wanted, is_least=False)


def _row_rate(verdicts: Mapping[str, RowVerdict]) -> float | None:
    return sum(each.passed for each in verdicts.values()) / len(verdicts) if verdicts else None


# The statistics of experiments, with the standard library only; the unit is the row. Sources:
# Wilson (1927), interval of a share; Chen et al. (2021), pass@k; Yao et al. (2024), pass^k; McNemar
# (1947), exact form; Holm (1979); Connor (1987), rows of a paired comparison; Fleiss (1981), their
# correction for continuity.


_Z = 1.959963984540054
_POWER = 0.8416212335729143


def wilson(passed: int, count: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a share."""
    if not count:
        return 0.0, 1.0
    share, whole = passed / count, 1 + _Z * _Z / count
    middle = (share + _Z * _Z / (2 * count)) / whole
    half = _Z * sqrt(share * (1 - share) / count + _Z * _Z / (4 * count * count)) / whole
    return max(0.0, middle - half), min(1.0, middle + half)


def pass_hat(count: int, passed: int, k: int) -> float:
    """Return the probability that all of k repeats pass."""
    if k > count:
        raise ValueError(f"{counted(count, 'repeat')}, fewer than {k}")
    return comb(passed, k) / comb(count, k)


def mcnemar(lost: int, won: int) -> float:
    """Return the two-sided p-value of McNemar's exact test for rows that changed."""
    count = lost + won
    if not count:
        return 1.0
    base = lgamma(count + 1) - count * log(2)
    tail = sum(
        exp(base - lgamma(each + 1) - lgamma(count - each + 1))
        for each in range(min(lost, won) + 1)
    )
    return min(1.0, 2 * tail)


def shown_p(value: float) -> str:
    """Return a p-value as text; never "0"."""
    return f"p = {value:.3f}" if value >= 0.001 else "p < 0.001"


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values of comparisons with one baseline, corrected by Holm for their number."""
    order = sorted(range(len(values)), key=values.__getitem__)
    made, highest = [0.0] * len(values), 0.0
    for rank, at in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - rank) * values[at]))
        made[at] = highest
    return made


def rows_needed(difference: float, flips: float) -> int:
    """Return how many rows show a difference with 5 % error and 80 % power.

    Args:
        difference: difference of the pass rates, above 0.
        flips: share of rows whose verdict differs in either direction.
    """
    share = max(flips, difference)
    root = _Z * sqrt(share) + _POWER * sqrt(max(0.0, share - difference * difference))
    rows = root**2 / difference**2
    exact = (1 + sqrt(1 + 2 / (rows * difference))) ** 2 / 4  # the exact test has less power
    return int(rows * exact) + 1


def quantile(values: Sequence[float], share: float) -> float:
    """Return the quantile of the values at `share`, interpolated linearly; 0 if empty."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)
