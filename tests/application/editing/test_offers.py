from __future__ import annotations

import pytest

from studio.application.editing.editor_context import EditorContext
from studio.application.editing.front import path_at
from studio.application.editing.hover import hover
from studio.application.editing.offers import complete
from studio.core.prompty.document import ToolSpec
from studio.core.prompty.parse import parse
from studio.core.text.values import KeyPath

AROUND = EditorContext(
    tools=(ToolSpec("calculator", "Counts"),),
    models=("house-model-7b",),
    environment=lambda: frozenset({"HOME_KEY"}),
    files=lambda: ("facts.json",),
)

HEAD = """---
name: x
inputs:
  city:
    kind: string
    description: Where to
  person:
    kind: object
    properties:
      first:
        kind: string
---
"""

SECTION = HEAD.replace("name: x", "name: x\ntemplate: {parser: {kind: section}}")


def labels(text: str, *, asked: bool = True, document: str | None = None) -> list[str]:
    """What is offered at the `|` of the text."""
    caret = text.index("¦")
    plain = text.replace("¦", "")
    parsed = parse(document if document is not None else plain)
    return [
        item.label
        for item in complete(plain, caret, parsed, asked=asked, editor_context=AROUND).items
    ]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("---\nmodel:\n  ¦", ("model",)),
        ("---\nmodel:\n  options:\n    te¦", ("model", "options")),
        ("---\nmodel:\n  options:\n    t: 1\n  ¦", ("model",)),
        ("---\ntools:\n  - name: a\n    ¦", ("tools", 0)),
        ("---\ntools:\n- name: a\n  ki¦", ("tools", 0)),
        ("---\ntools:\n  - ¦", ("tools", 0)),
        (
            "---\ntools:\n  - name: a\n    parameters:\n      - name: b\n        ¦",
            ("tools", 0, "parameters", 0),
        ),
        ("---\ninputs:\n  city:\n    kind: string\n¦", ()),
    ],
)
def test_path_of_the_line_being_typed(text: str, path: KeyPath) -> None:
    caret = text.index("¦")
    assert path_at(text.replace("¦", ""), caret) == path


def test_root_keys_without_those_that_are_there() -> None:
    offered = labels("---\nname: x\n¦\n---\n")
    assert "model" in offered
    assert "name" not in offered


def test_nested_keys_and_enum_values() -> None:
    assert "temperature" in labels("---\nmodel:\n  options:\n    temp¦\n---\n")
    assert labels("---\ninputs:\n  a:\n    kind: int¦\n---\n")[0] == "integer"
    assert labels("---\ninputs:\n  a:\n    required: ¦\n---\n") == ["true", "false"]


def test_inputs_after_two_braces_come_first() -> None:
    assert labels(HEAD + "system:\n{{ ¦ }}")[:2] == ["city", "person"]
    assert labels(HEAD + "system:\n{{ ci¦ }}", asked=False)[0] == "city"


def test_properties_after_a_dot() -> None:
    assert labels(HEAD + "system:\n{{ person.¦ }}") == ["first"]


def test_filters_tests_and_statements() -> None:
    assert labels(HEAD + "system:\n{{ city | up¦ }}")[0] == "upper"
    assert labels(HEAD + "system:\n{% if city is def¦ %}")[0] == "defined"
    assert labels(HEAD + "system:\n{% fo¦ %}")[0] == "for"


@pytest.mark.parametrize(
    ("body", "first"),
    [
        ("{% if x %}{% for a in x %}a{% end¦ %}", "endfor"),
        ("{% for a in x %}{% if a %}a{% end¦", "endif"),
        ("{% for a in x %}{% if a %}a{% endif %}{% end¦ %}", "endfor"),
        ("{% macro m() %}{% for a in x %}a{% endfor %}{% end¦ %}", "endmacro"),
        ("{# {% if x %} #}{% for a in x %}a{% end¦ %}", "endfor"),
    ],
)
def test_the_end_of_the_open_block_comes_first(body: str, first: str) -> None:
    assert labels(HEAD + "system:\n" + body)[0] == first


def test_loop_variables_and_the_fields_of_reserved_lists() -> None:
    body = HEAD + "system:\n{% for h in history %}{{ ¦ }}{% endfor %}"
    assert {"h", "loop"} <= set(labels(body))
    body = HEAD + "system:\n{% for h in history %}{{ h.¦ }}{% endfor %}"
    assert "observation" in labels(body)


def test_references_name_variables_and_files() -> None:
    assert "env:" in labels("---\nmodel:\n  id: ${¦\n---\n")
    assert labels("---\nmodel:\n  id: ${env:HO¦\n---\n") == ["HOME_KEY"]
    assert labels("---\nmodel:\n  id: ${file:¦\n---\n") == ["facts.json"]


def test_a_parameter_is_offered_again_and_so_is_each_input() -> None:
    assert "params:" in labels(SECTION + "user:\n${¦")
    assert labels(SECTION + "user:\n${params:who} ${params:¦}") == ["who", "city", "person"]
    assert labels("user:\n${params:w¦}") == []


def test_roles_only_where_a_marker_can_begin() -> None:
    assert labels(HEAD + "sy¦")[0] == "system"
    assert labels(HEAD + "Hello sy¦") == []


def test_attributes_and_media() -> None:
    assert "name" in labels(HEAD + "user[¦")
    assert "image" in labels(SECTION + "user:\n![im¦")


def test_what_prompty_takes_for_text_is_not_offered_there() -> None:
    assert {"env:", "file:"} == set(labels(HEAD + "user:\n${¦"))
    assert labels(HEAD + "user:\n![¦") == []
    assert "type" not in labels(HEAD + "assistant[¦")
    assert "type" in labels(SECTION + "assistant[¦")


def test_format_strings_offer_inputs_in_single_braces() -> None:
    text = HEAD.replace("inputs:", "template:\n  format:\n    kind: fstring\ninputs:")
    assert labels(text + "system:\n{ci¦}", asked=False)[0] == "city"


def test_format_strings_offer_fields_too() -> None:
    text = HEAD.replace("inputs:", "template:\n  format:\n    kind: fstring\ninputs:")
    assert labels(text + "system:\n{person.fi¦}", asked=False) == ["first"]
    assert labels(text + "system:\n{person[¦") == ["first"]
    assert labels(text + "system:\n{{{ci¦")[0] == "city"
    assert labels(text + "system:\n{{ci¦") == []  # two braces are one of the text


def test_names_of_input_sets_and_columns_are_offered() -> None:
    text = "user:\n{{ reg }}"
    around = EditorContext(sets=({"region": "EU", "two words": 1},))
    found = complete(text, text.index(" }}"), parse(text), asked=True, editor_context=around).items
    assert [(item.label, item.detail) for item in found] == [("region", "EU")]


def test_a_raw_block_is_text_until_its_end() -> None:
    raw = HEAD + "user:\n{% raw %}"
    assert labels(raw + "{{ ci¦ }}{% endraw %}") == []
    assert labels(raw + "{{ person.¦ }}{% endraw %}") == []
    assert labels(raw + "{% ¦ %}") == ["endraw"]
    assert labels(raw + "{{ x }}{%- endraw %}{{ ci¦ }}")[0] == "city"
    assert labels(HEAD + "user:\n{# {{ city | up¦ #}") == []
    assert labels(HEAD.replace("Where to", "{% raw %}") + "user:\n{{ ci¦ }}")[0] == "city"
    assert labels(HEAD + "user:\n{# {% raw %} #}{{ ci¦ }}")[0] == "city"
    assert labels(raw + "{# {% endraw %}{{ ci¦ }}")[0] == "city"


def test_nothing_in_prose() -> None:
    assert labels(HEAD + "system:\nPlain words ¦", asked=False) == []


def test_model_ids_that_something_is_known_of() -> None:
    offered = labels("---\nname: x\nmodel:\n  id: gpt-4o¦\n---\n")
    assert offered[0] == "gpt-4o-mini"
    assert labels("---\nname: x\nmodel:\n  provider: gpt-4o¦\n---\n") == []


def test_names_of_tools_between_backticks() -> None:
    tools = HEAD.removesuffix("---\n") + "tools:\n  - name: weather\n    kind: function\n---\n"
    assert labels(tools + "system:\nAsk `we¦", asked=False) == ["weather"]
    assert labels(tools + "system:\nAsk `x` we¦", asked=False) == []


def test_a_loops_variable_is_offered_inside_the_loop_only() -> None:
    inside = HEAD + "system:\n{% for a in x %}{% for b in a.rows %}{{ ¦ }}{% endfor %}{% endfor %}"
    between = HEAD + "system:\n{% for a in x %}{% for b in a.rows %}{% endfor %}{{ ¦ }}{% endfor %}"
    after = HEAD + "system:\n{% for a in x %}{% endfor %}{{ ¦ }}"
    assert {"a", "b", "loop"} <= set(labels(inside))
    assert {"a", "loop"} <= set(labels(between))
    assert "b" not in labels(between)
    assert not {"a", "loop"} & set(labels(after))


DATA = """---
inputs:
  items:
    kind: array
    items: {kind: object}
    default:
      - {sku: A-1, size: {width: 2}}
  customer:
    kind: object
    sample: {name: Ana}
---
"""


def test_fields_come_from_defaults_samples_sets_and_what_was_entered() -> None:
    assert labels(DATA + "user:\n{{ customer.¦ }}") == ["name"]
    assert labels(DATA + "user:\n{% for it in items %}{{ it.¦ }}{% endfor %}") == ["sku", "size"]
    nested = "user:\n{% for it in items %}{{ it.size.¦ }}{% endfor %}"
    assert labels(DATA + nested) == ["width"]
    assert labels(DATA + "user:\n{{ items[0].¦ }}") == ["sku", "size"]
    around = EditorContext(
        values={"customer": {"mail": "a@b"}}, sets=({"customer": {"vip": True}},)
    )
    text = DATA + "user:\n{{ customer."
    found = complete(text, len(text), parse(text), asked=True, editor_context=around).items
    assert [item.label for item in found] == ["mail", "vip", "name"]
    assert {item.label: item.detail for item in found}["name"] == "Ana"


def told(body: str, at: str) -> str:
    """What hovering tells in the middle of a word of the body."""
    document = parse(DATA + body)
    offset = document.source.text.index(at, document.body.start) + 1
    return hover(document, (), offset)


def test_hover_on_fields_filters_tests_and_variables_of_loops() -> None:
    assert "Ana" in told("user:\n{{ customer.name }}", "name }}")
    assert "A-1" in told("user:\n{% for it in items %}{{ it.sku }}{% endfor %}", "sku")
    assert "In capitals" in told("user:\n{{ customer.name | upper }}", "upper")
    assert "It has a value" in told("user:\n{{ 1 if customer is defined }}", "defined")
    loop = "user:\n{% for thing in items %}{{ thing }}{% endfor %}"
    assert "each item of items" in told(loop, "thing }}")
    assert told("user:\nupper and defined\n", "upper") == ""


@pytest.mark.parametrize(
    "body",
    [
        "{% raw %}{{ customer.name | upper }}{% endraw %}",
        "{%- raw -%}\n{{ x | upper }}\n{%- endraw %}",
        "{% raw %}{% raw %}{{ x | upper }}",
        "{% raw %}{{ x }}\n| upper {{ y }}{% endraw %}",
        "{# {{ customer.name | upper }} #}",
        "{# {% endraw %} {{ x | upper",
        '{ "a" | upper }',
        "{{ customer.name }} | upper",
    ],
)
def test_hover_tells_of_no_filter_where_the_template_has_none(body: str) -> None:
    assert told(f"user:\n{body}", "upper") == ""


@pytest.mark.parametrize(
    "body",
    [
        "{% raw %}{{ x }}{% endraw %}{{ customer.name | upper }}",
        "{# {% raw %} #}{{ customer.name | upper }}",
        "{% set x = {'a': customer.name | upper} %}",
        "{{ customer\n | upper }}",
        "{{ open {{ customer.name | upper }}",
    ],
)
def test_hover_tells_of_filters_after_raw_text_and_comments(body: str) -> None:
    assert "In capitals" in told(f"user:\n{body}", "upper")
