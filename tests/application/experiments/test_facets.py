"""Failures are grouped by the part of their request that differs."""

from __future__ import annotations

from studio.application.experiments.facets import failure_groups
from studio.core.experiments.results.cells import ResultRow


def _rows(*values: tuple[str, str]) -> list[ResultRow]:
    return [
        ResultRow(number, f"r{number}", {"vars": {"question": question, "language": language}})
        for number, (question, language) in enumerate(values, 1)
    ]


def test_a_value_that_several_failures_share_makes_a_group() -> None:
    rows = _rows(("a", "de"), ("b", "de"), ("c", "de"), ("d", "en"), ("e", "en"), ("f", "en"))
    (found,) = failure_groups(1, rows, {1, 2}, frozenset({"question", "language"}))
    assert (found.variant, found.inputs, found.value) == (1, ("language",), "de")
    assert (found.rows, found.of) == (frozenset({1, 2}), 3)


def test_other_failures_go_by_the_nearest_row_that_passes() -> None:
    rows = _rows(("a", "de"), ("b", "de"), ("c", "en"), ("a", "en"))
    found = failure_groups(0, rows, {3}, None)
    assert [(each.inputs, each.value, each.rows) for each in found] == [
        (("question",), None, frozenset({3}))
    ]


def test_an_input_that_the_prompt_does_not_read_sets_nothing_apart() -> None:
    rows = _rows(("a", "de"), ("b", "de"), ("c", "en"), ("d", "en"))
    found = failure_groups(0, rows, {1, 2}, frozenset({"question"}))
    assert [(each.inputs, each.value) for each in found] == [(("question",), None)]
    assert found[0].rows == frozenset({1, 2})


def test_without_a_row_that_passes_nothing_is_told_apart() -> None:
    assert failure_groups(0, _rows(("a", "de"), ("b", "en")), {1, 2}, None) == []


def test_a_fact_that_no_prompt_reads_makes_a_group_too() -> None:
    rows = [
        ResultRow(n, f"r{n}", {"vars": {"q": str(n)}, "metadata": {"language": language}})
        for n, language in enumerate(("de", "de", "de", "en", "en", "en"), 1)
    ]
    found = failure_groups(0, rows, {1, 2}, frozenset({"q"}))
    assert (found[0].inputs, found[0].value, found[0].of) == (("language",), "de", 3)
