"""What the protocol's features make of a text."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from studio.core.text.source import apply_edits
from studio.core.tools.trust.store import TrustStore
from studio.servers.lsp import features
from studio.servers.lsp.features import OpenText, read

PROMPT = """---
name: trip
inputs:
  city:
    kind: string
    sample: Oslo
tools:
  - name: look_up
    kind: function
---
system:
Ask `look_up`.

user:
{{ city | upper }}
"""


def reading(text: str, path: Path | None = None) -> OpenText:
    return read("file:///trip.prompty", path, text, 1, "utf-16")


def place(text: str, mark: str = "¦") -> tuple[OpenText, types.Position]:
    at = text.index(mark)
    made = reading(text.replace(mark, ""))
    return made, made.positions.position(at)


def test_completion_offers_names_with_their_place(user_home: Path) -> None:
    made, position = place(PROMPT.replace("{{ city", "{{ ci¦"))
    found = features.completions(made, position, asked=False, snippets=True)
    (city,) = (each for each in found.items if each.label == "city")
    assert city.kind == types.CompletionItemKind.Variable
    assert isinstance(city.text_edit, types.TextEdit)
    assert city.text_edit.new_text == "city"
    assert city.text_edit.range.start.character == len("{{ ")


def test_snippets_are_plain_text_where_the_editor_knows_none(user_home: Path) -> None:
    made, position = place("---\nname: x\n---\n¦")
    with_places = features.completions(made, position, asked=True, snippets=True)
    without = features.completions(made, position, asked=True, snippets=False)
    assert any("${1:" in each.text_edit.new_text for each in with_places.items if each.text_edit)
    assert not any("${" in each.text_edit.new_text for each in without.items if each.text_edit)


def test_the_thread_snippet_declares_its_input(user_home: Path) -> None:
    made, position = place("---\nmodel: {id: m}\n---\nsystem:\nHi\nth¦")
    found = features.completions(made, position, asked=True, snippets=True)
    (thread,) = (each for each in found.items if each.label == "thread")
    assert thread.additional_text_edits
    assert "kind: thread" in thread.additional_text_edits[0].new_text


def test_symbols_are_a_tree_of_keys_and_then_the_sections(user_home: Path) -> None:
    found = features.symbols(reading(PROMPT))
    assert [each.name for each in found] == ["name", "inputs", "tools", "system", "user"]
    inputs, tools = found[1], found[2]
    assert inputs.children is not None
    assert [each.name for each in inputs.children] == ["city"]
    assert tools.children is not None
    assert [each.name for each in tools.children] == ["look_up"]
    for each in found:
        assert each.range.start <= each.selection_range.start
        assert each.selection_range.end <= each.range.end


def test_folds_hide_blocks(user_home: Path) -> None:
    lines = [(fold.start_line, fold.end_line) for fold in features.folding_ranges(reading(PROMPT))]
    assert (0, 9) in lines
    assert (10, 11) in lines


def test_tokens_name_what_they_color(user_home: Path) -> None:
    made = reading(PROMPT)
    data = features.semantic_tokens(made).data
    line = column = 0
    lines = PROMPT.split("\n")
    found = set()
    for at in range(0, len(data), 5):
        down, right, length, kind, _ = data[at : at + 5]
        line, column = line + down, right if down else column + right
        found.add((lines[line][column : column + length], features.LEGEND.token_types[kind]))
    assert {("name", "property"), ("city", "variable"), ("upper", "function")} <= found


def test_inlay_values_stand_behind_their_expressions(user_home: Path) -> None:
    made = reading(PROMPT)
    whole = types.Range(types.Position(0, 0), types.Position(99, 0))
    (hint,) = features.inlay_hints(made, whole)
    assert hint.label == "Oslo"
    assert hint.position == types.Position(14, len("{{ city | upper }}"))
    head = types.Range(types.Position(0, 0), types.Position(5, 0))
    assert features.inlay_hints(made, head) == []


def test_formatting_keeps_what_is_said(user_home: Path) -> None:
    made = reading(PROMPT.replace("name: trip", "name: trip   ") + "\n\n")
    edits = features.formatting(made)
    assert len(edits) == 2
    assert {each.new_text for each in edits} <= {"", "\n"}


def test_every_fix_of_a_finding_can_be_made(user_home: Path) -> None:
    made = reading("---\nname: x\ninputs:\n  a:\n    kind: sting\n---\nuser:\n{{ b }}\n")
    whole = types.Range(types.Position(0, 0), types.Position(99, 0))
    actions = features.code_actions(made, whole)
    assert {each.kind for each in actions} == {types.CodeActionKind.QuickFix}
    fixes = [fix for problem in made.problems for fix in problem.fixes]
    assert len(actions) == len(fixes) > 1
    for fix in fixes:
        assert apply_edits(made.document.source.text, fix.edits)


def test_hover_is_markdown_and_its_values_are_text(user_home: Path) -> None:
    made, position = place(
        PROMPT.replace("sample: Oslo", 'sample: "<b>*x*</b>"').replace("{{ city", "{{ ci¦ty")
    )
    hover = features.hover_at(made, position)
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert hover.contents.value == '**city**: string  \nSample: `"<b>*x*</b>"`'


def test_references_are_completed_from_the_prompts_folder(tmp_path: Path, user_home: Path) -> None:
    (tmp_path / "facts.json").write_text("{}", encoding="utf-8")
    (tmp_path / ".env").write_text("BESIDE_THE_PROMPT=1\n", encoding="utf-8")
    TrustStore().trust(tmp_path)

    def offered(text: str) -> set[str]:
        made = reading(text, tmp_path / "trip.prompty")
        end = made.positions.position(len(text))
        found = features.completions(made, end, asked=True, snippets=False)
        return {each.label for each in found.items}

    assert "facts.json" in offered("user:\n${file:")
    assert "BESIDE_THE_PROMPT" in offered("user:\n${env:BESIDE")
