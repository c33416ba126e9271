"""Run a command so that none of its processes outlives the studio.

python -I -S launcher.py PARENT COMMAND…

A script for Linux that only uses the standard library. It stays while the command runs, gets a
signal when the studio ends for any reason, and then ends the command and all processes that it
started, even in another session: it adopts such orphans, like `init`.
"""

import ctypes
import os
import signal
import sys
import time

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_SECONDS = 2.0


def main(parent: int, command: list[str]) -> None:
    """Start the command, wait for it, and exit with its status."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    ended = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, ended | {signal.SIGCHLD})
    if os.getppid() != parent:
        os._exit(1)  # the parent had ended before the signal was requested
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ended | {signal.SIGCHLD})
        try:
            os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]}: {error.strerror}\n".encode())
            os._exit(127)
    # Only the command has the pipes, so that closing one is noticed.
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    status = None
    while status is None:
        if signal.sigwait(ended | {signal.SIGCHLD}) in ended:
            break
        status = _reap(child)
    _end_all()
    _end_as(status)


def _reap(child: int) -> int | None:
    """Collect ended processes; return the command's own status if it has ended."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        if pid == child:
            found = status


def _end_all() -> None:
    """End all descendants; this process adopts orphans until there are none."""
    last = time.monotonic() + _SECONDS
    while time.monotonic() < last:
        for pid in _descendants():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.005)


def _descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - no pathlib: this starts with each server
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
                    parent = int(file.read().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            children.setdefault(parent, []).append(int(name))
    found, left = [], [os.getpid()]
    while left:
        below = children.get(left.pop(), [])
        found += below
        left += below
    return found


def _end_as(status: int | None) -> None:
    if status is None:
        number = signal.SIGKILL
    elif os.WIFSIGNALED(status):
        number = signal.Signals(os.WTERMSIG(status))
    else:
        os._exit(os.WEXITSTATUS(status))
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
    os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
