"""The leader's side: cells in small batches to workers, few under way, each asked until it is over.

Dask, or whatever else carries a batch, is only transport: it may lose a batch, and then that batch
is sent again. So little is under way (two batches of ten for each thread) that a lost worker costs
little, and what a worker gives back is written and released at once.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

BATCH = 10
"""Cells of a batch at most."""

AHEAD = 2
"""Batches under way for each thread of a worker: one is asked, one waits beside it."""

_LOST_TIMES = 5
_SHRINK, _GROWTH = 0.85, 0.5


class WorkersError(Exception):
    """The workers cannot be used; a sentence. What is finished is kept, and a run can go on."""


class BatchLostError(Exception):
    """A batch went away with its worker or the scheduler; it may be sent again."""


class WorkerPool(Protocol):
    """What carries batches to workers and back."""

    @property
    def workers(self) -> int:
        """How many there are now."""
        ...

    @property
    def threads(self) -> int:
        """How many batches they work on at once."""
        ...

    async def send(
        self, cells: list[dict[str, Any]], shares: Mapping[str, float]
    ) -> tuple[list[dict[str, Any]], Mapping[str, int]]:
        """Ask a batch; gives an object for each cell, and requests refused by connection.

        Raises:
            BatchLostError: it may be sent again.
            WorkersError: it makes no sense to send anything again.
        """
        ...

    async def restore(self) -> None:
        """Find the workers again after a batch was lost.

        Raises:
            WorkersError: they stay away.
        """
        ...


@dataclass(slots=True)
class _Waiting:
    cell: dict[str, Any]
    over: asyncio.Future[dict[str, Any]] = field(repr=False)
    lost: int = 0


class CellDispatcher:
    """Cells of one experiment on their way to workers."""

    def __init__(self, pool: WorkerPool, rates: Mapping[str, float]) -> None:
        """Take the workers.

        Args:
            pool: what carries batches.
            rates: requests at once that each connection may have at most, over all workers.
        """
        self._pool = pool
        self._most = dict(rates)
        self._rates = dict(rates)
        self._cuts: dict[str, float] = {}
        self._shortest = math.inf
        self._waiting: deque[_Waiting] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._pump: asyncio.Handle | None = None
        self._restored = asyncio.Lock()
        self._losses = 0
        self.refused = 0
        """Requests that servers refused so far (429)."""
        self.sent_again = 0
        """Cells that were sent again, because a batch was lost."""

    @property
    def room(self) -> int:
        """Cells that are worth having under way, so that no worker waits for the leader."""
        return max(1, self._pool.threads) * AHEAD * BATCH

    async def ask(self, cell: Mapping[str, Any]) -> dict[str, Any]:
        """Ask a cell on some worker; gives what the worker gave.

        Raises:
            WorkersError: the workers cannot be used.
        """
        over: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(dict(cell), over))
        self._soon()
        return await over

    async def close(self) -> None:
        """Ask for no more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _soon(self) -> None:
        """Send what waits, once all that is asked for in this turn of the loop is there."""
        if self._pump is None:
            self._pump = asyncio.get_running_loop().call_soon(self._send)

    def _send(self) -> None:
        self._pump = None
        while self._waiting and (free := AHEAD * max(1, self._pool.threads) - len(self._tasks)) > 0:
            count = min(BATCH, math.ceil(len(self._waiting) / free))
            batch = [self._waiting.popleft() for _ in range(count)]
            batch = [each for each in batch if not each.over.cancelled()]
            if batch:
                task = asyncio.get_running_loop().create_task(self._batch(batch))
                self._tasks.add(task)
                task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._soon()

    async def _batch(self, batch: list[_Waiting]) -> None:
        losses, began = self._losses, asyncio.get_running_loop().time()
        try:
            found, refused = await self._pool.send([each.cell for each in batch], self._shares())
        except BatchLostError as error:
            await self._lost(batch, losses, error)
            return
        except BaseException as error:
            # Also when it is cancelled: nobody may wait for these cells any longer.
            for each in batch:
                if not each.over.done():
                    each.over.set_exception(_as_error(error))
            if not isinstance(error, Exception):
                raise
            return
        self._learn(refused, began)
        for each, asked in zip(batch, found, strict=True):
            if not each.over.done():
                each.over.set_result(asked)

    async def _lost(self, batch: list[_Waiting], losses: int, error: BatchLostError) -> None:
        """Put a lost batch in front again, once there are workers."""
        self.sent_again += len(batch)
        for each in batch:
            each.lost += 1
        worst = max(each.lost for each in batch)
        failed: Exception | None = None
        if worst > _LOST_TIMES:
            failed = WorkersError(f"A batch was lost {worst} times: {error}")
        else:
            try:
                async with self._restored:
                    if losses == self._losses:  # nobody else found them again since
                        await self._pool.restore()
                        self._losses += 1
            except WorkersError as away:
                failed = away
        for each in reversed(batch):
            if failed is not None and not each.over.done():
                each.over.set_exception(failed)
            elif failed is None:
                self._waiting.appendleft(each)

    def _shares(self) -> dict[str, float]:
        """What each worker may ask at once, of what each connection bears."""
        workers = max(1, self._pool.workers)
        return {name: max(1.0, rate / workers) for name, rate in self._rates.items()}

    def _learn(self, refused: Mapping[str, int], began: float) -> None:
        """Fewer at once where a server refused some, a little more where it did not.

        A cut is seen by workers with their next batches; until one can be over, no other is made.
        """
        now = asyncio.get_running_loop().time()
        self._shortest = min(self._shortest, now - began)
        for name, rate in self._rates.items():
            count = refused.get(name, 0)
            self.refused += count
            if not count:
                self._rates[name] = min(self._most[name], rate + _GROWTH)
            elif now - self._cuts.get(name, -self._shortest) >= self._shortest:
                self._rates[name] = max(1.0, rate * _SHRINK)
                self._cuts[name] = now


def _as_error(error: BaseException) -> Exception:
    if isinstance(error, Exception):
        return error
    return WorkersError("The experiment was stopped.")
