"""Documents as JSON: shorthands and references as Prompty 2 loads them."""

from __future__ import annotations

from pathlib import Path

from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import ReferenceContext
from tests.support.document_shape import document_to_json


def test_an_object_written_short_is_the_default_and_no_declaration() -> None:
    front = "inputs:\n  f: {x: 1}\n  g: {kind: object, default: {y: 2}}\n  h: [1]\n"
    text = f"---\n{front}---\nuser:\nHi\n"
    assert document_to_json(parse(text))["inputs"] == [
        {"name": "f", "kind": "object", "default": {"x": 1}},
        {"name": "g", "kind": "object", "default": {"y": 2}},
        {"name": "h", "kind": "array", "default": [1]},
    ]


def test_a_body_that_is_one_reference_is_the_text_behind_it(tmp_path: Path) -> None:
    (tmp_path / "body.md").write_text("system:\nFrom the file.\n", encoding="utf-8")
    document = parse("---\nname: x\n---\n${file:body.md}\n", tmp_path / "p.prompty")
    context = ReferenceContext(tmp_path, environment={"BODY": "user:\nFrom outside."})

    assert document_to_json(document)["instructions"] == "${file:body.md}\n"
    assert document_to_json(document, context)["instructions"] == "system:\nFrom the file.\n"
    other = parse("---\nname: x\n---\n${env:BODY}\n")
    assert document_to_json(other, context)["instructions"] == "user:\nFrom outside."
    missing = parse("---\nname: x\n---\n${file:none.md}\n", tmp_path / "p.prompty")
    assert document_to_json(missing, context)["instructions"] == "${file:none.md}\n"
