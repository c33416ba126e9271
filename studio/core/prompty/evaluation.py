"""Limits for reading one file, beyond the bounds of templates.

Those bounds weigh a text before it is made. What they overlook ends here, as a finding of the file
that costs too much, so that other files keep theirs.
"""

import gc
import os
import pickle
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from types import FrameType
from typing import BinaryIO, NoReturn, TypeVar

from studio.core.text.amounts import size
from studio.core.text.files import open_regular
from studio.core.text.source import Problem, Severity, Span

MOST_MEMORY = 1_000_000_000
"""Bytes that reading a file may add to the address space of the process."""

MOST_SECONDS = 20.0
"""Processor time that reading a file may take, in seconds."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

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
    """Limit the processor time of the block, and on Linux in the main thread its memory.

    Other threads have no bound of memory: it would be one of the process, and the programs that
    another thread starts meanwhile would inherit it.

    Args:
        seconds: processor time of this thread, where the system tells it, else time that passes.
        memory: bytes added to the address space.

    Raises:
        TooLongError: it took longer.
        MemoryError: it took more.
    """
    is_main = threading.current_thread() is threading.main_thread()
    by_signal = is_main and sys.platform != "win32"
    limited = _limited_by_signal if by_signal else _limited_by_thread
    with limited(seconds), _limited_memory(memory):
        yield


@contextmanager
def _limited_by_signal(seconds: float) -> Iterator[None]:
    """Limit the main thread; one that watches it instead costs 0.3 ms for each file."""
    end = time.thread_time() + seconds

    def look(_number: int, _frame: FrameType | None) -> None:
        left = end - time.thread_time()
        if left <= 0:
            raise TooLongError
        # The timer counts what other threads worked, too.
        signal.setitimer(signal.ITIMER_PROF, max(left, 0.001))

    handler = signal.signal(signal.SIGPROF, look)
    before = signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, *before)
        signal.signal(signal.SIGPROF, handler)


@contextmanager
def _limited_by_thread(seconds: float) -> Iterator[None]:
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
        yield
    finally:
        over.set()
        watcher.join()


@cache
def _sizes(_process: int) -> int:
    """Return a handle on the sizes of this process: to open them twice was 6 % of an edit."""
    with open_regular(Path("/proc/self/statm")) as sizes:
        return os.dup(sizes.fileno())


@contextmanager
def _limited_memory(most: int) -> Iterator[None]:
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        yield
        return
    import resource

    pages = int(os.pread(_sizes(os.getpid()), 1000, 0).split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    known = [each for each in (soft, hard) if each != resource.RLIM_INFINITY]
    limit = min([pages * resource.getpagesize() + most, *known])
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def in_worker(
    items: Sequence[_Item],
    work: Callable[[_Item], _Result],
    failed: Callable[[_Item, Problem], _Result],
) -> Iterator[_Result]:
    """Work on items in a child process; one that ends the child fails alone.

    It ends what `evaluation_limits` cannot: a crash of the interpreter, the system's refusal of
    memory, and C code that takes more than twice the processor time. A process with threads cannot
    be forked, and Windows has no fork: there the work is done in this process.

    Args:
        items: what is worked on, in order.
        work: gives the result of an item, which can be pickled.
        failed: gives the result of an item that ended the child.
    """
    if sys.platform == "win32" or threading.active_count() > 1:
        yield from map(work, items)
        return
    done = 0
    while done < len(items):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            _work_in_child(items[done:], work, failed, os.fdopen(writing, "wb"))
        os.close(writing)
        try:
            with os.fdopen(reading, "rb") as results:
                while done < len(items):
                    result: _Result = pickle.load(results)
                    done += 1
                    yield result
        except (EOFError, pickle.UnpicklingError):
            yield failed(items[done], _ending(os.waitpid(child, 0)[1]))
            done += 1
        else:
            os.waitpid(child, 0)


def forking(
    work: Callable[[_Item], _Result], failed: Callable[[_Item, Problem], _Result]
) -> Callable[[Sequence[_Item]], list[_Result | None]]:
    """Start a process that works on items in children of its own, as `in_worker` does.

    It is forked before the first thread, so that it can fork at any time; it ends with this one.
    Not for Windows, which has no fork.

    Returns:
        Gives the results of items, which one child works on, to any thread; None for each once
        somebody has ended the process.
    """
    here, there = socket.socketpair()
    if os.fork() == 0:
        here.close()
        os.setsid()
        serve(there, work, failed)
    there.close()
    return partial(_asked, here)


def beside(
    command: Sequence[str],
) -> tuple[Callable[[Sequence[_Item]], list[_Result | None]], Callable[[], object]]:
    """Start a command that serves as `forking` does, from a process that has threads.

    Args:
        command: it calls `serve` with the socket at its standard input.

    Returns:
        What `forking` returns, and what ends the process.
    """
    import subprocess  # only the window starts it so

    here, there = socket.socketpair()
    with there:
        process = subprocess.Popen(command, stdin=there.fileno(), start_new_session=True)

    def end() -> None:
        here.close()
        process.wait()

    return partial(_asked, here), end


def _asked(channel: socket.socket, items: Sequence[_Item]) -> list[_Result | None]:
    try:
        here, there = socket.socketpair()
        with here, there:
            socket.send_fds(channel, [b"."], [there.fileno()])
            there.close()
            with here.makefile("rwb") as pipe:
                pickle.dump(items, pipe)
                pipe.flush()
                results: list[_Result | None] = pickle.load(pipe)
                return results
    except (OSError, EOFError, pickle.UnpicklingError):  # somebody ended it
        return [None for _ in items]


def serve(
    channel: socket.socket,
    work: Callable[[_Item], _Result],
    failed: Callable[[_Item, Problem], _Result],
) -> None:
    """Work on the items that are sent, each time in a child, until the other end closes.

    The process leads a group of its own, which ends with it: no child outlives the other end.
    """
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # a server speaks over its output
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # its children are not waited for
    try:
        while answers := socket.recv_fds(channel, 1, 1)[1]:
            if os.fork() == 0:
                _serve_in_child(socket.socket(fileno=answers[0]), work, failed)
            os.close(answers[0])
    finally:
        os.killpg(0, signal.SIGKILL)


def _serve_in_child(
    answers: socket.socket,
    work: Callable[[_Item], _Result],
    failed: Callable[[_Item, Problem], _Result],
) -> NoReturn:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        with answers.makefile("rwb") as pipe:
            pickle.dump(list(in_worker(pickle.load(pipe), work, failed)), pipe)
    finally:
        os._exit(0)


def _work_in_child(
    items: Sequence[_Item],
    work: Callable[[_Item], _Result],
    failed: Callable[[_Item, Problem], _Result],
    results: BinaryIO,
) -> NoReturn:
    """Work on the items and write their results; leave without what the parent does at its end."""
    import resource

    gc.freeze()  # what the parent made stays: looking at it again would copy its pages
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    try:
        for item in items:
            most = int(time.process_time() + 2 * MOST_SECONDS)
            if hard in (resource.RLIM_INFINITY, max(most, hard)):
                resource.setrlimit(resource.RLIMIT_CPU, (most, hard))
            try:
                result = work(item)
            except Exception as error:  # noqa: BLE001 - one file fails alone
                result = failed(item, failure(error))
            pickle.dump(result, results)
            results.flush()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
    finally:
        os._exit(0)


def _ending(status: int) -> Problem:
    """Return the finding of a file whose reading ended the child."""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    match number:
        case signal.SIGINT:
            raise KeyboardInterrupt
        case signal.SIGXCPU:
            return failure(TooLongError())
        case signal.SIGKILL:  # by the system, which has no memory left
            return failure(MemoryError())
        case _:
            return failure(ChildProcessError(f"the process ended by signal {number}"))
