"""The scripted model says its script, whole, in order, and misbehaves when told to."""

from __future__ import annotations

import asyncio
from functools import reduce

import pytest

from studio.core.models.base import ModelError, ModelRequest
from studio.core.models.scripted import ScriptedModel, ScriptedTurn, deltas_of
from studio.core.wire.reply import Finished, Reply, ReplyDelta, ToolCall, Usage, accumulate

REQUEST = ModelRequest(())

RICH = Reply(
    text="Let me look that up for you.",
    reasoning="A capital is asked for.",
    tool_calls=(
        ToolCall("call_7", "lookup", '{"name": "Austria"}'),
        ToolCall("call_8", "calculator", '{"expression": "1+1"}'),
    ),
    usage=Usage(12, 7),
    finish_reason="tool_calls",
)


async def collect(model: ScriptedModel, into: list[ReplyDelta]) -> None:
    async for delta in model.stream(REQUEST):
        into.append(delta)


async def answer(model: ScriptedModel) -> Reply:
    reply = Reply()
    async for delta in model.stream(REQUEST):
        reply = accumulate(reply, delta)
    return reply


@pytest.mark.parametrize("chunk", [1, 5, 20, 1000])
async def test_a_reply_arrives_whole_whatever_the_chunks(chunk: int) -> None:
    assert await answer(ScriptedModel([RICH], chunk=chunk)) == RICH


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("Done.", "stop"),
        (Reply(refusal="I will not."), "refusal"),
        (Reply(tool_calls=(ToolCall("a", "b", "{}"),)), "tool_calls"),
        (Reply(text="The answer is", finish_reason="length"), "length"),
    ],
)
async def test_the_end_is_the_one_the_content_suggests(reply: Reply | str, reason: str) -> None:
    assert (await answer(ScriptedModel([reply]))).finish_reason == reason


async def test_replies_come_in_order_and_then_the_script_has_ended() -> None:
    model = ScriptedModel(["one", "two"])
    assert [(await answer(model)).text, (await answer(model)).text] == ["one", "two"]
    with pytest.raises(ModelError) as caught:
        await answer(model)
    assert caught.value.kind == "script-ended"
    assert len(model.requests) == 3


async def test_a_repeating_script_begins_again() -> None:
    model = ScriptedModel(["one", "two"], repeat=True)
    assert [(await answer(model)).text for _ in range(5)] == ["one", "two", "one", "two", "one"]


async def test_an_error_comes_after_the_text_before_it() -> None:
    broken = ScriptedTurn(Reply(text="half of"), error=ModelError("cut-off", "It broke off."))
    seen: list[ReplyDelta] = []
    with pytest.raises(ModelError, match="broke off"):
        await collect(ScriptedModel([broken], chunk=4), seen)
    assert reduce(accumulate, seen, Reply()).text == "half of"


async def test_a_hanging_turn_ends_only_by_cancelling() -> None:
    model = ScriptedModel([ScriptedTurn(Reply(text="wait"), hangs=True)])
    seen: list[ReplyDelta] = []
    said = asyncio.Event()

    async def listen() -> None:
        async for delta in model.stream(REQUEST):
            seen.append(delta)
            said.set()

    task = asyncio.create_task(listen())
    await said.wait()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(task), 0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not any(isinstance(delta, Finished) for delta in seen)


def test_deltas_fold_back_to_the_reply() -> None:
    assert reduce(accumulate, deltas_of(RICH, 3), Reply(finish_reason="tool_calls")) == RICH


def test_the_body_shows_the_conversation() -> None:
    from studio.core.prompty.document import Message, TextPart

    request = ModelRequest((Message("user", (TextPart("Hello"),)),))
    body = ScriptedModel([]).request_body(request)
    assert body["messages"] == [{"role": "user", "content": "Hello"}]
