"""The log file, and the report of a crash of the whole process.

The log turns over at a megabyte, three old ones are kept. A crash below Python (a fault in a
library) cannot be caught: Python's fault handler writes where each thread stood, and the next start
finds it.
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
    """This process's file for a crash below Python; empty as long as all is well."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / f"{_PREFIX}{os.getpid()}.txt"
        self._stream: TextIO | None = None

    def open(self) -> None:
        """Have faults written; where the folder cannot be written, there is no such file."""
        with contextlib.suppress(OSError):
            private_file(self._path)
            self._stream = self._path.open("w", encoding="utf-8")
            faulthandler.enable(self._stream)

    def close(self) -> None:
        """Remove the file: the process ends without a fault."""
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
                path.unlink()  # killed from outside: nothing went wrong here
                continue
        except OSError:
            continue
        found.append(HardCrash(path, text))
    return found


def set_aside(crash: HardCrash) -> None:
    """Keep one file of a reported crash, and report it no more."""
    with contextlib.suppress(OSError):
        crash.path.replace(crash.path.with_name("last-hard-crash.txt"))


def start_log(folder: Path, hide: Callable[[str], str] = str) -> Path | None:
    """Write what the studio and its libraries warn of into a log file that turns over.

    Args:
        folder: where it is.
        hide: hides the secrets of a text.

    Returns:
        The file; None where the folder cannot be written.
    """
    import logging
    from logging.handlers import RotatingFileHandler

    path = folder / LOG_NAME

    class Private(RotatingFileHandler):
        """Opens files that only the user may read, also after the log turned over."""

        def _open(self) -> TextIOWrapper:
            private_file(path)
            return super()._open()

        def handleError(self, record: logging.LogRecord) -> None:
            """Leave out a line that cannot be written, as on a full disk."""

    try:
        private_folder(folder)
        handler = Private(
            path, maxBytes=_MOST_BYTES, backupCount=_KEPT, encoding="utf-8", delay=True
        )
    except OSError:
        return None

    class Discreet(logging.Formatter):
        """Writes whole lines, tracebacks too, without secrets."""

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
        handler.close()


def _runs(number: int) -> bool:
    if os.name == "nt":
        return False  # asking would end it: signal 0 is no question on Windows
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
