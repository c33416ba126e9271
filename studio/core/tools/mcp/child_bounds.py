"""Limits of a child process, and the memory of all its descendants.

Resident memory is measured, because some programs (JavaScript engines) reserve much more address
space than they use. Linux and macOS only: on Windows the process's job has its own limit.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

_PS = ("/bin/ps", "-A", "-o", "pid=,ppid=,rss=")
_PS_SECONDS = 5.0
_RESIDENT_FIELD = 21  # index among the fields after the name in /proc/PID/stat


@dataclass(frozen=True, slots=True)
class ChildBounds:
    """The limits of a child process, which is ended if it exceeds one."""

    line: int = 32 * 1024 * 1024
    """Maximum size of one protocol line, which is one answer, in bytes."""

    resident: int = 0
    """Maximum resident memory including its child processes, in bytes; 0 for no limit."""


DEFAULT_BOUNDS = ChildBounds()


@dataclass(frozen=True, slots=True)
class ProcessMemory:
    """A process in the system's list."""

    pid: int
    """Id of the process."""

    parent: int
    """Id of its parent."""

    resident: int
    """Resident memory in bytes."""


def family_resident(pid: int) -> int | None:
    """Return the memory of a process and its descendants, in bytes; None if unknown."""
    if sys.platform == "linux":
        if Path(f"/proc/{pid}/task/{pid}/children").exists():
            return _sum_below(pid, _children, _resident)
        return family_sum(pid, _listed_by_proc())
    if sys.platform == "win32":
        return None
    try:
        listed = subprocess.run(
            _PS, capture_output=True, text=True, timeout=_PS_SECONDS, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return family_sum(pid, read_ps(listed))


def family_sum(pid: int, listed: Iterable[ProcessMemory]) -> int | None:
    """Return the memory of a process and its descendants in a list; None if it is missing.

    Args:
        pid: id of the topmost process.
        listed: all processes.
    """
    known = {each.pid: each for each in listed}
    if pid not in known:
        return None
    below: dict[int, list[int]] = {}
    for each in known.values():
        below.setdefault(each.parent, []).append(each.pid)
    return _sum_below(pid, lambda one: below.get(one, ()), lambda one: known[one].resident)


def read_ps(text: str) -> tuple[ProcessMemory, ...]:
    """Read the output of `ps -A -o pid=,ppid=,rss=`, in kilobytes."""
    found = []
    for line in text.splitlines():
        match line.split():
            case [pid, parent, resident] if (pid + parent + resident).isdecimal():
                found.append(ProcessMemory(int(pid), int(parent), int(resident) * 1024))
    return tuple(found)


def read_stat(pid: int, text: str, page: int) -> ProcessMemory | None:
    """Read `/proc/PID/stat`; the name in it can contain anything, even parentheses."""
    fields = text.rpartition(")")[2].split()
    if len(fields) <= _RESIDENT_FIELD:
        return None
    return ProcessMemory(pid, int(fields[1]), int(fields[_RESIDENT_FIELD]) * page)


def _sum_below(
    pid: int, children: Callable[[int], Iterable[int]], resident: Callable[[int], int]
) -> int:
    total, left, seen = 0, [pid], {pid}
    while left:
        one = left.pop()
        total += resident(one)
        fresh = [each for each in children(one) if each not in seen]
        seen.update(fresh)
        left += fresh
    return total


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            text = (thread / "children").read_text(encoding="ascii")
            found += [int(each) for each in text.split()]
    except OSError:  # the process ended meanwhile
        return found
    return found


def _resident(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/statm").read_text(encoding="ascii")
    except OSError:
        return 0
    return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") if text else 0


def _listed_by_proc() -> Iterable[ProcessMemory]:
    page = os.sysconf("SC_PAGE_SIZE")
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                text = (place / "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            found = read_stat(int(place.name), text, page)
            if found is not None:
                yield found
