"""A call has its time, and the user theirs."""

from __future__ import annotations

import asyncio

import pytest

from studio.core.tools.mcp.asking import InputGiven, InputWanted
from studio.core.tools.mcp.call_time import CallTime

SHORT = 0.02


async def slow_user(_: InputWanted) -> InputGiven:
    await asyncio.sleep(SHORT * 4)
    return InputGiven("accept")


async def never_done(time: CallTime) -> None:
    async with time.limit() as limit:
        with time.running(limit):
            if time.ask is not None:
                await time.ask(InputWanted("?"))
            await asyncio.Event().wait()


async def test_the_users_time_is_not_the_calls() -> None:
    time = CallTime(SHORT, slow_user)
    ask = time.ask
    assert ask is not None
    async with time.limit() as limit:
        with time.running(limit):
            assert (await ask(InputWanted("?"))).action == "accept"
    with pytest.raises(TimeoutError):
        await never_done(time)


async def test_a_call_that_asks_nobody_has_its_limit() -> None:
    time = CallTime(SHORT, None)
    assert time.ask is None
    with pytest.raises(TimeoutError):
        await never_done(time)
