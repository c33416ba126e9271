"""The same text as stock Jinja, wherever the differences are not on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2.sandbox import ImmutableSandboxedEnvironment

from studio.core.prompty.templates import render_template

_STOCK = ImmutableSandboxedEnvironment(keep_trailing_newline=True)
_DATA = {
    "q": " Some text ",
    "n": 7,
    "f": 1.5,
    "xs": [3, 1, 2],
    "words": ["b", "a", "B"],
    "rows": [{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "a", "v": 3}],
    "d": {"one": 1, "two": 2},
    "nested": [[1, 2], [3]],
}

_TEMPLATES = (
    Path(__file__).with_name("jinja_templates.txt").read_text(encoding="utf-8").split("\n=====\n")
)


@pytest.mark.parametrize("template", _TEMPLATES)
def test_text_is_stock_jinjas(template: str) -> None:
    rendering = render_template(template, _DATA, format="jinja2")

    assert rendering.problems == ()
    assert rendering.text == _STOCK.from_string(template).render(_DATA)


_EXPRESSION = st.recursive(
    st.sampled_from(["q", "n", "f", "xs", "words", "d.one", "xs[0]", "'s'", "2", "nope"]),
    lambda inner: st.one_of(
        st.tuples(
            inner,
            st.sampled_from(
                [
                    "upper",
                    "trim",
                    "length",
                    "string",
                    "list",
                    "sort",
                    "default('x')",
                    "first",
                    "join('-')",
                    "reverse",
                ]
            ),
        ).map(lambda pair: f"({pair[0]})|{pair[1]}"),
        st.tuples(
            inner,
            st.sampled_from(["+", "-", "*", "//", "%", "~", "==", "<", "in", "and", "or"]),
            inner,
        ).map(lambda three: f"({three[0]} {three[1]} {three[2]})"),
        st.tuples(inner, inner, inner).map(lambda three: "({} if {} else {})".format(*three)),
        inner.map(lambda item: f"[{item}]"),
        inner.map(lambda item: f"(not {item})"),
    ),
    max_leaves=6,
)
_PIECE = st.recursive(
    st.one_of(
        st.sampled_from(["text", " ", "\n", "{# c #}", "{", "}"]),
        _EXPRESSION.map(lambda inner: "{{ " + inner + " }}"),
    ),
    lambda inner: st.one_of(
        st.tuples(_EXPRESSION, inner, inner).map(
            lambda t: f"{{% if {t[0]} %}}{t[1]}{{% else %}}{t[2]}{{% endif %}}"
        ),
        inner.map(lambda body: f"{{% for n in words -%}} {body} {{%- endfor %}}"),
        st.tuples(_EXPRESSION, inner).map(lambda t: f"{{% set v = {t[0]} %}}{t[1]}{{{{ v }}}}"),
        st.lists(inner, max_size=3).map("".join),
    ),
    max_leaves=6,
)


@settings(max_examples=400)
@given(_PIECE)
def test_any_template_that_stock_jinja_renders_renders_alike(template: str) -> None:
    try:
        expected = _STOCK.from_string(template).render(_DATA)
    except Exception:  # noqa: BLE001 - whatever stock Jinja refuses is not compared
        render_template(template, _DATA, format="jinja2")
        return
    rendering = render_template(template, _DATA, format="jinja2")

    words = ("True", "False", "None", ".0", "object at", "Undefined")
    if not any(word in expected for word in words):
        # Booleans, null, whole floats and iterators read differently on purpose.
        assert rendering.problems == ()
        assert rendering.text == expected


_SCRAPS = [
    *("{{", "}}", "{%", "%}", "{#", "#}", "x", " ", "if", "endif", "for", "in", "(", ")", "'"),
    *("|", "-", "\r\n", "raw", "endraw", "set", "=", "é", "\ud800", "\0", "\u2028"),
]


@settings(max_examples=400)
@given(st.lists(st.sampled_from(_SCRAPS), max_size=14).map("".join))
def test_any_text_renders_without_an_exception(template: str) -> None:
    rendering = render_template(template, {"x": [1]}, format="jinja2")

    literal = [item for item in rendering.segments if item.kind == "literal"]
    assert all(item.span is not None for item in rendering.segments)
    for item in literal:
        assert item.span is not None
        source = template[item.span.start : item.span.end]
        assert item.text == source.replace("\r\n", "\n").replace("\r", "\n")
    for problem in rendering.problems:
        assert 0 <= problem.span.start <= problem.span.end <= len(template)
