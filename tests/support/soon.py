"""What must not take for ever: a limit that a slow or busy machine keeps, and a square does not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import thread_time

_SECONDS = 30.0


@contextmanager
def soon(seconds: float = _SECONDS) -> Iterator[None]:
    """Fail if what is done inside costs this thread more processor time than anything sound does.

    What passes takes parts of a second here. Each input is so long that a cost which grows with its
    square, or worse, takes minutes: the limit of a test ends that. Real speed is for the benches.
    """
    begun = thread_time()
    yield
    spent = thread_time() - begun
    assert spent < seconds, f"took {spent:.1f} s"
