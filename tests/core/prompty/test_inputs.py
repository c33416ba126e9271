from __future__ import annotations

from studio.core.prompty.inputs import GivenInputs, resolve_inputs
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
    found = resolve_inputs(parse(TEXT), {"given": "g", "extra": 1})
    values, problems = found.sent, found.problems
    assert values == {"given": "g", "filled": "", "off": False, "extra": 1}
    assert [problem.code for problem in problems] == ["missing-input"]
    assert "'nothing'" in problems[0].message


def test_given_null_counts_as_given() -> None:
    found = resolve_inputs(parse(TEXT), {"given": None, "nothing": None})
    values, problems = found.sent, found.problems
    assert values["given"] is None
    assert not problems


def test_preview_says_what_is_only_a_sample() -> None:
    found = resolve_inputs(parse(TEXT), {"given": "g"})
    values, samples = found.shown, found.samples
    assert values["sampled"] == "s"
    assert samples == {"sampled", "question"}
    assert values["question"]


def test_reserved_names_of_loops_have_samples_in_their_form() -> None:
    react = (
        "{% for t in tools %}{{t.name}}{% endfor %}{% for h in history %}{{h.action}}{% endfor %}"
    )
    values = resolve_inputs(parse(react), {}).shown
    assert values["tools"][0]["arguments"][0].keys() >= {"name", "type", "description", "required"}
    assert values["history"][0].keys() == {"thought", "action", "arguments", "observation"}
    fstring = "---\ntemplate: {format: {kind: fstring}}\n---\n{tools}{tool_names}"
    found = resolve_inputs(parse(fstring), {})
    values, samples = found.shown, found.samples
    assert isinstance(values["tools"], str)
    assert samples == {"tools", "tool_names"}


def test_a_value_stays_under_its_name() -> None:
    given = GivenInputs({"a": 1, "b": "x"}).with_values({"b": "y"})
    assert given == {"a": 1, "b": "y"}
    assert given.without("a") == {"b": "y"}


def test_a_rename_moves_a_value_and_its_undo_moves_it_back() -> None:
    given = GivenInputs().with_values({"ticket": "t", "other": 1})
    pairs = [("ticket", "message")]
    renamed = given.renamed(pairs, {"message", "other"})
    assert renamed == {"message": "t", "other": 1}
    assert renamed.renamed(pairs, {"ticket", "other"}) == given
    assert given.renamed(pairs, {"ticket", "message"}) == given
    assert given.renamed(pairs, {"other"}) == given
