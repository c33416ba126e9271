"""Swap files: copies of unsaved text on disk, which survive a crash.

Each running studio has a folder of its own in the user's data folder, with a lock file. A folder
whose lock is free was left by a crash; its texts are offered at the next start. Texts that were
kept on purpose when quitting (hot exit) are marked and restored without a question.
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
"""Name of the file that marks a folder whose texts were kept on purpose."""


@dataclass(frozen=True, slots=True)
class Swap:
    """Unsaved text of a document."""

    id: str
    """Identifier of the document in its session."""

    path: str
    """Path of the file; empty if it was never saved."""

    title: str
    """Title of the tab."""

    text: str
    """Whole text with LF line ends."""

    base: str
    """Digest of the file from which the text was edited."""

    time: float
    """Time of writing, in seconds since 1970."""

    caret: int = 0
    """Position of the caret in the editor's document (UTF-16 units)."""


class SwapFolder:
    """The swap files of this session and of earlier sessions."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._own = root / os.urandom(16).hex()
        self._lock: QLockFile | None = None
        self._writing = threading.Lock()
        self._forgotten: Counter[str] = Counter()
        self._kept: set[str] = set()

    def writer(self, swap: Swap) -> Callable[[], None]:
        """Return a function that writes a text in a worker, unless it was forgotten before."""
        return partial(self._write, swap, self._forgotten[swap.id])

    def write(self, swap: Swap) -> None:
        """Write the text of a document atomically."""
        self._write(swap, self._forgotten[swap.id])

    def _write(self, swap: Swap, forgotten: int) -> None:
        import json  # imported with the first key press, not with the window

        with self._writing:
            if forgotten != self._forgotten[swap.id]:
                return  # saved while this was waiting
            self._begin()
            write_private(self._own / f"{swap.id}.json", json.dumps(asdict(swap)).encode())

    def keep(self, swap: Swap) -> None:
        """Store the text of a document for the next start.

        Raises:
            OSError: the text cannot be written.
        """
        self.write(swap)
        (self._own / _KEPT).touch()
        self._kept.add(swap.id)

    def keep_none(self) -> None:
        """Undo `keep`: store no texts for the next start."""
        with contextlib.suppress(OSError):
            (self._own / _KEPT).unlink()
        self._kept.clear()

    def _begin(self) -> None:
        """Create the session's folder and lock it while the studio runs."""
        if self._lock is None:
            private_folder(self._own)
            self._lock = QLockFile(str(self._own / _LOCK))
            self._lock.setStaleLockTime(0)
            self._lock.tryLock(0)

    def forget(self, identifier: str) -> None:
        """Delete the swap file of a document that was saved or discarded on purpose."""
        if identifier in self._kept:
            return
        with self._writing:
            self._forgotten[identifier] += 1
            with contextlib.suppress(OSError):  # if it could not be written either
                (self._own / f"{identifier}.json").unlink()

    def left_behind(self, *, kept: bool = False) -> list[Swap]:
        """Return the texts of crashed sessions, the newest first.

        Args:
            kept: return the texts that were kept on purpose instead.
        """
        found: list[Swap] = []
        for folder in self._abandoned(kept=kept):
            for path in folder.glob("*.json"):
                swap = _read(path)
                if swap is not None:
                    found.append(swap)
        return sorted(found, key=lambda swap: swap.time, reverse=True)

    def clear_left_behind(self, *, kept: bool = False) -> None:
        """Delete the texts of earlier sessions, which were restored or declined."""
        for folder in self._abandoned(kept=kept):
            shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """End the session: only texts that were kept on purpose will be offered."""
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
            if lock.tryLock(0):  # Qt detects that the process of the lock has ended
                lock.unlock()
                folders.append(folder)
        return folders


def make_swap(
    identifier: str, path: Path | None, title: str, text: str, base: str, caret: int = 0
) -> Swap:
    """Create a swap with the current time."""
    return Swap(identifier, str(path) if path else "", title, text, base, time.time(), caret)


def _read(path: Path) -> Swap | None:
    """Read a swap file; return None if a crash truncated it."""
    import json

    try:
        return Swap(**json.loads(read_text(path, errors="surrogatepass")))
    except (OSError, ValueError, TypeError):
        return None
