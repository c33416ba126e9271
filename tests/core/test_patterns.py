from __future__ import annotations

import pytest

from studio.core.patterns import PatternError, compile_pattern, expanded, matches, schema_pattern
from tests.support.soon import soon


def spans(text: str, where: str, *, regex: bool = False, word: bool = False) -> list[str]:
    pattern = compile_pattern(text, regex=regex, case=False, word=word)
    return [match[0] for match in matches(pattern, where)]


def test_words_are_taken_as_they_are_written() -> None:
    assert spans("a.c", "abc A.C a.c") == ["A.C", "a.c"]
    assert spans("a.c", "abc A.C a.cd", regex=True, word=True) == ["abc", "A.C"]


def test_empty_matches_are_none_and_lines_have_ends() -> None:
    assert spans("x*", "axxb", regex=True) == ["xx"]
    assert spans("^b$", "a\nb\n", regex=True) == ["b"]


def test_a_pattern_that_is_none_is_named() -> None:
    with pytest.raises(PatternError, match="position"):
        compile_pattern("(", regex=True, case=True)


@pytest.mark.parametrize(
    "broken", ["[[", "(", "a{1d<", "a{99999999999999999999}", "(" * 5000 + ")" * 5000]
)
def test_whatever_the_engine_says_of_a_pattern_is_one_error(broken: str) -> None:
    with pytest.raises(PatternError):
        compile_pattern(broken, regex=True, case=True)
    with pytest.raises(PatternError):
        schema_pattern(broken)


def test_a_pattern_that_a_later_python_may_read_otherwise_is_read_as_ever() -> None:
    assert schema_pattern("^[[a]+$").fullmatch("[a[")
    assert schema_pattern("^[a&&b]+$").fullmatch("a&b")


@pytest.mark.parametrize("evil", [r"(a|aa)+$", r"(x+x+)+y", r"(.*a){20}b"])
def test_no_pattern_holds_the_studio_up(evil: str) -> None:
    pattern = compile_pattern(evil, regex=True, case=True)
    with soon(), pytest.raises(PatternError, match="too long"):
        list(matches(pattern, ("a" * 80 + "x" * 80 + "!") * 50, seconds=0.1))


def test_groups_in_the_new_text() -> None:
    (match,) = matches(compile_pattern(r"(\w)(?P<b>\w)", regex=True, case=True), "ab")
    assert expanded(match, r"\g<b>\1") == "ba"
    with pytest.raises(PatternError):
        expanded(match, r"\9")
