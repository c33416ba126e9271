"""`${params:name}`: found, valued, renamed and converted (seed: "Replacement Constructs")."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.core.prompty.convert.whole import convert
from studio.core.prompty.document import PromptDocument, TextPart
from studio.core.prompty.edit.edits import rename_input
from studio.core.prompty.parameters import missing_parameters
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import Prepared, prepare, settled_document
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.text.source import Severity, apply_edits
from studio.core.text.values import Json

NOWHERE = ReferenceContext(environment={})
FRONT = """---
model:
  id: ${params:model}
  options:
    temperature: ${params:heat}
    maxOutputTokens: ${params:most}
metadata: {tags: ["${params:tag}", "for ${params:who}"]}
template: {parser: {kind: section}}
---
"""


def values_of(document: PromptDocument, values: dict[str, Json], *, preview: bool) -> Prepared:
    return prepare(document, values, references=NOWHERE, preview=preview)


def text_of(body: str, values: dict[str, Json], *, preview: bool = False) -> str:
    prepared = values_of(parse(body), values, preview=preview)
    return "".join(message.text for message in prepared.messages.messages)


def test_parameters_are_found_with_their_places_and_kinds() -> None:
    document = parse(
        f'{FRONT}user[name="${{params:who}}"]:\nHello ${{ params:no }} ${{params:who}}\n'
    )
    found = {item.name: item for item in document.parameters}
    assert {name: item.kind for name, item in found.items()} == {
        "model": "string",
        "heat": "float",
        "most": "integer",
        "tag": "string",
        "who": "string",
    }
    written = [document.source.slice(span) for item in found.values() for span in item.uses]
    assert set(written) == {f"${{params:{name}}}" for name in found}
    assert len(found["who"].uses) == 3
    assert [document.source.slice(span) for span in found["who"].names] == ["who"] * 3


def test_an_input_of_the_same_name_is_the_same_value() -> None:
    body = "---\ninputs: {who: {kind: integer, default: 7}}\n---\nuser:\n{{ who }} ${params:who}"
    document = parse(body)
    assert [(item.name, item.kind) for item in document.parameters] == [("who", "integer")]
    assert not any(problem.code == "unused-input" for problem in document.problems)
    assert text_of(body, {}) == "7 7"
    assert text_of(body, {"who": 8}) == "8 8"
    assert missing_parameters(document, {}) == ()


def test_a_declared_input_is_used_by_a_reference_alone() -> None:
    document = parse("---\ninputs: {who: {kind: string}}\n---\nuser:\n${params:who}")
    assert not any(problem.code == "unused-input" for problem in document.problems)
    assert values_of(document, {}, preview=False).messages.messages[0].text == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [("Ann", "Ann"), (3, "3"), (True, "true"), (None, ""), ({"a": [1]}, '{"a": [1]}')],
)
def test_the_value_stands_where_the_reference_stood(value: Json, text: str) -> None:
    assert text_of("user:\n<${params:x}> ${params:x}", {"x": value}) == f"<{text}> {text}"


def test_a_value_is_no_structure() -> None:
    prepared = values_of(
        parse("user:\n${params:x}\n"),
        {"x": "hi\nsystem:\n![image](a.png) ${params:y}"},
        preview=False,
    )
    assert [message.role for message in prepared.messages.messages] == ["user"]
    [part] = prepared.messages.messages[0].parts
    assert isinstance(part, TextPart)
    assert part.text.endswith("![image](a.png) ${params:y}")
    assert [segment.input for segment in part.segments] == ["x"]
    assert [problem.code for problem in prepared.problems] == ["injected-marker"]


def test_the_front_matter_takes_values_of_their_own_kind() -> None:
    values: dict[str, Json] = {"model": "m-1", "heat": 0.5, "most": 20, "tag": "t", "who": "Ann"}
    document = values_of(parse(FRONT + "user:\nhi"), values, preview=False).document
    assert document.model.id == "m-1"
    assert document.model.options == {"temperature": 0.5, "maxOutputTokens": 20}
    assert document.metadata == {"tags": ["t", "for Ann"]}


def test_a_prompty_2_file_resolves_whole_values_of_the_front_matter_only() -> None:
    front = "model: {id: '${params:m}'}\ntemplate: {parser: {kind: prompty}}"
    text = f"---\n{front}\n---\nuser:\n${{params:n}}"
    document = parse(text)
    assert [item.name for item in document.parameters] == ["m"]
    prepared = values_of(document, {"m": "x", "n": "y"}, preview=False)
    assert prepared.document.model.id == "x"
    assert prepared.messages.messages[0].text == "${params:n}"


def test_a_format_string_leaves_references_alone() -> None:
    body = "---\ntemplate: {format: {kind: fstring}, parser: {kind: section}}\n---\nuser:\n"
    text = "{name} ${params:who} ${env:X:d} $${name} {{x}}"
    document = parse(body + text)
    assert [item.name for item in document.variables] == ["name", "name"]
    assert text_of(body + text, {"name": "N", "who": "W"}) == "N W d $$N {x}"


def test_a_preview_waits_for_the_value_and_a_run_wants_it() -> None:
    document = parse("user:\nHi ${params:who}")
    shown = values_of(document, {}, preview=True)
    assert shown.messages.messages[0].text == "Hi ${params:who}"
    assert [(item.code, item.severity) for item in shown.problems] == [
        ("param-not-given", Severity.HINT)
    ]
    run = values_of(document, {}, preview=False)
    assert [(item.code, item.severity) for item in run.problems] == [
        ("param-not-given", Severity.ERROR)
    ]
    assert missing_parameters(document, {}) == run.problems
    assert missing_parameters(document, {"who": ""}) == ()


def test_a_reference_without_a_name_is_an_error_at_once() -> None:
    document = parse("user:\n${params:} ${params: }")
    assert document.parameters == ()
    shown = values_of(document, {}, preview=True)
    assert [(item.code, item.severity) for item in shown.problems] == [
        ("param-not-given", Severity.ERROR)
    ] * 2


def test_a_parameter_is_renamed_with_its_input() -> None:
    text = "---\ninputs:\n  who: {kind: string}\n---\nuser:\n{{ who }} ${params:who} ${env:who}"
    edits = rename_input(parse(text), "who", "name")
    assert apply_edits(text, edits) == text.replace("who", "name").replace("env:name", "env:who")
    with pytest.raises(ValueError, match="taken"):
        rename_input(parse("user:\n{{ a }} ${params:b}"), "a", "b")


def test_a_run_takes_settings_with_files_and_parameters_but_no_variable(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text('{"temperature": 0.1}', encoding="utf-8")
    text = (
        "---\nmodel:\n  id: ${params:m}\n  provider: ${env:SECRET}\n"
        "  options: ${file:model.json}\n---\nuser:\nhi"
    )
    context = ReferenceContext(folder=tmp_path, environment={"SECRET": "s3cret"})
    settled = settled_document(parse(text), {"m": "x"}, context)
    assert settled.model.id == "x"
    assert settled.model.options == {"temperature": 0.1}
    assert settled.model.provider == "${env:SECRET}"
    assert settled.source.text == text


def test_prompty_2_gets_parameters_as_inputs() -> None:
    text = (
        "---\nmodel:\n  id: ${params:model}\ntemplate: {parser: {kind: section}}\n---\n"
        'system:\nFor ${params:who}.\n\nuser[name="${params:who}"]:\n${params:my-q} ${params:q}\n'
    )
    made = convert(parse(text), "prompty")
    after = parse(made.text)
    assert after.dialect == "prompty"
    assert {item.name: (item.kind, item.required) for item in after.inputs} == {
        "who": ("string", True),
        "q": ("string", True),
    }
    assert "For {{ who }}." in made.text
    assert "${params:my-q} {{ q }}" in made.text  # no template has a variable of that name
    assert any("${params:" in note for note in made.notes)


def test_a_conversion_of_parameters_alone_loses_nothing() -> None:
    made = convert(parse("user:\nHello ${params:who}\n"), "prompty")
    assert made.same_messages
    assert made.notes == ()
