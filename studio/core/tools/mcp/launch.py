"""How a command is started on each system so that nothing of it outlives the studio.

What is decided here is decided by values, so that the rules of every system are tested on each.
Windows and macOS have been run by nobody yet: `windows_job.py` is written after their manuals.
"""

from __future__ import annotations

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
