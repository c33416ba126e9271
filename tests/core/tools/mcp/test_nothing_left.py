"""Nothing that a server or a tool started is left, however the studio ends."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from studio.core.tools.mcp.child import ChildProcess
from tests.core.tools.conftest import gone, is_running

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a parent's death is told on Linux")

FAMILY = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
own = subprocess.Popen(["sleep", "600"], start_new_session=True)
same = subprocess.Popen(["sleep", "600"])
print(os.getpid(), own.pid, same.pid, flush=True)
while True:
    time.sleep(600)
"""
STUDIO = """
import asyncio, sys
from pathlib import Path
from studio.core.tools.mcp.child import ChildProcess

async def main():
    child = await ChildProcess.start([sys.executable, "-c", sys.argv[1]], cwd=Path("."), env={})
    print((await child.read_line()).decode(), flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def start(tmp_path: Path, code: str) -> ChildProcess:
    return await ChildProcess.start(
        [sys.executable, "-c", code], cwd=tmp_path, env=dict(os.environ)
    )


async def family_of(child: ChildProcess) -> list[int]:
    line = await child.read_line()
    assert line is not None
    return [int(each) for each in line.split()]


async def test_a_close_ends_what_went_into_its_own_session(tmp_path: Path) -> None:
    child = await start(tmp_path, FAMILY)
    family = await family_of(child)
    assert all(is_running(pid) for pid in family)
    await child.close(grace=0.01)
    assert [pid for pid in family if not await gone(pid)] == []


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
async def test_a_studio_that_is_killed_takes_all_with_it(end: signal.Signals) -> None:
    studio = await asyncio.create_subprocess_exec(
        sys.executable, "-c", STUDIO, FAMILY, stdout=subprocess.PIPE
    )
    assert studio.stdout is not None
    family = [int(each) for each in (await studio.stdout.readline()).split()]
    assert all(is_running(pid) for pid in family)
    studio.send_signal(end)
    await studio.wait()
    assert [pid for pid in family if not await gone(pid)] == []


async def test_a_server_that_ends_leaves_nobody_and_its_code_is_told(tmp_path: Path) -> None:
    leave = FAMILY.replace("while True:\n    time.sleep(600)", "sys.exit(7)")
    child = await start(tmp_path, leave)
    _, own, same = await family_of(child)
    assert await child.wait() == 7
    assert await gone(own)
    assert await gone(same)
    await child.close()


async def test_a_signal_is_told_as_one(tmp_path: Path) -> None:
    child = await start(tmp_path, "import os; os.kill(os.getpid(), 11)")
    assert await child.wait() == -11
    await child.close()


async def test_a_closed_output_is_seen(tmp_path: Path) -> None:
    child = await start(tmp_path, "import os, time; os.close(1); time.sleep(600)")
    assert await child.read_line() is None
    await child.close(grace=0.01)


async def test_a_program_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await ChildProcess.start(["no-such-program"], cwd=tmp_path, env=dict(os.environ))
