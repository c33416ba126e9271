"""Tests that are for some prompts or providers only: the other cells are not planned."""

from __future__ import annotations

import csv
import io

import pytest

from studio.application.experiments.exports.forms import FORMS
from studio.application.experiments.grid import DotState, grid_of, lost_rows
from studio.application.experiments.plan import plan_experiment
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.report import report_of
from studio.application.experiments.run.runner import ExperimentRunner
from studio.core.experiments.results.ledger import ExperimentLedger
from tests.application.experiments.conftest import Bench

TEXT = """\
prompts:
  - {id: capital.prompty, label: "main:one"}
  - {id: capital.prompty, label: edit, edit: {system: "Answer shortly."}}
providers: [small, {id: echo, label: itself}]
baseline: "main:one · small"
evaluateOptions: {repeat: 2}
defaultTest: {assert: [{type: contains, value: "{{ expected }}"}]}
tests:
  - vars: {country: Norway, expected: Oslo}
  - vars: {country: Italy, expected: Rome}
    prompts: [main]
    providers: [small]
  - {vars: {country: Peru, expected: Lima}, providers: ["it*"]}
"""
NAMES = ["main:one · small", "edit · small", "main:one · itself", "edit · itself"]


async def test_only_the_cells_that_a_test_is_for_are_asked_and_shown(
    bench: Bench, ledger: ExperimentLedger
) -> None:
    bench.write("capital.experiment.yaml", TEXT)
    plan = bench.plan()
    assert [each.name for each in plan.variants] == NAMES
    assert plan.cells == 2 * (4 + 1 + 2)
    assert plan.warnings == ()
    result, state = await bench.run(ledger)
    assert state == "done"
    grid = grid_of(ledger, result)
    none = (DotState.NOT_PLANNED,) * 2
    planned = [[grid.cell(row, at).dots != none for at in range(4)] for row in (1, 2, 3)]
    assert planned == [[True] * 4, [True, False, False, False], [False, False, True, True]]
    assert grid.cell(2, 1).score is None
    assert grid.passes(2, 1) is None
    assert not grid.fits(2, "errors")
    assert grid.cell(2, 0).dots == (DotState.PASSED,) * 2
    report = report_of(ledger, result)
    assert report.is_whole
    assert lost_rows(ledger, result, plan) == {plan.rows[at].key for at in (0, 2)}
    assert [each.total.cells for each in report.variants] == [4, 2, 4, 4]
    edit = report.variants[1].comparison
    assert edit is not None
    assert (edit.rows, edit.missing) == (1, 1)
    rows = list(csv.reader(io.StringIO(FORMS["csv"](ledger, report))))
    assert len(rows) == 1 + plan.cells
    for form, write in FORMS.items():
        assert write(ledger, report), form


async def test_a_result_with_cells_that_are_not_planned_goes_on_where_it_stood(
    bench: Bench, ledger: ExperimentLedger
) -> None:
    bench.write("capital.experiment.yaml", TEXT)
    result, _ = await bench.run(ledger)
    runner = ExperimentRunner(bench.plan(), bench.services, ledger)
    try:
        estimate = await runner.prepare()
        assert (estimate.cells, estimate.to_send) == (14, 0)
        assert runner.cells.resumable(result)
    finally:
        await runner.close()


def test_values_need_only_fit_the_prompts_that_a_test_is_for(bench: Bench) -> None:
    head = "prompts: [{id: capital.prompty, label: a}, {id: '{{ city }}?', label: b}]\n"
    bench.write(
        "capital.experiment.yaml",
        f"{head}providers: [echo]\ntests:\n- {{vars: {{city: Oslo}}, prompts: [b]}}\n",
    )
    plan = bench.plan()
    assert plan.cells == 1
    assert plan.first_values(1) == {"city": "Oslo"}


def test_a_test_that_is_for_no_variant_is_named_and_left_out(bench: Bench) -> None:
    bench.write("capital.experiment.yaml", TEXT + "  - {vars: {country: Chad}, prompts: [gone]}\n")
    plan = bench.plan()
    assert len(plan.rows) == 3
    assert plan.warnings[-1].startswith(
        "Tests without a variant are skipped: capital.experiment.yaml:14."
    )
    chosen = bench.plan(variants=("edit · small",))
    assert [row.case.variables["country"] for row in chosen.rows] == ["Norway"]
    bench.write(
        "capital.experiment.yaml",
        "prompts: [capital.prompty]\nproviders: [echo]\n"
        "tests: [{vars: {country: Chad}, prompts: []}]\n",
    )
    with pytest.raises(ExperimentError, match="No row is left to run"):
        plan_experiment(bench.path, bench.services)
