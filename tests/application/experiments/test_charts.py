"""Charts are values: what is drawn is what the result says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from studio.application.experiments.charts import chart_of
from studio.application.experiments.facets import slice_sentences
from studio.application.experiments.report import report_of
from studio.core.experiments.results.comparison import RowVerdict, compare
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


def _verdicts(keys: Sequence[str], passed: Sequence[bool]) -> dict[str, RowVerdict]:
    made = zip(keys, passed, strict=True)
    return {key: RowVerdict(key, is_passed, is_flaky=False) for key, is_passed in made}


def test_a_variant_that_wins_in_one_slice_and_loses_in_another_is_said_so() -> None:
    keys = ("e1", "e2", "d1", "d2", "d3")
    one, other = (True, True, False, False, True), (False, False, True, True, True)
    found = compare(*(_verdicts(keys, each) for each in (one, other)))
    languages = {"en": frozenset(keys[:2]), "de": frozenset(keys[2:])}
    said = ["By language, rows: better in en (+2), worse in de (-2)."]
    assert list(slice_sentences(found, {"language": languages})) == said
    assert not list(slice_sentences(found, {"language": {"de": languages["de"]}}))
    assert not list(slice_sentences(None, {"language": languages}))
