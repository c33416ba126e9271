"""A child process that is read by lines."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from studio.core.tools.mcp.child import ChildProcess

_LINES = 200


async def test_who_else_is_in_the_loop_gets_turns_while_a_child_floods_it(tmp_path: Path) -> None:
    child = await ChildProcess.start(
        [sys.executable, "-c", f"print('x\\n' * {_LINES}, end='')"],
        cwd=tmp_path,
        env=dict(os.environ),
    )
    await child.wait()
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    waiting = asyncio.create_task(others())
    lines = 0
    while await child.read_line() is not None:
        lines += 1
    waiting.cancel()
    assert lines == _LINES
    assert turns >= _LINES
    await child.close()
