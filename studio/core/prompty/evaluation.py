"""Limits for reading one file, in addition to the limits of templates.

The template limits estimate a text before it is created. If they miss something, these limits end
the reading with a problem of that file only.
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
"""Maximum memory added to the process's address space by reading a file, in bytes."""

MOST_SECONDS = 20.0
"""Maximum processor time for reading a file, in seconds."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

FAILURES = ("too-much-memory", "too-long", "crash")
"""Codes of the problems from `failure`."""


_SMALLER = "Make the text, or what its expressions repeat, smaller."


class TooLongError(Exception):
    """Raised when reading a file takes too much processor time."""


def failure(error: Exception) -> Problem:
    """Return the problem of a file that cannot be read completely."""
    match error:
        case MemoryError():
            code, most = "too-much-memory", size(MOST_MEMORY)
            message = f"It takes more than {most} of memory. {_SMALLER}"
        case TooLongError():
            code = "too-long"
            message = f"It takes more than {MOST_SECONDS:g} seconds. {_SMALLER}"
        case _:
            code = "crash"
            message = (
                f"Prompt Studio fails at this text ({type(error).__name__}: {error}). "
                "Report it, with the text."
            )
    return Problem(code, Severity.ERROR, message, Span(0, 0))


@contextmanager
def evaluation_limits(seconds: float = MOST_SECONDS, memory: int = MOST_MEMORY) -> Iterator[None]:
    """Limit the block's processor time and, on Linux in the main thread, its memory.

    Other threads have no memory limit: it would apply to the whole process, and child processes
    started meanwhile would inherit it.

    Args:
        seconds: processor time of this thread if the system measures it, else elapsed time.
        memory: maximum bytes added to the address space.

    Raises:
        TooLongError: the time limit is exceeded.
        MemoryError: the memory limit is exceeded.
    """
    is_main = threading.current_thread() is threading.main_thread()
    by_signal = is_main and sys.platform != "win32"
    limited = _limited_by_signal if by_signal else _limited_by_thread
    with limited(seconds), _limited_memory(memory):
        yield


@contextmanager
def _limited_by_signal(seconds: float) -> Iterator[None]:
    """Limit the main thread by a signal; a watching thread would cost 0.3 ms for each file."""
    _watch_main_thread()
    _ends.append(time.thread_time() + seconds)
    before = signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, *before)
        _ends.pop()


_ends: list[float] = []
"""Processor time of the main thread at which each limited block ends, the innermost last."""


@cache
def _watch_main_thread() -> None:
    """Handle the signal of the timer from now on: to set the handler costs 7 µs."""

    def look(_number: int, _frame: FrameType | None) -> None:
        if not _ends:
            return  # it comes late
        left = _ends[-1] - time.thread_time()
        if left <= 0:
            raise TooLongError
        # The timer also counts the work of other threads.
        signal.setitimer(signal.ITIMER_PROF, max(left, 0.001))

    signal.signal(signal.SIGPROF, look)


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
        import ctypes  # imported only when something takes too long

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
    """Return an open file with the process's sizes; opening it twice took 6 % of an edit."""
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
    """Process items in a child process; an item that ends the child fails alone.

    This covers what `evaluation_limits` cannot: a crash of the interpreter, the end by the system
    for lack of memory, and C code that takes more than twice the processor time. A process with
    threads cannot be forked, and Windows has no fork: there the work is done in this process.

    Args:
        items: the items, in order.
        work: returns the result of an item, which must be picklable.
        failed: returns the result of an item that ended the child.
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
    """Start a process that handles items in its own children, as `in_worker` does.

    It is forked before the first thread, so that it can fork at any time; it ends with this
    process. Not available on Windows, which has no fork.

    Returns:
        A function for any thread that returns the results of items, handled by one child; None for
            each after the process has ended.
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
    """Start a command that serves like `forking`, from a process that has threads.

    Args:
        command: the command, which calls `serve` with the socket on its stdin.

    Returns:
        The function as from `forking`, and one that ends the process.
    """
    import subprocess  # only the window starts it this way

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
    except (OSError, EOFError, pickle.UnpicklingError):  # the process was ended
        return [None for _ in items]


def serve(
    channel: socket.socket,
    work: Callable[[_Item], _Result],
    failed: Callable[[_Item, Problem], _Result],
) -> None:
    """Handle received items, each time in a child, until the other end closes.

    The process leads its own process group, which ends with it: no child outlives the other end.
    """
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # a server uses its stdout for messages
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
    """Handle the items and write their results; exit without the parent's cleanup."""
    import resource

    gc.freeze()  # the parent's objects stay: a collection would copy their pages
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
    """Return the problem of a file that ended the child."""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    match number:
        case signal.SIGINT:
            raise KeyboardInterrupt
        case signal.SIGXCPU:
            return failure(TooLongError())
        case signal.SIGKILL:  # from the system, when memory runs out
            return failure(MemoryError())
        case _:
            return failure(ChildProcessError(f"the process ended by signal {number}"))
