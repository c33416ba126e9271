"""Two texts beside each other, with the changed words marked."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from studio.application.comparison import compare_for_taking_back, compare_texts
from studio.core.text.diff import changes
from studio.core.text.source import apply_edits


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
    assert [row.hidden for row in rows if row.kind == "gap"] == [47, 46]
    assert len(rows) == 10


def test_a_gap_of_one_line_is_that_line() -> None:
    before = "\n".join("abcdefghijk")
    rows = compare_texts(before, before.replace("b", "B").replace("j", "J"))
    assert [row.text for row in rows] == [*"abBcdefghijJk"]


def test_no_text_has_no_line() -> None:
    assert [row.kind for row in compare_texts("", "a\nb")] == ["added", "added"]
    assert [row.kind for row in compare_texts("a", "")] == ["removed"]


def test_what_is_too_long_to_be_shown_is_said() -> None:
    rows = compare_texts("", "\n".join(map(str, range(9000))), 2000)
    assert len(rows) == 2001
    assert (rows[-1].kind, rows[-1].hidden) == ("gap", 0)


def test_the_same_is_nothing() -> None:
    assert compare_texts("a\nb", "a\nb") == ()


@given(st.text("ab \n"), st.text("ab \n"))
def test_every_line_comes_out_whole(before: str, after: str) -> None:
    rows = compare_texts(before, after)
    new = after.split("\n")
    for row in rows:
        if row.kind in ("same", "added"):
            assert new[row.line - 1] == row.text


@given(st.lists(st.sampled_from("ab\n")), st.lists(st.sampled_from("ab\n")))
def test_the_changes_lead_from_one_text_to_the_other(old: list[str], new: list[str]) -> None:
    left: list[str] = []
    right: list[str] = []
    for kind, a, b, c, d in changes(old, new):
        left += old[a:b]
        right += new[c:d]
        assert (old[a:b] == new[c:d]) == (kind == "equal")
    assert (left, right) == (old, new)


def test_many_long_lines_are_compared_within_bounds() -> None:
    """A line of many short words costs the square of them: not all of them are looked into."""
    long = [" ".join(f"w{at * 7 % 90}" for at in range(start, start + 400)) for start in range(60)]
    before, after = "\n".join(long), "\n".join(line.replace("w1", "v") for line in long)

    rows = compare_texts(before, after)

    assert "\n".join(row.text for row in rows if row.kind == "removed") == before
    marked = [any(piece.is_changed for piece in row.pieces) for row in rows]
    assert marked[0]
    assert not marked[59]


@given(st.text(st.sampled_from("ab\n"), max_size=60), st.text(st.sampled_from("ab\n"), max_size=60))
def test_what_all_parts_take_back_is_the_older_text(before: str, after: str) -> None:
    edits = [edit for part in compare_for_taking_back(before, after) for edit in part.take_back]
    assert not edits or apply_edits(after, edits) == before


def test_far_changes_are_taken_back_one_by_one() -> None:
    lines = [f"line {number}" for number in range(30)]
    before = "\n".join(lines)
    after = before.replace("line 3\n", "").replace("line 20\n", "line 20 and more\n")
    first, second = compare_for_taking_back(before, after)
    assert apply_edits(after, first.take_back) == before.replace("line 20\n", "line 20 and more\n")
    assert apply_edits(after, second.take_back) == before.replace("line 3\n", "")
    assert compare_for_taking_back(before, before) == ()
