"""The charts of a result as values: bars with intervals, and points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from studio.application.experiments.report import ExperimentReport, VariantReport, percent
from studio.application.words import tr
from studio.core.experiments.results.cells import VariantTotal
from studio.core.experiments.results.comparison import wilson
from studio.core.text.amounts import duration, money

ChartKind: TypeAlias = Literal["pass", "latency", "cost", "trend", "slices"]
"""Quantity that a chart shows."""

MOST_LINES = 6
_MOST_RESULTS = 20


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A bar: a value with its interval."""

    name: str
    """Name of the bar."""

    low: float
    """Lower bound of the interval."""

    value: float
    """The value."""

    high: float
    """Upper bound of the interval."""

    words: str
    """The value as text for the user."""

    is_muted: bool = False
    """Whether it is the baseline."""


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A point; points with the same name are connected in order."""

    name: str
    """Name of the bar."""

    x: float
    """Horizontal value."""

    y: float
    """Vertical value, from 0 to 1."""

    words: str
    """Sentence that describes the bar."""

    is_muted: bool = False
    """Whether it is the baseline."""


@dataclass(frozen=True, slots=True)
class ChartFigure:
    """A chart."""

    title: str
    """Title of the chart."""

    lines: tuple[ChartLine, ...] = ()
    """Bars, from the top; empty for a chart of points."""

    points: tuple[ChartPoint, ...] = ()
    """Points; empty for a chart of bars."""

    most: float = 1.0
    """Maximum of the horizontal axis."""

    unit: str = "%"
    """Unit of the horizontal axis: `%`, `s`, `$` or `#`."""

    @property
    def words(self) -> str:
        """Description of the chart for screen readers."""
        each = [f"{line.name}: {line.words}" for line in self.lines]
        each += [f"{point.name}: {point.words}" for point in self.points]
        return "; ".join(each)


def chart_of(
    kind: ChartKind,
    report: ExperimentReport,
    earlier: Sequence[tuple[int, Mapping[str, VariantTotal]]] = (),
) -> ChartFigure:
    """Return a chart of a result.

    Args:
        kind: the quantity.
        report: the result.
        earlier: results of the same file by number, oldest first, with totals by variant.
    """
    match kind:
        case "pass":
            title = tr("Rows passed, with 95 % intervals")
            return ChartFigure(title, tuple(_passed(each, report) for each in _some(report)))
        case "latency":
            return _latency(report)
        case "cost":
            return _cost(report)
        case "trend":
            return _trend(report, earlier)
        case "slices":
            return _slices(report)


def _some(report: ExperimentReport) -> tuple[VariantReport, ...]:
    return report.variants[:MOST_LINES]


def _of_rows(share: float, rows: int) -> str:
    words = tr("{share} of 1 row") if rows == 1 else tr("{share} of {rows} rows")
    return words.format(share=percent(share), rows=rows)


def _passed(each: VariantReport, report: ExperimentReport) -> ChartLine:
    low, high = each.interval
    words = _of_rows(each.share, len(each.verdicts))
    return ChartLine(each.name, low, each.share, high, words, each.name == report.baseline)


def _latency(report: ExperimentReport) -> ChartFigure:
    lines = tuple(
        ChartLine(
            each.name,
            each.p50_ms / 1000,
            each.p50_ms / 1000,
            each.p95_ms / 1000,
            tr("{half}, 95 % within {most}").format(
                half=duration(each.p50_ms / 1000), most=duration(each.p95_ms / 1000)
            ),
            each.name == report.baseline,
        )
        for each in _some(report)
        if each.p95_ms
    )
    most = max((each.high for each in lines), default=0.0) or 1.0
    return ChartFigure(tr("Time of a cell: median and 95th percentile"), lines, most=most, unit="s")


def _cost(report: ExperimentReport) -> ChartFigure:
    points = []
    for each in report.variants:
        asked = max(1, each.total.done - each.total.cached)
        cost = each.total.cost / asked
        words = tr("{cost} a cell, {share}").format(cost=money(cost), share=percent(each.share))
        points.append(ChartPoint(each.name, cost, each.share, words, each.name == report.baseline))
    most = max((each.x for each in points), default=0.0) or 1.0
    title = tr("Cost of a cell and rows passed")
    return ChartFigure(title, points=tuple(points), most=most, unit="$")


def _trend(
    report: ExperimentReport, earlier: Sequence[tuple[int, Mapping[str, VariantTotal]]]
) -> ChartFigure:
    shown = list(earlier)[-_MOST_RESULTS:]
    points = []
    for variant in _some(report):
        for at, (number, totals) in enumerate(shown):
            total = totals.get(variant.name)
            if total is not None and total.done:
                share = total.passed / total.done
                words = tr("result {number} {share}").format(number=number, share=percent(share))
                is_base = variant.name == report.baseline
                points.append(ChartPoint(variant.name, float(at), share, words, is_base))
    title = tr("Cells passed, result by result")
    return ChartFigure(title, points=tuple(points), most=max(1.0, len(shown) - 1.0), unit="#")


def _slices(report: ExperimentReport) -> ChartFigure:
    """Return the pass rates by tag, for the compared variant, else for the first."""
    compared = [each for each in report.variants if each.comparison is not None]
    variant = next(iter(compared or report.variants), None)
    if variant is None:
        return ChartFigure("")
    found = sorted(report.tags.items(), key=lambda each: -len(each[1]))[:MOST_LINES]
    lines = []
    for tag, keys in found:
        verdicts = [variant.verdicts[key] for key in keys if key in variant.verdicts]
        passed = sum(each.passed for each in verdicts)
        low, high = wilson(passed, len(verdicts))
        share = passed / len(verdicts) if verdicts else 0.0
        words = _of_rows(share, len(verdicts))
        lines.append(ChartLine(tag, low, share, high, words))
    title = tr("Rows passed of each tag, {name}").format(name=variant.name)
    return ChartFigure(title, tuple(lines))
