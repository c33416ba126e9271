"""Reading and writing files: regular and bounded when read, whole or not at all when written.

`tests/test_layers.py` fails where another module of the program opens a file for reading.
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
    text = read_bounded(path, most).decode(encoding, errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")


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
        content = file.read(size + 1) if size <= most else b""
        if len(content) > size:  # it grows, or is one of the system's, which have no size
            content += file.read(most + 1 - len(content))
    if max(len(content), size) > most:
        from studio.core.text import amounts

        raise OSError(errno.EFBIG, f"it is larger than {amounts.size(most)}", str(path))
    return content


# Writes a file so that it is either the old one or the new one, whole, at every moment.

_OPEN_ALREADY = re.compile(r"/dev/(?:stdout|stderr|fd/\d+)|/proc/(?:self|\d+)/fd/\d+")
"""Names of what this process has open, which may be files: what is in them stays."""

_LONGEST_WRITE = 600.0
"""Time that writing a file takes at most, in seconds."""


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
    _remove_left(target)


@cache
def _remove_left(target: Path) -> None:
    """Remove what killed processes left of their writes of a file; once for each file."""
    name = re.compile(rf"\.{re.escape(target.name[:40])}\.[0-9a-f]{{16}}\.tmp")
    with suppress(OSError):
        for left in target.parent.iterdir():
            if name.fullmatch(left.name) and time.time() - left.lstat().st_mtime > _LONGEST_WRITE:
                left.unlink()


def _sync_folder(folder: Path) -> None:
    """Let the new name reach the disk too; not every system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# The files that a text can name: those of its folder.

_MOST_FILES = 300
_WILD = frozenset("*?[")


class OutsidePatternError(ValueError):
    """A pattern leads where nothing may be looked for."""


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
    """Return the files that match a pattern with `*`, in order; lists only allowed folders.

    Args:
        folder: where the pattern begins.
        pattern: as `Path.glob` reads it; it may go up by `..`.
        allows: whether a folder may be listed; a link to one that may not is left out.

    Raises:
        OutsidePatternError: it leads nowhere else.
        ValueError: it is no pattern, or begins elsewhere.
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
        # Each once: `**/**` meets a folder by many ways.
        places = list(dict.fromkeys(each for place in kept for each in place.glob(part)))
    return sorted(place for place in places if place.is_file())
