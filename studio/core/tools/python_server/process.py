"""The process that serves a tool file: its pipes, its memory, and its end."""

from __future__ import annotations

import os
import sys
import time
from typing import BinaryIO

_PARENT_SECONDS = 1.0


def flush() -> None:
    """Let what the tool printed be read before its result."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue  # the tool closed it


def take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Our ends of the protocol; what a tool reads is empty, and what it prints is no message."""
    lines = os.fdopen(os.dup(0), "rb")
    output = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace", line_buffering=True)
    return lines, output


def leave_with_parent(parent: int) -> None:
    """End when the studio is gone, also while a tool keeps the loop from hearing of it."""
    while os.getppid() == parent:
        time.sleep(_PARENT_SECONDS)
    os._exit(1)


def bound_memory(megabytes: int) -> None:
    """A tool that takes all memory ends itself, not the user's other programs."""
    if megabytes <= 0 or sys.platform != "linux":
        return
    import resource

    most = megabytes * 1024 * 1024
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
