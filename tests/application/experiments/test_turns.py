"""The room at one connection grows and shrinks with what the server bears."""

from __future__ import annotations

import asyncio

from studio.application.experiments.turns import ConnectionLimiter


async def test_no_more_are_under_way_than_there_is_room() -> None:
    limiter = ConnectionLimiter(start=3, most=3)
    under_way = most = 0

    async def request() -> None:
        nonlocal under_way, most
        began = await limiter.take()
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        await limiter.give(began)

    await asyncio.gather(*(request() for _ in range(50)))
    assert most == 3
    assert limiter.busy == 0


async def test_a_server_that_bears_some_gets_about_so_many() -> None:
    bears, given_up, answered = 12, 0, 0
    limiter = ConnectionLimiter(start=4)
    under_way = 0

    async def request() -> None:
        nonlocal under_way, answered
        while True:
            began = await limiter.take()
            under_way += 1
            refused = under_way > bears
            for _ in range(1 if refused else 8):
                await asyncio.sleep(0)
            under_way -= 1
            await limiter.give(began, refused=refused)
            if not refused:
                answered += 1
                return

    await asyncio.gather(*(request() for _ in range(1500)))
    assert (answered, given_up) == (1500, 0)
    assert 8 <= limiter.limit <= 15
    assert limiter.refused < 150


async def test_one_at_a_time_that_is_still_too_much_lets_all_wait() -> None:
    limiter = ConnectionLimiter(start=1)
    began = await limiter.take()
    await limiter.give(began, refused=True, after=0.05)
    await limiter.give(await limiter.take(), refused=True, after=0.05)
    began = await limiter.take()
    assert limiter.limit == 1
    await limiter.give(began)
    assert limiter.limit > 1


async def test_a_refused_step_beyond_what_was_refused_before_goes_back_by_one() -> None:
    limiter = ConnectionLimiter(start=10)
    await limiter.give(await limiter.take(), refused=True)
    assert limiter.limit == 8.5
    while limiter.limit < 10:
        await limiter.give(await limiter.take())
    await limiter.give(await limiter.take(), refused=True)
    assert limiter.limit == 9
