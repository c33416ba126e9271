"""Read files that are regular and within a size limit; write files atomically.

`tests/test_layers.py` fails if another module of the program opens a file for reading.
"""

import errno
import io
import itertools
import os
import re
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePath
from typing import TextIO

MOST_BYTES = 50_000_000
"""Maximum size of files read at once, in bytes, unless their kind has its own limit."""

MOST_RECORD_BYTES = 10 * MOST_BYTES
"""Maximum size of a record (a run's journal, a recording's calls), in bytes."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

_NO_FILE = "it is a device, a pipe or a socket, not a file"


def open_regular(path: Path) -> io.BufferedReader:
    """Open a file for reading, without blocking, and check it after opening.

    Raises:
        OSError: it is missing, not readable, or a device, a pipe or a socket, also through a link.
    """
    try:
        handle = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno == errno.ENXIO:  # of a socket
            raise OSError(errno.EINVAL, _NO_FILE, str(path)) from None
        raise
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise OSError(errno.EINVAL, _NO_FILE, str(path))
    return os.fdopen(handle, "rb")


def open_text(path: Path, newline: str | None = None) -> TextIO:
    """Open a UTF-8 text, with or without byte order mark, for reading line by line.

    Args:
        path: the file.
        newline: conversion of line breaks, as for `open`.

    Raises:
        OSError: it cannot be opened, as for `open_regular`.
    """
    return io.TextIOWrapper(open_regular(path), encoding="utf-8-sig", newline=newline)


def read_text(
    path: Path, most: int = MOST_BYTES, *, encoding: str = "utf-8", errors: str = "strict"
) -> str:
    """Return the text of a file with LF line breaks.

    Args:
        path: the file.
        most: maximum size in bytes.
        encoding: name of the encoding.
        errors: handling of invalid bytes, as for `bytes.decode`.

    Raises:
        OSError: it cannot be opened, or is larger than `most` bytes.
        UnicodeDecodeError: it is not valid in the encoding.
    """
    text = read_bounded(path, most).decode(encoding, errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_bounded(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the content of a file; a growing one is read up to the limit.

    Args:
        path: the file.
        most: maximum size in bytes.

    Raises:
        OSError: it cannot be opened, or is larger than `most` bytes.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        content = file.read(size + 1) if size <= most else b""
        if len(content) > size:  # it grows, or is a system file without a size
            content += file.read(most + 1 - len(content))
    if max(len(content), size) > most:
        from studio.core.text import amounts

        raise OSError(errno.EFBIG, f"it is larger than {amounts.size(most)}", str(path))
    return content


# Writes a file atomically: at every moment it has either the old or the new content.

_OPEN_ALREADY = re.compile(r"/dev/(?:stdout|stderr|fd/\d+)|/proc/(?:self|\d+)/fd/\d+")
"""Matches names of this process's open files, which are appended to, not replaced."""

_LONGEST_WRITE = 600.0
"""Maximum time to write a file, in seconds."""


def write_atomically(path: Path, text: str) -> None:
    """Write a text as UTF-8 with unchanged line breaks.

    Raises:
        OSError: it cannot be written; the old file is unchanged.
        UnicodeEncodeError: the text contains a lone surrogate; the old file is unchanged.
    """
    write_bytes_atomically(path, text.encode("utf-8"))


def private_folder(folder: Path) -> None:
    """Create a folder that only the user can read, and its missing parents.

    Raises:
        OSError: it cannot be created.
    """
    for place in reversed((folder, *folder.parents)):
        if not place.exists():
            place.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(exist_ok=True)  # fails if a file has its name


def private_file(path: Path) -> None:
    """Create an empty file that only the user can read, or restrict an existing one.

    Raises:
        OSError: it cannot be created.
    """
    private_folder(path.parent)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    elif path.is_file():
        with suppress(OSError):
            path.chmod(0o600)


def write_private(path: Path, content: bytes) -> None:
    """Write bytes to a file of the studio's own folder, which only the user can read.

    Raises:
        OSError: it cannot be written; the old file is unchanged.
    """
    private_folder(path.parent)
    write_bytes_atomically(path, content, private=True)


def keep_aside(path: Path) -> Path:
    """Keep a file whose content cannot be used as `NAME.broken.EXT`, or a similar free name.

    The file itself stays if links are possible, so that writing over it is one step.

    Raises:
        OSError: it cannot be kept.
    """
    names = (path.with_stem(f"{path.stem}.broken{number or ''}") for number in itertools.count())
    aside = next(name for name in names if not name.exists())
    try:
        os.link(path, aside)
    except OSError:
        path.replace(aside)
    return aside


def write_bytes_atomically(path: Path, content: bytes, *, private: bool = False) -> None:
    """Write bytes atomically.

    The new content is written to a file beside the old one and synced, and then replaces it; a link
    stays a link, and the file's permissions stay. Something that is no file (/dev/stdout, a pipe, a
    device) cannot be replaced and is written to.

    Args:
        path: the file.
        content: the new content.
        private: whether only the user may read it, whatever the old permissions.

    Raises:
        OSError: it cannot be written; the old file is unchanged.
    """
    is_device = path.exists() and not (path.is_file() or path.is_dir())
    if is_device or _OPEN_ALREADY.fullmatch(path.as_posix()):
        with path.open("ab") as stream:  # /dev/stdout may be a file (`>> log`), which is kept
            stream.write(content)
        return
    target = path.resolve()
    temporary = target.with_name(f".{target.name[:40]}.{os.urandom(8).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(temporary, flags, 0o600 if private else 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            temporary.chmod(0o600 if private else stat.S_IMODE(target.stat().st_mode))
        if content.startswith(b"#!"):  # a script: users who can read it can run it
            mode = stat.S_IMODE(temporary.stat().st_mode)
            temporary.chmod(mode | (mode & 0o444) >> 2)
        temporary.replace(target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):  # a full disk names no file, another error that beside it
            error.filename = str(path)
        raise
    _sync_folder(target.parent)
    _remove_left(target)


@cache
def _remove_left(target: Path) -> None:
    """Remove temporary files of killed processes, once for each file."""
    name = re.compile(rf"\.{re.escape(target.name[:40])}\.[0-9a-f]{{16}}\.tmp")
    with suppress(OSError):
        for left in target.parent.iterdir():
            if name.fullmatch(left.name) and time.time() - left.lstat().st_mtime > _LONGEST_WRITE:
                left.unlink()


def _sync_folder(folder: Path) -> None:
    """Sync the new name to the disk too, if the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# The files that a text can name: those in its folder.

_MOST_FILES = 300
_WILD = frozenset("*?[")


class OutsidePatternError(ValueError):
    """Raised when a pattern leads to folders that may not be listed."""


def files_beside(path: Path | None) -> tuple[str, ...]:
    """Return the files that a prompt can name: those in its folder, two levels deep."""
    if path is None:
        return ()
    found: list[str] = []
    for pattern in ("*", "*/*"):
        for each in itertools.islice(path.parent.glob(pattern), _MOST_FILES):
            if each.is_file() and each != path and not each.name.startswith("."):
                found.append(each.relative_to(path.parent).as_posix())
    return tuple(sorted(found))


def files_matching(folder: Path, pattern: str, allows: Callable[[Path], bool]) -> list[Path]:
    """Return the files that match a pattern with `*`, sorted; only allowed folders are listed.

    Args:
        folder: start of the pattern.
        pattern: a pattern for `Path.glob`, which may contain `..`.
        allows: returns whether a folder may be listed; links to others are ignored.

    Raises:
        OutsidePatternError: it leads only to folders that may not be listed.
        ValueError: it is no pattern, or is absolute.
        OSError: a folder cannot be listed.
    """
    places, parts = [folder], PurePath(pattern)
    if parts.anchor:
        raise ValueError("a pattern begins in the folder")
    for part in parts.parts:
        if not _WILD & set(part):
            places = [place / part for place in places]
            continue
        kept = [place for place in places if allows(place)]
        if places and not kept:
            raise OutsidePatternError(pattern)
        # Each once: `**/**` reaches a folder on many paths.
        places = list(dict.fromkeys(each for place in kept for each in place.glob(part)))
    return sorted(place for place in places if place.is_file())
