from __future__ import annotations

from pathlib import Path

import pytest

from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from tests.support import published

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("text", "dialect", "reason"),
    [
        ("---\ntemplate: {parser: {kind: prompty}}\n---\ntools:\n- id: a\n", "prompty", "parser"),
        ("---\ntemplate: {parser: {kind: section}}\nmodel: {id: x}\n---\n", "section", "parser"),
        ("---\nmodel: {id: x}\n---\nuser:\nHi", "prompty", "model.id"),
        ("---\ninputs: {a: {kind: string}}\n---\nuser:\n{{a}}", "prompty", "inputs.a.kind"),
        ("---\nmodel: {id: x}\n---\ntools:\n  - id: a\n", "section", "tools:"),
        ("---\nmodel: {id: x}\n---\nuser:\nTools:\nhammer", "prompty", "model.id"),
        ("---\nmodel: {id: x}\n---\ntool[a=1]:\n", "section", "tool:"),
        ("---\nmodel: {id: x}\n---\nuser:\n![thread]\n", "section", "![thread]"),
        ("---\nmodel: {id: x}\n---\nassistant[type=tool_call]:\n", "section", "type="),
        ('---\nmodel: {id: x}\n---\nuser:\n![type="image"](a)', "section", "media"),
        ("---\nmodel: {id: x}\n---\nuser:\n${params:a}", "section", "params"),
        ("---\nmodel: {id: x}\n---\nuser:\n![a cat](a.png)", "prompty", "model.id"),
        ("user:\n![a cat](a.png)", "section", "image"),
        ("user:\nHi", "section", "nothing"),
        ("---\nmodel: {api: chat}\n---\n![thread]", "legacy", "model.api"),
        ("---\nmodel: {configuration: {}}\n---\n", "legacy", "model.configuration"),
        ("---\nsample: {a: 1}\n---\n", "legacy", "sample"),
        ("---\ninputs: {a: {type: string}}\n---\n", "legacy", "inputs.a.type"),
        (
            "---\nmodel: {api: chat}\ntemplate: {format: jinja2, parser: prompty}\n---\n",
            "legacy",
            "model.api",
        ),
    ],
)
def test_dialect_and_its_reason(text: str, dialect: str, reason: str) -> None:
    document = parse(text)
    assert document.dialect == dialect
    assert reason in document.dialect_reason


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_newlines_and_byte_order_mark_change_nothing_but_places(newline: str, mark: str) -> None:
    lines = "---\nname: x\ninputs:\n  a: 1\n---\nsystem:\nA {{a}}\nB\n\nuser:\nC\n"
    text = mark + lines.replace("\n", newline)
    document = parse(text)
    assert document.source.text == text
    assert document.name == "x"
    assert not document.problems
    assert [text[s.marker.start : s.marker.end] for s in document.sections] == ["system:", "user:"]
    messages = prepare(document, {}).messages.messages
    assert [message.text for message in messages] == ["A 1\nB", "C"]
    assert [document.source.slice(m.origin.marker) for m in messages] == ["system:", "user:"]
    (variable,) = document.variables
    assert document.source.slice(variable.span) == "a"


def test_sections_for_the_outline() -> None:
    text = "intro\nsystem:\nA\n{#\nuser:\n#}\nuser[n=1]:\n"
    document = parse(text)
    assert [(item.role, document.source.slice(item.content)) for item in document.sections] == [
        ("", "intro\n"),
        ("system", "A\n{#\nuser:\n#}\n"),
        ("user", ""),
    ]


def test_declarations_have_places() -> None:
    text = (
        "---\ninputs:\n  - name: a\n    kind: object\n    properties:\n      b: {kind: string}\n"
        "  - {name: c, kind: array, items: {kind: integer}, enumValues: [[1], [2]]}\n"
        "tools:\n  t:\n    kind: function\n    description: Do\n    parameters:\n"
        "      x: {kind: integer, required: true}\n      y: string\n"
        "    bindings: {y: c}\n---\n"
    )
    document = parse(text)
    first, second = document.inputs
    assert document.source.slice(first.name_span) == "a"
    assert document.source.slice(first.properties[0].name_span) == "b"
    assert (second.items.kind, second.enum) == ("integer", ([1], [2]))
    (tool,) = document.tools
    assert document.source.slice(tool.span).startswith("t:\n")
    assert tool.bindings == {"y": "c"}
    assert tool.parameters == {
        "type": "object",
        "properties": {"x": {"type": "integer"}},
        "required": ["x"],
    }


@pytest.mark.parametrize("path", sorted((ROOT / "resources").rglob("*.prompty")), ids=str)
def test_bundled_prompts_have_no_problems(path: Path) -> None:
    document = parse(path.read_text(encoding="utf-8"), path)
    known = published.FINDINGS.get(path.name, frozenset())
    said = [item for item in document.problems if item.code not in known]
    assert [(item.code, item.message) for item in said] == []
    prepared = prepare(document, {}, preview=True)
    found = [
        item for item in prepared.problems if item.severity != "hint" and item.code not in known
    ]
    assert [(item.code, item.message) for item in found] == []
    assert prepared.messages.messages


def test_schemas_with_lists_for_names_are_reported_and_break_nothing() -> None:
    text = (
        "---\ntools:\n  - name: f\n    kind: function\n    parameters:\n      type: object\n"
        "      required: [[1], {a: 1}, q]\n      properties: {q: {type: string}}\n---\nuser:\nHi\n"
    )
    document = parse(text)
    assert document.tools[0].parameters["required"] == ["q"]
    assert [item.code for item in document.problems].count("tool-schema") == 2
