"""Whether another process is alive, told by a file that it holds locked while it lives."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO


class LockFile:
    """A file locked for as long as this process lives (or until `release`)."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._file: IO[bytes] = path.open("ab")
        if not _lock(self._file):
            self._file.close()
            raise OSError(f"{path} is locked by another process")

    def release(self) -> None:
        """Let go of it and remove it."""
        self._file.close()
        self._path.unlink(missing_ok=True)


def is_held(path: Path) -> bool:
    """Whether a living process holds the lock; a process that was killed holds none."""
    if not path.exists():
        return False
    with path.open("ab") as file:
        return not _lock(file)


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> bool:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
