"""A format string rewritten as Jinja2 renders to the same text."""

from __future__ import annotations

import pytest

from studio.core.prompty.templates import render_template
from studio.core.prompty.templates.fstring import fstring_as_jinja

VALUES = {"a": "x", "b": {"c": [1, 2]}}


@pytest.mark.parametrize(
    "text",
    [
        "{a}",
        "{{a}}",
        "{{{a}}}",
        "{{{{",
        "}}}}",
        '{{"k": "{a}"}}',
        "{{% if %}}",
        "{{# c #}}",
        "{b[c][1]} {b.c}",
        "a {{ {a} }} b",
        "x",
        "",
        "{{{{a}}}}",
        "${env:X} {a}",
    ],
)
def test_it_renders_to_the_same_text(text: str) -> None:
    made = fstring_as_jinja(text)
    assert made is not None
    rendered = [
        "".join(segment.text for segment in render_template(each, VALUES, format=form).segments)
        for each, form in ((text, "fstring"), (made, "jinja2"))
    ]
    assert rendered[0] == rendered[1]


@pytest.mark.parametrize("text", ["{a:>5}", "{a!r}"])
def test_a_format_has_no_jinja_form(text: str) -> None:
    assert fstring_as_jinja(text) is None
