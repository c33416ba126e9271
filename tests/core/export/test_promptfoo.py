"""The configuration is read again by the importer of the same format."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from studio.application.exchange.export import make_export
from studio.cli.main import run_command
from studio.cli.terminal import FINE
from studio.core.experiments.file.read import read_experiment
from studio.core.export.target import ExportSource
from studio.core.export.targets import TARGETS
from studio.core.imports.imported import experiment_path
from studio.core.imports.promptfoo import import_promptfoo
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from tests.core.export.conftest import PROMPTS, Make


@pytest.mark.parametrize("kind", ["jinja", "fstring", "plain"])
def test_the_configuration_holds_prompt_model_and_sets(kind: str, make: Make) -> None:
    made = make(PROMPTS[kind], "promptfoo", sets={"one": {"who": "Bo"}})
    assert not made.blocked
    data = yaml.safe_load(made.text)
    assert data["providers"][0]["id"] == "openai:chat:scripted-1"
    (test,) = data["tests"]
    assert test["description"] == "one"
    assert test["vars"]["who"] == "Bo"
    again = import_promptfoo(made.text, lambda name: name)
    assert again.input_sets == {"one": test["vars"]}
    roles = [each.role for each in prepare(parse(again.text), {"who": "Bo"}).messages.messages]
    assert roles == ["system", "user"]


@pytest.mark.parametrize(("kind", "word"), [("mustache", "Nunjucks"), ("thread", "thread")])
def test_what_promptfoo_has_no_place_for_is_named(kind: str, word: str, make: Make) -> None:
    assert any(word in loss for loss in make(PROMPTS[kind], "promptfoo").losses)


def test_a_list_is_one_value_and_what_a_run_supplies_comes_along(make: Make) -> None:
    text = (
        "---\nname: a\ninputs:\n  xs: {kind: array, items: {kind: string}, default: [a, b]}\n"
        "template: {format: {kind: jinja2}, parser: {kind: prompty}}\n---\n"
        "system:\n{{ xs | join(', ') }} {{ chat_history }}\n"
    )
    (test,) = yaml.safe_load(make(text, "promptfoo").text)["tests"]
    assert test["vars"] == {"xs": ["a", "b"], "chat_history": ""}
    assert test["options"] == {"disableVarExpansion": True}


def test_what_nunjucks_does_not_know_is_named(make: Make) -> None:
    text = (
        "system:\n{{ a | tojson }} {{ b.items() }} {{ c | upper }} {% if c is none %}x{% endif %}\n"
    )
    losses = " ".join(make(text, "promptfoo").losses)
    for word in ("'tojson'", "items()", "'none'"):
        assert word in losses
    assert "upper" not in losses


CONFIG = """description: Capitals
prompts: ['What is the capital of {{country}}?']
providers: [{id: 'openai:gpt-4o-mini', config: {temperature: 0}}]
defaultTest:
  assert: [{type: not-contains, value: sorry}]
tests:
- description: france
  vars: {country: France}
  assert: [{type: icontains, value: paris}, {type: latency, threshold: 3000}]
- vars: {country: [Norway, Sweden]}
  assert: [{type: javascript, value: 'output.length < 200'}]
"""


def test_assertions_come_in_as_an_experiment_and_go_out_again(tmp_path: Path) -> None:
    config = tmp_path / "promptfooconfig.yaml"
    config.write_text(CONFIG, encoding="utf-8")
    out = tmp_path / "capitals.prompty"
    assert run_command(["import", str(config), "-o", str(out)]) == FINE
    asked = experiment_path(out)
    assert yaml.safe_load(asked.read_text(encoding="utf-8"))["prompts"] == ["capitals.prompty"]
    found = read_experiment(asked.read_text(encoding="utf-8"), asked)
    assert not [item for item in found.problems if item.severity == "error"]
    assert [[a.type for a in case.assertions] for case in found.cases] == [
        ["icontains", "latency"],
        ["javascript"],
    ]
    again = tmp_path / "again.yaml"
    given = ["export", str(out), "--target", "promptfoo", "-o", str(again), "--accept-losses"]
    assert run_command(given) == FINE
    made, first = yaml.safe_load(again.read_text(encoding="utf-8")), yaml.safe_load(CONFIG)
    assert made["tests"] == first["tests"]
    assert made["defaultTest"] == first["defaultTest"]


def test_assertions_of_the_studio_alone_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.prompty"
    path.write_text("system:\nHi\n", encoding="utf-8")
    experiment_path(path).write_text(
        "tests:\n- expected: x\n  tags: [t]\n  assert: [{type: no-error}, {type: equals, value: "
        "'{{ expected }}'}]\n- {path: 'file://rows.csv', take: 3}\n- samples\n",
        encoding="utf-8",
    )
    source = ExportSource(parse(path.read_text(encoding="utf-8"), path))
    (target,) = (each for each in TARGETS if each.name == "promptfoo")
    made = make_export(target, source)
    tests = yaml.safe_load(made.text)["tests"]
    assert tests[0] == {
        "vars": {"expected": "x"},
        "assert": [{"type": "equals", "value": "{{ expected }}"}],
    }
    assert tests[1:] == ["file://rows.csv", {"description": "samples", "vars": {}}]
    assert [loss for loss in made.losses if "'no-error'" in loss]
    assert [loss for loss in made.losses if "take" in loss]


@pytest.mark.parametrize(
    ("body", "value", "differs"),
    [
        ("{{ x }}", "kind: boolean, default: true", ""),
        ("{{ x }}", "kind: float, default: 80.0", ""),
        ("{{ x }}", "kind: object, properties: {}, default: {a: 1}", "[object Object]"),
        ("{{ x }}", "kind: array, items: {kind: string}, default: [a, b]", "a,b"),
        ("a{% if x %}b{% endif %}", "kind: array, items: {kind: string}, default: []", "'ab'"),
        ("{{ x.y.z }}.", "kind: object, properties: {}, default: {}", ""),
    ],
)
def test_values_are_written_as_javascript_writes_them(
    body: str, value: str, differs: str, make: Make
) -> None:
    text = (
        f"---\nname: a\nmodel: {{id: m}}\ninputs:\n  x: {{{value}}}\n"
        f"template: {{format: {{kind: jinja2}}, parser: {{kind: prompty}}}}\n---\nuser:\n{body}\n"
    )
    losses = make(text, "promptfoo").losses
    assert [loss for loss in losses if differs and differs in loss] == list(losses)
    assert bool(losses) == bool(differs)


MODEL = "---\nname: a\nmodel:\n  id: m\n  options: {maxOutputTokens: 50}\n"


@pytest.mark.parametrize(
    ("front", "config"),
    [
        (
            "  connection: {kind: key, endpoint: 'http://127.0.0.1:8871/v1/'}\n",
            {"apiBaseUrl": "http://127.0.0.1:8871/v1"},
        ),
        (
            "  provider: azure\n  connection: {kind: key, endpoint: '${env:WHERE}'}\n",
            {
                "apiBaseUrl": '{{ env.WHERE | replace(r/\\/$/, "") }}/openai/v1',
                "apiKeyEnvar": "AZURE_OPENAI_API_KEY",
            },
        ),
        (
            "  provider: groq\n",
            {"apiBaseUrl": "https://api.groq.com/openai/v1", "apiKeyEnvar": "GROQ_API_KEY"},
        ),
        ("  provider: serverless\n", {}),
    ],
)
def test_promptfoo_asks_the_prompts_own_server_with_its_options(
    front: str, config: dict[str, str], make: Make
) -> None:
    made = make(MODEL + front + "---\nuser:\nHi\n", "promptfoo")
    (provider,) = yaml.safe_load(made.text)["providers"]
    assert made.losses == ()
    assert provider == {
        "id": "openai:chat:m",
        "config": {
            **config,
            "omitDefaults": True,
            "passthrough": {"max_completion_tokens": 50},
        },
    }


def test_server_and_options_come_back(make: Make) -> None:
    front = "  provider: azure\n  connection: {kind: key, endpoint: '${env:WHERE}'}\n"
    made = make(MODEL + front + "---\nuser:\nHi\n", "promptfoo")
    model = parse(import_promptfoo(made.text, lambda name: name).text).model
    assert (model.id, model.provider) == ("m", "azure")
    assert model.connection["endpoint"] == "${env:WHERE}"
    assert model.options == {"maxOutputTokens": 50}


def test_no_model_is_invented(make: Make) -> None:
    made = make("---\nname: a\n---\nuser:\nHi\n", "promptfoo")
    (provider,) = yaml.safe_load(made.text)["providers"]
    assert provider["id"] == "openai:chat:{{ env.OPENAI_MODEL }}"
    assert [loss for loss in made.losses if "names no model" in loss]


def test_what_promptfoo_adds_for_anthropic_is_named(make: Make) -> None:
    text = MODEL + "  provider: anthropic\n---\nsystem:\nBe kind.\n\nuser:\nHi\n"
    made = make(text, "promptfoo")
    assert yaml.safe_load(made.text)["providers"] == [
        {"id": "anthropic:messages:m", "config": {"extra_body": {"max_tokens": 50}}}
    ]
    assert list(made.losses) == ["current values: temperature is added (0)."]
