"""What `expected` of a row checks."""

from __future__ import annotations

import pytest

from studio.core.experiments.file.cases import expand_rows, expected_assertion, plain_expected
from studio.core.experiments.values import AssertionSpec, ExperimentCase

PLAIN = AssertionSpec("contains", value="{{ expected }}")


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("", None),
        ("  \n", None),
        ("shipping", PLAIN),
        ("cost", PLAIN),
        ("{{ other }}", PLAIN),
        ("Note: it is late", PLAIN),
        ("expected: x", PLAIN),
        ("equals: shipping", AssertionSpec("equals", value="shipping")),
        ("not-contains: refund", AssertionSpec("contains", negated=True, value="refund")),
        ("contains-any: a, b", AssertionSpec("contains-any", value=["a", "b"])),
        ("is-json", AssertionSpec("is-json")),
        ("grade: is polite", AssertionSpec("llm-rubric", value="is polite")),
        ("file://judge.prompty", AssertionSpec("llm-rubric", value="file://judge.prompty")),
        (
            '{"queue": "billing"}',
            AssertionSpec(
                "is-json",
                value={"properties": {"queue": {"const": "billing"}}, "required": ["queue"]},
            ),
        ),
    ],
)
def test_a_text_is_contained_a_type_is_checked_and_nothing_is_no_check(
    text: str, spec: AssertionSpec | None
) -> None:
    assert expected_assertion(text) == spec


def test_the_rows_own_check_replaces_expected() -> None:
    cases = [ExperimentCase({"q": each}, expected=each or None) for each in ("equals: a", "")]
    inner = AssertionSpec("assert-set", nested=(AssertionSpec("expected"),))
    default = ExperimentCase(
        assertions=(AssertionSpec("expected", negated=True, weight=2, metric="fact"), inner)
    )
    full, empty = expand_rows(cases, default)
    checked = AssertionSpec("equals", negated=True, value="a", weight=2, metric="fact")
    assert full.case.assertions[0] == checked
    assert full.case.assertions[1].nested == (AssertionSpec("equals", value="a"),)
    assert empty.case.assertions == ()


@pytest.mark.parametrize("answer", ["python: open('x').read()", "not-equals: a", "select-best: b"])
def test_an_answer_that_reads_as_a_check_is_written_as_a_text(answer: str) -> None:
    written = plain_expected(answer)
    assert expected_assertion(written) == AssertionSpec("contains", value=answer)
    assert [plain_expected(each) for each in ("", "Oslo", '{"a": 1}')] == ["", "Oslo", '{"a": 1}']
