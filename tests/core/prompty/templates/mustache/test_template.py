"""Mustache templates, beside chevron, and their places."""

from __future__ import annotations

import chevron
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.core.prompty.templates import find_variables, render_template
from studio.core.text.source import apply_edits

_DATA = {
    "name": "Ada <b>",
    "empty": "",
    "yes": "on",
    "no": False,
    "zero": 0,
    "user": {"name": "Bob", "tags": ["x", "y"], "deep": {"name": "Eve"}},
    "people": [{"name": "A", "kind": "k"}, {"name": "B"}],
    "words": ["one", "two"],
    "nothing": [],
}


def _render(template: str) -> str:
    return render_template(template, _DATA, format="mustache").text


@pytest.mark.parametrize(
    "template",
    [
        "Hello {{name}} {{{name}}} {{&name}} {{ user.name }} {{missing}}{{user.missing}}",
        "{{#people}}{{name}}:{{kind}}:{{user.name}};{{/people}}",
        "{{#words}}{{.}}, {{/words}}",
        "{{#user}}{{name}} {{#deep}}{{name}}{{/deep}}{{#tags}}{{.}}{{/tags}}{{/user}}",
        "{{^nothing}}none{{/nothing}}{{#nothing}}some{{/nothing}}{{^yes}}no{{/yes}}",
        "{{#no}}a{{/no}}{{^no}}b{{/no}}{{#zero}}c{{/zero}}{{#empty}}d{{/empty}}",
        "a\n{{#words}}\n- {{.}}\n{{/words}}\nb\n",
        "a\n  {{! comment }}  \nb {{! inline }} c\n",
        "{{=<% %>=}}<% name %> {{name}}<%={{ }}=%> {{name}}",
        "{{#yes}}{{name}}{{/yes}} {{user.tags.1}}",
        "line\n\n{{#yes}}\n\ninside\n\n{{/yes}}\n\nend",
        "{{zero}}",
    ],
)
def test_text_is_chevrons(template: str) -> None:
    assert _render(template) == chevron.render(template, _DATA)


_PIECES = st.lists(
    st.sampled_from(
        [
            "text ",
            "\n",
            "{{name}}",
            "{{{name}}}",
            "{{#words}}{{.}}{{/words}}",
            "{{user.name}}",
            "{{#people}}\n{{name}}\n{{/people}}\n",
            "{{^nothing}}x{{/nothing}}",
            "{{! c }}",
            " & ",
            "{{#user}}{{#tags}}{{.}}{{name}}{{/tags}}{{/user}}",
            "{{missing}}",
        ]
    ),
    max_size=12,
)


@settings(max_examples=200)
@given(_PIECES)
def test_any_mixture_is_chevrons(pieces: list[str]) -> None:
    template = "".join(pieces)

    assert _render(template) == chevron.render(template, _DATA)


def test_booleans_and_null_differ_from_chevron_on_purpose() -> None:
    """docs/design/file-format.md: they read as `true`, `false` and nothing in every language."""
    rendering = render_template(
        "{{a}}{{b}}{{c}}", {"a": True, "b": False, "c": None}, format="mustache"
    )

    assert rendering.text == "truefalse"


def test_pieces_know_their_places() -> None:
    template = "a\r\n{{#people}}\r\n- {{name}}\r\n{{/people}}\r\n{{{q}}}"
    rendering = render_template(template, {**_DATA, "q": "v"}, format="mustache", offset=3)

    found = [
        (item.text, template[item.span.start - 3 : item.span.end - 3], item.input)
        for item in rendering.segments
        if item.span is not None
    ]
    assert found == [
        ("a\n", "a\r\n", None),
        ("- ", "- ", None),
        ("A", "{{name}}", "people"),
        ("\n", "\r\n", None),
        ("- ", "- ", None),
        ("B", "{{name}}", "people"),
        ("\n", "\r\n", None),
        ("v", "{{{q}}}", "q"),
    ]


def test_escaping_is_hinted_with_three_braces_as_a_fix() -> None:
    rendering = render_template("x {{name}}", _DATA, format="mustache")

    assert rendering.text == "x Ada &lt;b&gt;"
    assert [problem.code for problem in rendering.problems] == ["template-escaped"]
    repaired = apply_edits("x {{name}}", rendering.problems[0].fixes[0].edits)
    assert _render(repaired) == "x Ada <b>"


@pytest.mark.parametrize(
    ("template", "marked", "text"),
    [
        ("a {{name", "{{", "a {{name"),
        ("a {{#yes}}b", "{{#yes}}", "a b"),
        ("a {{/yes}}b", "{{/yes}}", "a b"),
        ("{{#yes}}{{#words}}x{{/yes}}y", "{{#words}}", "xxy"),
        ("a {{=<%=}} b", "{{=<%=}}", "a  b"),
    ],
)
def test_mistakes_are_placed_and_the_rest_renders(template: str, marked: str, text: str) -> None:
    rendering = render_template(template, _DATA, format="mustache", offset=9)

    assert [problem.code for problem in rendering.problems] == ["template-syntax"]
    span = rendering.problems[0].span
    assert template[span.start - 9 : span.end - 9] == marked
    assert rendering.text == text


def test_partials_are_refused_by_name() -> None:
    rendering = render_template("a{{> other }}b", {}, format="mustache")

    assert rendering.text == "ab"
    assert [problem.code for problem in rendering.problems] == ["template-unsupported"]


def test_rich_inputs_are_places() -> None:
    rendering = render_template(
        "{{talk}}{{#talk}}{{content}}{{/talk}}",
        {"talk": [{"content": "hi"}]},
        format="mustache",
        rich=frozenset({"talk"}),
    )

    assert [(item.kind, item.input) for item in rendering.segments] == [
        ("rich", "talk"),
        ("value", "talk"),
    ]


def test_variables_inside_a_section_are_uncertain() -> None:
    template = "{{a.b}}{{#items}}{{x}}{{.}}{{/items}}{{^none}}{{y}}{{/none}}"
    variables, problems = find_variables(template, "mustache", 4)

    assert problems == ()
    assert [(v.name, v.certain) for v in variables] == [
        ("a", True),
        ("items", True),
        ("x", False),
        ("none", True),
        ("y", True),
    ]
    assert all(template[v.span.start - 4 : v.span.end - 4] == v.name for v in variables)
