"""Which of the studios with one data folder is the first: the session is that one's to keep."""

from __future__ import annotations

import contextlib
from pathlib import Path

from PySide6.QtCore import QLockFile

_LOCK = "first.lock"


class FirstPlace:
    """Held by one studio for as long as it lives."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._lock: QLockFile | None = None

    def take(self) -> bool:
        """Be the first, where no living studio is; also False where nothing can be written."""
        with contextlib.suppress(OSError):
            self._data.mkdir(parents=True, exist_ok=True)
        lock = QLockFile(str(self._data / _LOCK))
        lock.setStaleLockTime(0)  # only the death of its process ends it
        if not lock.tryLock(0):
            return False
        self._lock = lock
        return True

    def leave(self) -> None:
        """Let the next start be the first."""
        if self._lock is not None:
            self._lock.unlock()
            self._lock = None
