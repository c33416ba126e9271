"""Dotprompt templates come back as what dotprompt makes of them (npm dotprompt 1.1.2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.core.imports.recognize import import_file
from studio.core.prompty.document import MediaPart, TextPart
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.text.values import Json

PARTIALS = {
    "style": "Be {{personality}}.",
    "voice": '{{role "system"}}Speak as {{who}}.{{role "user"}}',
    "card": "{{name}}: {{#each tags}}{{this}} {{/each}}",
    "again": "x{{>again}}",
    "lines": "First {{x}}.\n{{#if y}}\nThen {{y}}.\n{{/if}}\n",
    "rows": "{{#each xs}}{{v}}/{{../t}} {{/each}}",
}

CASES: tuple[tuple[str, dict[str, Json], list[tuple[str, list[str]]]], ...] = (
    (
        "{{#each images}}{{media url=this}}\n{{/each}}{{images.length}} of them",
        {"images": ["http://h/a.png", "http://h/b.png"]},
        [("user", ["<http://h/a.png>", "<http://h/b.png>", "2 of them"])],
    ),
    (
        "Look: {{media url='http://h/a.png'}} and ![b](http://h/b.png)",
        {},
        [("user", ["Look:", "<http://h/a.png>", "and ![b](http://h/b.png)"])],
    ),
    ("{{#if tags.length}}some{{else}}none{{/if}}", {"tags": []}, [("user", ["none"])]),
    (
        "{{role 'system'}}Hi{{history}}so {{x}}",
        {"x": "far", "history": [{"role": "user", "content": "1"}]},
        [("system", ["Hi"]), ("user", ["1"]), ("assistant", ["so far"])],
    ),
    (
        '{{>style personality=mood}} {{>style personality="calm"}}',
        {"mood": "kind"},
        [("user", ["Be kind. Be calm."])],
    ),
    (
        "{{>voice who=name}}Hello",
        {"name": "Ann"},
        [("system", ["Speak as Ann."]), ("user", ["Hello"])],
    ),
    (
        "{{#each people}}{{>card this}}{{/each}}",
        {"people": [{"name": "A", "tags": ["x"]}, {"name": "B", "tags": ["y", "z"]}]},
        [("user", ["A: x B: y z"])],
    ),
    ("{{>card person}}", {"person": {"name": "A", "tags": ["x"]}}, [("user", ["A: x"])]),
    (
        "{{>card person name='B'}} {{>rows t='T' xs=ys}}",
        {"person": {"name": "A", "tags": ["x"]}, "ys": [{"v": 1}, {"v": 2}]},
        [("user", ["B: x  1/T 2/T"])],
    ),
    (
        "a\n{{#each xs}}\n- {{this}}\n{{else}}\nnone\n{{/each}}\n"
        "  {{>lines x=t}}\n{{! no line }}\nb",
        {"xs": ["1", "2"], "t": "T"},
        [("user", ["a\n- 1\n- 2\n  First T.\nb"])],
    ),
    ("a {{~b~}} c {{~#if b}} x {{/if~}} d", {"b": "B"}, [("user", ["aBc x d"])]),
    ("{{!-- {{x}} is }} left out --}}a \\{{b}} {{&b}}", {"b": 1}, [("user", ["a {{b}} 1"])]),
    (
        "{{#if a}}A{{else if b}}B{{else unless c}}C{{else}}D{{/if}}",
        {"a": "", "b": "", "c": 1},
        [("user", ["D"])],
    ),
    (
        "{{#ifEquals a 'x'}}yes{{else}}no{{/ifEquals}} {{#unlessEquals a b}}other{{/unlessEquals}}",
        {"a": "x", "b": "y"},
        [("user", ["yes other"])],
    ),
    (
        "{{#with p}}{{name}}{{@root.t}}{{else}}nobody{{/with}}{{#with q}}q{{else}}{{./t}}{{/with}}",
        {"p": {"name": "N"}, "t": "T"},
        [("user", ["NTT"])],
    ),
    (
        "{{#each o}}{{@key}}={{this.v}} {{/each}}"
        "{{#each xs}}{{#each this}}{{@key}}{{/each}}{{/each}}",
        {"o": {"a": {"v": 1}, "b": {"v": 2}}, "xs": [{"k": 1}]},
        [("user", ["a=1 b=2 k"])],
    ),
    (
        "---\ninput: {schema: {xs(array): string, o(object): {a: string}}}\n---\n"
        "{{xs}} {{#each o}}{{this}}{{/each}}",
        {"xs": ["a", "b"], "o": {"a": "A"}},
        [("user", ["a,b A"])],
    ),
)
"""Template, values, and the texts and media of each message; `make interop` asks npm dotprompt."""


def parts(folder: Path, template: str, values: dict[str, Json]) -> list[tuple[str, list[str]]]:
    for name, text in PARTIALS.items():
        (folder / f"_{name}.prompt").write_text(text, encoding="utf-8")
    path = folder / "a.prompt"
    path.write_text(template, encoding="utf-8")
    made = import_file(path)
    context = ReferenceContext(folder=folder, trusted=False)
    done = prepare(parse(made.text, path), values, references=context)
    found = []
    for message in done.messages.messages:
        texts = []
        for part in message.parts:
            if isinstance(part, MediaPart):
                texts.append(f"<{part.source}>")
            elif isinstance(part, TextPart):
                texts.append(part.text.strip())
        found.append((message.role, texts))
    return found


@pytest.mark.parametrize(("template", "values", "wanted"), CASES)
def test_the_messages_are_those_of_dotprompt(
    template: str, values: dict[str, Json], wanted: list[tuple[str, list[str]]], tmp_path: Path
) -> None:
    assert parts(tmp_path, template, values) == wanted


def test_a_file_of_windows_has_the_same_lines(tmp_path: Path) -> None:
    template = "a\n{{#if b}}\nB\n{{/if}}\nc"
    assert parts(tmp_path, template.replace("\n", "\r\n"), {"b": 1}) == [("user", ["a\nB\nc"])]


def test_what_cannot_be_said_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.prompt"
    (tmp_path / "_again.prompt").write_text(PARTIALS["again"], encoding="utf-8")
    path.write_text(
        "---\nvariant: b\noutput: {format: csv, schema: {a: string}}\n---\n"
        "a {{>missing}} {{>again}} {{media kind=x}} {{json a}} {{this}} {{a-b}}",
        encoding="utf-8",
    )
    notes = "\n".join(import_file(path).notes)
    for words in (
        "variant",
        "'csv'",
        "'missing'",
        "'again'",
        "{{media kind=x}}",
        "{{json}}",
        "{{this}}",
        "{{a-b}}",
    ):
        assert words in notes
