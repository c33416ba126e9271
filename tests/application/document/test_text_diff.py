"""Two texts beside each other, with the changed words marked."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from studio.application.document.text_diff import compare_texts


def test_the_words_that_differ_are_marked() -> None:
    rows = compare_texts("a\nGo to Rome now.\nb", "a\nGo to Oslo now.\nb")
    assert [row.kind for row in rows] == ["same", "removed", "added", "same"]
    assert [piece.text for piece in rows[1].pieces if piece.is_changed] == ["Rome"]
    assert [piece.text for piece in rows[2].pieces if piece.is_changed] == ["Oslo"]
    assert (rows[1].line, rows[2].line) == (2, 2)


def test_lines_that_have_nothing_in_common_are_not_taken_apart() -> None:
    rows = compare_texts("one two three", "zyx")
    assert all(not piece.is_changed for row in rows for piece in row.pieces)


def test_far_away_lines_are_left_out() -> None:
    before = "\n".join(f"line {number}" for number in range(100))
    after = before.replace("line 50", "line fifty")
    rows = compare_texts(before, after)
    assert rows[0].kind == "gap"
    assert [row.line for row in rows if row.kind == "added"] == [51]
    assert len(rows) == 9


def test_the_same_is_nothing() -> None:
    assert compare_texts("a\nb", "a\nb") == ()


@given(st.text("ab \n"), st.text("ab \n"))
def test_every_line_comes_out_whole(before: str, after: str) -> None:
    rows = compare_texts(before, after)
    new = after.split("\n")
    for row in rows:
        text = "".join(piece.text for piece in row.pieces)
        if row.kind in ("same", "added"):
            assert new[row.line - 1] == text
