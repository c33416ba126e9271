"""No fix changes the dialect, unless that is what it says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis.strategies import DataObject, data, integers, lists, sampled_from

from studio.core.paths import resource
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.edit.edits import declare_input, set_value
from studio.core.prompty.edit.keep_dialect import keeping_dialect
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.prompty.shapes import messages_to_json
from studio.core.text.source import Fix, Span, TextEdit, apply_edits
from tests.core.prompty.test_cases import cases
from tests.core.prompty.test_properties import texts
from tests.support.soon import soon

MEANT = "Use the section dialect"
UNREADABLE = {
    "yaml-syntax",
    "yaml-tab",
    "yaml-character",
    "front-matter-open",
    "front-matter-not-mapping",
}


def fixes_of(document: PromptDocument) -> list[Fix]:
    prepared = prepare(document, {}, preview=True)
    found = (*document.problems, *prepared.problems)
    if any(problem.code in UNREADABLE for problem in found):
        return []  # what the file says is known only once it is fixed
    if any(
        edit.text == "template"
        for problem in found
        if problem.code == "unknown-key"
        for fix in problem.fixes
        for edit in fix.edits
    ):
        return []
    return [fix for problem in found for fix in problem.fixes if fix.title != MEANT]


def check_fixes(text: str) -> None:
    document = parse(text)
    for fix in fixes_of(document):
        changed = parse(apply_edits(text, fix.edits))
        assert changed.dialect == document.dialect, (fix, changed.source.text)


@pytest.mark.parametrize("blocks", cases())
def test_no_fix_of_a_case_changes_the_dialect(blocks: dict[str, str]) -> None:
    check_fixes(blocks["prompty"])


@pytest.mark.parametrize("folder", ["examples", "templates"])
def test_no_fix_of_a_bundled_prompt_changes_the_dialect(folder: str) -> None:
    for path in sorted(resource(folder).glob("*.prompty")):
        check_fixes(path.read_text(encoding="utf-8"))


@settings(max_examples=100)
@given(texts)
def test_no_fix_of_any_text_changes_the_dialect(text: str) -> None:
    check_fixes(text)


PICTURE = "user:\nAbout {{topic}}:\n![image](https://example.com/image.png)\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_declaring_an_input_leaves_a_picture_a_picture(newline: str) -> None:
    text = PICTURE.replace("\n", newline)
    document = parse(text)
    (fix,) = fixes_of(document)
    changed = apply_edits(text, fix.edits)
    lines = [
        "---",
        "inputs:",
        "  topic:",
        "    kind: string",
        "template:",
        "  parser:",
        "    kind: section",
        "---",
        "",
    ]
    assert changed == newline.join(lines) + text
    before, after = (
        messages_to_json(prepare(parse(each), {"topic": "it"}).messages, "section")
        for each in (text, changed)
    )
    assert before == after


@pytest.mark.parametrize(
    "front",
    [
        "name: x\n",
        "{name: x}\n",
        "template: {format: {}}\n",
        "template:\n  strict: true\n",
        "template: mustache\n",
    ],
)
def test_the_kind_finds_its_place_in_any_front_matter(front: str) -> None:
    text = f"---\n{front}---\n{PICTURE}"
    document = parse(text)
    edits = keeping_dialect(document, set_value(document, ("model", "id"), "m"))
    changed = parse(apply_edits(text, edits))
    assert changed.dialect == document.dialect
    assert (changed.model.id, changed.template.format) == ("m", document.template.format)


def test_edits_that_keep_it_anyway_are_left_as_they_are() -> None:
    for text in (
        "---\ntemplate: {parser: {kind: section}}\n---\n" + PICTURE,
        "---\ninputs: {a: {kind: string}}\n---\nuser:\n{{a}} {{topic}}\n",
    ):
        document = parse(text)
        edits = declare_input(document, "topic")
        assert keeping_dialect(document, edits) is edits


def test_a_misspelled_template_gets_no_second_one_beside_it() -> None:
    right = (
        "---\ninputs:\n  country: {kind: string}\nmodel:\n  apiType: chat\ntemplate:\n"
        "  format: {kind: jinja2}\n  parser: {kind: prompty}\n---\nuser:\n{{ country }}\n"
    )
    text = right.replace("inputs", "input").replace("template", "templte").replace("Type", "Tpye")
    for _ in range(3):
        document = parse(text)
        first = next(each for each in document.problems if each.code == "unknown-key")
        text = apply_edits(text, first.fixes[0].edits)
    assert text == right


LINES = [
    "user:",
    "tools:",
    "- a",
    "tool:",
    "```",
    "Hi",
    "",
    "![thread]",
    "![a b=1](c)",
    "user[type=image]:",
]
FRONTS = ["", "---\nmodel: {id: x}\n---\n"]
BODIES = lists(sampled_from(LINES), max_size=8)


@settings(max_examples=150)
@given(sampled_from(FRONTS), BODIES, BODIES, sampled_from(["\n", "\r\n"]), data())
def test_no_edit_of_a_body_changes_the_dialect(
    front: str, lines: list[str], put: list[str], newline: str, drawn: DataObject
) -> None:
    text = (front + "\n".join(lines)).replace("\n", newline)
    document = parse(text)
    start = drawn.draw(integers(document.body.start, len(text)))
    end = drawn.draw(integers(start, len(text)))
    edits = keeping_dialect(document, (TextEdit(Span(start, end), newline.join(put)),))
    changed = parse(apply_edits(text, edits))
    if not {each.code for each in (*document.problems, *changed.problems)} & UNREADABLE:
        assert changed.dialect == document.dialect


KEYED = "---\nmodel: {id: x}\n---\nuser:\nHi\n"


@pytest.mark.parametrize(
    ("body", "old", "new"),
    [
        ("tools:\n\nOne\n", "One", "- a"),
        ("tools:\n\nOne\n\n- a\n", "One", ""),
        ("One\n\n- a\n", "One", "tools:"),
        ("```\ntool:\nOne\n~~~\n```\n", "~~~\n```", ""),
        ("One\n\ntool:\nTwo\n```\n", "One", "```"),
        ("# tool\nOne\n", "# tool", "tool:"),
        ("One\ntool:\nTwo\n", "tool:", "user:"),
        ("tool:\nOne\n![a](b)\n", "tool:\nOne\n", ""),
    ],
)
def test_what_an_edit_makes_of_the_lines_beside_it_counts(body: str, old: str, new: str) -> None:
    text = f"{KEYED}{body}"
    start = text.index(old)
    edit = TextEdit(Span(start, start + len(old)), new)
    document = parse(text)
    assert parse(apply_edits(text, [edit])).dialect != document.dialect
    edits = keeping_dialect(document, (edit,))
    assert parse(apply_edits(text, edits)).dialect == document.dialect


def test_many_markers_with_a_fix_are_read_in_linear_time() -> None:
    text = "---\nmodel: {id: x}\n---\nuser:\nHi\n" + "# User:\nHi\n" * 20_000
    with soon(8):  # each fix read the whole file again: a minute
        document = parse(text)
    assert len([each for each in document.problems if each.fixes]) >= 100
