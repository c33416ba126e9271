"""What reading one file may cost: the line behind the bounds of templates.

Those bounds weigh a text before it is made. What they overlook ends here, as a finding of the file
that costs too much, so that other files keep theirs.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from studio.core.text.amounts import size
from studio.core.text.bounded_file import read_text
from studio.core.text.problem import Problem, Severity
from studio.core.text.span import Span

MOST_MEMORY = 1_000_000_000
"""Bytes that reading a file may add to the address space of the process."""

MOST_SECONDS = 20.0
"""Processor time that reading a file may take, in seconds."""

FAILURES = ("too-much-memory", "too-long", "crash")
"""Codes of `failure`."""


class TooLongError(Exception):
    """Reading a file took more processor time than it may."""


def failure(error: Exception) -> Problem:
    """Return the finding of a file that cannot be read to its end."""
    match error:
        case MemoryError():
            code, message = "too-much-memory", f"It takes more than {size(MOST_MEMORY)} to read."
        case TooLongError():
            code, message = "too-long", f"It takes more than {MOST_SECONDS:g} seconds to read."
        case _:
            code = "crash"
            message = (
                f"Prompt Studio fails at this text ({type(error).__name__}: {error}). "
                "Report it, with the text."
            )
    return Problem(code, Severity.ERROR, message, Span(0, 0))


@contextmanager
def evaluation_limits(seconds: float = MOST_SECONDS, memory: int = MOST_MEMORY) -> Iterator[None]:
    """Bound what is done inside: its processor time, and on Linux in the main thread its memory.

    Other threads have no bound of memory: it would be one of the process, and the programs that
    another thread starts meanwhile would inherit it.

    Args:
        seconds: processor time of this thread, where the system tells it, else time that passes.
        memory: bytes added to the address space.

    Raises:
        TooLongError: it took longer.
        MemoryError: it took more.
    """
    over, thread = threading.Event(), threading.get_ident()
    clock = time.pthread_getcpuclockid(thread) if sys.platform == "linux" else None

    def spent() -> float:
        return time.monotonic() if clock is None else time.clock_gettime(clock)

    end = spent() + seconds

    def watch() -> None:
        while (left := end - spent()) > 0:
            if over.wait(left):
                return
        import ctypes  # only where something takes too long

        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread), ctypes.py_object(TooLongError)
        )

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        with _limited_memory(memory):
            yield
    finally:
        over.set()
        watcher.join()


@contextmanager
def _limited_memory(most: int) -> Iterator[None]:
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        yield
        return
    import resource

    pages = int(read_text(Path("/proc/self/statm")).split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * resource.getpagesize() + most
    known = [each for each in (soft, hard) if each != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([limit, *known]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
