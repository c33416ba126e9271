"""The configuration is read again by the importer of the same format."""

from __future__ import annotations

import pytest
import yaml

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
    assert data["tests"] == [{"description": "one", "vars": {"who": "Bo"}}]
    again = import_promptfoo(made.text, lambda name: name)
    assert again.input_sets == {"one": {"who": "Bo"}}
    roles = [each.role for each in prepare(parse(again.text), {"who": "Bo"}).messages.messages]
    assert roles == ["system", "user"]


@pytest.mark.parametrize(("kind", "word"), [("mustache", "Nunjucks"), ("thread", "thread")])
def test_what_promptfoo_has_no_place_for_is_named(kind: str, word: str, make: Make) -> None:
    assert any(word in loss for loss in make(PROMPTS[kind], "promptfoo").losses)
