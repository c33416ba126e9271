"""A person answers, in their own time and from another thread."""

from __future__ import annotations

import asyncio
import threading

import pytest

from studio.core.models.base import ModelError, ModelRequest
from studio.core.models.manual import ManualModel, ManualQuestion
from studio.core.wire.reply import Reply, ToolCall, accumulate

REQUEST = ModelRequest((), question="What now?")


async def answer(model: ManualModel) -> Reply:
    reply = Reply()
    async for delta in model.stream(REQUEST):
        reply = accumulate(reply, delta)
    return reply


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("My answer", "stop"),
        (Reply(tool_calls=(ToolCall("x", "lookup", "{}"),)), "tool_calls"),
        (Reply(text="cut", finish_reason="length"), "length"),
        ("", "stop"),
    ],
)
async def test_the_reply_comes_from_another_thread(said: Reply | str, reason: str) -> None:
    asked: list[ManualQuestion] = []

    def ask(question: ManualQuestion) -> None:
        asked.append(question)
        thread = threading.Thread(target=question.answer, args=(said,))
        thread.start()

    reply = await answer(ManualModel(ask))
    assert reply.finish_reason == reason
    expected = said if isinstance(said, Reply) else Reply(text=said)
    assert (reply.text, reply.tool_calls) == (expected.text, expected.tool_calls)
    assert asked[0].request == REQUEST
    assert not asked[0].is_open
    asked[0].answer("too late")


async def test_a_person_can_decline() -> None:
    with pytest.raises(ModelError) as caught:
        await answer(ManualModel(lambda question: question.decline()))
    assert caught.value.kind == "declined"


async def test_a_stop_closes_the_question() -> None:
    asked: list[ManualQuestion] = []
    task = asyncio.create_task(answer(ManualModel(asked.append)))
    while not asked:
        await asyncio.sleep(0)
    assert asked[0].is_open
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not asked[0].is_open
    asked[0].answer("nobody listens")
    await asyncio.sleep(0)


async def test_who_asked_is_told_of_the_end() -> None:
    over: list[str] = []

    def ask(question: ManualQuestion) -> None:
        question.when_over(lambda: over.append("over"))
        question.answer("Yes")

    await answer(ManualModel(ask))
    asked: list[ManualQuestion] = []
    task = asyncio.create_task(answer(ManualModel(asked.append)))
    while not asked:
        await asyncio.sleep(0)
    asked[0].when_over(lambda: over.append("cancelled"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert over == ["over", "cancelled"]
