from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.core.text.source import Position, SourceText, Span

TEXT = "a\r\nb\n\nc\rd\u2028e"


def test_lines_end_at_lf_crlf_and_cr_only() -> None:
    source = SourceText(TEXT)
    assert [TEXT[start : start + 1] for start in source.line_starts] == ["a", "b", "\n", "c", "d"]
    assert source.line_of(TEXT.index("e")) == 4


@given(st.text(alphabet="a\n\r\U0001f600é"), st.integers(min_value=-2, max_value=60))
def test_positions_lead_back(text: str, offset: int) -> None:
    source = SourceText(text)
    inside = max(0, min(offset, len(text)))
    position = source.position(offset)
    assert source.offset(position) == inside
    assert position.line == source.line_of(offset) + 1


@given(st.text(alphabet="a\U0001f600é"))
def test_utf16_places_lead_back(text: str) -> None:
    source = SourceText(text)
    for offset in range(len(text) + 1):
        units = source.to_utf16(offset)
        assert units == len(text[:offset].encode("utf-16-le")) // 2
        assert source.from_utf16(units) == offset


@pytest.mark.parametrize(
    ("position", "offset"), [((1, 1), 0), ((1, 99), 3), ((99, 1), 8), ((5, 99), 11), ((2, 1), 3)]
)
def test_places_outside_are_kept_inside(position: tuple[int, int], offset: int) -> None:
    assert SourceText(TEXT).offset(Position(*position)) == offset


def test_slice() -> None:
    assert SourceText(TEXT).slice(Span(3, 4)) == "b"
    assert len(SourceText(TEXT)) == len(TEXT)
