"""Where Prompty's runtimes would render otherwise; `make interop` proves the list of templates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from studio.core.prompty.checks.portability import check_portability, differences
from studio.core.prompty.parse import parse
from studio.core.text.source import SourceText, Span, apply_edits

VALUES = {
    "name": "Ann",
    "flag": True,
    "off": False,
    "n": 3,
    "f": 1.0,
    "h": 1.5,
    "items": ["a", "b"],
    "empty": [],
    "m": {"z": 1, "a": 2},
    "s": "",
    "order": {"items": [1, 2], "total": 4},
    "users": [{"n": "x", "a": True}, {"n": "y", "a": False}],
}
KINDS = {
    bool: "boolean",
    int: "integer",
    float: "float",
    str: "string",
    list: "array",
    dict: "object",
}


def head_of(values: Mapping[str, object], form: str = "jinja2") -> str:
    """Front matter that declares values as defaults, and an input that nobody need give."""
    inputs = {
        name: {"kind": KINDS.get(type(value), "string"), "default": value}
        for name, value in values.items()
    }
    declared = json.dumps({**inputs, "missing": {"kind": "string"}})
    return f"---\ninputs: {declared}\ntemplate: {{format: {{kind: {form}}}}}\n---\n"


HEAD = head_of(VALUES)
CASES = [
    (template, runtimes, codes)
    for template, runtimes, *codes in map(
        json.loads,
        Path(__file__).with_name("portability.jsonl").read_text(encoding="utf-8").splitlines(),
    )
]


def test_each_template_differs_where_it_does() -> None:
    head = parse(HEAD)  # read once: the templates alone differ
    for template, runtimes, codes in CASES:
        text = HEAD + template
        body = Span(len(HEAD), len(text))
        found = list(differences(replace(head, source=SourceText(text), body=body)))
        told = {str(runtime) for each in found for runtime in each.runtimes}
        assert told == set(runtimes.split()), template
        assert sorted({each.problem.code for each in found}) == codes, template


def test_it_is_no_part_of_the_usual_checks() -> None:
    document = parse(f"{HEAD}{{% set x = 1 %}}{{{{ flag }}}}")
    assert not [item for item in document.problems if item.code.startswith("portable-")]
    assert [item.code for item in check_portability(document)] == [
        "portable-statement",
        "portable-value",
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{% if items %}y{% endif %}", "{% if items | length %}y{% endif %}"),
        ("{% if not empty %}y{% endif %}", "{% if not empty | length %}y{% endif %}"),
        ("{% if order.items[0] %}y{% endif %}", '{% if order["items"][0] %}y{% endif %}'),
        ("{% if flag == True %}y{% endif %}", "{% if flag == true %}y{% endif %}"),
    ],
)
def test_a_fix_makes_it_the_same_everywhere(before: str, after: str) -> None:
    document = parse(HEAD + before)
    (problem,) = check_portability(document)
    assert apply_edits(document.source.text, problem.fixes[0].edits) == HEAD + after
    assert check_portability(parse(HEAD + after)) == ()


def test_a_place_is_the_word_that_differs() -> None:
    document = parse(HEAD + "Hello {{ name | title }} and {{ name | upper }}!")
    (problem,) = check_portability(document)
    assert document.source.slice(problem.span) == "title"
    assert problem.message == "C# knows no filter 'title' and ends with an error."


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("{{ name }}", ["portable-value"]),
        ("{{{ name }}}", []),
        ("{{ n }}", []),
        ("{{ flag }}", ["portable-value"]),
        ("{{#users}}{{{ n }}}{{/users}}", []),
    ],
)
def test_mustache(body: str, codes: list[str]) -> None:
    document = parse(head_of(VALUES, "mustache") + body)
    assert [item.code for item in check_portability(document)] == codes


def test_a_format_string_is_read_by_none() -> None:
    document = parse(head_of(VALUES, "fstring") + "{name}")
    assert [item.code for item in check_portability(document)] == ["portable-format"]


def test_a_template_that_cannot_be_read_is_told_as_far_as_it_can() -> None:
    found = check_portability(parse(HEAD + "{{ flag }}{% if name %}{{ name | title }}"))
    assert [item.code for item in found] == ["portable-value"]
