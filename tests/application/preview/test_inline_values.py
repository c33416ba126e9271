"""What stands in grey behind the lines of a template."""

from __future__ import annotations

import pytest

from studio.application.preview.build import build_preview
from studio.application.preview.variables import PreviewJob, inline_values, short_value
from studio.core.prompty.parse import parse
from studio.core.text.values import Json

HEAD = """---
inputs:
  customer:
    kind: object
    default: {name: Ana, address: {city: Rome}, password: hunter22hunter}
  items:
    kind: array
    items: {kind: object}
    default: [{sku: A-1}, {sku: B-2}, {sku: C-3}, {sku: D-4}]
  one:
    kind: array
    items: {kind: string}
    default: [x]
---
user:
"""


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("{{ customer.name }}", ["default: Ana"]),
        ("{{ customer.address.city }} {{customer.name}}", ["default: Rome", "default: Ana"]),
        (
            "{% for it in items %}{{ it.sku }}{% endfor %}",
            ["default: 4 items", "default: A-1, B-2, C-3, …"],
        ),
        ("{% for each in one %}{{ each }}{% endfor %}", ["default: 1 item"]),
        ("{{ items[0].sku }}", ["default: A-1, B-2, C-3, …"]),
        ("{{ customer.nothing }}", []),
        ("{{ customer.name | upper }}", []),  # another text than the value
        ("{% if customer.name %}x{% endif %}", []),
        ("{% for h in history %}{{ h.thought }}{% endfor %}", []),  # a sample that no run sends
    ],
)
def test_each_expression_of_one_value(body: str, shown: list[str]) -> None:
    preview = build_preview(PreviewJob(parse(HEAD + body)))
    assert [each.text for each in inline_values(preview)] == shown
    for each in inline_values(preview):
        assert preview.document.source.slice(each.expression)[:2] in ("{{", "{%")


def test_a_sample_says_that_it_is_one_and_a_given_value_says_nothing() -> None:
    text = "---\ninputs:\n  who: {kind: string, sample: Ana}\n---\nuser:\n{{ who }}\n"
    for given, shown in (({}, "sample: Ana"), ({"who": "Ana"}, "Ana")):
        preview = build_preview(PreviewJob(parse(text), given))
        assert [each.text for each in inline_values(preview)] == [shown]


def test_what_was_entered_counts_and_secrets_stay_hidden() -> None:
    given: dict[str, Json] = {"customer": {"name": "Bo", "password": "hunter22hunter"}}
    body = "{{ customer.name }}{{ customer.password }}"
    preview = build_preview(PreviewJob(parse(HEAD + body), given))
    said = [each.text for each in inline_values(preview)]
    assert said[0] == "Bo"
    assert "hunter22hunter" not in said[1]


def test_one_line_cut_at_its_end() -> None:
    assert short_value("a\n  b") == "a b"
    assert short_value("x" * 500, 10) == "x" * 9 + "…"
    assert short_value({"a": [1, None]}) == '{"a": [1, null]}'
