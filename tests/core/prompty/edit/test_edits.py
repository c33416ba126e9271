from __future__ import annotations

import pytest

from studio.core.prompty.edit.edits import declare_input, rename_input, set_value, write_scalar
from studio.core.prompty.parse import parse
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.source import apply_edits

TEXT = """---
# the city
model: {id: gpt}
inputs:
  - name: 'city'  # where
    kind: string
  - name: other
    kind: string
tools:
  - name: f
    kind: function
    parameters:
      - {name: place, kind: string}
    bindings:
      place: {input: city}
---
user:
{{ city | upper }} city {% if city %}{{ other.city }}{% endif %}
{% for city in other %}{{ city }}{% endfor %}
"""


def test_rename_reaches_declaration_uses_and_bindings_and_nothing_else() -> None:
    document = parse(TEXT)
    renamed = apply_edits(TEXT, rename_input(document, "city", "town"))
    expected = TEXT.replace("name: 'city'", "name: 'town'").replace("input: city", "input: town")
    expected = expected.replace("{{ city | upper }}", "{{ town | upper }}")
    expected = expected.replace("{% if city %}", "{% if town %}")
    assert renamed == expected


@pytest.mark.parametrize("name", ["", "1a", "a b", "other", "a-b"])
def test_rename_refuses_what_is_no_free_name(name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        rename_input(parse(TEXT), "city", name)


def test_rename_in_a_prompty_1_file_reaches_its_samples() -> None:
    text = "---\nmodel: {api: chat}\nsample:\n  q: x\n---\nuser:\n{{q}}"
    renamed = apply_edits(text, rename_input(parse(text), "q", "question"))
    assert renamed == text.replace("q: x", "question: x").replace("{{q}}", "{{question}}")


@pytest.mark.parametrize(
    "text",
    [
        "user:\n{{x}}",
        "\ufeffuser:\n{{x}}",
        "---\n---\n{{x}}",
        "---\nname: a\n---\n{{x}}",
        "---\nname: a # c\n\n# end\n---\n{{x}}",
        "---\ninputs:\nname: a\n---\n{{x}}",
        "---\ninputs: []\n---\n{{x}}",
        "---\ninputs: {}\n---\n{{x}}",
        "---\ninputs: [{name: a, kind: string}]\n---\n{{x}}",
        "---\ninputs: {a: 1, }\n---\n{{x}}",
        "---\ninputs:\n- name: a\n  kind: string\n  description: |\n    b\n\nname: b\n---\n{{x}}",
        "---\r\ninputs:\r\n    a: 1\r\nname: b\r\n---\r\n{{x}}",
        "---\n{inputs: {a: 1}, name: b}\n---\n{{x}}",
        "---\n{name: b}\n---\n{{x}}",
    ],
)
def test_declaring_keeps_the_rest_and_is_read_again(text: str) -> None:
    document = parse(text)
    changed = apply_edits(text, declare_input(document, "x", "integer"))
    after = parse(changed)
    assert after.input("x").kind == "integer"
    assert [item for item in after.inputs if item.name != "x"] == list(after.inputs[:-1])
    assert len(after.inputs) == len(document.inputs) + 1
    assert {key: after.data[key] for key in document.data if key != "inputs"} == {
        key: value for key, value in document.data.items() if key != "inputs"
    }
    assert not [item.code for item in after.problems if item.severity == "error"]
    assert ("\r\n" in changed) == ("\r\n" in text)
    if "\r\n" in text:
        assert changed.count("\n") == changed.count("\r\n")
    assert changed.startswith("\ufeff") == text.startswith("\ufeff")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("user:\n", "---\ntemplate:\n  parser:\n    kind: section\n---\nuser:\n"),
        (
            "---\ntemplate:\n  format:\n    kind: jinja2\n---\n",
            "---\ntemplate:\n  format:\n    kind: jinja2\n  parser:\n    kind: section\n---\n",
        ),
        (
            "---\ntemplate: {format: {kind: jinja2}}\n---\n",
            "---\ntemplate: {format: {kind: jinja2}, parser: {kind: section}}\n---\n",
        ),
        (
            "---\ntemplate: {format: jinja2, parser: prompty}\n---\n",
            "---\ntemplate: {format: jinja2, parser: {kind: section}}\n---\n",
        ),
        (
            "---\ntemplate:\n  parser:\n    kind: prompty # p\n---\n",
            "---\ntemplate:\n  parser:\n    kind: section # p\n---\n",
        ),
        (
            "---\ntemplate:\n  parser:\n    kind:\n---\n",
            "---\ntemplate:\n  parser:\n    kind: section\n---\n",
        ),
    ],
)
def test_set_value_adds_what_is_missing(text: str, expected: str) -> None:
    edits = set_value(parse(text), ("template", "parser", "kind"), "section")
    assert apply_edits(text, edits) == expected


@pytest.mark.parametrize(
    "value",
    ["plain", "two words", "a: b", "yes", "12", "", " x", "x #y", 'q"q', "é", "- a", 5, True],
)
def test_written_scalars_read_back(value: object) -> None:
    assert read_yaml(f"k: {write_scalar(value)}").value == {"k": value}
    assert read_yaml(f"{{k: {write_scalar(value)}, l: 1}}").value == {"k": value, "l": 1}
