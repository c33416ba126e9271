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


def private_folder(folder: Path) -> None:
    """Make a folder that only the user may look into, with those above it that are missing.

    Raises:
        OSError: it cannot be made.
    """
    for place in reversed((folder, *folder.parents)):
        if not place.exists():
            place.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(exist_ok=True)  # fails where a file has its name


def private_file(path: Path) -> None:
    """Make an empty file that only the user may read, or narrow the one that is there.

    Raises:
        OSError: it cannot be made.
    """
    private_folder(path.parent)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    elif path.is_file():
        with suppress(OSError):
            path.chmod(0o600)


def write_private(path: Path, content: bytes) -> None:
    """Write bytes of the studio's own home, which only the user may read.

    Raises:
        OSError: it cannot be written; the old file is as it was.
    """
    private_folder(path.parent)
    write_bytes_atomically(path, content, private=True)


def write_bytes_atomically(path: Path, content: bytes, *, private: bool = False) -> None:
    """Write bytes.

    The new content goes to a file beside the old one, reaches the disk, and then takes its place;
    a link stays a link, and the file's permissions stay. What is not a file (/dev/stdout, a pipe, a
    device) has no place to be taken: it is written to.

    Args:
        path: the file.
        content: all that it holds from now on.
        private: let only the user read it, whoever could read the old one.

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
    handle = os.open(temporary, flags, 0o600 if private else 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            temporary.chmod(0o600 if private else stat.S_IMODE(target.stat().st_mode))
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
