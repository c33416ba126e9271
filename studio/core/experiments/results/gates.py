"""The gates of an experiment: what must hold of a result, told one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from studio.core.experiments.results.cells import RowTotal, VariantTotal
from studio.core.experiments.results.comparison import PairedComparison, RowVerdict
from studio.core.experiments.statistics import pass_hat, quantile
from studio.core.experiments.values import Gates


@dataclass(frozen=True, slots=True)
class GateCheck:
    """One gate of one variant."""

    name: str
    """The key in the file: `pass_rate`, `slices.language=de.pass_rate`."""

    variant: str
    """Whose it is."""

    held: bool
    """Whether it holds."""

    measured: float
    """What was found."""

    wanted: float
    """The bound."""

    is_least: bool = True
    """Whether the bound is the least that is allowed; else the most."""


@dataclass(frozen=True)
class GateSubject:
    """One variant, as gates look at it."""

    name: str
    """The variant."""

    total: VariantTotal
    """All of its cells."""

    rows: Sequence[RowTotal]
    """Its rows."""

    verdicts: Mapping[str, RowVerdict]
    """Whether its rows pass."""

    times: Sequence[float]
    """Milliseconds of its cells."""

    comparison: PairedComparison | None
    """Beside the baseline, where there is one."""

    slices: Mapping[str, Mapping[str, frozenset[str]]]
    """Keys of rows by the value of each metadata key: `{language: {de: {…}}}`."""


def check_gates(gates: Gates, subject: GateSubject) -> list[GateCheck]:
    """Every gate of a variant, in the order of the file."""
    total, name = subject.total, subject.name
    made: list[GateCheck] = []
    if gates.pass_rate is not None:
        share = total.passed / total.done if total.done else 0.0
        made.append(_least("pass_rate", name, share, gates.pass_rate))
    if gates.row_pass_rate is not None:
        made.append(_least("row_pass_rate", name, _row_rate(subject.verdicts), gates.row_pass_rate))
    if gates.pass_hat is not None:
        k, wanted = gates.pass_hat
        shares = [pass_hat(each.done, each.passed, k) for each in subject.rows if each.done >= k]
        made.append(_least("pass_hat", name, sum(shares) / max(1, len(shares)), wanted))
    made += _compared(gates, subject)
    if gates.cost is not None:
        made.append(_most("cost", name, total.cost, gates.cost))
    if gates.p95_ms is not None:
        made.append(_most("p95_ms", name, quantile(subject.times, 0.95), gates.p95_ms))
    made += _sliced(gates, subject)
    return made


def _compared(gates: Gates, subject: GateSubject) -> Iterator[GateCheck]:
    comparison = subject.comparison
    if comparison is None:
        return
    if gates.lost_rows is not None:
        yield _most("lost_rows", subject.name, len(comparison.lost), gates.lost_rows)
    if gates.p_value is not None:
        is_worse = len(comparison.lost) > len(comparison.won)
        # A guard against loss: how many other candidates stand beside is no reason to pass.
        measured = comparison.p_value if is_worse else 1.0
        yield _least("p_value", subject.name, measured, gates.p_value)


def _sliced(gates: Gates, subject: GateSubject) -> Iterator[GateCheck]:
    for name, inner in gates.slices.items():
        wanted = inner.row_pass_rate if inner.pass_rate is None else inner.pass_rate
        for value, keys in sorted(subject.slices.get(name, {}).items()):
            verdicts = {key: each for key, each in subject.verdicts.items() if key in keys}
            if wanted is not None and verdicts:
                label = f"slices.{name}={value}"
                yield _least(label, subject.name, _row_rate(verdicts), wanted)


def _least(name: str, variant: str, measured: float, wanted: float) -> GateCheck:
    return GateCheck(name, variant, measured >= wanted - 1e-9, measured, wanted)


def _most(name: str, variant: str, measured: float, wanted: float) -> GateCheck:
    return GateCheck(name, variant, measured <= wanted + 1e-9, measured, wanted, is_least=False)


def _row_rate(verdicts: Mapping[str, RowVerdict]) -> float:
    return sum(each.passed for each in verdicts.values()) / len(verdicts) if verdicts else 0.0
