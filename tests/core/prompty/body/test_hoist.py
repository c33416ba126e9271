"""Tools of the body: `${…}` per scalar and per spot, options that are none, nothing dropped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studio.core.prompty.convert.whole import convert
from studio.core.prompty.document import TemplateFormat
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.prompty.shapes import tools_to_json
from studio.core.text.source import Severity
from studio.core.text.values import Json

FORMS: tuple[TemplateFormat, ...] = ("jinja2", "mustache", "fstring")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "keys.json").write_text('{"a": 1, "b": ["x", "${env:KEY}"]}', encoding="utf-8")
    (tmp_path / "more.yaml").write_text("b: two\nc: {d: true}\n", encoding="utf-8")
    (tmp_path / "list.yaml").write_text("- {id: one}\n- {id: two, type: t}\n", encoding="utf-8")
    (tmp_path / "tool.json").write_text('{"id": "filed", "type": "t"}', encoding="utf-8")
    (tmp_path / "note.txt").write_text("a: note\n- {{ it }}", encoding="utf-8")
    return tmp_path


def prepared(
    section: str,
    folder: Path | None,
    values: dict[str, Json] | None = None,
    *,
    form: TemplateFormat = "jinja2",
    preview: bool = False,
) -> Prepared:
    front = f"---\ntemplate: {{format: {{kind: {form}}}, parser: {{kind: section}}}}\n---\n"
    document = parse(f"{front}tools:\n{section}\nuser:\nhi\n")
    context = ReferenceContext(folder=folder, environment={"KEY": "k3y"})
    return prepare(document, values or {}, references=context, preview=preview)


def options_of(made: Prepared) -> list[Json]:
    return [tool.reference or tool.options for tool in made.messages.tools]


def codes(made: Prepared) -> list[str]:
    return [item.code for item in made.problems if item.severity is not Severity.HINT]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("options: ${file:keys.json}", {"a": 1, "b": ["x", "k3y"]}),
        ('options: "${file:more.yaml}"', {"b": "two", "c": {"d": True}}),
        ("options:\n      ${file:keys.json}", {"a": 1, "b": ["x", "k3y"]}),
        ("options:\n      <<: ${file:keys.json}\n      a: 2", {"a": 2, "b": ["x", "k3y"]}),
        ("options:\n      c: 1\n      ${file:keys.json}", {"a": 1, "b": ["x", "k3y"], "c": 1}),
        (
            "options:\n      ${file:keys.json}\n      b: own\n      ${file:more.yaml}",
            {"a": 1, "b": "own", "c": {"d": True}},
        ),
        ("options:\n      all: ${file:more.yaml}", {"all": {"b": "two", "c": {"d": True}}}),
        ("options:\n      l: [${env:KEY}, ${env:NO:d}]", {"l": ["k3y", "d"]}),
        ('options:\n      a: "pre ${env:KEY} post"', {"a": "pre k3y post"}),
        ("options:\n      a: |\n        ${file:note.txt}", {"a": "a: note\n- {{ it }}\n"}),
        ("options:\n      a: ${file:note.txt}", {"a": "a: note\n- {{ it }}"}),
        ("options:\n      n: ${params:n}\n      t: n=${params:n}", {"n": 5, "t": "n=5"}),
        ("options:\n      a: one\n        ${env:KEY}", {"a": "one k3y"}),
    ],
)
def test_references_of_one_tool(
    form: TemplateFormat, options: str, expected: Json, folder: Path
) -> None:
    made = prepared(f"  - id: q\n    type: t\n    {options}\n", folder, {"n": 5}, form=form)
    assert options_of(made) == [expected]
    assert codes(made) == []


@pytest.mark.parametrize("form", ["jinja2", "mustache"])  # a format string has braces of its own
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("options: {a: ${env:KEY}, l: [${env:KEY}]}", {"a": "k3y", "l": ["k3y"]}),
        ("options: {a: ${http:foo}}", {"a": "${http:foo}"}),
        ("options: {<<: ${file:more.yaml}, x: 1}", {"b": "two", "c": {"d": True}, "x": 1}),
    ],
)
def test_references_in_brackets(
    form: TemplateFormat, options: str, expected: Json, folder: Path
) -> None:
    made = prepared(f"  - id: q\n    {options}\n", folder, form=form)
    assert options_of(made) == [expected]
    assert codes(made) == []


@pytest.mark.parametrize(
    ("section", "ids"),
    [
        ("${file:list.yaml}\n", ["one", "two"]),
        ("  ${file:list.yaml}\n", ["one", "two"]),
        ("  - id: first\n  - ${file:tool.json}\n", ["first", "filed"]),
        ("  - ${file:tool.json}\n  - ${params:tool}\n", ["filed", "given"]),
    ],
)
def test_a_file_may_hold_a_tool_or_all(section: str, ids: list[str], folder: Path) -> None:
    made = prepared(section, folder, {"tool": {"id": "given"}})
    assert [tool.id for tool in made.messages.tools] == ids
    assert codes(made) == []


def test_a_loop_over_tools_hoists_too(folder: Path) -> None:
    section = (
        "{% for name in names %}\n  - id: {{ name }}\n    options:\n      who: {{ name }}\n"
        "      ${file:more.yaml}\n      key: ${env:KEY}\n      n: ${params:n}\n{% endfor %}\n"
        "  - id: whole\n    options: ${file:more.yaml}\n"
    )
    made = prepared(section, folder, {"names": ["a", "b"], "n": 5})
    more: dict[str, Json] = {"b": "two", "c": {"d": True}}
    assert [(tool.id, tool.options) for tool in made.messages.tools] == [
        ("a", {**more, "who": "a", "key": "k3y", "n": 5}),
        ("b", {**more, "who": "b", "key": "k3y", "n": 5}),
        ("whole", more),
    ]
    assert [tool.dynamic_inputs for tool in made.messages.tools] == [
        ("n", "names"),
        ("n", "names"),
        (),
    ]
    assert codes(made) == []


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ("options: nope", "tool-options"),
        ("options: [1, 2]", "tool-options"),
        ("options: 3", "tool-options"),
        ("options: ${file:note.txt}", "tool-options"),
        ("options: ${file:list.yaml}", "tool-options"),
        ("options: ${env:KEY}", "tool-options"),
        ("options:\n      c: 1\n      ${file:list.yaml}", "tool-options"),
        ("options: ${file:none.json}", "file-missing"),
        ("options:\n      a: ${env:NOPE}", "env-not-set"),
        ("options: ${file:../x.json}", "file-outside"),
        ("options:\n      a: ${params:no}", "param-not-given"),
    ],
)
def test_what_cannot_be_hoisted_is_said_once(options: str, code: str, folder: Path) -> None:
    made = prepared(f"  - id: q\n    {options}\n", folder)
    assert codes(made) == [code]
    assert all(item.severity is Severity.ERROR for item in made.problems)
    place = next(item.span for item in made.problems if item.code == code)
    assert "q" in made.document.source.slice(place) or "${" in made.document.source.slice(place)


def test_options_may_be_empty_or_missing(folder: Path) -> None:
    made = prepared("  - id: a\n    options:\n  - id: b\n  - id: 3\n    options: {}\n", folder)
    assert [(tool.id, tool.options) for tool in made.messages.tools] == [
        ("a", {}),
        ("b", {}),
        ("3", {}),
    ]
    assert codes(made) == []


def test_a_value_from_a_reference_is_no_yaml(folder: Path) -> None:
    evil = "x\n  - id: evil"
    made = prepared("  - id: ${params:id}\n    options: {q: ${params:id}}\n", folder, {"id": evil})
    assert [(tool.id, tool.options) for tool in made.messages.tools] == [(evil, {"q": evil})]


def test_only_what_a_run_brings_asks_for_approval(folder: Path) -> None:
    section = (
        "  - id: a\n    options: ${file:keys.json}\n  - id: b\n    options: {k: ${env:KEY}}\n"
        "  - id: c\n    options: {k: ${params:n}}\n  - id: d\n    options: {k: '{{ n }}'}\n"
    )
    made = prepared(section, folder, {"n": "5"})
    assert [tool.dynamic_inputs for tool in made.messages.tools] == [(), (), ("n",), ("n",)]


def test_an_object_input_may_be_the_options(folder: Path) -> None:
    made = prepared("  - id: a\n    options: {{ given }}\n", folder, {"given": {"deep": [1]}})
    assert options_of(made) == [{"deep": [1]}]


def test_a_preview_shows_variables_as_written(folder: Path) -> None:
    section = "  - id: a\n    options: {k: ${env:KEY}, f: '${file:more.yaml}'}\n"
    made = prepared(section, folder, preview=True)
    assert options_of(made) == [{"k": "${env:KEY}", "f": {"b": "two", "c": {"d": True}}}]
    made = prepared("  - id: a\n    options: ${env:KEY}\n", folder, preview=True)
    assert codes(made) == []
    assert tools_to_json(made.messages.tools) == [
        {"id": "a", "type": "function", "options": "${env:KEY}"}
    ]


def test_an_untrusted_folder_gives_nothing(folder: Path) -> None:
    document = parse("tools:\n  - id: q\n    options: ${file:keys.json}\n\nuser:\nhi\n")
    context = ReferenceContext(folder=folder, environment={}, trusted=False, shown=True)
    made = prepare(document, {}, references=context, preview=True)
    assert options_of(made) == ["${file:keys.json}"]
    assert {item.severity for item in made.problems} == {Severity.HINT}


def test_a_conversion_names_whatever_it_cannot_carry(folder: Path) -> None:
    text = (
        "tools:\n  - id: whole\n    type: t\n    options: ${file:keys.json}\n"
        "  - id: inner\n    type: t\n    options: {deep: ${file:more.yaml}}\n"
        "  - id: beside\n    type: t\n    options:\n      c: 1\n      ${file:keys.json}\n\n"
        "user:\nhi\n"
    )
    made = convert(parse(text), "prompty")
    tools = {tool["name"]: tool for tool in parse(made.text).data["tools"]}  # type: ignore[index,union-attr]
    assert tools["whole"]["options"] == "${file:keys.json}"  # type: ignore[index]
    assert tools["inner"]["options"] == {"deep": "${file:more.yaml}"}  # type: ignore[index]
    assert tools["beside"]["options"] == {"c": 1}  # type: ignore[index]
    assert any("${file:keys.json}" in note and "beside" in note for note in made.notes)
    resolved = prepare(parse(made.text), {}, references=ReferenceContext(folder=folder))
    found = json.dumps(resolved.document.data["tools"])
    assert '{"a": 1, "b"' in found
    assert '{"deep": {"b": "two"' in found
