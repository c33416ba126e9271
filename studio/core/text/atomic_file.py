"""Writes a file so that it is either the old one or the new one, whole, at every moment."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from pathlib import Path

_OPEN_ALREADY = re.compile(r"/dev/(?:stdout|stderr|fd/\d+)|/proc/(?:self|\d+)/fd/\d+")
"""Names of what this process has open, which may be files: what is in them stays."""


def write_atomically(path: Path, text: str) -> None:
    """Write a text as UTF-8, line ends as they are.

    Raises:
        OSError: it cannot be written; the old file is as it was.
        UnicodeEncodeError: the text holds a lone surrogate; the old file is as it was.
    """
    write_bytes_atomically(path, text.encode("utf-8"))


def write_bytes_atomically(path: Path, content: bytes) -> None:
    """Write bytes.

    The new content goes to a file beside the old one, reaches the disk, and then takes its place;
    a link stays a link, and the file's permissions stay. What is not a file (/dev/stdout, a pipe, a
    device) has no place to be taken: it is written to.

    Raises:
        OSError: it cannot be written; the old file is as it was.
    """
    is_device = path.exists() and not (path.is_file() or path.is_dir())
    if is_device or _OPEN_ALREADY.fullmatch(path.as_posix()):
        with path.open("ab") as stream:  # /dev/stdout may be a file (`>> log`), which stays
            stream.write(content)
        return
    target = path.resolve()
    temporary = target.with_name(f".{target.name[:40]}.{os.urandom(8).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(temporary, flags, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        if content.startswith(b"#!"):  # a script: whoever may read it may run it
            mode = stat.S_IMODE(temporary.stat().st_mode)
            temporary.chmod(mode | (mode & 0o444) >> 2)
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Let the new name reach the disk too; not every system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
