"""A child process in its own process group: read by lines, limited, and killed completely.

The SDK's stdio transport joins chunks quadratically, has no limit on a line and takes up to four
seconds to end a process; a user's tool may print 100 MB, fork, or never return. A command is
started so that none of its processes outlives the studio; the decisions depend only on values, so
that the rules of every system are tested on each. Windows and macOS are not tested yet:
`WindowsJob` follows the documentation of `kernel32`.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import errno
import os
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from studio.core.tools.mcp import launcher
from studio.core.tools.mcp.child_bounds import DEFAULT_BOUNDS, ChildBounds, family_resident

Ending: TypeAlias = Literal["launcher", "group", "job"]
"""Means of ending all processes of a command: our launcher, which adopts orphans (Linux); the
process group (macOS, and the packaged program on Linux); the job object (Windows).
"""

Which: TypeAlias = Callable[[str, str | None], str | None]
"""Function that finds a program by name and PATH, like `shutil.which`."""

_BATCH = (".bat", ".cmd")
_NEVER_IN_BATCH = '"%\r\n\0'

KILL_ON_JOB_CLOSE = 0x2000

DIE_ON_UNHANDLED_EXCEPTION = 0x0400

JOB_MEMORY = 0x0200

_EXTENDED_LIMITS = 9

_SET_QUOTA_AND_TERMINATE = 0x0100 | 0x0001


@dataclass(frozen=True, slots=True)
class System:
    """The system properties on which the rules depend."""

    platform: str = sys.platform
    """Platform, as in `sys.platform`."""

    is_frozen: bool = bool(getattr(sys, "frozen", False))
    """Whether the studio is the packaged program, which has no Python for a launcher."""

    python: str = sys.executable
    """Path of the Python interpreter."""

    pid: int = 0
    """Process id of the studio; 0 for this process."""


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """The plan for starting a command."""

    command: tuple[str, ...]
    """Program and arguments; empty for a batch file."""

    ending: Ending
    """Means of ending its processes."""

    line: str = ""
    """For a batch file: the argument of `cmd.exe /c`."""


def plan_launch(
    command: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    system: System | None = None,
    which: Which = lambda name, path: shutil.which(name, path=path),
) -> LaunchPlan:
    """Decide how to start a command.

    Args:
        command: program and arguments.
        cwd: working directory.
        env: its environment, whose PATH is searched.
        system: the system; by default this one.
        which: finds programs.

    Raises:
        FileNotFoundError: there is no such program, if the system would not report it.
        OSError: an argument cannot be quoted for a batch file.
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
    """Return the plan for Windows, where `npx` is a batch file that `cmd.exe` runs."""
    path = next((value for name, value in env.items() if name.upper() == "PATH"), None)
    program = which(command[0], path) or command[0]
    if not program.lower().endswith(_BATCH):
        return LaunchPlan((program, *command[1:]), "job")
    return LaunchPlan((), "job", batch_line(program, command[1:]))


def batch_line(program: str, arguments: Sequence[str]) -> str:
    """Return a batch file and its arguments for `cmd.exe`, each in quotes.

    Within quotes only `%` and quotes are special, and neither can be escaped for a batch file: such
    arguments could run other programs.

    Raises:
        OSError: an argument contains one of them, or a line break.
    """
    for word in (program, *arguments):
        wrong = next((each for each in _NEVER_IN_BATCH if each in word), "")
        if wrong:
            raise OSError(errno.EINVAL, f"{wrong!r} cannot be passed to a batch file", word)
    return " ".join(f'"{word}"' for word in (program, *arguments))


@dataclass(frozen=True, slots=True)
class JobLimits:
    """The limits of a job's processes."""

    flags: int
    """`LimitFlags` of JOBOBJECT_BASIC_LIMIT_INFORMATION."""

    memory: int = 0
    """Maximum memory that all processes may commit together, in bytes; 0 for no limit."""


def job_limits(megabytes: int) -> JobLimits:
    """Return the limits: processes end with the job, no error dialogs, limited memory."""
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
    """Return the limits as a structure for the system."""
    block = ExtendedLimits()
    block.Basic.LimitFlags = limits.flags
    block.JobMemoryLimit = limits.memory
    return block


class WindowsJob:
    """A job object with its processes."""

    def __init__(self, limits: JobLimits) -> None:
        """Create the job.

        Raises:
            OSError: the system call fails.
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
        """Add a process to the job; the processes that it starts later are added too.

        Raises:
            OSError: the system call fails.
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


LONGEST_LOG = 64 * 1024
"""Maximum number of bytes of stderr that are kept, the newest."""

_LAUNCHER_SECONDS = 1.0
_MANY_LINES = 256
_EXIT_SECONDS = 0.3
_KILL_SECONDS = 2.0
_LOOK_SECONDS = 0.5  # between two checks of the memory


class _Pipes(asyncio.SubprocessProtocol):
    """The collected output of the process; `None` in `lines` marks the end."""

    def __init__(self, plan: LaunchPlan, bounds: ChildBounds) -> None:
        self._plan = plan
        self._bounds = bounds
        self._job: WindowsJob | None = None
        self.ended_for = ""
        self.lines: deque[bytes] = deque()
        self.arrived = asyncio.Event()
        self.exited = asyncio.Event()
        self.ended = False
        self.log = bytearray()
        self.tell: Callable[[str], None] | None = None
        self._part: list[bytes] = []
        self._size = 0
        self._transport: asyncio.SubprocessTransport | None = None
        self._killed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)
        if self._plan.ending == "job":
            self._job = WindowsJob(job_limits(self._bounds.resident // 1024**2))
            self._job.add(self._transport.get_pid())

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            if self.tell is not None:
                self.tell(data.decode("utf-8", "replace"))
            self.log += data
            if len(self.log) > LONGEST_LOG:
                del self.log[: len(self.log) - LONGEST_LOG]
            return
        first, *rest = data.split(b"\n")
        self._part.append(first)
        self._size += len(first)
        for piece in rest:
            self.lines.append(b"".join(self._part))
            self._part, self._size = [piece], len(piece)
        if self._size > self._bounds.line:
            self._part, self._size = [], 0
            self.end_for(f"it sent an answer of more than {self._bounds.line / 1024**2:,.10g} MB")
        if len(self.lines) > _MANY_LINES:
            self.read_on(on=False)
        self.arrived.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self.end()

    def process_exited(self) -> None:
        self.exited.set()
        # Forked processes must not outlive it; later its group id may belong to another process.
        self.kill_group()
        # A grandchild outside the group may keep the pipe open: do not wait for its end forever.
        asyncio.get_running_loop().call_later(_EXIT_SECONDS, self.end)

    def end_for(self, reason: str) -> None:
        """End the process and record the reason."""
        self.ended_for = self.ended_for or reason
        self.kill()
        self.end()

    def end(self) -> None:
        self.ended = True
        self.arrived.set()

    def kill(self) -> None:
        """End the process with all its child processes."""
        if self._killed or self._transport is None:
            return
        if self._plan.ending != "launcher":
            self.kill_group()
            return
        # The launcher also ends processes that left the group; if it fails, they are killed.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self._transport.get_pid(), signal.SIGTERM)
        asyncio.get_running_loop().call_later(_LAUNCHER_SECONDS, self.kill_group)

    def kill_group(self) -> None:
        """End the whole group, once."""
        if self._killed or self._transport is None:
            return
        self._killed = True
        pid = self._transport.get_pid()
        if self._job is not None:
            self._job.end()
        elif sys.platform != "win32":
            # The group exists as long as any process is in it.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)

    def read_on(self, *, on: bool) -> None:
        """Resume reading the output, or pause until its lines are consumed."""
        pipe = self._transport.get_pipe_transport(1) if self._transport else None
        if isinstance(pipe, asyncio.ReadTransport) and not pipe.is_closing():
            if on:
                pipe.resume_reading()
            else:
                pipe.pause_reading()


class ChildProcess:
    """A running process; create one with `start`."""

    def __init__(
        self, transport: asyncio.SubprocessTransport, pipes: _Pipes, bounds: ChildBounds
    ) -> None:
        self._transport = transport
        self._pipes = pipes
        self._watching: asyncio.Task[None] | None = None
        if bounds.resident and sys.platform != "win32":
            self._watching = asyncio.create_task(self._watch(bounds.resident))

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        bounds: ChildBounds = DEFAULT_BOUNDS,
    ) -> ChildProcess:
        """Start a process as the leader of a new group.

        Args:
            command: program and arguments.
            cwd: working directory.
            env: its environment.
            bounds: limits of the process.

        Raises:
            OSError: the command cannot be started.
        """
        options: dict[str, Any] = {}
        if sys.platform == "win32":
            options["creationflags"] = (
                subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
            )
        else:
            options["start_new_session"] = True
        plan = plan_launch(command, cwd, env)
        options |= {
            "stdin": subprocess.PIPE,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "cwd": cwd,
            "env": dict(env),
        }
        loop = asyncio.get_running_loop()

        def pipes() -> _Pipes:
            return _Pipes(plan, bounds)

        if plan.line:
            started = await loop.subprocess_shell(pipes, plan.line, **options)
        else:
            started = await loop.subprocess_exec(pipes, *plan.command, **options)
        return cls(*started, bounds)

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._transport.get_pid()

    @property
    def is_alive(self) -> bool:
        """Whether it runs and its output is open."""
        return not self._pipes.exited.is_set() and not self._pipes.ended

    @property
    def exit_code(self) -> int | None:
        """Exit code; None before the end, negative for a signal."""
        return self._transport.get_returncode()

    @property
    def ended_for(self) -> str:
        """The limit for which it was ended; empty for none."""
        return self._pipes.ended_for

    def tell_log(self, tell: Callable[[str], None] | None) -> None:
        """Pass on the lines of its stderr as they arrive; None to stop."""
        self._pipes.tell = tell

    def take_log(self) -> str:
        """Return the newest output on stderr since the last call."""
        text = self._pipes.log.decode("utf-8", "replace")
        self._pipes.log.clear()
        return text

    async def read_line(self) -> bytes | None:
        """Return the next line without line break; None at the end."""
        pipes = self._pipes
        if pipes.lines:
            await asyncio.sleep(0)  # even if its output never pauses, other tasks get a turn
        while not pipes.lines:
            if pipes.ended:
                return None
            pipes.arrived.clear()
            await pipes.arrived.wait()
        line = pipes.lines.popleft()
        if len(pipes.lines) == _MANY_LINES // 2:
            pipes.read_on(on=True)
        return line

    def write(self, data: bytes) -> None:
        """Write bytes to its stdin; ignored if that is closed."""
        pipe = self._transport.get_pipe_transport(0)
        if isinstance(pipe, asyncio.WriteTransport) and not pipe.is_closing():
            pipe.write(data)

    async def wait(self) -> int | None:
        """Wait for its end; return the exit code."""
        await self._pipes.exited.wait()
        return self.exit_code

    def kill(self) -> None:
        """End it and everything in its group at once."""
        self._pipes.kill()
        self._pipes.end()

    async def close(self, grace: float = 0.5) -> None:
        """Close its stdin, wait `grace` seconds for its end, then end the whole group."""
        if self.is_alive:
            pipe = self._transport.get_pipe_transport(0)
            if isinstance(pipe, asyncio.WriteTransport):
                pipe.close()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._pipes.exited.wait(), grace)
        self.kill()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._pipes.exited.wait(), _KILL_SECONDS)
        self._transport.close()
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})

    async def _watch(self, most: int) -> None:
        """End it when it exceeds its memory limit."""
        while self.is_alive:
            held = await asyncio.to_thread(family_resident, self.pid)
            if held is not None and held > most:
                self._pipes.end_for(
                    f"it held {held / 1024**2:,.0f} MB of memory, more than {most / 1024**2:,.0f}"
                )
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._pipes.exited.wait(), _LOOK_SECONDS)
