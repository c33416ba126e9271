from __future__ import annotations

from studio.core.masking.masker import Masker
from studio.core.wire.reply import (
    Finished,
    Reply,
    ReplyDelta,
    ReplyMask,
    ReplyNotice,
    TextDelta,
    ToolCallDelta,
    accumulate,
)


def test_pieces_of_a_reply_are_masked_by_what_they_belong_to() -> None:
    masker = Masker()
    masker.note("${env:A_KEY}", "abcdefgh-1234")
    mask, reply = ReplyMask(masker), Reply()
    pieces: list[ReplyDelta] = [
        TextDelta("see abcd"),
        ToolCallDelta(0, "c1", "t", '{"x": "abcdef'),
        ReplyNotice("abcdefgh-1234"),
        ToolCallDelta(1, "c2", "u", '{"y": "abc'),
        TextDelta("efgh-12"),
        ToolCallDelta(0, arguments='gh-1234"}'),
        ToolCallDelta(1, arguments='"}'),
        TextDelta("34!"),
        Finished("tool_calls"),
    ]
    for piece in pieces:
        for delta in mask.feed(piece):
            assert "abcdefgh-1234" not in repr(reply := accumulate(reply, delta))
    assert reply.text == "see ${env:A_KEY}!"
    assert [each.arguments for each in reply.tool_calls] == [
        '{"x": "${env:A_KEY}"}',
        '{"y": "abc"}',
    ]
    assert reply.notices == ("${env:A_KEY}",)
    assert reply.finish_reason == "tool_calls"
