from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from studio.core.text.diff import (
    ABSENT,
    JsonDifference,
    changes,
    common_ends,
    common_start,
    json_difference,
    line_edits,
    smallest_edit,
    unified_diff,
    word_changes,
)
from studio.core.text.source import apply_edits


@given(st.text("ab\U0001f600"), st.text("ab\U0001f600"), st.text("ab\U0001f600"))
def test_it_is_as_long_as_letter_by_letter(start: str, one: str, other: str) -> None:
    one, other = start + one, start + other
    length = common_start(one, other)
    assert one[:length] == other[:length]
    assert (
        one[length : length + 1] != other[length : length + 1] or len(one) == len(other) == length
    )


LINES = st.lists(st.sampled_from(["user:\n", "a\n", "b\n", "b"]), max_size=8).map("".join)


@given(LINES, LINES)
def test_edits_turn_one_text_into_the_other(old: str, new: str) -> None:
    assert apply_edits(old, line_edits(old, new)) == new
    assert apply_edits(old, smallest_edit(old, new)) == new
    assert bool(smallest_edit(old, new)) == bool(line_edits(old, new)) == (old != new)


def test_an_item_is_not_both_in_the_beginning_and_in_the_end() -> None:
    assert common_ends("aa", "aaa") == (2, 0)
    assert common_ends(["a", "b", "c"], ["a", "x", "c"]) == (1, 1)
    kinds = [kind for kind, *_ in changes("abc", "axc")]
    assert kinds == ["equal", "replace", "equal"]


def test_a_unified_diff_names_the_file_or_none() -> None:
    assert unified_diff("a\nb", "a\nc\n", "x.prompty") == (
        "--- x.prompty\n+++ x.prompty\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n"
    )
    assert unified_diff("a\nb\n", "a\nc\n", context=0) == "@@ -2 +2 @@\n-b\n+c\n"
    assert unified_diff("a", "a") == unified_diff("a", "a", "x") == ""


def test_the_edits_of_long_files_touch_only_what_differs() -> None:
    old = "".join(f"user:\nline {number}\n" for number in range(400))
    new = (
        old.replace("line 7\n", "line seven\n")
        .replace("line 300\n", "")
        .replace("user:\nline 399\n", "user:\nline 399\nuser:\nmore\n")
    )
    edits = line_edits(old, new)
    assert apply_edits(old, edits) == new
    assert sum(len(edit.text) + len(edit.span) for edit in edits) < 200


def test_the_first_difference_of_two_json_values() -> None:
    assert json_difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}) == ("a[1].b", 2, 3)
    assert json_difference({"a": [1]}, {"a": [1, 2]}) == ("a[1]", ABSENT, 2)
    assert json_difference({"a": 1, "c": 2}, {"a": 1.0}) == ("c", 2, ABSENT)
    assert json_difference({"a": 1}, {"a": 1}) is None
    assert json_difference(1, True) == JsonDifference("", 1, True)
    assert json_difference([1, "a"], [2], by_shape=True) is None
    assert json_difference([1], ["1"], "$", by_shape=True) == ("$[0]", 1, "1")


@given(LINES, LINES)
def test_what_is_left_of_a_new_text_without_its_new_words_is_in_the_old_one(
    old: str, new: str
) -> None:
    done, kept = 0, ""
    for span in word_changes(old, new):
        kept, done = kept + new[done : span.start], span.end
    rest = iter(old)
    assert all(char in rest for char in kept + new[done:])


def test_one_new_word_of_a_long_text_is_that_word() -> None:
    old = "word " * 5000
    [span] = word_changes(old, f"{old[:500]}new {old[500:]}")
    assert span.end - span.start == 4
    assert next(word_changes("a " * 3000, "b " * 3000)).end == 6000 - 1
