"""Jinja templates: what they render to, where every piece came from, and what is wrong in them."""

from __future__ import annotations

import pytest

from studio.core.prompty.document import Rendering
from studio.core.prompty.templates import find_variables, render_template
from studio.core.prompty.templates.writer import UnreadText
from studio.core.text.source import Severity, Span, apply_edits

_OFFSET = 1_000


def _render(template: str, **inputs: object) -> Rendering:
    return render_template(template, inputs, format="jinja2", offset=_OFFSET)  # type: ignore[arg-type]


def _origins(template: str, **inputs: object) -> list[tuple[str, str, str, str | None]]:
    """(kind, text, template source of its span, input) of every segment."""
    found = []
    for item in _render(template, **inputs).segments:
        assert item.span is not None
        source = template[item.span.start - _OFFSET : item.span.end - _OFFSET]
        found.append((item.kind, item.text, source, item.input))
    return found


def test_literals_and_values_know_their_source() -> None:
    assert _origins("Hi {{ name }}, from {{ user.city }}.", name="Ada", user={"city": "Rome"}) == [
        ("literal", "Hi ", "Hi ", None),
        ("value", "Ada", "{{ name }}", "name"),
        ("literal", ", from ", ", from ", None),
        ("value", "Rome", "{{ user.city }}", "user"),
        ("literal", ".", ".", None),
    ]


def test_spans_count_code_points_behind_other_planes() -> None:
    assert _origins("😀é {{ q }}", q="x") == [
        ("literal", "😀é ", "😀é ", None),
        ("value", "x", "{{ q }}", "q"),
    ]


@pytest.mark.parametrize(
    ("expression", "source"),
    [
        ("q|trim", "q"),
        ("q | upper | replace('A', 'B')", "q"),
        ("q[0]", "q"),
        ("q.x|default(other)", "q"),
        ("other if flag else q", "other"),
        ("'fixed'", None),
        ("1 + 2", None),
        ("q + 'x'", "q"),
        ("['a', q]|join('-')", "q"),
        ("q.upper()", "q"),
        ("dict(a=q).a", "q"),
    ],
)
def test_a_value_names_the_input_that_went_into_it(expression: str, source: str | None) -> None:
    segments = _render(f"{{{{ {expression} }}}}", q="ab", other="cd", flag=True).segments

    assert [(item.kind, item.input) for item in segments] == [("value", source)]


def test_values_joined_by_a_tilde_stay_apart() -> None:
    origins = [(text, source) for _, text, _, source in _origins("{{ a ~ '-' ~ b }}", a=1, b=2)]

    assert origins == [("1", "a"), ("-", None), ("2", "b")]


@pytest.mark.parametrize(
    "template",
    [
        "{% for m in items %}{{ m.x }}{% endfor %}",
        "{% for k, m in pairs.items() %}{{ m }}{% endfor %}",
        "{% for m in items|reverse if m %}{{ m.x|upper }}{% endfor %}",
        "{% set y = items[0] %}{{ y.x }}",
        "{% with y = items[0] %}{{ y.x }}{% endwith %}",
        "{% macro show(v) %}{{ v }}{% endmacro %}{{ show(items[0].x) }}",
        "{% macro show(v='') %}{{ v }}{% endmacro %}{{ show(v=items[0].x) }}",
        "{% set y %}{{ items[0].x }}{% endset %}{{ y }}",
        "{% filter upper %}{{ items[0].x }}{% endfilter %}",
        "{% macro m() %}{{ caller(items[0].x) }}{% endmacro %}"
        "{% call(v) m() %}{{ v }}{% endcall %}",
    ],
)
def test_names_bound_in_the_template_lead_back_to_the_input(template: str) -> None:
    segments = _render(template, items=[{"x": "a"}], pairs={"k": "a"}).segments

    assert {(item.kind, item.text.lower()) for item in segments} == {("value", "a")}
    assert {item.input for item in segments} <= {"items", "pairs"}


def test_text_of_a_macro_or_a_set_block_stays_the_authors() -> None:
    template = (
        "{% macro f(x) %}<{{ x }}>{% endmacro %}{{ f(q) }}{% set z %}[{{ q }}]{% endset %}{{ z }}"
    )

    assert _origins(template, q="v") == [
        ("literal", "<", "<", None),
        ("value", "v", "{{ x }}", "q"),
        ("literal", ">", ">", None),
        ("literal", "[", "[", None),
        ("value", "v", "{{ q }}", "q"),
        ("literal", "]", "]", None),
    ]


def test_white_space_control_trims_and_keeps_places() -> None:
    assert _origins("a  {%- if x -%}  b  {%- endif %} c\n", x=True) == [
        ("literal", "a", "a", None),
        ("literal", "b", "b", None),
        ("literal", " c\n", " c\n", None),
    ]


def test_line_ends_become_lf_and_keep_their_places() -> None:
    assert _origins("a\r\nb{{ q }}\rc", q="v") == [
        ("literal", "a\n", "a\r\n", None),
        ("literal", "b", "b", None),
        ("value", "v", "{{ q }}", "q"),
        ("literal", "\n", "\r", None),
        ("literal", "c", "c", None),
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (None, ""),
        (1.0, "1"),
        (1.5, "1.5"),
        (-0.25, "-0.25"),
        (12345678901234567890, "12345678901234567890"),
        (1e300, "1e+300"),
        ("<b>&", "<b>&"),
        ([1, "a"], "[1, 'a']"),
    ],
)
def test_values_read_as_prompts_want_them(value: object, text: str) -> None:
    assert _render("{{ v }}", v=value).text == text
    assert _render("{{ v ~ '' }}", v=value).text == text
    assert _render("{{ [v]|join }}", v=value).text == text


@pytest.mark.parametrize(
    "template",
    [
        "[{{ a }}]",
        "[{{ a.b.c }}]",
        "[{{ a['b'].c }}]",
        "[{{ a|upper }}]",
        "[{% for x in a.b %}{{ x }}{% endfor %}]",
        "[{% if a.b %}x{% endif %}]",
    ],
)
def test_what_is_undefined_renders_as_nothing(template: str) -> None:
    rendering = _render(template)

    assert rendering.text == "[]"
    assert rendering.problems == ()


def test_keys_of_a_mapping_come_before_pythons_methods() -> None:
    """Stock Jinja prints a method here; a difference on purpose."""
    order = {"items": "tea", "other": {"items": [1]}}

    assert _render("{{ order.items }}", order=order).text == "tea"
    assert _render(
        "{% for k in order.other.items() %}{{ k[0] }}{% endfor %}", order=order
    ).text == ("items")


def test_a_rich_input_alone_is_a_place_and_else_a_value() -> None:
    template = "{{ talk }}{{ talk|length }}{% for m in talk %}{{ m.content }}{% endfor %}"
    rendering = render_template(
        template, {"talk": [{"content": "hi"}]}, format="jinja2", rich=frozenset({"talk"})
    )

    assert [(item.kind, item.input) for item in rendering.segments] == [
        ("rich", "talk"),
        ("value", "talk"),
        ("value", "talk"),
    ]
    assert [item.text for item in rendering.segments[1:]] == ["1", "hi"]


def test_a_name_that_hides_a_rich_input_is_a_value() -> None:
    rendering = render_template(
        "{% for talk in xs %}{{ talk }}{% endfor %}",
        {"talk": [], "xs": ["a"]},
        format="jinja2",
        rich=frozenset({"talk"}),
    )

    assert [(item.kind, item.input) for item in rendering.segments] == [("value", "xs")]


def test_recursive_loops_namespaces_and_loop_variables() -> None:
    tree = [{"n": "a", "c": [{"n": "b", "c": []}]}]
    template = "{% for i in tree recursive %}{{ i.n }}{{ loop.depth }}{{ loop(i.c) }}{% endfor %}"
    assert _render(template, tree=tree).text == "a1b2"

    template = (
        "{% set ns = namespace(n=0) %}{% for x in xs %}{% set ns.n = ns.n + x %}{% endfor %}"
        "{{ ns.n }}"
    )
    assert _render(template, xs=[1, 2, 3]).text == "6"

    template = (
        "{% for x in xs %}{{ loop.cycle('o', 'e') }}{{ loop.previtem }}{{ loop.revindex }} "
        "{% endfor %}"
    )
    assert _render(template, xs=["a", "b"]).text == "o2 ea1 "


# --- what is wrong --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "marked", "before"),
    [
        ("ok {{ name", "{{", "ok "),
        ("ok {% if x %}never closed", "{% if x %}", "ok "),
        ("a{% for x in y %}{% if x %}b{% endfor %}", "endfor", "a"),
        ("a {{ x } b", "}", "a "),
        ("a {{ 'x }}", "'", "a "),
        ("a {# comment", "{#", "a "),
        ("a {% raw %} b", "{%", "a "),
        ("a {% nonsense %} b", "nonsense", "a "),
        ("a {% endif %} b", "endif", "a "),
        ("a {{ x + }} b", "}}", "a "),
        ("a {{ }} b", "}}", "a "),
        ("a {% for %} b", "%}", "a "),
        ("a {{ ( x ] }} b", "]", "a "),
        ("a {{ x ! }} b", "!", "a "),
        ("a {{ x y }} b", "y", "a "),
    ],
)
def test_a_syntax_error_is_placed_and_what_stands_before_it_renders(
    template: str, marked: str, before: str
) -> None:
    rendering = _render(template)

    assert [problem.code for problem in rendering.problems] == ["template-syntax"]
    span = rendering.problems[0].span
    assert template[span.start - _OFFSET : span.end - _OFFSET] == marked
    assert rendering.text == before


def test_unknown_filters_and_tests_offer_the_nearest_name() -> None:
    template = "{{ a|uper }} {{ b is evn }} {{ c|zzzz }}"
    _, problems = find_variables(template, "jinja2")

    assert [problem.code for problem in problems] == [
        "unknown-filter",
        "unknown-test",
        "unknown-filter",
    ]
    assert [template[p.span.start : p.span.end] for p in problems] == ["uper", "evn", "zzzz"]
    assert "did you mean 'upper'" in problems[0].message
    edits = [edit for problem in problems[:2] for edit in problem.fixes[0].edits]
    assert apply_edits(template, edits) == "{{ a|upper }} {{ b is even }} {{ c|zzzz }}"
    assert problems[2].fixes == ()


def test_an_unknown_filter_is_reported_once_and_the_rest_renders() -> None:
    rendering = _render("a{{ q|nope }}b", q="x")

    assert rendering.text == "ab"
    assert [problem.code for problem in rendering.problems] == ["unknown-filter"]


@pytest.mark.parametrize(
    ("template", "part"),
    [
        ("a{{ 1 / 0 }}b", "Division by zero"),
        ("a{{ q.upper }}b", "function"),
        ("a{{ q() }}b", "not a function"),
        ("a{{ nothing() }}b", "has no value"),
        ("a{{ 1 + 'x' }}b", "cannot be added"),
        ("a{{ ''.__class__ }}b", "not available in templates"),
        ("a{{ xs.append(1) }}b", "not available in templates"),
        ("a{{ q|map('nope')|list }}b", "nope"),
        ("a{% for x in 5 %}{% endfor %}b", "is not a list"),
        ("a{% for x, y in [[1]] %}{% endfor %}b", "2 names"),
        ("a{% set q.x = 1 %}b", "namespace"),
    ],
)
def test_what_cannot_be_worked_out_is_placed_and_the_rest_renders(template: str, part: str) -> None:
    rendering = _render(template, q="x", xs=[1])

    assert rendering.text == "ab"
    assert [problem.code for problem in rendering.problems] == ["template-value"]
    assert part in rendering.problems[0].message
    assert template[rendering.problems[0].span.start - _OFFSET] == "{"


def test_a_loop_over_an_object_gives_keys_which_have_no_fields() -> None:
    """Plain Jinja prints nothing for `id`, and for `title` a method of Python (author 11)."""
    template = "{% for item in doc.all %}{{ item }}:{{ item.title }}{{ item.id }};{% endfor %}"
    rendering = _render(template, doc={"all": {"a": {"title": "A"}, "b": {"title": "B"}}})

    assert rendering.text == "a:;b:;"
    (problem,) = rendering.problems
    assert problem.severity is Severity.WARNING
    assert problem.message == (
        "'item' is a text (a key of 'doc.all') and has no field 'title', so nothing is inserted; "
        "loop over a list, or over doc.all.values()."
    )
    assert template[problem.span.start - _OFFSET :].startswith("{{ item.title }}")


def test_an_item_that_a_key_leads_to_has_its_fields() -> None:
    template = "{% for item in doc %}{% set item = doc[item] %}{{ item.title }}{% endfor %}"
    rendering = _render(template, doc={"a": {"title": "A"}})
    assert (rendering.text, rendering.problems) == ("A", ())


def test_a_method_of_a_text_is_no_field() -> None:
    (problem,) = _render("{{ q.title }}", q="x").problems
    assert problem.message == (
        "A text has no field 'title'; title() with parentheses calls its function."
    )


def test_nothing_is_wrong_with_what_is_read_of_an_unread_value() -> None:
    template = "{% for item in q %}{{ item.title }}{{ item['upper'].x }}{% endfor %}"
    rendering = _render(template, q=UnreadText("${file:a.json}"))
    assert (rendering.text, rendering.problems) == ("${file:a.json}" * 2, ())


def test_a_problem_in_a_loop_is_reported_once() -> None:
    rendering = _render("{% for x in [1, 2, 3] %}{{ x / 0 }}{% endfor %}")

    assert len(rendering.problems) == 1


@pytest.mark.parametrize(
    "tag", ["include 'x'", "import 'x' as y", "from 'x' import y", "extends 'x'"]
)
def test_other_template_files_are_refused_by_name(tag: str) -> None:
    rendering = _render(f"a{{% {tag} %}}b")

    assert rendering.text == "ab"
    assert [problem.code for problem in rendering.problems] == ["template-unsupported"]
    assert repr(tag.split(maxsplit=1)[0]) in rendering.problems[0].message


def test_inputs_are_never_changed() -> None:
    given = {"xs": [3, 1, 2], "d": {"a": [1]}}
    rendering = _render("{{ xs|sort }}{{ xs.sort() }}{{ d.update(a=2) }}", **given)

    assert rendering.text == "[1, 2, 3]"
    assert given == {"xs": [3, 1, 2], "d": {"a": [1]}}


# --- variables ------------------------------------------------------------------------------


def test_variables_are_those_the_template_does_not_define() -> None:
    template = (
        "{{ a }}{% for i in items %}{{ i.x }}{{ loop.index }}{{ b }}{% endfor %}"
        "{% set s = c %}{{ s }}{% if d and e.f %}{% endif %}{{ range(n) }}"
        "{% macro m(p, q=g) %}{{ p }}{{ varargs }}{{ h }}{% endmacro %}{{ m(j) }}"
        "{% with w = k %}{{ w }}{% endwith %}{{ w }}"
    )
    variables, problems = find_variables(template, "jinja2", _OFFSET)

    assert problems == ()
    names = " ".join(variable.name for variable in variables)
    assert names == "a items b c d e n g h j k w"
    for variable in variables:
        start, end = variable.span.start - _OFFSET, variable.span.end - _OFFSET
        assert template[start:end] == variable.name
        tag = variable.expression
        assert tag.start <= variable.span.start < variable.span.end <= tag.end
        assert template[tag.start - _OFFSET] == "{"
        assert template[tag.end - _OFFSET - 1] == "}"


def test_a_template_without_tags_is_one_literal() -> None:
    rendering = _render("just text } { % and {")

    assert [(item.text, item.span) for item in rendering.segments] == [
        ("just text } { % and {", Span(_OFFSET, _OFFSET + 21))
    ]
