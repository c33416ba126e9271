"""Prompts of other programs: named, refused, and never sent as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.core.imports.imported import ImportFailure
from studio.core.imports.recognize import import_file
from studio.core.prompty.foreign import FOREIGN_FORMATS
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare

SEMANTIC_KERNEL = """name: Chat
template: |
  <message role="system">Be kind.</message>
template_format: handlebars
input_variables:
  - name: customer
"""
BAML = """class Resume { name string }
function Extract(text: string) -> Resume {
  client "openai/gpt-4o"
  prompt #"Extract {{ text }}"#
}
"""
POML = """<!-- a note -->
<poml>
<role>You are a cook.</role>
</poml>
"""

EXAMPLES = {
    "chat.yaml": (SEMANTIC_KERNEL, "Semantic Kernel prompt", 4),
    "settings.yaml": (
        "template: Hi\nexecution_settings: {default: {}}\n",
        "Semantic Kernel prompt",
        2,
    ),
    "resume.baml": (BAML, "BAML file", 2),
    "resume.txt": (BAML, "BAML file", 2),
    "resume.md": (f"// Reads one.\n\n{BAML}", "BAML file", 4),
    "cook.md": (POML, "POML document", 1),
    "cook.poml": (POML, "POML document", 1),
    "cook": (POML, "POML document", 1),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_prompt_of_another_program_is_refused_with_its_place_and_what_to_do(
    name: str, tmp_path: Path
) -> None:
    text, form, line = EXAMPLES[name]
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ImportFailure, match=rf"Line {line}: This is a {form}.*which Prompt Studio"):
        import_file(path)
    document = parse(text, path)
    (problem,) = document.problems
    assert problem.code == "foreign-format"
    assert document.source.position(problem.span.start).line == line
    assert prepare(document, {}).messages.messages == ()


def test_each_format_has_an_example() -> None:
    assert {form for _, form, _ in EXAMPLES.values()} == {each.name for each in FOREIGN_FORMATS}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.prompty", f"user:\nExplain this:\n{BAML}"),
        ("a.md", f"user:\nExplain this:\n{BAML}"),
        ("a.md", f"Render this:\n{POML}"),
        ("a.md", f"system:\nMake files of this kind:\n\n{SEMANTIC_KERNEL}"),
        ("a.txt", f"What does this do?\n{BAML}"),
        ("a.prompty", "---\nmodel: {id: x}\n---\nuser:\nmessages: 1\ntestData: 2\n"),
        ("a.yaml", "prompts: [Hi]\ntests: [{vars: {a: b}}]\n"),
        ("a.yaml", "_type: prompt\ntemplate: Hi {a}\ninput_variables: [a]\n"),
        ("a.txt", "What do evaluators: and messages: mean?\n"),
    ],
)
def test_other_texts_are_not(name: str, text: str) -> None:
    assert "foreign-format" not in [each.code for each in parse(text, Path(name)).problems]


def test_json_with_the_keys_of_another_format_is_no_request(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(
        '{"messages": [{"role": "user", "content": "Hi"}], "template": "a",'
        ' "execution_settings": {}}'
    )
    with pytest.raises(ImportFailure, match="not a known prompt"):
        import_file(path)
