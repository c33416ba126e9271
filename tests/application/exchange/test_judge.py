"""Programs send the request of an export to a server on this machine; it is compared whole."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from studio.application.exchange.judge import Asked, _compared, judge_export
from studio.core.export.sent import SentRequest, named_connection, sent_by_studio
from studio.core.export.target import ExportSource
from studio.core.export.targets import find_target
from studio.core.models.choice import choose_connection
from studio.core.models.connections import Connections, address_of, provider_at
from studio.core.prompty.parse import parse

PROMPT = """---
name: trip
model:
  id: m
  provider: {provider}
  connection: {{kind: key, endpoint: '{endpoint}', apiKey: '${{env:TRIP_KEY}}'}}
  options: {{temperature: 0.5, maxOutputTokens: 50}}
inputs:
  city: {{kind: string, default: Oslo}}
outputs:
  answer: {{kind: string, required: true}}
tools:
  - name: weather
    kind: function
    description: Tells the weather.
    parameters:
      - {{name: city, kind: string, required: true}}
template: {{format: {{kind: jinja2}}, parser: {{kind: prompty}}}}
---
system:
Help with {{{{ city }}}}.

user:
Is it cold?
"""

EASY = {"provider": "openai", "endpoint": "https://models.example/v1"}


def difference(target: str, tmp_path: Path, text: str) -> str:
    path = tmp_path / "trip.prompty"
    path.write_text(text, encoding="utf-8")
    form = find_target(target)
    assert form is not None
    source = ExportSource(parse(text, path), sets={"other": {"city": "Bari"}})
    made = form.make(source.for_target(form))
    assert not made.blocked
    judgment = judge_export(form, source, made)
    return " ".join(each.difference for each in judgment.rounds if not each.is_same)


@pytest.mark.parametrize(
    ("target", "package"),
    [
        ("prompty", "prompty"),
        ("python", "openai"),
        ("langchain", "langchain_openai"),
        ("promptfoo", ""),
    ],
)
def test_the_whole_request_is_the_same(target: str, package: str, tmp_path: Path) -> None:
    if package and find_spec(package) is None:
        pytest.skip(f"{package} is not installed; `make interop` asks it")
    if not package and shutil.which("promptfoo") is None:
        pytest.skip("promptfoo is not installed; `make interop` asks it")
    assert difference(target, tmp_path, PROMPT.format(**EASY)) == ""


@pytest.mark.skipif(shutil.which("sh") is None or shutil.which("curl") is None, reason="no curl")
@pytest.mark.parametrize(
    ("target", "provider", "endpoint"),
    [
        ("curl-openai-chat", "openai", "https://models.example/v1"),
        ("curl-openai-responses", "openai", "${env:MODELS}"),
        ("curl-openai-chat", "azure", "${env:MODELS}"),
        ("curl-anthropic", "anthropic", "https://claude.example"),
    ],
)
def test_curl_sends_the_whole_request(
    target: str, provider: str, endpoint: str, tmp_path: Path
) -> None:
    text = PROMPT.format(provider=provider, endpoint=endpoint)
    assert difference(target, tmp_path, text) == ""


def test_a_program_that_follows_no_links_gets_files(tmp_path: Path) -> None:
    pytest.importorskip("prompty")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "city.json").write_text('"Bari"', encoding="utf-8")
    text = PROMPT.format(**EASY).replace("default: Oslo", "default: '${file:data/city.json}'")
    assert difference("prompty", tmp_path, text) == ""


def test_azure_without_an_endpoint_goes_to_the_resource_of_the_environment(tmp_path: Path) -> None:
    text = PROMPT.replace("endpoint: '{endpoint}', ", "").format(provider="azure")
    assert difference("curl-openai-chat", tmp_path, text) == ""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("provider: openai", "provider: google", "it has no provider 'google'"),
        ("temperature: 0.5", "additionalProperties: {deployment: x}", "no option deployment"),
        ("temperature: 0.5", "topK: 3", "no option top_k"),
        ("id: m", "id: gpt-5", "temperature is left out (0.5)"),
    ],
)
def test_what_prompty_does_not_send_is_a_loss(
    old: str, new: str, words: str, tmp_path: Path
) -> None:
    form = find_target("prompty")
    assert form is not None
    text = PROMPT.format(provider="openai", endpoint="${env:MODELS}").replace(old, new)
    document = parse(text, tmp_path / "trip.prompty")
    (loss,) = form.make(ExportSource(document).for_target(form)).losses
    assert words in loss


def test_what_a_program_sends_differently_is_named(tmp_path: Path) -> None:
    pytest.importorskip("openai")
    text = PROMPT.format(**EASY)
    path = tmp_path / "trip.prompty"
    path.write_text(text, encoding="utf-8")
    form = find_target("python")
    assert form is not None
    source = ExportSource(parse(text, path))
    made = form.make(ExportSource(parse(text.replace("0.5", "1"), path)).for_target(form))
    (found,) = judge_export(form, source, made).rounds
    assert found.difference == "temperature is 1 instead of 0.5."


def test_the_keys_of_the_studio_do_not_reach_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("TRIP_KEY", "secret")  # what is expected is the name of the variable
    assert difference("python", tmp_path, PROMPT.format(**EASY)) == ""


def test_a_script_gets_lists_and_texts_as_its_command_line_takes_them(tmp_path: Path) -> None:
    pytest.importorskip("openai")
    text = PROMPT.format(**EASY).replace(
        "inputs:\n", "inputs:\n  rows: {kind: array, default: 'no list'}\n"
    )
    text += "{{ rows }}{% for item in history %}{{ item.thought }}{% endfor %}\n"
    assert difference("python", tmp_path, text) == ""


def test_messages_of_a_program_without_a_request_are_compared_as_messages(tmp_path: Path) -> None:
    pytest.importorskip("prompty")
    path = tmp_path / "a.prompty"
    text = "---\nmodel: {id: gemini-x, provider: gemini}\n---\nuser:\nHi\n"
    form = find_target("prompty")
    assert form is not None
    source = ExportSource(parse(text, path)).for_target(form)
    answer = SentRequest("", {"messages": [{"role": "user", "content": "Hi"}]})
    found = [*_compared(source, "legacy", Asked("p", (answer,)), {})]
    assert [each.difference for each in found] == [""]


@pytest.mark.parametrize(("dialect", "is_same"), [("prompty", True), ("section", False)])
def test_a_reference_in_a_text_is_letters_but_in_the_section_dialect(
    dialect: str, is_same: bool
) -> None:
    front = f"model: {{id: m}}\ntemplate: {{parser: {{kind: {dialect}}}}}"
    source = ExportSource(parse(f"---\n{front}\n---\nuser:\nBe ${{env:MOOD:kind}}.\n"))
    message = {"role": "user", "content": "Be ${env:MOOD:kind}."}
    sent = sent_by_studio(source)
    headers = {"authorization": "Bearer k"}
    answer = SentRequest(sent.address, {**sent.body, "messages": [message]}, headers)
    found = [*_compared(source, "x", Asked("p", (answer,)), {"OPENAI_API_KEY": "k"})]
    assert found[0].is_same == is_same


def test_the_address_of_gemini_names_the_model() -> None:
    source = ExportSource(parse("---\nmodel: {id: g-1, provider: gemini}\n---\nuser:\nHi\n"))
    assert sent_by_studio(source).address.endswith("/models/g-1:generateContent")


@pytest.mark.parametrize(
    "model",
    [
        "provider: openai",
        "provider: openai, apiType: responses",
        "provider: openai, apiType: responses, connection: {endpoint: 'https://h.example/v1'}",
        "provider: openai, connection: {endpoint: 'https://h.example/v1'}",
        "provider: foundry, connection: {endpoint: 'https://h.openai.azure.com'}",
        "provider: azure, apiType: responses, connection: {endpoint: 'https://h.openai.azure.com'}",
        "provider: anthropic, connection: {endpoint: 'https://h.example'}",
        "provider: gemini",
        "provider: ollama, connection: {endpoint: 'http://h.example:11434'}",
        "provider: groq",
    ],
)
def test_what_exports_are_compared_with_is_where_a_run_goes(model: str) -> None:
    source = ExportSource(parse(f"---\nmodel: {{id: m, {model}}}\n---\nuser:\nHi\n"))
    named = ("OPENAI", "ANTHROPIC", "GEMINI", "GROQ")
    keys = {f"{name}_API_KEY": "k" for name in named}
    run = choose_connection(source.document.model, Connections(), environment=keys).connection
    named_by_export = named_connection(source)
    assert provider_at(run) == provider_at(named_by_export)
    assert address_of(run) == address_of(named_by_export)
    assert sent_by_studio(source).address.startswith(address_of(run).rstrip("/"))
