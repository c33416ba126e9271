from __future__ import annotations

from studio.core.prompty.inputs import preview_inputs, resolve_inputs
from studio.core.prompty.parse import parse

TEXT = """---
inputs:
  given: {kind: string, required: true}
  filled: {kind: string, default: ""}
  off: {kind: boolean, default: false}
  sampled: {kind: string, sample: s}
  nothing: {kind: string, default: null, required: true}
---
{{given}}{{filled}}{{off}}{{sampled}}{{nothing}}{{question}}
"""


def test_run_takes_defaults_and_never_samples() -> None:
    values, problems = resolve_inputs(parse(TEXT), {"given": "g", "extra": 1})
    assert values == {"given": "g", "filled": "", "off": False, "extra": 1}
    assert [problem.code for problem in problems] == ["missing-input"]
    assert "'nothing'" in problems[0].message


def test_given_null_counts_as_given() -> None:
    values, problems = resolve_inputs(parse(TEXT), {"given": None, "nothing": None})
    assert values["given"] is None
    assert not problems


def test_preview_says_what_is_only_a_sample() -> None:
    values, samples = preview_inputs(parse(TEXT), {"given": "g"})
    assert values["sampled"] == "s"
    assert samples == {"sampled", "question"}
    assert values["question"]


def test_reserved_names_of_loops_have_samples_in_their_form() -> None:
    react = (
        "{% for t in tools %}{{t.name}}{% endfor %}{% for h in history %}{{h.action}}{% endfor %}"
    )
    values, _ = preview_inputs(parse(react), {})
    assert values["tools"][0]["arguments"][0].keys() >= {"name", "type", "description", "required"}
    assert values["history"][0].keys() == {"thought", "action", "arguments", "observation"}
    fstring = "---\ntemplate: {format: {kind: fstring}}\n---\n{tools}{tool_names}"
    values, samples = preview_inputs(parse(fstring), {})
    assert isinstance(values["tools"], str)
    assert samples == {"tools", "tool_names"}
