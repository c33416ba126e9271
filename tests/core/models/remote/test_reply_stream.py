"""Pieces of a reply that came together are put together, and nothing else changes."""

from __future__ import annotations

from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from studio.core.models.remote.reply_stream import joined
from studio.core.wire.reply import (
    Finished,
    ReasoningDelta,
    RefusalDelta,
    Reply,
    ReplyDelta,
    ReplyNotice,
    TextDelta,
    ToolCallDelta,
    Usage,
    UsageDelta,
    accumulate,
)

TEXTS = st.text(max_size=3)
DELTAS: st.SearchStrategy[ReplyDelta] = st.one_of(
    st.builds(TextDelta, TEXTS),
    st.builds(ReasoningDelta, TEXTS),
    st.builds(RefusalDelta, TEXTS),
    st.builds(
        ToolCallDelta,
        st.integers(0, 1),
        st.sampled_from(["a", None]),
        st.sampled_from(["f", None]),
        TEXTS,
    ),
    st.builds(ReplyNotice, TEXTS),
    st.just(UsageDelta(Usage(1, 2))),
    st.just(Finished("stop")),
)


@given(st.lists(DELTAS))
def test_the_reply_is_the_same(deltas: list[ReplyDelta]) -> None:
    assert reduce(accumulate, joined(deltas), Reply()) == reduce(accumulate, deltas, Reply())


def test_neighbours_are_joined_and_the_order_stays() -> None:
    deltas = [
        TextDelta("Let "),
        TextDelta("me "),
        TextDelta("see."),
        ReasoningDelta("Hm"),
        ReasoningDelta("m."),
        TextDelta("So"),
        ReplyNotice("waited"),
        TextDelta("."),
    ]
    assert list(joined(deltas)) == [
        TextDelta("Let me see."),
        ReasoningDelta("Hmm."),
        TextDelta("So"),
        ReplyNotice("waited"),
        TextDelta("."),
    ]


def test_arguments_are_joined_within_one_call() -> None:
    deltas = [
        ToolCallDelta(0, "a", "f", ""),
        ToolCallDelta(0, None, None, '{"q"'),
        ToolCallDelta(0, None, None, ": 1}"),
        ToolCallDelta(1, "b", "f", "{"),
        ToolCallDelta(1, None, None, "}"),
    ]
    assert list(joined(deltas)) == [
        ToolCallDelta(0, "a", "f", '{"q": 1}'),
        ToolCallDelta(1, "b", "f", "{}"),
    ]
