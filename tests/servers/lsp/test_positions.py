"""Offsets and positions agree, in every encoding and with every kind of line end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from studio.core.text.source import SourceText
from studio.servers.lsp.features import PositionEncoding, Positions

ENCODINGS: tuple[PositionEncoding, ...] = ("utf-8", "utf-16", "utf-32")
TEXT = "a\r\né𝄞b\n\x0c\u2028x\ry"


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 6), ("utf-16", 3), ("utf-32", 2)])
def test_a_wide_character_counts_by_the_encoding(
    encoding: PositionEncoding, character: int
) -> None:
    positions = Positions(SourceText(TEXT), encoding)
    place = positions.position(TEXT.index("b"))
    assert (place.line, place.character) == (1, character)
    assert positions.offset(place) == TEXT.index("b")


def test_only_the_protocols_line_ends_end_a_line() -> None:
    positions = Positions(SourceText(TEXT), "utf-16")
    assert positions.position(TEXT.index("x")) == types.Position(2, 2)
    assert positions.position(TEXT.index("y")) == types.Position(3, 0)


def test_a_position_outside_is_the_nearest_inside() -> None:
    positions = Positions(SourceText(TEXT), "utf-16")
    assert positions.offset(types.Position(0, 99)) == 1
    assert positions.offset(types.Position(99, 0)) == len(TEXT)
    assert positions.position(999) == types.Position(3, 1)


@given(st.text(st.sampled_from("aé𝄞\n\r\u2028\x0c"), max_size=30), st.sampled_from(ENCODINGS))
def test_there_and_back(text: str, encoding: PositionEncoding) -> None:
    positions = Positions(SourceText(text), encoding)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] == "\r\n":
            continue  # inside a line end there is no position
        assert positions.offset(positions.position(offset)) == offset
