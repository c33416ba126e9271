"""The one way to read a file that somebody named: regular, and no larger than a limit."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import IO

MOST_BYTES = 50_000_000
"""The largest file that is read at once, where its kind has no limit of its own."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: Path) -> IO[bytes]:
    """Open a file for reading, without blocking, and look at it once it is open.

    Raises:
        OSError: it is missing, may not be read, or is a device or a pipe, also one behind a link.
    """
    handle = os.open(path, _FLAGS)
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise OSError(errno.EINVAL, "it is a device or a pipe, not a file", str(path))
    return os.fdopen(handle, "rb")


def read_bounded(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the content of a file; one that grows meanwhile is read up to the limit.

    Args:
        path: the file.
        most: the limit in bytes.

    Raises:
        OSError: it cannot be opened, or is larger than `most` bytes.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        content = file.read(most + 1) if size <= most else b""
    if max(len(content), size) > most:
        from studio.core.text import amounts

        raise OSError(errno.EFBIG, f"it is larger than {amounts.size(most)}", str(path))
    return content
