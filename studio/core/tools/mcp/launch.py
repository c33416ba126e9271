"""How a command is started on each system so that nothing of it outlives the studio.

What is decided here is decided by values, so that the rules of every system are tested on each.
Windows and macOS have been run by nobody yet: `WindowsJob` is written after the manual of
`kernel32`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from studio.core.tools.mcp import launcher

Ending: TypeAlias = Literal["launcher", "group", "job"]
"""What ends all that a command started: our launcher, which adopts orphans (Linux); the end of its
process group (macOS, and the packaged program on Linux); its job object (Windows)."""

Which: TypeAlias = Callable[[str, str | None], str | None]
"""Finds a program by its name and a PATH, as `shutil.which` does."""

_BATCH = (".bat", ".cmd")
_NEVER_IN_BATCH = '"%\r\n\0'

KILL_ON_JOB_CLOSE = 0x2000

DIE_ON_UNHANDLED_EXCEPTION = 0x0400

JOB_MEMORY = 0x0200

_EXTENDED_LIMITS = 9

_SET_QUOTA_AND_TERMINATE = 0x0100 | 0x0001


@dataclass(frozen=True, slots=True)
class System:
    """What the rules depend on."""

    platform: str = sys.platform
    """As `sys.platform` has it."""

    is_frozen: bool = bool(getattr(sys, "frozen", False))
    """Whether the studio is the packaged program, which has no Python to run a launcher with."""

    python: str = sys.executable
    """The interpreter."""

    pid: int = 0
    """The studio's own process; 0 stands for this one."""


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """How a command is started."""

    command: tuple[str, ...]
    """Program and arguments; for a batch file nothing."""

    ending: Ending
    """What ends all of it."""

    line: str = ""
    """For a batch file: what `cmd.exe /c` is given."""


def plan_launch(
    command: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    system: System | None = None,
    which: Which = lambda name, path: shutil.which(name, path=path),
) -> LaunchPlan:
    """Decide how a command is started.

    Args:
        command: program and arguments.
        cwd: where it is started.
        env: its environment, in whose PATH it is looked up.
        system: the system; this one by default.
        which: finds programs.

    Raises:
        FileNotFoundError: there is no such program, where only we could tell.
        OSError: a batch file would be given an argument that cannot be quoted for it.
    """
    system = system or System()
    if system.platform == "win32":
        return _on_windows(command, env, which)
    if system.platform != "linux" or system.is_frozen:
        return LaunchPlan(tuple(command), "group")
    known = which(command[0], env.get("PATH", os.defpath))
    if known is None and not (cwd / command[0]).is_file():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
    own = (system.python, "-I", "-S", str(Path(launcher.__file__)), str(system.pid or os.getpid()))
    return LaunchPlan((*own, *command), "launcher")


def _on_windows(command: Sequence[str], env: Mapping[str, str], which: Which) -> LaunchPlan:
    """`npx` is a batch file there, which is found by its ending only and read by `cmd.exe`."""
    path = next((value for name, value in env.items() if name.upper() == "PATH"), None)
    program = which(command[0], path) or command[0]
    if not program.lower().endswith(_BATCH):
        return LaunchPlan((program, *command[1:]), "job")
    return LaunchPlan((), "job", batch_line(program, command[1:]))


def batch_line(program: str, arguments: Sequence[str]) -> str:
    """A batch file and its arguments as `cmd.exe` reads them back, each in quotes.

    Within quotes only `%` and the quote itself have a meaning to it, and neither can be written so
    that a batch file gets it as it is: such arguments could run other programs.

    Raises:
        OSError: an argument holds one of them, or a line break.
    """
    for word in (program, *arguments):
        wrong = next((each for each in _NEVER_IN_BATCH if each in word), "")
        if wrong:
            raise OSError(errno.EINVAL, f"{wrong!r} cannot be given to a batch file", word)
    return " ".join(f'"{word}"' for word in (program, *arguments))


@dataclass(frozen=True, slots=True)
class JobLimits:
    """What a job holds its processes to."""

    flags: int
    """`LimitFlags` of JOBOBJECT_BASIC_LIMIT_INFORMATION."""

    memory: int = 0
    """Bytes that all of them may commit together; 0 for no bound."""


def job_limits(megabytes: int) -> JobLimits:
    """Processes end with the job; a fault asks nobody; memory is bounded where a bound is given."""
    flags = KILL_ON_JOB_CLOSE | DIE_ON_UNHANDLED_EXCEPTION
    return JobLimits(flags | JOB_MEMORY, megabytes * 1024**2) if megabytes else JobLimits(flags)


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", ctypes.c_uint32),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", ctypes.c_uint32),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", ctypes.c_uint32),
        ("SchedulingClass", ctypes.c_uint32),
    )


class ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

    _fields_ = (
        ("Basic", _BasicLimits),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


def limits_block(limits: JobLimits) -> ExtendedLimits:
    """The limits as the system takes them."""
    block = ExtendedLimits()
    block.Basic.LimitFlags = limits.flags
    block.JobMemoryLimit = limits.memory
    return block


class WindowsJob:
    """One job, and the processes in it."""

    def __init__(self, limits: JobLimits) -> None:
        """Make the job.

        Raises:
            OSError: the system refuses.
        """
        self._kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
        for name in ("CreateJobObjectW", "OpenProcess"):
            getattr(self._kernel, name).restype = ctypes.c_void_p
        self._handle = ctypes.c_void_p(self._kernel.CreateJobObjectW(None, None))
        block = limits_block(limits)
        self._succeed(self._handle.value)
        self._succeed(
            self._kernel.SetInformationJobObject(
                self._handle, _EXTENDED_LIMITS, ctypes.byref(block), ctypes.sizeof(block)
            )
        )

    def add(self, pid: int) -> None:
        """Put a process into the job; what it starts from then on is in it, too.

        Raises:
            OSError: the system refuses.
        """
        process = ctypes.c_void_p(self._kernel.OpenProcess(_SET_QUOTA_AND_TERMINATE, False, pid))
        self._succeed(process.value)
        try:
            self._succeed(self._kernel.AssignProcessToJobObject(self._handle, process))
        finally:
            self._kernel.CloseHandle(process)

    def end(self) -> None:
        """End every process of the job."""
        if self._handle.value:
            self._kernel.TerminateJobObject(self._handle, 1)
            self._kernel.CloseHandle(self._handle)
            self._handle = ctypes.c_void_p()

    def _succeed(self, answer: object) -> None:
        if not answer:
            raise ctypes.WinError(ctypes.get_last_error())  # type: ignore[attr-defined]
