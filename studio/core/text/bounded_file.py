"""The one way to read a file: regular, and no larger than a limit.

`tests/test_layers.py` fails where another module of the program opens a file for reading.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path
from typing import TextIO

MOST_BYTES = 50_000_000
"""The largest file that is read at once, where its kind has no limit of its own."""

MOST_RECORD_BYTES = 10 * MOST_BYTES
"""The largest record that is read: the journal of a run, or the calls of a recording."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: Path) -> io.BufferedReader:
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


def open_text(path: Path, newline: str | None = None) -> TextIO:
    """Open a UTF-8 text, with or without a byte order mark, that is read line by line.

    Args:
        path: the file.
        newline: what line ends become, as for `open`.

    Raises:
        OSError: it cannot be opened, as for `open_regular`.
    """
    return io.TextIOWrapper(open_regular(path), encoding="utf-8-sig", newline=newline)


def read_text(
    path: Path, most: int = MOST_BYTES, *, encoding: str = "utf-8", errors: str = "strict"
) -> str:
    """Return the text of a file, each line end as one line feed.

    Args:
        path: the file.
        most: the limit in bytes.
        encoding: the name of the encoding.
        errors: what happens to bytes that are no text, as for `bytes.decode`.

    Raises:
        OSError: it cannot be opened, or is larger than `most` bytes.
        UnicodeDecodeError: it is no text in the encoding.
    """
    return io.TextIOWrapper(
        io.BytesIO(read_bounded(path, most)), encoding=encoding, errors=errors
    ).read()


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
