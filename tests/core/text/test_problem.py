from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.core.text.source import Span, TextEdit, apply_edits, fixable


def test_edits_count_in_the_old_text() -> None:
    edits = [
        TextEdit(Span(4, 4), "!"),
        TextEdit(Span(0, 1), "A"),
        TextEdit(Span(2, 3), ""),
        TextEdit(Span(4, 4), "?"),
    ]
    assert apply_edits("abcd", edits) == "Abd!?"


@pytest.mark.parametrize(
    "spans", [[(0, 2), (1, 3)], [(3, 5)], [(2, 1)], [(-1, 0)], [(0, 3), (1, 1)]]
)
def test_edits_that_overlap_or_lie_outside_are_refused(spans: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="overlaps"):
        apply_edits("abcd", [TextEdit(Span(*span), "x") for span in spans])


@given(st.text(), st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5), st.text()), max_size=5))
def test_other_text_stays(text: str, wanted: list[tuple[int, int, str]]) -> None:
    edits, done = [], 0
    for start, length, new in sorted(wanted):
        if start >= done and start + length <= len(text):
            edits.append(TextEdit(Span(start, start + length), new))
            done = start + length
    expected, at = "", 0
    for edit in edits:
        expected += text[at : edit.span.start] + edit.text
        at = edit.span.end
    assert apply_edits(text, edits) == expected + text[at:]


@pytest.mark.parametrize(("place", "fixed"), [((), "a: b"), ((3,), "a= : b"), ((0, 2), ":  b")])
def test_a_fix_writes_at_the_span_or_at_the_place_that_is_given(
    place: tuple[int, ...], fixed: str
) -> None:
    mistake = fixable("a colon belongs here", Span(1, 3), "Write a colon", ": ", *place)
    assert mistake.span == Span(1, 3)
    (fix,) = mistake.fixes
    assert apply_edits("a= b", fix.edits) == fixed
