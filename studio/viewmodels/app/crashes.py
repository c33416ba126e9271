"""Uncaught exceptions of the studio: each is caught, logged, and shown once.

They come from four sources: a slot of the window, a thread, an asyncio task that is not awaited,
and a deleted object. All are described by one type.
"""

import os
import platform
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, TypeAlias

from PySide6.QtCore import QObject, Qt, Signal, qVersion

from studio import __version__
from studio.core.masking.masker import Masker
from studio.core.masking.redact import without_keys, without_logins

CrashOrigin: TypeAlias = Literal["window", "thread", "task"]


@dataclass(frozen=True, slots=True)
class Crash:
    """An uncaught exception."""

    summary: str
    """Type and message of the exception on one line, without secrets."""

    report: str
    """Text for a bug report: versions and traceback, without secrets."""

    place: CrashOrigin
    """Source of the exception."""


def crash_of(
    error: BaseException,
    place: CrashOrigin,
    environment: Mapping[str, str],
    hide: Callable[[str], str] = str,
) -> Crash:
    """Describe an error without private data.

    Args:
        error: the exception.
        place: source of the exception.
        environment: environment variables; values whose names suggest secrets are hidden.
        hide: hides other secrets in a text, such as keys of connections.
    """
    summary = traceback.format_exception_only(error)[-1].strip().split("\n", 1)[0]
    way = "".join(traceback.format_exception(error))
    text = f"{_versions()}\nWhere: {place}\n\n{way}"
    summary, text = hide(summary), hide(text)
    return Crash(without_secrets(summary, environment), without_secrets(text, environment), place)


def without_secrets(text: str, environment: Mapping[str, str]) -> str:
    """Return `text` with keys and the user's home folder hidden."""
    text = Masker(environment).mask(text)
    home = str(Path.home())
    if len(home) > 1:
        text = text.replace(home, "~")
    return without_keys(without_logins(text))


def _versions() -> str:
    when = time.strftime("%Y-%m-%d %H:%M:%S %z")
    return (
        f"Prompt Studio {__version__}, {when}\n"
        f"Python {platform.python_version()}, Qt {qVersion()}, {platform.platform()}"
    )


class Crashes(QObject):
    """Handles the uncaught exceptions of the four sources, from `watch` to `rest`."""

    happened = Signal(Crash)

    _fell = Signal(Crash)  # Crash, from any thread

    def __init__(self, parent: QObject | None = None, *, hide: Callable[[str], str] = str) -> None:
        """Create the handler; `watch` starts it.

        Args:
            parent: owner.
            hide: hides the secrets in a text.
        """
        super().__init__(parent)
        self._hide = hide
        self._fell.connect(self.happened, Qt.ConnectionType.QueuedConnection)
        self._handler: _TaskHandler | None = None
        self._before = sys.excepthook, threading.excepthook

    def watch(self) -> None:
        """Catch exceptions in slots of the window and in threads."""
        self._before = sys.excepthook, threading.excepthook
        sys.excepthook = self._in_window
        threading.excepthook = self._in_thread

    def watch_tasks(self) -> None:
        """Catch exceptions in tasks as well, which asyncio logs."""
        import logging

        self._handler = _TaskHandler(self)
        logging.getLogger("asyncio").addHandler(self._handler.handler)

    def rest(self) -> None:
        """Restore the previous handlers, except where another handler was set since."""
        of_window, of_threads = self._before
        if sys.excepthook == self._in_window:
            sys.excepthook = of_window
        if threading.excepthook == self._in_thread:
            threading.excepthook = of_threads
        if self._handler is not None:
            import logging

            logging.getLogger("asyncio").removeHandler(self._handler.handler)
            self._handler = None

    def tell(self, error: BaseException, place: CrashOrigin) -> None:
        """Log an error and let the window show it. Safe to call from any thread."""
        import logging

        crash = crash_of(error, place, os.environ, self._hide)
        logging.getLogger("studio").error("%s", crash.report)
        sys.stderr.write(crash.report)
        self._fell.emit(crash)

    def _in_window(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        self.tell(error.with_traceback(trace), "window")

    def _in_thread(self, fallen: threading.ExceptHookArgs) -> None:
        if fallen.exc_value is not None and not issubclass(fallen.exc_type, SystemExit):
            self.tell(fallen.exc_value, "thread")


class _TaskHandler:
    """A handler for asyncio's logger; `logging` is imported only after the window is shown."""

    def __init__(self, crashes: Crashes) -> None:
        import logging

        class Handler(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                error = record.exc_info[1] if record.exc_info else None
                if error is not None:
                    crashes.tell(error, "task")

        self.handler = Handler(logging.ERROR)
