"""The log file, and the report of a crash of the whole process.

The log is rotated at one megabyte; three old files are kept. A crash in native code (a fault in a
library) cannot be caught: Python's fault handler writes the stack of each thread, and the next
start finds the file.
"""

import contextlib
import faulthandler
import os
from collections.abc import Callable
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from studio import __version__
from studio.core.masking.redact import without_keys, without_logins
from studio.core.text.files import private_file, private_folder, read_text

LOG_NAME = "studio.log"
_PREFIX = "hard-crash-"
_MOST_BYTES = 1_000_000
_KEPT = 3


@dataclass(frozen=True, slots=True)
class HardCrash:
    """A crash of an earlier process."""

    path: Path
    """File with the report."""

    text: str
    """Stack of each thread."""


class FaultFile:
    """This process's file for the report of a native crash; empty unless there was one."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / f"{_PREFIX}{os.getpid()}.txt"
        self._stream: TextIO | None = None

    def open(self) -> None:
        """Enable crash reports; if the folder cannot be written, there is no file."""
        with contextlib.suppress(OSError):
            private_file(self._path)
            self._stream = self._path.open("w", encoding="utf-8")
            faulthandler.enable(self._stream)

    def close(self) -> None:
        """Remove the file, as the process ends normally."""
        if self._stream is None:
            return
        faulthandler.disable()
        self._stream.close()
        self._stream = None
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)


def hard_crashes(folder: Path) -> list[HardCrash]:
    """Return the crash reports of earlier processes; files of running processes are skipped."""
    found = []
    for path in sorted(folder.glob(f"{_PREFIX}*.txt")):
        number = path.stem.removeprefix(_PREFIX)
        if number == str(os.getpid()) or (number.isdigit() and _runs(int(number))):
            continue
        try:
            text = read_text(path, errors="replace").strip()
            if not text:
                path.unlink()  # the process was killed, which is no crash
                continue
        except OSError:
            continue
        found.append(HardCrash(path, text))
    return found


def set_aside(crash: HardCrash) -> None:
    """Keep a copy of a reported crash, and do not report it again."""
    with contextlib.suppress(OSError):
        crash.path.replace(crash.path.with_name("last-hard-crash.txt"))


def start_log(folder: Path, hide: Callable[[str], str] = str) -> Path | None:
    """Write warnings of the studio and its libraries to a rotating log file.

    Args:
        folder: folder of the file.
        hide: removes secrets from a text.

    Returns:
        The file; None if the folder cannot be written.
    """
    import logging
    from logging.handlers import RotatingFileHandler

    path = folder / LOG_NAME

    class Private(RotatingFileHandler):
        """A handler whose files only the user can read, also after rotation."""

        def _open(self) -> TextIOWrapper:
            private_file(path)
            return super()._open()

        def handleError(self, record: logging.LogRecord) -> None:
            """Skip a line that cannot be written, as on a full disk."""

    try:
        private_folder(folder)
        handler = Private(
            path, maxBytes=_MOST_BYTES, backupCount=_KEPT, encoding="utf-8", delay=True
        )
    except OSError:
        return None

    class Discreet(logging.Formatter):
        """A formatter that removes secrets from whole entries, including tracebacks."""

        def format(self, record: logging.LogRecord) -> str:
            return without_keys(without_logins(hide(super().format(record))))

    handler.setFormatter(Discreet("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.setLevel(logging.INFO)
    handler.set_name(LOG_NAME)
    root = logging.getLogger()
    root.addHandler(handler)
    own = logging.getLogger("studio")
    own.setLevel(logging.INFO)
    own.info("Prompt Studio %s begins, process %d", __version__, os.getpid())
    return path


def stop_log() -> None:
    """Close the log file."""
    import logging

    root = logging.getLogger()
    for handler in [each for each in root.handlers if each.get_name() == LOG_NAME]:
        root.removeHandler(handler)
        with contextlib.suppress(OSError):  # on a full disk its last lines are not written
            handler.close()


def _runs(number: int) -> bool:
    if os.name == "nt":
        return False  # signal 0 would end the process on Windows
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
