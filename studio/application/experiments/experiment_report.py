"""The report on a result: its figures, and what they say in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from studio.application.words import tr
from studio.core.experiments.results.cells import RowTotal, VariantTotal
from studio.core.experiments.results.comparison import (
    PairedComparison,
    RowVerdict,
)
from studio.core.experiments.results.gates import GateCheck
from studio.core.experiments.results.ratings import JudgeAgreement
from studio.core.experiments.results.result import ResultHead
from studio.core.experiments.statistics import shown_p, wilson

FEW_ROWS = 20
"""Below, a share says little."""


@dataclass(frozen=True)
class VariantReport:
    """One variant of a result."""

    name: str
    """The variant."""

    total: VariantTotal
    """All of its cells."""

    rows: Sequence[RowTotal]
    """Its rows."""

    verdicts: Mapping[str, RowVerdict]
    """Whether its rows pass, by key."""

    p50_ms: float
    """Median time of a cell."""

    p95_ms: float
    """95th percentile."""

    comparison: PairedComparison | None
    """Beside the baseline; None for the baseline, and where there is none."""

    gates: tuple[GateCheck, ...]
    """Which of the gates hold."""

    same_as: str = ""
    """Name of an earlier variant that sent the same requests; empty for none."""

    left_out: tuple[str, ...] = ()
    """Options that were not sent, because the server refuses them."""

    is_baseline: bool = False
    """Whether others are compared with it."""

    @property
    def rows_passed(self) -> int:
        """Rows that pass."""
        return sum(each.passed for each in self.verdicts.values())

    @property
    def interval(self) -> tuple[float, float]:
        """Of the share of rows that pass."""
        return wilson(self.rows_passed, len(self.verdicts))

    @property
    def share(self) -> float:
        """Share of rows that pass."""
        return self.rows_passed / len(self.verdicts) if self.verdicts else 0.0


@dataclass(frozen=True)
class ExperimentReport:
    """A whole result."""

    head: ResultHead
    """Which."""

    variants: tuple[VariantReport, ...]
    """In order."""

    baseline: str
    """Name of what is compared with; empty for nothing."""

    rows: int
    """How many rows there are."""

    is_whole: bool
    """Whether every cell is over."""

    sentences: tuple[str, ...]
    """What it says, plain."""

    tags: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Keys of the rows with each tag."""

    agreements: tuple[JudgeAgreement, ...] = ()
    """How far judges agree with people, where people rated answers."""

    @property
    def headline(self) -> str:
        """The sentence on the first variant that is compared, else on the first one."""
        compared = [each for each in self.variants if each.comparison is not None]
        first = next(iter(compared or self.variants), None)
        if first is None:
            return ""
        same = next((each for each in self.variants if each.same_as), None)
        if same is not None:
            return _same(same)
        base = next((each for each in self.variants if each.name == self.baseline), None)
        return _passes(first, base if first is not base else None, self.baseline)

    @property
    def gates(self) -> tuple[GateCheck, ...]:
        """Every gate of every variant."""
        return tuple(gate for each in self.variants for gate in each.gates)

    @property
    def gates_hold(self) -> bool:
        """Whether all gates hold; without gates every row of every variant must pass."""
        if self.gates:
            return all(gate.held for gate in self.gates)
        return all(
            each.rows_passed == len(each.verdicts) and not each.total.undecided
            for each in self.variants
        )

    @property
    def errors(self) -> int:
        """Cells without an answer."""
        return sum(each.total.errors for each in self.variants)


def percent(share: float) -> str:
    """A share as people write it."""
    return f"{round(100 * share)} %"


def sentences_of(
    variants: Sequence[VariantReport], baseline: str, rows: int, *, is_whole: bool
) -> list[str]:
    """What the figures say.

    Args:
        variants: the columns.
        baseline: name of the one that is compared with.
        rows: how many there are.
        is_whole: whether every cell is over.
    """
    made = [_same(each) for each in variants if each.same_as]
    told = {name for each in variants if each.same_as for name in (each.name, each.same_as)}
    made += [_lacks(each) for each in variants if each.left_out and each.name not in told]
    if rows < FEW_ROWS:
        made.append(
            tr("Few rows ({count}) say little: 8 of 10 may be anything from 49 to 94 %.").format(
                count=rows
            )
        )
    base = next((each for each in variants if each.name == baseline), None)
    for each in variants:
        if each is base:
            continue
        made.append(_passes(each, base, baseline))
        if each.comparison is not None and is_whole:
            made.append(_chance(each.comparison, rows))
    if base is not None and len(variants) == 1:
        made.append(_passes(base, None, ""))
    return made


def _same(each: VariantReport) -> str:
    words = tr("{name} and {other} sent the same requests.")
    if each.left_out:
        words = tr("{name} and {other} sent the same requests: the server does not take {names}.")
    return words.format(name=each.name, other=each.same_as, names=", ".join(each.left_out))


def _lacks(each: VariantReport) -> str:
    words = tr("{name} was asked without {names}: the server does not take it.")
    return words.format(name=each.name, names=", ".join(each.left_out))


def _passes(each: VariantReport, base: VariantReport | None, baseline: str) -> str:
    low, high = each.interval
    words = tr("{name} passes {share} of {rows} rows ({low} to {high})")
    if len(each.verdicts) == 1:
        words = tr("{name} passes {share} of 1 row ({low} to {high})")
    text = words.format(
        name=each.name,
        share=percent(each.share),
        rows=len(each.verdicts),
        low=round(100 * low),
        high=round(100 * high),
    )
    found = each.comparison
    if found is None:
        return f"{text}."
    share = base.share if base is not None else found.baseline_passed / max(1, found.rows)
    words = tr("{text}, {baseline} {share}: {won} rows won, {lost} lost.")
    if len(found.won) == 1:
        words = tr("{text}, {baseline} {share}: 1 row won, {lost} lost.")
    return words.format(
        text=text,
        baseline=baseline,
        share=percent(share),
        won=len(found.won),
        lost=len(found.lost),
    )


def _chance(found: PairedComparison, rows: int) -> str:
    p_value = shown_p(found.corrected)
    if found.is_clear:
        return tr("This is unlikely to be chance ({p}).").format(p=p_value)
    text = tr("It cannot be distinguished from chance ({p}).").format(p=p_value)
    if not found.won and not found.lost:
        return tr("No row changed.")
    if found.enough_for > rows:
        more = tr(
            "To see 5 points you need about {needed} rows at this much change; there are {rows}."
        ).format(needed=found.enough_for, rows=rows)
        return f"{text} {more}"
    return text
