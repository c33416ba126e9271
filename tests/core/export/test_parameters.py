"""`${params:name}` reaches every export: its value, or a place for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from studio.core.export.target import ExportResult, ExportSource, ExportTarget
from studio.core.export.targets import TARGETS, find_target
from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.text.values import Json

TEXT = """---
name: greeting
model:
  id: some-model
  options:
    temperature: ${params:heat}
template: {format: {kind: FORM}, parser: {kind: section}}
---
system:
Answer in ${params:language}.

user[name="${params:who}"]:
I am ${params:who}.
"""
VALUES: dict[str, Json] = {"language": "Latin", "who": "Ann", "heat": 0.5}


def export(
    target: ExportTarget, values: dict[str, Json], folder: Path, form: str = "jinja2"
) -> ExportResult:
    path = folder / "greeting.prompty"
    text = TEXT.replace("FORM", form)
    if target.name == "langchain":  # its messages with attributes are no templates, which is said
        text = text.replace('[name="${params:who}"]', "")
    path.write_text(text, encoding="utf-8")
    document = parse(path.read_text("utf-8"), path)
    references = ReferenceContext(folder=folder, environment={}, trusted=False)
    return target.make(ExportSource(document, values, references=references).for_target(target))


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_every_form_carries_the_values(target: ExportTarget, tmp_path: Path) -> None:
    made = export(target, VALUES, tmp_path)
    assert not made.blocked, made.problems
    # Prompty's own runtimes drop the attributes of a marker, which is named.
    told = [item.difference for item in made.round_trips if not item.is_same]
    assert [each for each in told if not each.startswith("in prompty ")] == []
    if target.needs_values:
        assert "Answer in Latin." in made.text
        assert "${params:" not in made.text
        assert not any("params" in loss for loss in made.losses)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_form_without_values_of_its_own_wants_them(target: ExportTarget, tmp_path: Path) -> None:
    made = export(target, {}, tmp_path)
    codes = {problem.code for problem in made.problems if problem.severity == "error"}
    assert made.blocked == target.needs_values
    assert codes == ({"param-not-given"} if target.needs_values else set())
    # Prompty's own runtimes drop the attributes of a marker, which is named.
    told = [item.difference for item in made.round_trips if not item.is_same]
    assert [each for each in told if not each.startswith("in prompty ")] == []


@pytest.mark.parametrize("form", ["jinja2", "mustache", "fstring"])
def test_a_script_asks_for_its_parameters(form: str, tmp_path: Path) -> None:
    target = find_target("python")
    assert target is not None
    given: dict[str, Json] = {"heat": 0.5}
    script = tmp_path / "greeting.py"
    script.write_text(export(target, given, tmp_path, form).text, encoding="utf-8")
    run = [sys.executable, str(script)]
    refused = subprocess.run(run, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "--language" in refused.stderr
    assert "--who" in refused.stderr
    probe = (
        "import json, runpy\n"
        f"found = runpy.run_path({str(script)!r})\n"
        "values = {**found['INPUTS'], 'language': 'Latin', 'who': 'Ann'}\n"
        "print(json.dumps([found['build_messages'](values), found['OPTIONS']]))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )
    messages, options = json.loads(shown.stdout)
    assert messages == [
        {"role": "system", "content": "Answer in Latin."},
        {"role": "user", "name": "Ann", "content": "I am Ann."},
    ]
    assert options == {"temperature": 0.5}


def test_langchain_has_them_as_variables(tmp_path: Path) -> None:
    target = find_target("langchain")
    assert target is not None
    file = tmp_path / "greeting_prompt.py"
    file.write_text(export(target, {"heat": 0.5}, tmp_path).text, encoding="utf-8")
    probe = (
        "import runpy\n"
        f"prompt = runpy.run_path({str(file)!r})['prompt']\n"
        "print(sorted(prompt.input_variables))\n"
        "print(prompt.invoke({'language': 'Latin', 'who': 'Ann'}).messages[0].content)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )
    assert shown.stdout.splitlines() == ["['language', 'who']", "Answer in Latin."]


def test_code_says_what_becomes_of_parameters_in_settings(tmp_path: Path) -> None:
    target = find_target("python")
    assert target is not None
    assert export(target, VALUES, tmp_path).losses == (
        "The parameter 'heat' of the settings is fixed to its current value.",
    )
    [lost] = export(target, {}, tmp_path).losses
    assert (
        lost == "The parameter 'heat' of the settings has no value; its reference stays as written."
    )
