"""Files of others are opened as they were meant, with one fix."""

from __future__ import annotations

import pytest

from studio.core.prompty.parse import parse
from studio.core.text.source import Problem, apply_edits

V2 = "---\nmodel: {{id: m, apiType: chat}}\n{0}\n---\nsystem:\n{1}\n"
V1 = "---\nmodel: {{api: chat}}\n{0}\n---\nsystem:\n{1}\n"


def only(text: str, code: str) -> Problem:
    found = [item for item in parse(text).problems if item.code == code]
    assert len(found) == 1, [f"{item.code}: {item.message}" for item in parse(text).problems]
    return found[0]


def mended(text: str, code: str, fix: int = 0) -> str:
    again = apply_edits(text, only(text, code).fixes[fix].edits)
    assert code not in [item.code for item in parse(again).problems]
    return again


@pytest.mark.parametrize(
    ("front", "word"),
    [
        ("template: {format: {kind: nunjucks}, parser: {kind: prompty}}", "jinja2"),
        ("template: {format: {kind: Jinja2}, parser: {kind: prompty}}", "jinja2"),
        ("inputs: {a: {kind: String}}", "string"),
        ("outputs: {a: {kind: number}}", "float"),
        ("inputs: {a: {kind: STR}}", "string"),
        ("model: {id: m, apiType: Chat}", "chat"),
    ],
)
def test_a_word_that_is_spelled_otherwise_is_understood(front: str, word: str) -> None:
    text = f"---\nname: x\n{front}\n---\nsystem:\n{{{{a}}}}\n"
    assert word in mended(text, "other-word")
    assert not [item for item in parse(text).problems if item.severity == "error"]


@pytest.mark.parametrize("form", [V1, V2])
@pytest.mark.parametrize("body", ["{{#a}}x{{/a}}", "{{^a}}{{b}}{{/a}}", "{{> part}} {{#a}}{{/a}}"])
def test_mustache_that_is_not_declared_is_recognized(form: str, body: str) -> None:
    text = form.format("name: x", body)
    problem = only(text, "template-syntax")
    assert problem.message.startswith("This is Mustache")
    assert parse(mended(text, "template-syntax")).template.format == "mustache"


def test_a_broken_jinja_template_is_no_mustache() -> None:
    problem = only(V2.format("name: x", "{% if a %}{{b}}"), "template-syntax")
    assert "Mustache" not in problem.message


def test_a_variable_without_env_is_named() -> None:
    text = V1.format("name: ${MODEL_NAME}", "Hi")
    assert "name: ${env:MODEL_NAME}" in mended(text, "bare-reference")


@pytest.mark.parametrize("slip", ['KEY"', "K EY", "$KEY"])
def test_a_slip_in_the_name_of_a_variable_is_named(slip: str) -> None:
    text = V1.format(f"description: ${{env:{slip}}}", "Hi")
    assert "description: ${env:KEY}" in mended(text, "variable-name")


def test_names_of_variables_are_not_named() -> None:
    text = V1.format("description: ${env:ProgramFiles(x86):a b}\nname: ${env:a.b-c}", "Hi")
    assert "variable-name" not in [problem.code for problem in parse(text).problems]


def test_a_role_that_prompty_1_does_not_know_is_named() -> None:
    text = V1.format("name: x", "a\n\ndeveloper:\nb")
    assert "\nsystem:\nb" in mended(text, "near-marker")


def test_a_partial_is_a_warning() -> None:
    front = "template: {format: {kind: mustache}, parser: {kind: prompty}}"
    assert only(V2.format(front, "{{> part}}x"), "template-unsupported").severity == "warning"


def test_a_name_that_is_not_declared_is_told_once_with_all_of_them_to_declare() -> None:
    text = V2.format("name: x", "{{a}} {{b.c}} {{a}} {{a}}")
    first, second = (p for p in parse(text).problems if p.code == "undeclared-variable")
    assert "used 3 times" in first.message
    assert [fix.title for fix in second.fixes] == ["Declare input 'b'", "Declare all 2 inputs"]
    again = parse(apply_edits(text, second.fixes[-1].edits))
    assert [(item.name, item.kind) for item in again.inputs] == [("a", "string"), ("b", "object")]
    assert "undeclared-variable" not in [item.code for item in again.problems]


def test_a_sample_of_another_kind_is_told_once() -> None:
    problem = only(
        V1.format("inputs: {a: {type: number}}\nsample: {a: x}", "{{a}}"), "default-kind"
    )
    assert "The sample of 'a'" in problem.message
