"""Events of a stream are found wherever its bytes are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.core.wire.events import EventSplitter, ServerEvent

TEXT = (
    "\ufeff: a comment\r\nevent: ping\rdata:first\ndata:  second: ü\n\n\r\n\r\n"
    "id: 7\r\ndata\r\n\r\ndata: last\n\n"
).encode()
EVENTS = [ServerEvent("first\n second: ü", "ping"), ServerEvent(""), ServerEvent("last")]


def read(*pieces: bytes) -> list[ServerEvent]:
    splitter = EventSplitter()
    found = [event for piece in pieces for event in splitter.feed(piece)]
    last = splitter.close()
    return [*found, *([last] if last is not None else [])]


@given(st.lists(st.integers(0, len(TEXT)), max_size=12))
def test_cuts_make_no_difference(cuts: list[int]) -> None:
    places = sorted({0, *cuts, len(TEXT)})
    assert read(*(TEXT[a:b] for a, b in pairwise(places))) == EVENTS


def test_an_event_at_the_end_needs_no_blank_line() -> None:
    assert read(b"data: [DONE]") == [ServerEvent("[DONE]")]


def test_what_is_no_text_comes_after_the_events_before_it() -> None:
    found: list[ServerEvent] = []

    with pytest.raises(UnicodeDecodeError):
        found.extend(EventSplitter().feed(b"data: good\n\ndata: \xff\n\n"))
    assert found == [ServerEvent("good")]
