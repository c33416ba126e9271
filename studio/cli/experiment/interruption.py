"""A command that is asked to stop ends what it began."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress


class Interruption:
    """Whether the user has asked the command to stop."""

    def __init__(self, stop: Callable[[], object], *numbers: signal.Signals) -> None:
        """Listen while the event loop goes, which must be running.

        Args:
            stop: called each time.
            numbers: the signals that ask; Ctrl+C where none is given.
        """
        self._stop = stop
        self.has_come = False
        with suppress(NotImplementedError):  # Windows
            for each in numbers or (signal.SIGINT,):
                asyncio.get_running_loop().add_signal_handler(each, self._come)

    def _come(self) -> None:
        self.has_come = True
        self._stop()
