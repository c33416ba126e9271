"""Values of a run are given or defaults; a sample is one only when the user says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from studio.application.run.start.session import refusal_of
from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import references_beside
from studio.core.text.values import Json

TEXT = """---
inputs:
  city: {kind: string, sample: Lisbon, required: true}
  days: {kind: integer, example: 3, required: true}
  guide: {kind: string, default: Mina, sample: Ann, required: true}
  note: {kind: string, sample: none}
  when: {kind: string, required: true}
---
user:
{{ city }} {{ days }} {{ guide }} {{ note }} {{ when }}
"""


def test_what_is_missing_is_named_with_all_samples_that_the_preview_shows() -> None:
    refusal = refusal_of(parse(TEXT), {"when": "May"})
    assert refusal is not None
    assert refusal.missing == ("city", "days")
    assert refusal.samples == {"city": "Lisbon", "days": 3, "note": "none"}
    assert refusal.text == "These have no value: 'city', 'days'."
    assert refusal.hint.endswith("the samples of the preview: city, days, note.")


def test_samples_are_offered_only_where_a_run_can_begin_with_them() -> None:
    refusal = refusal_of(parse(TEXT), {})
    assert refusal is not None
    assert refusal.missing == ("city", "days", "when")
    assert refusal.samples == {}
    assert refusal.text == "These have no value: 'city', 'days', 'when'."
    assert [problem.code for problem in refusal.problems] == ["missing-input"] * 3
    assert parse(TEXT).source.slice(refusal.span) == "city"


@pytest.mark.parametrize("city", ["Rome", "", None])
def test_what_is_given_counts_and_so_does_a_default(city: Json) -> None:
    assert refusal_of(parse(TEXT), {"city": city, "days": 1, "when": "May"}) is None
    left = refusal_of(parse(TEXT), {"city": city, "days": 1})
    assert left is not None
    assert (left.missing, left.samples) == (("when",), {})
    assert left.text.startswith("Missing required input 'when'")
    assert left.text == left.problems[0].message
    assert "preview" not in left.hint


def test_a_prompt_with_an_error_is_not_run_whatever_is_given() -> None:
    refusal = refusal_of(parse("---\ninputs: [\n---\nuser:\n{% if %}\n"), {})
    assert refusal is not None
    assert refusal.missing == ()
    assert refusal.text.startswith("The prompt has an error: ")


def test_a_parameter_without_a_value_is_missing_too() -> None:
    text = "---\ntemplate: {parser: {kind: section}}\n---\nuser:\n${params:who}\n"
    refusal = refusal_of(parse(text), {})
    assert refusal is not None
    assert (refusal.missing, refusal.samples) == (("who",), {})
    assert refusal_of(parse(text), {"who": "Ann"}) is None


REACT = "Thought: …\nAction: …\nFinal Answer: …\n"
JSON = 'Write "action_input". Tools: {{ tool_names }}\n'


@pytest.mark.parametrize(
    ("text", "name", "sample"),
    [
        (REACT + "Question: {{ question }}", "question", "What is 12 * 7?"),
        (JSON + "{{ input }}", "input", "What is 12 * 7?"),
        (JSON + "{{ chat_history }}", "question", "What is 12 * 7?"),
        ("user:\n{{ question }}", "question", "What is 12 * 7?"),  # no loop at all
        (
            "---\ninputs: {question: {kind: string, sample: 'Why?'}}\n---\n"
            + JSON
            + "{{ question }}",
            "question",
            "Why?",
        ),
    ],
)
def test_the_question_of_the_user_is_asked_for_where_it_has_a_place(
    text: str, name: str, sample: str
) -> None:
    for given in ({}, {name: ""}, {name: " \n"}):
        refusal = refusal_of(parse(text), dict(given))
        assert refusal is not None
        assert (refusal.missing, refusal.samples) == ((name,), {name: sample})
    assert refusal_of(parse(text), {name: "Why not?"}) is None


SAMPLED = "---\ninputs:\n  - {name: ticket, kind: string, sample: 'It smells of gas.'}\n---\n"


@pytest.mark.parametrize("body", ["user:\n{{ticket}}\n", "system:\nSort.\n\nuser:\n{{ ticket }}"])
def test_a_user_message_is_not_sent_empty_where_the_preview_shows_a_sample(body: str) -> None:
    refusal = refusal_of(parse(SAMPLED + body), {})
    assert refusal is not None
    assert (refusal.missing, refusal.samples) == (("ticket",), {"ticket": "It smells of gas."})
    assert refusal_of(parse(SAMPLED + body), {"ticket": "Hello"}) is None
    assert refusal_of(parse(SAMPLED + body), {"ticket": ""}) is None  # given on purpose
    assert refusal_of(parse(SAMPLED + "user:\nSort: {{ticket}}"), {}) is None


@pytest.mark.parametrize(
    "text",
    [
        JSON + "Find the weather.",
        "---\ninputs: {city: {kind: string, default: Rome}}\n---\n"
        + JSON
        + "{{ city }} {{ chat_history }}",
        "---\ninputs: {question: {kind: string, default: 'Why?'}}\n---\n" + JSON + "{{ question }}",
        "---\ninputs: {question: {kind: string}}\n---\nuser:\n{{ question }}",  # not required
    ],
)
def test_no_question_is_asked_for_where_the_prompt_has_another_way(text: str) -> None:
    assert refusal_of(parse(text), {}) is None


@pytest.mark.parametrize(
    "text",
    [
        "user:\nUse ${file:context.json}\n",
        "---\ninputs: {context: {type: object}}\nsample: {context: '${file:context.json}'}\n---\n"
        "user:\nUse {{context}}\n",
    ],
)
def test_a_file_that_trust_keeps_back_refuses_the_run(text: str, tmp_path: Path) -> None:
    (tmp_path / "context.json").write_text('{"a": 1}', encoding="utf-8")
    document = parse(text, tmp_path / "a.prompty")
    references = references_beside(tmp_path / "a.prompty", trusted=False)
    refusal = refusal_of(document, {}, references)
    assert refusal is not None
    assert refusal.wants_trust
    assert "'context.json' is not read" in refusal.text
    refusal = refusal_of(document, {}, replace(references, trusted=True))
    assert refusal is None or not refusal.wants_trust
