from __future__ import annotations

import json

import pytest

from studio.application.exchange.export import make_export, targets
from studio.core.export.target import ExportSource, ExportTarget
from studio.core.export.targets import find_target
from studio.core.prompty.parse import parse

PROMPT = """---
model:
  id: m
  connection:
    kind: key
    apiKey: ${env:EXPORT_TEST_KEY}
inputs:
  city:
    kind: string
    sample: Lisbon
    required: true
---
system:
Hi {{ city }} ${env:EXPORT_TEST_KEY}
"""


def order(name: str, text: str = PROMPT, **inputs: str) -> tuple[ExportTarget, ExportSource]:
    target = find_target(name)
    assert target is not None
    return target, ExportSource(parse(text), inputs)


def test_the_prompt_file_is_the_buffer_byte_for_byte() -> None:
    result = make_export(*order("prompty", city="Oslo"))
    assert result.text == PROMPT
    assert not result.blocked


def test_samples_are_no_values_and_a_missing_one_blocks() -> None:
    missing = make_export(*order("openai-chat"))
    assert missing.blocked
    assert "Lisbon" not in missing.text
    given = make_export(*order("openai-chat", city="Oslo"))
    assert not given.blocked
    assert "Hi Oslo" in json.loads(given.text)["messages"][0]["content"]


@pytest.mark.parametrize("target", [target.name for target in targets()])
def test_no_form_holds_a_secret(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPORT_TEST_KEY", "very-secret")
    assert "very-secret" not in make_export(*order(target, city="Oslo")).text


def test_an_agent_is_exported_at_its_start() -> None:
    text = "system:\n{% for h in history %}STEP{% endfor %}{{ chat_history }}|\nuser:\nGo\n"
    body = json.loads(make_export(*order("openai-chat", text)).text)
    assert body["messages"][0]["content"] == "|"


def test_a_reserved_name_that_is_declared_gets_no_sample_either() -> None:
    text = "---\ninputs:\n  question:\n    kind: string\n---\nuser:\nQ: {{ question }}|\n"
    body = json.loads(make_export(*order("openai-chat", text)).text)
    assert body["messages"][0]["content"] == "Q: |"


LITERAL = PROMPT.replace("apiKey: ${env:EXPORT_TEST_KEY}", 'apiKey: "abc-1234\\"xyz"')


@pytest.mark.parametrize("target", [target.name for target in targets()])
def test_a_key_of_the_front_matter_goes_nowhere_unasked(target: str) -> None:
    made = make_export(*order(target, LITERAL, city="Oslo"))
    holds_it = any(form in made.content for form in (b'abc-1234"xyz', b'abc-1234\\"xyz'))
    told = [loss for loss in made.losses if "The file contains the key" in loss]
    assert bool(told) is holds_it
    assert made.needs_consent or not holds_it
    if target in ("file", "prompty", "section", "legacy", "bundle"):
        assert "line 6:" in told[0]
    (problem,) = [each for each in made.problems if each.code == "literal-secret"]
    assert [fix.edits[0].text for fix in problem.fixes] == ["${env:API_KEY}"]


def test_a_key_that_the_environment_holds_needs_no_consent() -> None:
    assert not make_export(*order("file", city="Oslo")).needs_consent
