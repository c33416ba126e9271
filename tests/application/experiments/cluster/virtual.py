"""A thousand workers in virtual time: an event loop whose clock jumps, and a pool that only waits.

The dispatcher under it is the leader's own code; nothing of it is simulated.
"""

from __future__ import annotations

import asyncio
import random
import selectors
from collections import Counter
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from studio.application.experiments.cluster.dispatch import BatchLostError

T = TypeVar("T")


class _JumpingSelector(selectors.DefaultSelector):
    """Says at once that nothing came, and adds the time that was to be waited."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += timeout or 0.0
        return super().select(0)


def in_virtual_time(going: Coroutine[object, object, T]) -> tuple[T, float]:
    """Run to the end; gives the result and the virtual seconds it took."""
    selector = _JumpingSelector()
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now  # type: ignore[method-assign]
    try:
        return loop.run_until_complete(going), selector.now
    finally:
        loop.close()


class VirtualPool:
    """Workers that take a drawn time for a batch, are slow, get lost, and share a server's rate."""

    def __init__(
        self,
        workers: int,
        *,
        seconds: float,
        seed: int = 0,
        lost: float = 0.0,
        slow: float = 0.0,
        borne: float = float("inf"),
        away: float = 0.0,
    ) -> None:
        """Take what the workers are like.

        Args:
            workers: how many, of two threads each.
            seconds: a cell's answer.
            seed: of the draws.
            lost: share of batches that are lost with their worker.
            slow: share of workers that take ten times as long.
            borne: requests at once that the server answers; others it refuses.
            away: seconds until a lost worker is back.
        """
        self.workers = workers
        self.threads = 2 * workers
        self.batches: list[list[dict[str, Any]]] = []
        self.shares: list[Mapping[str, float]] = []
        self.restored = 0
        self.most_under_way = 0
        self._seconds, self._lost, self._borne, self._away = seconds, lost, borne, away
        self._draw = random.Random(seed)
        self._slow = int(slow * self.threads)
        self._free = list(range(self.threads))
        self._room = asyncio.Condition()
        self._refused: Counter[int] = Counter()
        """By worker, told with whichever of its batches is over next, as real ones do."""
        self._busy = 0
        self._under_way = 0

    async def send(
        self, cells: list[dict[str, Any]], shares: Mapping[str, float]
    ) -> tuple[list[dict[str, Any]], Mapping[str, int]]:
        self._under_way += 1
        self.most_under_way = max(self.most_under_way, self._under_way)
        try:
            async with self._room:
                await self._room.wait_for(lambda: bool(self._free))
                thread = self._free.pop()
            try:
                return await self._work(thread, cells, shares)
            finally:
                async with self._room:
                    self._free.append(thread)
                    self._room.notify()
        finally:
            self._under_way -= 1

    async def _work(
        self, thread: int, cells: list[dict[str, Any]], shares: Mapping[str, float]
    ) -> tuple[list[dict[str, Any]], Mapping[str, int]]:
        self.batches.append(cells)
        self.shares.append(shares)
        at_once = max(1, min(len(cells), int(shares.get("server", 10) / 2)))
        for begun in range(0, len(cells), at_once):
            count = min(at_once, len(cells) - begun)
            await asyncio.sleep(self._seconds * self._draw.uniform(0.0, 0.2))
            while self._busy + count > self._borne:
                self._refused[thread // 2] += count
                await asyncio.sleep(self._seconds * self._draw.uniform(0.05, 0.3))
            self._busy += count
            slowness = 10.0 if thread < self._slow else 1.0
            await asyncio.sleep(self._seconds * slowness * self._draw.uniform(0.8, 1.2))
            self._busy -= count
        if self._draw.random() < self._lost:
            await asyncio.sleep(self._away)
            raise BatchLostError("its worker is gone")
        return [{"number": each["number"]} for each in cells], {
            "server": self._refused.pop(thread // 2, 0)
        }

    async def restore(self) -> None:
        self.restored += 1
