"""A job object of Windows: it ends with the studio, however that ends, and takes all with it.

Written after the manual of `kernel32` and not run by the project's own tests, which run on Linux;
what is decided (`job_limits`) is tested everywhere.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

KILL_ON_JOB_CLOSE = 0x2000
DIE_ON_UNHANDLED_EXCEPTION = 0x0400
JOB_MEMORY = 0x0200

_EXTENDED_LIMITS = 9
_SET_QUOTA_AND_TERMINATE = 0x0100 | 0x0001


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
