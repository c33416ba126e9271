"""What a name can lead to that no program may read whole."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

REASONS = {
    "device": "a device, a pipe or a socket",
    "pipe": "a device, a pipe or a socket",
    "socket": "a device, a pipe or a socket",
    "huge": "larger than 50 MB",
}
"""Why each kind is refused, by kind."""

each_kind = pytest.mark.parametrize("kind", REASONS)
needs_posix = pytest.mark.skipif(
    not hasattr(os, "mkfifo") or not Path("/dev/zero").exists(),
    reason="this system has no devices and pipes as files",
)


def make_no_file(kind: str, path: Path) -> Path:
    """Make one kind of `REASONS` at a path; returns the path."""
    match kind:
        case "device":
            path.symlink_to("/dev/zero")
        case "pipe":
            os.mkfifo(path)
        case "socket":
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(os.path.relpath(path))  # the name of a socket has 108 bytes at most
        case _:
            with path.open("wb") as file:
                file.truncate(60_000_000)
    return path
