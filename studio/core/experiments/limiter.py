"""Find the number of parallel requests that a connection accepts while it is used.

The number grows by one a round trip until a request is refused (429), then shrinks by 15 %, once a
round trip; above the number that was refused it grows slowly. Only the refused request waits as
long as the server asks; all wait only where even one at a time is too much.
"""

from __future__ import annotations

import asyncio
import time

START = 8.0
MOST = 100.0
_SHRINK = 0.85
_LEAST = 1.0
_SLOW = 0.1


class ConnectionLimiter:
    """The room for requests at one connection; cells and judges share it."""

    def __init__(self, *, start: float = START, most: float = MOST) -> None:
        """Begin with some requests at once.

        Args:
            start: how many at first.
            most: the bound of growing.
        """
        self.limit = min(start, most)
        """Maximum number of parallel requests."""
        self.busy = 0
        """Number of running requests."""
        self.refused = 0
        """Number of refused requests so far."""
        self.resting = 0
        """Number of refused requests that wait for a retry; they take no room."""
        self._most, self._roof = most, most
        self._cut = self._until = 0.0
        self._wake = asyncio.Condition()

    def bound(self, most: float) -> None:
        """Take another bound of growing: a share of what a connection bears elsewhere too."""
        self._most = max(_LEAST, most)
        self._roof = min(self._roof, self._most)
        self.limit = min(self.limit, self._most)

    async def take(self) -> float:
        """Wait for room; gives the time at which the request begins, for `give`."""
        async with self._wake:
            while True:
                wait = self._until - time.monotonic()
                if wait <= 0 and self.busy < int(self.limit):
                    self.busy += 1
                    return time.monotonic()
                if wait > 0:
                    try:
                        await asyncio.wait_for(self._wake.wait(), wait)
                    except TimeoutError:
                        continue
                else:
                    await self._wake.wait()

    async def give(self, began: float, *, refused: bool = False, after: float = 0.0) -> None:
        """Give a place back after a request.

        Args:
            began: of `take`.
            refused: whether the server asked to be called less often.
            after: seconds that it asks to wait.
        """
        async with self._wake:
            self.busy -= 1
            now = time.monotonic()
            if refused:
                self.refused += 1
                if began >= self._cut:
                    self._roof = self.limit = max(_LEAST, self.limit * _SHRINK)
                    self._cut = now
                elif int(self.limit) <= _LEAST:
                    self._until = now + after
            else:
                step = 1.0 if self.limit < self._roof else _SLOW
                self.limit = min(self._most, self.limit + step / self.limit)
            self._wake.notify(2)
