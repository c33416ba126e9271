"""How far a run is, on standard error."""

from __future__ import annotations

import asyncio
import sys
import time

from studio.application.experiments.run.estimate import ExperimentEstimate
from studio.application.experiments.run.runner import ExperimentRunner
from studio.application.experiments.run.spending import ExperimentProgress
from studio.application.experiments.run.words import progress_line
from studio.cli.terminal import tell

_REDRAW_SECONDS = 0.25
_LOOK_SECONDS = 1.0
_MANY = 5_000
"""Cells from which on it is told how far the plan is, where nothing is redrawn."""


class RunProgress:
    """One line redrawn on a terminal; else a line at each tenth."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._drawn = 0.0
        self._tenth = 0
        self._rows = 0

    def show(self, found: ExperimentProgress) -> None:
        """Tell how far it is, not too often."""
        now = time.monotonic()
        if self._is_terminal:
            if now - self._drawn >= _REDRAW_SECONDS:
                self._drawn = now
                print(f"\r\x1b[K{progress_line(found)}", end="", file=sys.stderr, flush=True)
            return
        if found.worked_out is not None and found.total < _MANY:
            return
        over = found.over if found.worked_out is None else found.worked_out
        tenth = 10 * over // max(1, found.total)
        if tenth > self._tenth:
            self._tenth = tenth
            tell(progress_line(found))

    def read(self, rows: int) -> None:
        """Tell that further rows were read; on a terminal only, they are soon over."""
        self._rows += rows
        if self._is_terminal:
            self.show(ExperimentProgress(0, 0, 0, 0, 0.0, 0, 0.0, worked_out=self._rows))

    async def prepared(self, runner: ExperimentRunner) -> ExperimentEstimate:
        """Have a runner work out what it would send, and tell how far it is."""
        drawing = asyncio.create_task(self._watch(runner))
        try:
            return await runner.prepare()
        finally:
            drawing.cancel()
            self._tenth = 0
            if self._is_terminal and self._drawn:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    async def _watch(self, runner: ExperimentRunner) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            self.show(runner.progress)

    def end(self, found: ExperimentProgress) -> None:
        """Leave the line as it is at the end."""
        if self._is_terminal:
            print(f"\r\x1b[K{progress_line(found)}", file=sys.stderr, flush=True)
