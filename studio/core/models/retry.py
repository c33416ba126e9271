"""When to try a failed call again."""

from __future__ import annotations

import random

_FIRST_SECONDS = 0.5
_LONGEST_SECONDS = 8.0
_LONGEST_ASKED_SECONDS = 60.0


def wait_before(attempt: int, retries: int, asked: float | None = None) -> float | None:
    """Seconds to wait before the next try; `None` when there is to be none.

    Doubles from half a second with up to a quarter of jitter, so that many clients of one busy
    server do not come back together; what the server asks for counts more.

    Args:
        attempt: the try that failed, from 1.
        retries: how many tries may follow the first.
        asked: seconds that the server asked to wait; more than a minute is the person's to decide.
    """
    if attempt > retries:
        return None
    if asked is not None:
        return asked if asked <= _LONGEST_ASKED_SECONDS else None
    wait = min(_LONGEST_SECONDS, _FIRST_SECONDS * 2.0 ** (attempt - 1))
    return wait * random.uniform(0.75, 1.0)
