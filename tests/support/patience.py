"""How long a test waits for what must come: one figure for the whole suite.

A wait ends as soon as the thing is there, so the figure costs nothing where all is well. It only
ends what hangs, and is far above what the slowest and busiest machine needs for the longest step.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

SECONDS = 180.0
"""`timeout` of pytest in pyproject.toml is longer, so that a wait says what it waited for."""

MS = 180_000

_LOOK_SECONDS = 0.01
"""Between two looks at what nobody tells of, such as a file or another process."""

Seen = TypeVar("Seen")


def wait_until(look: Callable[[], Seen], what: str | Callable[[], str]) -> Seen:
    """Look until there is something to see, and give it; for what another process does."""
    end = time.monotonic() + SECONDS
    while not (seen := look()):
        assert time.monotonic() < end, f"never seen: {what() if callable(what) else what}"
        time.sleep(_LOOK_SECONDS)
    return seen


async def until(look: Callable[[], Seen], what: str) -> Seen:
    """Look until there is something to see, and give it; the event loop goes on meanwhile."""
    end = time.monotonic() + SECONDS
    while not (seen := look()):
        assert time.monotonic() < end, f"never seen: {what}"
        await asyncio.sleep(_LOOK_SECONDS)
    return seen
