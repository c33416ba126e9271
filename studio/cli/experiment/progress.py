"""How far a run is, on standard error."""

from __future__ import annotations

import sys
import time

from studio.application.experiments.run.runner import ExperimentRunner

_REDRAW_SECONDS = 0.25


class RunProgress:
    """One line redrawn on a terminal; else a line at each tenth."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._drawn = 0.0
        self._tenth = 0

    def show(self, runner: ExperimentRunner) -> None:
        """Tell how far it is, not too often."""
        found = runner.progress
        now = time.monotonic()
        if self._is_terminal:
            if now - self._drawn >= _REDRAW_SECONDS:
                self._drawn = now
                print(f"\r\x1b[K{self._line(runner)}", end="", file=sys.stderr, flush=True)
            return
        tenth = 10 * found.over // max(1, found.total)
        if tenth > self._tenth:
            self._tenth = tenth
            print(self._line(runner), file=sys.stderr, flush=True)

    def end(self, runner: ExperimentRunner) -> None:
        """Leave the line as it is at the end."""
        if self._is_terminal:
            print(f"\r\x1b[K{self._line(runner)}", file=sys.stderr, flush=True)

    @staticmethod
    def _line(runner: ExperimentRunner) -> str:
        found = runner.progress
        left = found.seconds_left
        rest = f", {left:.0f} s left" if left else ""
        errors = f", {found.errors} without an answer" if found.errors else ""
        cost = f", ${found.cost:.4f}" if found.cost else ""
        return f"{found.over} of {found.total} cells{errors}{cost}{rest}"
