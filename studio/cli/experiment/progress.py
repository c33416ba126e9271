"""How far a run is, on standard error."""

from __future__ import annotations

import sys
import time

from studio.application.experiments.run.spending import ExperimentProgress
from studio.application.experiments.run.words import progress_line

_REDRAW_SECONDS = 0.25


class RunProgress:
    """One line redrawn on a terminal; else a line at each tenth."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._drawn = 0.0
        self._tenth = 0

    def show(self, found: ExperimentProgress) -> None:
        """Tell how far it is, not too often."""
        now = time.monotonic()
        if self._is_terminal:
            if now - self._drawn >= _REDRAW_SECONDS:
                self._drawn = now
                print(f"\r\x1b[K{progress_line(found)}", end="", file=sys.stderr, flush=True)
            return
        tenth = 10 * found.over // max(1, found.total)
        if tenth > self._tenth:
            self._tenth = tenth
            print(progress_line(found), file=sys.stderr, flush=True)

    def end(self, found: ExperimentProgress) -> None:
        """Leave the line as it is at the end."""
        if self._is_terminal:
            print(f"\r\x1b[K{progress_line(found)}", file=sys.stderr, flush=True)
