"""How commands are started on every system: the rules are values, so all of them are tried here."""

from __future__ import annotations

import ctypes
from pathlib import Path, PurePath

import pytest

from studio.core.tools.mcp.child import (
    JOB_MEMORY,
    KILL_ON_JOB_CLOSE,
    LaunchPlan,
    System,
    batch_line,
    job_limits,
    limits_block,
    plan_launch,
)

LINUX = System("linux", is_frozen=False, python="/usr/bin/python3", pid=77)
MACOS = System("darwin", is_frozen=False, python="/usr/bin/python3", pid=77)
WINDOWS = System("win32", is_frozen=False, python="C:\\Python\\python.exe", pid=77)
NPX = "C:\\Program Files\\nodejs\\npx.CMD"


def plan(system: System, *command: str, found: str | None = "/bin/server") -> LaunchPlan:
    asked: list[str | None] = []

    def which(name: str, path: str | None) -> str | None:
        asked.append(path)
        return found

    made = plan_launch(
        command, Path("/"), {"Path" if system is WINDOWS else "PATH": "P"}, system, which
    )
    assert asked in ([], ["P"])
    return made


def test_linux_starts_by_the_launcher_which_knows_the_studio() -> None:
    made = plan(LINUX, "server", "--flag", "a b")
    assert made.ending == "launcher"
    assert made.command[:3] == ("/usr/bin/python3", "-I", "-S")
    assert PurePath(made.command[3]).name == "launcher.py"
    assert made.command[4:] == ("77", "server", "--flag", "a b")


def test_a_program_that_is_not_there_is_told_before_the_launcher_runs() -> None:
    with pytest.raises(FileNotFoundError):
        plan(LINUX, "no-such-server", found=None)


@pytest.mark.parametrize("system", [MACOS, System("linux", is_frozen=True)])
def test_without_a_launcher_the_group_is_ended(system: System) -> None:
    assert plan(system, "server", "-x") == LaunchPlan(("server", "-x"), "group")


def test_windows_starts_a_program_as_it_is_and_in_a_job() -> None:
    made = plan(WINDOWS, "uvx", "a b", 'say "hi"', found="C:\\bin\\uvx.EXE")
    assert made == LaunchPlan(("C:\\bin\\uvx.EXE", "a b", 'say "hi"'), "job")
    assert plan(WINDOWS, "gone", found=None).command == ("gone",)  # the system says what is wrong


def test_a_batch_file_gets_its_arguments_in_quotes() -> None:
    made = plan(WINDOWS, "npx", "-y", "@scope/server@^1.0", "C:\\My Files", "a&b|c>d", found=NPX)
    line = f'"{NPX}" "-y" "@scope/server@^1.0" "C:\\My Files" "a&b|c>d"'
    assert made == LaunchPlan((), "job", line)


@pytest.mark.parametrize("word", ['a" & calc "', "%PATH%", "a\nb", "a\rb", "a\0b"])
def test_what_a_batch_file_would_read_as_something_else_is_refused(word: str) -> None:
    with pytest.raises(OSError, match="cannot be passed to a batch file"):
        batch_line(NPX, ["ok", word])


def test_a_job_ends_with_the_studio_and_bounds_memory() -> None:
    assert job_limits(0).flags & (KILL_ON_JOB_CLOSE | JOB_MEMORY) == KILL_ON_JOB_CLOSE
    limits = job_limits(4096)
    assert limits.flags & JOB_MEMORY
    assert limits.memory == 4 * 1024**3
    block = limits_block(limits)
    assert (block.Basic.LimitFlags, block.JobMemoryLimit) == (limits.flags, limits.memory)


@pytest.mark.skipif(ctypes.sizeof(ctypes.c_size_t) != 8, reason="sizes of 64-bit Windows")
def test_the_limits_have_the_size_that_windows_expects() -> None:
    assert ctypes.sizeof(limits_block(job_limits(1))) == 144
    assert type(limits_block(job_limits(1)).Basic).LimitFlags.offset == 16
    assert type(limits_block(job_limits(1))).JobMemoryLimit.offset == 120
