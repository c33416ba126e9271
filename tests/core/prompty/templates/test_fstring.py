"""Format strings: placeholders, braces, and places."""

from __future__ import annotations

import pytest

from studio.core.prompty.parse import parse
from studio.core.prompty.templates import find_variables, render_template
from studio.core.text.source import apply_edits


def _text(template: str, **inputs: object) -> str:
    rendering = render_template(template, inputs, format="fstring")  # type: ignore[arg-type]
    assert rendering.problems == ()
    return rendering.text


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("Use {tools} now", "Use - a now"),
        ('{{"action": "{name}"}}', '{"action": "x"}'),
        ("{{{name}}}", "{x}"),
        ("{user.city}, {user[city]}, {items[1]}", "Rome, Rome, b"),
        ("{missing}|{user.missing}|{items[9]}", "||"),
        ("{flag} {none} {whole}", "true  2"),
        ("{name!r} {name:>3} {number:.2f}", "'x'   x 3.14"),
        ("no placeholder", "no placeholder"),
        ("{ name }", "x"),
    ],
)
def test_placeholders_and_braces(template: str, text: str) -> None:
    assert text == _text(
        template,
        tools="- a",
        name="x",
        user={"city": "Rome"},
        items=["a", "b"],
        flag=True,
        none=None,
        whole=2.0,
        number=3.14159,
    )


def test_pieces_know_their_places() -> None:
    template = "a\r\n{{ {q} }}b"
    rendering = render_template(template, {"q": "v"}, format="fstring", offset=7)

    found = [
        (item.kind, item.text, template[item.span.start - 7 : item.span.end - 7], item.input)
        for item in rendering.segments
        if item.span is not None
    ]
    assert found == [
        ("literal", "a\n", "a\r\n", None),
        ("literal", "{", "{{", None),
        ("literal", " ", " ", None),
        ("value", "v", "{q}", "q"),
        ("literal", " ", " ", None),
        ("literal", "}", "}}", None),
        ("literal", "b", "b", None),
    ]


def test_a_lone_brace_stays_and_a_fix_doubles_it() -> None:
    template = '{"a": 1} {q} }'
    rendering = render_template(template, {"q": "v"}, format="fstring")

    assert rendering.text == '{"a": 1} v }'
    assert {problem.code for problem in rendering.problems} == {"template-syntax"}
    repaired = apply_edits(
        template, [edit for problem in rendering.problems for edit in problem.fixes[0].edits]
    )
    assert _text(repaired, q="v") == '{"a": 1} v }'


def test_a_format_that_does_not_fit_is_placed() -> None:
    rendering = render_template("a{q:d}b", {"q": [1]}, format="fstring")

    assert rendering.text == "ab"
    assert [problem.code for problem in rendering.problems] == ["template-value"]


def test_rich_inputs_are_places() -> None:
    rendering = render_template("a{talk}", {}, format="fstring", rich=frozenset({"talk"}))

    assert [(item.kind, item.input) for item in rendering.segments][1] == ("rich", "talk")


def test_variables() -> None:
    template = "{a} {{b}} {c.d[0]} {a}"
    variables, problems = find_variables(template, "fstring", 5)

    assert problems == ()
    assert [(v.name, v.span.start - 5) for v in variables] == [("a", 1), ("c", 11), ("a", 20)]
    assert [template[v.expression.start - 5 : v.expression.end - 5] for v in variables] == [
        "{a}",
        "{c.d[0]}",
        "{a}",
    ]


def test_a_field_that_no_value_has_is_told_at_its_place() -> None:
    text = (
        "---\ntemplate: {format: {kind: fstring}}\ninputs:\n"
        "  customer: {kind: object, default: {name: Ana, city: {zip: 1}}}\n"
        "  rows: {kind: array, default: [{sku: A}]}\n---\nuser:\n"
        "{customer.nme} {customer.name} {customer[city].zip} {rows[0].sku} {rows[0][skuu]} "
        "{rows.sku} {rows.length}\n"
    )
    problems = [each for each in parse(text).problems if each.code == "unknown-field"]
    told = {text[each.span.start : each.span.end]: each for each in problems}
    assert list(told) == ["nme", "skuu", "sku", "length"]
    assert "did you mean 'name'" in told["nme"].message
    fixed = apply_edits(text, told["skuu"].fixes[0].edits)
    assert "{rows[0][sku]}" in fixed
    assert "'for'" not in told["sku"].message  # a format string has no loops, nor filters
    assert "filter" not in told["length"].message
