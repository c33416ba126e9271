"""The recorded program: a child process in its own process group, which ends with the recording."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

_GRACE_SECONDS = 5.0
"""Seconds between SIGTERM and SIGKILL."""

_LAST_SECONDS = 0.5
"""Seconds to wait for the last output of a program that has ended."""


async def run_child(
    program: Sequence[str],
    environment: Mapping[str, str],
    *,
    has_input: bool = False,
    folder: str | None = None,
    said: Callable[[bytes], None] | None = None,
) -> int:
    """Run a program to its end and return its exit code: 128 + N if signal N ended it.

    A program that reads the terminal stays in its process group, which Ctrl+C interrupts as a
    whole. Any other program gets a group of its own, so that its children end with it.

    Args:
        program: command line.
        environment: its environment variables.
        has_input: whether it inherits standard input.
        folder: working directory; None for that of this process.
        said: called with its output; None lets it inherit standard output.

    Raises:
        OSError: the program cannot be started.
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
    """Pass on the output as it arrives; a child of the program may keep the pipe open for long."""
    while output is not None and said is not None and (piece := await output.read(65_536)):
        said(piece)


async def _end(child: asyncio.subprocess.Process, *, has_group: bool) -> None:
    """End the program and its process group: SIGTERM first, SIGKILL after a time limit."""
    if sys.platform == "win32":
        child.terminate()
        await child.wait()
        return

    def send(number: int) -> None:
        """Send a signal, 0 for none; raises `ProcessLookupError` if all processes have ended."""
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
