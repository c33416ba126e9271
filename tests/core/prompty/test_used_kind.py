from __future__ import annotations

import pytest

from studio.core.prompty.known_fields import used_kinds
from studio.core.prompty.parse import parse
from studio.core.text.source import apply_edits


@pytest.mark.parametrize(
    ("form", "body", "kind"),
    [
        ("jinja2", "{{ x }}", "string"),
        ("jinja2", "{{ x.upper() }} {{ x | upper }}", "string"),
        ("jinja2", "{{ x }} {{ x.name }}", "object"),
        ("jinja2", "{{ x['first name'] }}", "object"),
        ("jinja2", "{{ x[0] }}", "array"),
        ("jinja2", "{% for y in x %}{{ y.name }}{% endfor %}", "array"),
        ("jinja2", "{%- for y in  x -%}{{ y }}{% endfor %}", "array"),
        ("jinja2", '{{ x | join(", ") }}', "array"),
        ("jinja2", "{% for y in x.items %}{{ y }}{% endfor %}", "object"),
        ("jinja2", "{% if 'a' in x %}yes{% endif %}", "string"),
        ("mustache", "{{x}} {{x.name}}", "object"),
        ("fstring", "{x}", "string"),
        ("fstring", "{x.name}", "object"),
    ],
)
def test_uses_tell_the_kind(form: str, body: str, kind: str) -> None:
    text = f"---\ntemplate:\n  format: {{kind: {form}}}\n  parser: {{kind: section}}\n---\n"
    document = parse(f"{text}user:\n{body}\n")
    assert used_kinds(document)["x"] == kind
    (problem,) = [item for item in document.problems if item.code == "undeclared-variable"][:1]
    declared = parse(apply_edits(document.source.text, problem.fixes[0].edits)).input("x")
    assert declared is not None
    assert declared.kind == kind
