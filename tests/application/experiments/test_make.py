"""An experiment from saved sets, and a run kept as one more row of it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from studio.application.experiments.make import (
    experiment_of,
    experiment_of_run,
    free_path,
    with_row,
)
from studio.application.experiments.prompts import ExperimentError
from studio.core.experiments.file.read import read_experiment

VALUES = {"q": "a: b\n# c", "n": 3, "list": ["x", {"y": None}]}


def test_saved_sets_become_rows(tmp_path: Path) -> None:
    prompt = tmp_path / "a.prompty"
    text = experiment_of(prompt, {"first: one": VALUES, "second": {}})
    file = read_experiment(text, tmp_path / "a.experiment.yaml")
    assert file.problems == ()
    rows = yaml.safe_load(text)["tests"]
    assert rows == [
        {"description": "first: one", "vars": VALUES},
        {"description": "second", "vars": {}},
    ]
    assert yaml.safe_load(experiment_of(prompt, {}))["tests"] == ["samples"]
    assert read_experiment(experiment_of_run(prompt, VALUES, "Yes.", "r")).problems == ()
    assert free_path(prompt).name == "a.experiment.yaml"
    free_path(prompt).write_text("")
    assert free_path(prompt).name == "a-2.experiment.yaml"


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
    added = with_row(text, VALUES, "The answer: 42", "kept")
    before, after = yaml.safe_load(text), yaml.safe_load(added)
    rows = before.pop("tests", [])
    rows = rows if isinstance(rows, list) else [rows]
    new = {"description": "kept", "vars": VALUES, "expected": "The answer: 42"}
    assert after.pop("tests") == [*rows, new]
    assert before == after
    assert ("# a note" in text) == ("# a note" in added)
    assert yaml.safe_load(with_row(added, {}, ""))["tests"][-1] == {"vars": {}}


def test_what_cannot_be_read_is_not_written_to() -> None:
    with pytest.raises(ExperimentError, match="fix it first"):
        with_row("prompts: [", VALUES, "x")
