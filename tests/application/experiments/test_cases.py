"""Cases of a prompt: as an experiment, run through its engine, and added to its text."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from studio.application.experiments.asking import CellProgress
from studio.application.experiments.cases import (
    CaseColumn,
    CasesTable,
    case_files,
    free_path,
    new_case_file,
    with_item,
)
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
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.report import report_of
from studio.application.experiments.run.runner import ExperimentRunner
from studio.core.experiments.file.read import read_experiment
from studio.core.experiments.results.cells import CellKey
from studio.core.experiments.results.comparison import wilson
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.prompty.parse import parse
from studio.core.text.values import Json
from tests.application.experiments.conftest import PROMPT, Bench
from tests.support.chat_server import chunk, events, failure, silent
from tests.support.patience import until

ROW: Json = {
    "description": "kept",
    "vars": {"q": "a: b\n# c", "n": 3, "list": ["x", {"y": None}]},
    "expected": "The answer: 42",
}

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
    assert "'select-best' are not supported" in plan.faults[0, 4]
    assert "1 of 4 rows have no assertions: their answers are not checked." in plan.warnings
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


def test_cases_are_an_experiment_with_their_columns_and_checks(tmp_path: Path) -> None:
    prompt, rows = tmp_path / "a.prompty", tmp_path / "a.cases.csv"
    outputs = "---\nname: a\noutputs:\n  queue: {kind: string}\n---\nuser:\n{{ q }}\n"
    document = parse(outputs, prompt)
    columns = (CaseColumn(), CaseColumn("main", "a.prompty@main"), CaseColumn("small", "", "small"))
    text = CasesTable(prompt, rows, columns).text(document)
    file = read_experiment(text, tmp_path / "a.cases")
    assert file.problems == ()
    assert [(each.name, each.prompt.revision, each.provider.id) for each in file.variants] == [
        ("this text", "", ""),
        ("main", "main", ""),
        ("small", "", "small"),
    ]
    assert [each.type for each in file.default.assertions] == ["is-json", "expected"]
    assert (file.baseline, file.options.concurrency) == ("this text", 8)
    assert yaml.safe_load(CasesTable(prompt).text(document))["tests"] == ["samples"]
    judged = read_experiment(CasesTable(prompt, rows, judge="big").text(document), tmp_path / "a")
    assert judged.default.options == {"provider": "big"}
    assert free_path(prompt).name == "a.experiment.yaml"
    free_path(prompt).write_text("")
    assert free_path(prompt).name == "a-2.experiment.yaml"


def test_files_of_cases_are_found_beside_the_prompt(tmp_path: Path) -> None:
    for name in ("z.csv", "a.inputs.json", "a.cases.jsonl", "package.json", "a.experiment.yaml"):
        (tmp_path / name).write_text("")
    found = case_files(tmp_path / "a.prompty")
    assert [each.name for each in found] == ["a.cases.jsonl", "a.inputs.json", "z.csv"]
    flat = parse("---\ninputs: {q: {kind: string}}\n---\n{{ q }}", tmp_path / "a.prompty")
    deep = parse("---\ninputs: {q: {kind: object}}\n---\n{{ q }}", tmp_path / "a.prompty")
    files = [new_case_file(each, tmp_path / "a.prompty").name for each in (flat, deep)]
    assert files == ["a.cases.csv", "a.cases.jsonl"]


@pytest.mark.parametrize(
    "text",
    [
        "prompts: [a.prompty]\n",
        "prompts: [a.prompty]\ntests:\n  - vars: {q: one}\n    # a note\nbaseline: a\n",
        "prompts: [a.prompty]\ntests:\n- vars:\n    q: one\n- vars: {q: two}",
        "prompts: [a.prompty]\ntests: file://rows.csv\nkeep: all\n",
        "prompts: [a.prompty]\ntests: [{vars: {q: one}}, file://b.csv] # more\nkeep: all\n",
        "prompts: [a.prompty]\ntests: []\n",
        "tests:\n    -   vars:\n            q: |\n             one\n             two\nprompts: a",
    ],
)
def test_a_row_is_added_and_the_rest_stays(text: str) -> None:
    added = with_item(text, "tests", ROW)
    before, after = yaml.safe_load(text), yaml.safe_load(added)
    rows = before.pop("tests", [])
    rows = rows if isinstance(rows, list) else [rows]
    assert after.pop("tests") == [*rows, ROW]
    assert before == after
    assert ("# a note" in text) == ("# a note" in added)
    assert yaml.safe_load(with_item(added, "tests", {"vars": {}}))["tests"][-1] == {"vars": {}}


def test_what_cannot_be_read_is_not_written_to() -> None:
    with pytest.raises(ExperimentError, match="fix it first"):
        with_item("prompts: [", "tests", ROW)
