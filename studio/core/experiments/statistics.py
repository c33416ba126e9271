"""The statistics of experiments, in the standard library; the unit is the row.

Sources: Wilson (1927), interval of a share; Chen et al. (2021), pass@k; Yao et al. (2024), pass^k;
McNemar (1947), exact form; Holm (1979); Connor (1987), rows of a paired comparison;
Fleiss (1981), their correction for continuity.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, exp, lgamma, log, sqrt

from studio.core.text.amounts import counted

_Z = 1.959963984540054
_POWER = 0.8416212335729143


def wilson(passed: int, count: int, z: float = _Z) -> tuple[float, float]:
    """Return the interval of a share that holds the true one with 95 %."""
    if not count:
        return 0.0, 1.0
    share, whole = passed / count, 1 + z * z / count
    middle = (share + z * z / (2 * count)) / whole
    half = z * sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / whole
    return max(0.0, middle - half), min(1.0, middle + half)


def pass_hat(count: int, passed: int, k: int) -> float:
    """Return the probability that all of k repeats pass."""
    if k > count:
        raise ValueError(f"{counted(count, 'repeat')}, fewer than {k}")
    return comb(passed, k) / comb(count, k)


def mcnemar(lost: int, won: int) -> float:
    """Return the two-sided exact p-value of rows that changed their verdict."""
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
    """Return a p-value as shown, which is never 0."""
    return f"p = {value:.3f}" if value >= 0.001 else "p < 0.001"


def holm(values: Sequence[float]) -> list[float]:
    """Return the P-values of comparisons with one baseline, corrected for their number."""
    order = sorted(range(len(values)), key=values.__getitem__)
    made, highest = [0.0] * len(values), 0.0
    for rank, at in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - rank) * values[at]))
        made[at] = highest
    return made


def rows_needed(difference: float, flips: float) -> int:
    """Return the rows that show a difference with 5 % error and 80 % power.

    Args:
        difference: of the pass rates, above 0.
        flips: share of rows whose verdict differs either way.
    """
    share = max(flips, difference)
    root = _Z * sqrt(share) + _POWER * sqrt(max(0.0, share - difference * difference))
    rows = root**2 / difference**2
    exact = (1 + sqrt(1 + 2 / (rows * difference))) ** 2 / 4  # the exact test finds a little less
    return int(rows * exact) + 1


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of them lies, interpolated linearly; 0 for none."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)
