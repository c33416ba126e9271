"""How fast cells come over, and what that says of the end."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

_SECONDS = 60.0
"""How far back the rate looks: what was known comes over at once, and says nothing of the rest."""

_APART = 0.5
_FEWEST = 0.2


class Pace:
    """Cells by time, of the last minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with nothing."""
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque()
        self._last = (0.0, 0)

    def note(self, over: int) -> None:
        """So many are over now."""
        now = self._clock()
        self._last = (now, over)
        if not self._seen or now - self._seen[-1][0] >= _APART:
            self._seen.append((now, over))
        while len(self._seen) > 2 and now - self._seen[1][0] > _SECONDS:
            self._seen.popleft()

    @property
    def rate(self) -> float:
        """Cells a second; 0 before anything is known."""
        if not self._seen:
            return 0.0
        began, before = self._seen[0]
        seconds = max(self._last[0], self._clock()) - began
        return (self._last[1] - before) / seconds if seconds >= _FEWEST else 0.0
