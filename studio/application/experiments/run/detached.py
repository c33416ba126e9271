"""Runs that go on without who started them: a process of their own, watched through the ledger.

The ledger is the truth. Whoever runs a result holds a lock beside it; another process only looks,
and asks for the end by a word in the ledger.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from studio.application.experiments.run.pace import Pace
from studio.application.experiments.run.runner import ExperimentRunner
from studio.application.experiments.run.spending import ExperimentProgress
from studio.application.words import translate
from studio.core.experiments.results.cells import CellKey, CellOutcome, CellState
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.text.bounded_file import read_bounded

_tr = partial(translate, "DetachedRun")

STOPPING = "stopping"
"""The state of a result whose run somebody asks to end."""

_LOOK_SECONDS = 0.5
_START_LOOK_SECONDS = 0.05
_START_SECONDS = 60.0
_TAIL = 2000


class DetachedRunError(Exception):
    """A run that did not start by itself; the text has what it said."""


@dataclass(frozen=True, slots=True)
class DetachedRun:
    """A run that was started."""

    process: int
    """Its process."""

    log: Path
    """What it prints."""


def start_detached(arguments: Sequence[str], ledger: ExperimentLedger, result: int) -> DetachedRun:
    """Start a process that runs a result, and wait until it does.

    It has no terminal and no parent that it would end with.

    Args:
        arguments: of `prompt-studio`.
        ledger: where the result is.
        result: its number.

    Raises:
        DetachedRunError: it ended before it ran the result.
    """
    log = ledger.path.with_name(f"{ledger.path.stem}-run-{result}.log")
    own = [sys.executable] if getattr(sys, "frozen", False) else [sys.executable, "-m", "studio"]
    ledger.end(result, "running")  # a state from before would pass for the end of this run
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*own, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            creationflags=flags,
            start_new_session=sys.platform != "win32",
        )
    if _is_under_way(process, ledger, result):
        process.returncode = 0  # nobody waits for it: it may live longer than this process
        return DetachedRun(process.pid, log)
    ledger.end(result, "cancelled")
    words = read_bounded(log)[-_TAIL:].decode(errors="replace").strip()
    raise DetachedRunError(words or _tr("The run ended before it began."))


def _is_under_way(process: subprocess.Popen[bytes], ledger: ExperimentLedger, result: int) -> bool:
    """Wait until a process runs a result; whether it does, or has done so already."""
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        if ledger.is_run(result):
            return True
        time.sleep(_START_LOOK_SECONDS)
    return process.poll() is None or ledger.state(result) != "running"


async def stop_when_asked(runner: ExperimentRunner, ledger: ExperimentLedger, result: int) -> None:
    """Stop a run when another process asks for it; ends with the run, by being cancelled."""
    while await asyncio.to_thread(ledger.state, result) != STOPPING:
        await asyncio.sleep(_LOOK_SECONDS)
    runner.stop()


class WatchedRun:
    """A result that another process runs, as the ledger shows it."""

    def __init__(self, ledger: ExperimentLedger, result: int) -> None:
        """Take a result; `look` reads it."""
        self._ledger = ledger
        self._result = result
        self._pace = Pace()
        self._started = time.monotonic()
        self._before: tuple[int, float] | None = None
        self._known: set[CellKey] | None = None
        self.state = "running"
        """How it stands."""
        self.progress: ExperimentProgress | None = None
        """How far it is; None before the first look."""

    @property
    def is_lost(self) -> bool:
        """Whether nobody runs it any more and it is not over."""
        return self.state in ("running", STOPPING) and not self._ledger.is_run(self._result)

    def look(self) -> bool:
        """Read how it stands; gives whether it goes on."""
        is_run = self._ledger.is_run(self._result)  # before the state: it is written first
        self.state = self._ledger.state(self._result)
        totals = self._ledger.scans.variant_totals(self._result)
        over = sum(each.done + each.errors for each in totals)
        cost = sum(each.cost for each in totals)
        if self._before is None:
            self._before = over, cost
        self._pace.note(over)
        total = sum(each.cells for each in totals)
        asked = over - self._before[0]
        each_cost = (cost - self._before[1]) / asked if asked else cost / over if over else 0.0
        self.progress = ExperimentProgress(
            total,
            over,
            sum(each.errors for each in totals),
            sum(each.cached for each in totals),
            cost,
            sum(each.tokens for each in totals),
            time.monotonic() - self._started,
            self._pace.rate,
            cost + each_cost * (total - over) if cost else None,
        )
        return is_run

    def arrived(self) -> list[tuple[CellKey, CellOutcome]]:
        """The cells that came over since the last time, without their answers."""
        found: list[tuple[CellKey, CellOutcome]] = []
        known = self._known if self._known is not None else set()
        for repeat, row, variant, state, passed, score in self._ledger.scans.states(self._result):
            key = CellKey(repeat, row, variant)
            if state < CellState.DONE or key in known:
                continue
            known.add(key)
            verdict = None if passed is None else bool(passed)
            found.append((key, CellOutcome(CellState(state), "", verdict, score or 0.0)))
        is_first, self._known = self._known is None, known
        return [] if is_first else found

    def ask_to_stop(self) -> None:
        """Ask the process that runs it to end."""
        self._ledger.end(self._result, STOPPING)

    async def watch(self, tell: Callable[[ExperimentProgress], None]) -> str:
        """Look until it ends; gives its state, `running` where nobody runs it any more."""
        while True:
            goes_on = await asyncio.to_thread(self.look)
            if self.progress is not None:
                tell(self.progress)
            if not goes_on:
                return "running" if self.state == STOPPING else self.state
            await asyncio.sleep(_LOOK_SECONDS)
