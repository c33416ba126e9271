"""No fix changes the dialect, unless that is what it says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from studio.core.prompty.document import PromptDocument
from studio.core.prompty.edit.edits import declare_input, set_value
from studio.core.prompty.edit.keep_dialect import keeping_dialect
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.prompty.shapes import messages_to_json
from studio.core.resource_files import resource
from studio.core.text.problem import Fix, apply_edits
from tests.core.prompty.test_cases import cases
from tests.core.prompty.test_properties import texts

MEANT = "Use the section dialect"
UNREADABLE = {"yaml-syntax", "yaml-tab", "yaml-character", "front-matter-open",
              "front-matter-not-mapping"}  # fmt: skip


def fixes_of(document: PromptDocument) -> list[Fix]:
    prepared = prepare(document, {}, preview=True)
    found = (*document.problems, *prepared.problems)
    if any(problem.code in UNREADABLE for problem in found):
        return []  # what the file says is known only once it is fixed
    if any(edit.text == "template" for problem in found if problem.code == "unknown-key"
           for fix in problem.fixes for edit in fix.edits):  # fmt: skip
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
    lines = ["---", "inputs:", "  topic:", "    kind: string", "template:", "  parser:",
             "    kind: section", "---", ""]  # fmt: skip
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
