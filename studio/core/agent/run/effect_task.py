"""The effect that a run performs: one at a time, and given up where its end is not waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

STOP_SECONDS = 0.15
"""How long a cancelled effect may take to end before the run goes on without it."""


class EffectTask:
    """Holds the task of the effect under way."""

    def __init__(self, wake: asyncio.Event) -> None:
        """Make it idle; `wake` is set whenever the run is told something."""
        self._wake = wake
        self._task: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether an effect is under way."""
        return self._task is not None and not self._task.done()

    async def perform(
        self, effect: Coroutine[None, None, None], is_given_up: Callable[[], bool]
    ) -> None:
        """Perform an effect to its end, or until it is given up.

        Args:
            effect: what to do; whatever it raises is raised here.
            is_given_up: asked whenever the run was told something.
        """
        task = self._task = asyncio.ensure_future(effect)
        while not task.done():
            self._wake.clear()
            waker = asyncio.ensure_future(self._wake.wait())
            try:
                await asyncio.wait({task, waker}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                waker.cancel()
            if is_given_up():
                await self.cancel()
                break
        if task.done() and not task.cancelled():
            task.result()

    async def cancel(self) -> None:
        """Cancel what is under way; wait for its end, but not longer than `STOP_SECONDS`."""
        task = self._task
        if task is None or task.done():
            return
        task.cancel()
        await asyncio.wait({task}, timeout=STOP_SECONDS)
