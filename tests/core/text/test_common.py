from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from studio.core.text.common import common_start


@given(st.text("ab\U0001f600"), st.text("ab\U0001f600"), st.text("ab\U0001f600"))
def test_it_is_as_long_as_letter_by_letter(start: str, one: str, other: str) -> None:
    one, other = start + one, start + other
    length = common_start(one, other)
    assert one[:length] == other[:length]
    assert (
        one[length : length + 1] != other[length : length + 1] or len(one) == len(other) == length
    )
