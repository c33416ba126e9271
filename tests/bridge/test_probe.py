from __future__ import annotations

from studio.bridge.probe import ATTACKS, probe
from studio.core.prompty.parse import parse

DOC = """---
template:
  parser: {kind: section}
  format: {kind: jinja2, strict: STRICT}
inputs:
  q: {kind: string}
  n: {kind: integer, default: 3}
---
system:
Answer {{ n }} times.

user[name="{{ q }}"]:
{{ q }}
"""


def test_provenance_leaves_no_hole() -> None:
    report = probe(parse(DOC.replace("STRICT", "true")), {})
    assert report.inputs == ("q",)
    assert report.attacks == len(ATTACKS)
    assert report.holes == ()
    assert "none changes the structure" in report.summary


def test_a_planted_hole_is_found_and_placed() -> None:
    text = DOC.replace("STRICT", "false")
    report = probe(parse(text), {})
    hole = next(hole for hole in report.holes if hole.attack.title == "a role marker")
    assert hole.input == "q"
    assert "system" in hole.change
    assert hole.span is not None
    assert text[hole.span.start : hole.span.end] == "{{ q }}"
    assert report.summary.startswith("1 of 1 input")


def test_nothing_to_probe_is_said() -> None:
    assert "nothing to probe" in probe(parse("system:\nplain\n"), {}).summary
