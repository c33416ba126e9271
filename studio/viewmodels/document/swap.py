"""Swap files: unsaved text, kept where a crash cannot destroy it.

Each running studio has a folder of its own below the user's data folder, held by a lock file. A
folder whose lock nobody holds was left by a crash; its texts are offered when the studio starts.
Texts that quitting left on purpose (hot exit) are marked as kept, and come back without a question.
"""

import contextlib
import os
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QLockFile

from studio.core.text.files import private_folder, read_text, write_private

_LOCK = "lock"
_KEPT = "kept"
"""Marks a folder whose texts were left on purpose."""


@dataclass(frozen=True, slots=True)
class Swap:
    """Unsaved text of one document."""

    id: str
    """The document's identifier in its session."""

    path: str
    """The file it belongs to; empty for one never saved."""

    title: str
    """Its tab's title."""

    text: str
    """The whole text, line ends LF."""

    base: str
    """Digest of the file that the text was made from."""

    time: float
    """When it was written, in seconds since 1970."""

    caret: int = 0
    """Place of the caret in the editor's document (UTF-16 units)."""


class SwapFolder:
    """This session's swap files, and those that an earlier session left behind."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._own = root / os.urandom(16).hex()
        self._lock: QLockFile | None = None
        self._writing = threading.Lock()
        self._forgotten: Counter[str] = Counter()
        self._kept: set[str] = set()

    def writer(self, swap: Swap) -> Callable[[], None]:
        """Return what writes a text in a worker, unless it is forgotten before."""
        return partial(self._write, swap, self._forgotten[swap.id])

    def write(self, swap: Swap) -> None:
        """Write one document's text, whole or not at all."""
        self._write(swap, self._forgotten[swap.id])

    def _write(self, swap: Swap, forgotten: int) -> None:
        import json  # with the first key typed, not with the window

        with self._writing:
            if forgotten != self._forgotten[swap.id]:
                return  # saved while this was on its way
            self._begin()
            write_private(self._own / f"{swap.id}.json", json.dumps(asdict(swap)).encode())

    def keep(self, swap: Swap) -> None:
        """Keep one document's text over the end of this session, for the next start.

        Raises:
            OSError: it cannot be written.
        """
        self.write(swap)
        (self._own / _KEPT).touch()
        self._kept.add(swap.id)

    def keep_none(self) -> None:
        """Keep nothing over the end after all."""
        with contextlib.suppress(OSError):
            (self._own / _KEPT).unlink()
        self._kept.clear()

    def _begin(self) -> None:
        """Make the session's folder, and hold it as long as the studio runs."""
        if self._lock is None:
            private_folder(self._own)
            self._lock = QLockFile(str(self._own / _LOCK))
            self._lock.setStaleLockTime(0)
            self._lock.tryLock(0)

    def forget(self, identifier: str) -> None:
        """Drop one document's swap file: it is saved, or thrown away on purpose."""
        if identifier in self._kept:
            return
        with self._writing:
            self._forgotten[identifier] += 1
            with contextlib.suppress(OSError):  # where it could not be written either
                (self._own / f"{identifier}.json").unlink()

    def left_behind(self, *, kept: bool = False) -> list[Swap]:
        """Return the texts of sessions that did not end well, the newest first.

        Args:
            kept: those that a session left on purpose, instead.
        """
        found: list[Swap] = []
        for folder in self._abandoned(kept=kept):
            for path in folder.glob("*.json"):
                swap = _read(path)
                if swap is not None:
                    found.append(swap)
        return sorted(found, key=lambda swap: swap.time, reverse=True)

    def clear_left_behind(self, *, kept: bool = False) -> None:
        """Delete what earlier sessions left: it was taken over or turned down."""
        for folder in self._abandoned(kept=kept):
            shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """End the session well: nothing of it will be offered but what was kept on purpose."""
        if self._lock is not None:
            self._lock.unlock()
        if self._kept:
            return
        shutil.rmtree(self._own, ignore_errors=True)
        with contextlib.suppress(OSError):
            self._root.rmdir()

    def _abandoned(self, *, kept: bool) -> list[Path]:
        if not self._root.is_dir():
            return []
        folders = []
        for folder in self._root.iterdir():
            if folder == self._own or not folder.is_dir():
                continue
            if (folder / _KEPT).exists() != kept:
                continue
            lock = QLockFile(str(folder / _LOCK))
            lock.setStaleLockTime(0)
            if lock.tryLock(0):  # Qt sees that the process of a stale lock is gone
                lock.unlock()
                folders.append(folder)
        return folders


def make_swap(
    identifier: str, path: Path | None, title: str, text: str, base: str, caret: int = 0
) -> Swap:
    """Make a swap of now."""
    return Swap(identifier, str(path) if path else "", title, text, base, time.time(), caret)


def _read(path: Path) -> Swap | None:
    """Read a swap file; None for one that a crash cut off."""
    import json

    try:
        return Swap(**json.loads(read_text(path, errors="surrogatepass")))
    except (OSError, ValueError, TypeError):
        return None
