"""Cases of a prompt through the engine of experiments: the text in the editor, one cell, faults."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from studio.application.experiments.asking import CellProgress
from studio.application.experiments.generate import CaseColumn, CasesTable
from studio.application.experiments.grid import (
    DotState,
    answer_fields,
    cell_lines,
    grid_of,
    planned_grid,
)
from studio.application.experiments.plan import (
    ExperimentChoices,
    ExperimentPlan,
    plan_experiment,
    with_rows,
)
from studio.application.experiments.report import report_of
from studio.application.experiments.run.runner import ExperimentRunner
from studio.core.experiments.results.cells import CellKey
from studio.core.experiments.results.comparison import wilson
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.prompty.parse import parse
from tests.application.experiments.conftest import PROMPT, Bench
from tests.support.chat_server import chunk, events, failure, silent
from tests.support.patience import until

COLUMNS = (CaseColumn(provider="small"), CaseColumn("other", "other.prompty", "small"))


def _plan(bench: Bench, text: str = PROMPT) -> ExperimentPlan:
    prompt = bench.folder / "capital.prompty"
    table = CasesTable(prompt, bench.folder / "rows.csv", COLUMNS)
    bench.write("other.prompty", PROMPT.replace("one word", "two words"))
    services = replace(bench.services, drafts={prompt.resolve(): text})
    choices = ExperimentChoices(keeps_faults=True)
    return plan_experiment(table.path, services, choices, table.text(parse(text, prompt)))


async def test_the_text_of_the_editor_is_asked_and_one_cell_alone(
    bench: Bench, ledger: ExperimentLedger
) -> None:
    plan = _plan(bench, PROMPT.replace("Answer", "Reply"))
    runner = ExperimentRunner(plan, bench.services, ledger)
    try:
        estimate = await runner.prepare()
        assert estimate.to_send == 6
        result = runner.begin()
        assert await runner.run(result, {CellKey(1, 2, 0)}) == "paused"
    finally:
        await runner.close()
    assert len(bench.asked) == 1
    assert "Reply in one word" in bench.asked[0]
    grid = planned_grid(plan, ledger, result)
    assert grid.cell(2, 0).dots == (DotState.PASSED,)
    assert grid.cell(2, 1).dots == grid.cell(1, 0).dots == (DotState.WAITING,)
    # A row before it: the answer stays with its row.
    bench.write("rows.csv", "country,expected\nChile,Santiago\nNorway,Oslo\nItaly,Rome\n")
    moved = planned_grid(_plan(bench), ledger, result)
    assert moved.cell(3, 0).dots == (DotState.PASSED,)
    assert moved.kept(CellKey(1, 3, 0)) == CellKey(1, 2, 0)
    assert moved.kept(CellKey(1, 1, 0)) is None
    assert moved.rows[0].text("country") == "Chile"


async def test_what_cannot_be_asked_is_a_fault_of_its_cell(
    bench: Bench, ledger: ExperimentLedger
) -> None:
    bench.write("rows.csv", "country,expected\nNorway,Oslo\n,x\n")
    plan = _plan(bench, PROMPT.replace("kind: string", "kind: integer"))
    assert sorted(plan.faults) == [(0, 1), (0, 2)]
    assert sorted(with_rows(plan, {plan.rows[1].key}).faults) == [(0, 1)]
    runner = ExperimentRunner(plan, bench.services, ledger)
    try:
        await runner.prepare()
        result = runner.begin()
        assert await runner.run(result) == "done"
    finally:
        await runner.close()
    outcome = ledger.outcome(result, CellKey(1, 1, 0))
    assert outcome is not None
    assert "declared as integer" in outcome.error


async def test_a_cell_tells_how_far_it_is_and_why_it_waits(
    bench: Bench, ledger: ExperimentLedger
) -> None:
    bench.write("rows.csv", "country,expected\nNorway,Oslo\n")
    bench.server.script(failure(429, retry_after="1"))
    bench.server.always(events([chunk({"content": "Os"})], then=[silent()]))
    told: list[CellProgress] = []
    runner = ExperimentRunner(
        _plan(bench), bench.services, ledger, on_progress=lambda _key, each: told.append(each)
    )
    try:
        await runner.prepare()
        running = asyncio.create_task(runner.run(runner.begin(), {CellKey(1, 1, 0)}))
        await until(lambda: any(each.text == "Os" for each in told), "Os")
        runner.stop()
        await running
    finally:
        await runner.close()
    assert "Tries again in 1 s." in told[0].waits


def test_an_answer_is_shown_by_its_outputs() -> None:
    fields = answer_fields(
        '{"reason": "Smells of gas, so it is urgent.", "queue": "safety"}', ["queue"]
    )
    assert fields[0] == ("queue", "safety")
    assert cell_lines(fields) == ("safety", "Smells of gas, so it is urgent.")
    assert cell_lines(answer_fields("Oslo\nin Norway")) == ("Oslo", "in Norway")
    assert answer_fields("{broken") == (("", "{broken"),)


async def test_a_row_that_expects_nothing_is_not_checked(
    bench: Bench, ledger: ExperimentLedger
) -> None:
    lines = "Norway,Oslo\nItaly,\nPeru,equals: Cuzco.\nChile,select-best: x\n"
    bench.write("rows.csv", f"country,expected\n{lines}")
    plan = _plan(bench)
    assert [number for _, number in sorted(plan.faults)] == [4, 4]
    assert "'select-best' are not run" in plan.faults[0, 4]
    assert "1 of 4 rows expect nothing: their answers are not checked." in plan.warnings
    runner = ExperimentRunner(plan, bench.services, ledger)
    try:
        await runner.prepare()
        result = runner.begin()
        await runner.run(result)
    finally:
        await runner.close()
    grids = planned_grid(plan, ledger, result), grid_of(ledger, result)
    for grid in grids:
        assert [grid.cell(row, 0).dots[0] for row in range(1, 5)] == [
            DotState.PASSED,
            DotState.UNCHECKED,
            DotState.FAILED,
            DotState.ERROR,
        ]
    assert report_of(ledger, result).variants[0].interval == wilson(1, 2)
