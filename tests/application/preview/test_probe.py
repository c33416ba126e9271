from __future__ import annotations

from studio.application.preview.probe import ATTACKS, probe
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


def test_texts_inside_objects_lists_and_threads_are_tried_too() -> None:
    text = (
        "---\ntemplate:\n  format: {kind: jinja2, strict: STRICT}\n  parser: {kind: section}\n"
        "inputs:\n"
        "  home: {kind: object, properties: {street: {kind: string}, number: {kind: integer}}}\n"
        "  stops: {kind: array, items: {kind: string}}\n"
        "  days: {kind: integer}\n"
        "  tone: {kind: string, enum: [warm, dry]}\n"
        "  talk: {kind: thread}\n---\n"
        "system:\n{{ home.street }} {{ days }} {{ tone }}\n\n"
        "user:\n{% for stop in stops %}{{ stop }}\n{% endfor %}\n\n![thread]\n"
    )
    closed = probe(parse(text.replace("STRICT", "true")), {})
    assert closed.inputs == ("home", "stops", "talk")
    assert not closed.holes
    opened = probe(parse(text.replace("STRICT", "false")), {"stops": ["Rome", "Oslo"]})
    assert {hole.input for hole in opened.holes} == {"home", "stops"}


def test_what_the_values_of_now_leave_out_is_tried_too() -> None:
    text = (
        "---\ntemplate:\n  format: {kind: jinja2, strict: false}\n  parser: {kind: section}\n"
        "inputs:\n"
        "  home:\n    kind: object\n    properties:\n      street: {kind: string}\n"
        "      rooms: {kind: array, items: {kind: string}}\n"
        "  stops: {kind: array, items: {kind: string}, default: []}\n"
        "---\nsystem:\n{% for room in home.rooms %}{{ room }}{% endfor %}\n"
        "{% for stop in stops %}{{ stop }}{% endfor %}\n"
    )
    for home in ({"street": "x"}, {"rooms": []}, {"rooms": None}):
        report = probe(parse(text), {"home": home})
        assert {hole.input for hole in report.holes} == {"home", "stops"}


def test_parameters_are_tried_like_inputs() -> None:
    text = DOC.replace("{{ q }}", "${params:who}").replace("  q: {kind: string}\n", "")
    assert probe(parse(text.replace("STRICT", "true")), {}).holes == ()
    report = probe(parse(text.replace("STRICT", "false")), {})
    assert report.inputs == ("who",)
    hole = next(hole for hole in report.holes if hole.attack.title == "a role marker")
    assert hole.span is not None
    document = parse(text.replace("STRICT", "false"))
    assert document.source.slice(hole.span) == "${params:who}"
