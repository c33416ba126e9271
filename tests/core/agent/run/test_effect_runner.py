from __future__ import annotations

import asyncio
import contextlib

import pytest

from studio.core.agent.run.effect_runner import EffectTask


def test_an_effect_is_performed_to_its_end_through_what_is_said_meanwhile() -> None:
    async def main() -> list[bool]:
        wake, seen = asyncio.Event(), []
        task = EffectTask(wake)

        async def effect() -> None:
            seen.append(task.is_running)
            wake.set()
            await asyncio.sleep(0)

        await task.perform(effect(), lambda: False)
        return [*seen, task.is_running]

    assert asyncio.run(main()) == [True, False]


def test_what_an_effect_raises_is_raised() -> None:
    async def effect() -> None:
        raise ValueError("broken")

    async def main() -> None:
        await EffectTask(asyncio.Event()).perform(effect(), lambda: False)

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(main())


def test_an_effect_that_does_not_let_go_is_left_alone() -> None:
    async def main() -> bool:
        wake, end = asyncio.Event(), asyncio.Event()
        task = EffectTask(wake)

        async def stubborn() -> None:
            wake.set()
            while not end.is_set():
                with contextlib.suppress(asyncio.CancelledError):
                    await end.wait()

        await task.perform(stubborn(), lambda: True)
        was_running = task.is_running
        end.set()
        while task.is_running:
            await asyncio.sleep(0)
        return was_running

    assert asyncio.run(main())
