"""Charts are values: what is drawn is what the result says."""

from __future__ import annotations

import pytest

from studio.application.experiments.charts import chart_of
from studio.application.experiments.report import report_of
from studio.core.experiments.results.ledger import ExperimentLedger
from tests.application.experiments.conftest import ROWS, Bench


async def test_every_chart_tells_its_result(bench: Bench, ledger: ExperimentLedger) -> None:
    head, *rows = ROWS.splitlines()
    tags = ("north", "south", "south")
    lines = [f"{row},{tag}" for row, tag in zip(rows, tags, strict=True)]
    bench.write("rows.csv", "\n".join([f"{head},tags", *lines]) + "\n")
    result, _ = await bench.run(ledger)
    report = report_of(ledger, result)

    passed = chart_of("pass", report)
    assert [(each.name, each.value, each.is_muted) for each in passed.lines] == [
        ("main", pytest.approx(2 / 3), True),
        ("edit", pytest.approx(2 / 3), False),
    ]
    assert all(each.low < each.value < each.high for each in passed.lines)
    assert "main: 67 % of 3 rows" in passed.words

    latency = chart_of("latency", report)
    assert latency.unit == "s"
    assert latency.most == max(each.high for each in latency.lines)

    slices = chart_of("slices", report)
    assert slices.title.endswith("edit")
    assert [(each.name, each.words) for each in slices.lines] == [
        ("south", "50 % of 2 rows"),
        ("north", "100 % of 1 row"),
    ]

    cost = chart_of("cost", report)
    assert [each.name for each in cost.points] == ["main", "edit"]

    totals = dict(zip(ledger.variants(result), ledger.scans.variant_totals(result), strict=True))
    trend = chart_of("trend", report, [(1, totals), (2, totals), (3, {})])
    assert [(each.name, each.x) for each in trend.points] == [
        ("main", 0),
        ("main", 1),
        ("edit", 0),
        ("edit", 1),
    ]
    assert trend.most == 2
