"""The recorded program: a child process with a group of its own, which ends with the recording."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

_GRACE_SECONDS = 5.0
"""Time that a program has to end after SIGTERM; then it is killed."""

_LAST_SECONDS = 0.5
"""Time for the last output of a program that has ended."""


async def run_child(
    program: Sequence[str],
    environment: Mapping[str, str],
    *,
    has_input: bool = False,
    folder: str | None = None,
    said: Callable[[bytes], None] | None = None,
) -> int:
    """Run a program to its end, and return its exit code: 128 + N if signal N ended it.

    A program that reads the terminal stays in the terminal's group, which Ctrl+C ends whole. Any
    other one gets a group of its own, so that what it started ends with it.

    Args:
        program: command line.
        environment: its variables.
        has_input: whether it has the input of this process, or none.
        folder: folder to start it in; None for this process's.
        said: takes its output; None gives it the output of this process.

    Raises:
        OSError: it cannot be started.
    """
    has_group = not (has_input and os.isatty(0))
    child = await asyncio.create_subprocess_exec(
        *program,
        env=environment,
        cwd=folder,
        stdin=None if has_input else asyncio.subprocess.DEVNULL,
        stdout=None if said is None else asyncio.subprocess.PIPE,
        stderr=None if said is None else asyncio.subprocess.STDOUT,
        process_group=0 if has_group else None,
    )
    reading = asyncio.create_task(_read(child.stdout, said))
    try:
        code = await child.wait()
        await asyncio.wait([reading], timeout=_LAST_SECONDS)
        return code if code >= 0 else 128 - code
    finally:
        reading.cancel()
        if child.returncode is None:
            await _end(child, has_group=has_group)


async def _read(output: asyncio.StreamReader | None, said: Callable[[bytes], None] | None) -> None:
    """Give the output on as it comes; a child of the program may keep it open for long."""
    while output is not None and said is not None and (piece := await output.read(65_536)):
        said(piece)


async def _end(child: asyncio.subprocess.Process, *, has_group: bool) -> None:
    """End the program and what is left of its group: asked first, killed after a time."""
    if sys.platform == "win32":
        child.terminate()
        await child.wait()
        return

    def send(number: int) -> None:
        """Send a signal, 0 for none; raises `ProcessLookupError` once all of them are gone."""
        if has_group:
            os.killpg(child.pid, number)
        else:
            child.send_signal(number)

    with suppress(ProcessLookupError, PermissionError):
        try:
            send(signal.SIGTERM)
            async with asyncio.timeout(_GRACE_SECONDS):
                while True:
                    send(0)
                    await asyncio.sleep(0.02)
        except TimeoutError:
            pass
        finally:
            send(signal.SIGKILL)
    await child.wait()
