"""Cases as an experiment, and rows added to the text of one."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from studio.application.experiments.generate import (
    CaseColumn,
    CasesTable,
    case_files,
    free_path,
    new_case_file,
    with_item,
)
from studio.application.experiments.prompts import ExperimentError
from studio.core.experiments.file.read import read_experiment
from studio.core.prompty.parse import parse
from studio.core.text.values import Json

ROW: Json = {
    "description": "kept",
    "vars": {"q": "a: b\n# c", "n": 3, "list": ["x", {"y": None}]},
    "expected": "The answer: 42",
}


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
