"""A run of an experiment that is under way on the loop's thread."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from studio.application.experiments.batches.asker import BatchAsker, batch_plan
from studio.application.experiments.cell_asker import CellAsker
from studio.application.experiments.cluster.address import WorkersAddress
from studio.application.experiments.cluster.asker import ClusterAsker
from studio.application.experiments.grid import ExperimentGrid, grid_of, lost_rows
from studio.application.experiments.plan import (
    ExperimentPlan,
    ExperimentServices,
    plan_experiment,
    with_rows,
)
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.run.detached import (
    WatchedRun,
    start_detached,
    stop_when_asked,
)
from studio.application.experiments.run.estimate import ExperimentEstimate
from studio.application.experiments.run.runner import ExperimentRunner
from studio.application.experiments.run.spending import ExperimentProgress
from studio.core.experiments.results.cells import CellKey, CellOutcome
from studio.core.experiments.results.ledger import ExperimentLedger

_LOOK_SECONDS = 0.5

_tr = partial(QCoreApplication.translate, "ExperimentController")

OnBegun = Callable[[ExperimentPlan, ExperimentEstimate, int, ExperimentGrid], None]
"""Told, on the loop's thread, what is about to be asked."""


class StartedRun:
    """One start; the window fetches what has arrived when it draws."""

    def __init__(
        self,
        path: Path,
        services: ExperimentServices,
        ledger: ExperimentLedger,
        on_begun: OnBegun,
        workers: WorkersAddress | None = None,
        tell: Callable[[str], None] = lambda _: None,
        *,
        in_batches: bool = False,
    ) -> None:
        """Begin nothing yet.

        Args:
            path: the experiment file.
            services: what it is run with.
            ledger: where results are kept.
            on_begun: told once the plan stands.
            workers: where cells are asked; None asks them in this process.
            tell: told which workers were found, or what happens to batches, on the loop's thread.
            in_batches: whether cells are asked in batches, instead of on workers.
        """
        self.arrived: deque[tuple[CellKey, CellOutcome]] = deque()
        """Cells that are over and not drawn yet."""
        self._path, self._services, self._ledger = path, services, ledger
        self._on_begun = on_begun
        self._workers, self._tell = workers if not in_batches else None, tell
        self._in_batches = in_batches
        self._runner: ExperimentRunner | None = None
        self._rows_read = 0
        self._over = asyncio.Event()
        self._over.set()

    @property
    def progress(self) -> ExperimentProgress | None:
        """How far it is; None before the first rows are read."""
        if self._runner is not None:
            return self._runner.progress
        read = self._rows_read
        return ExperimentProgress(0, 0, 0, 0, 0.0, 0, 0.0, worked_out=read) if read else None

    async def go(self, only: str, shown: int | None, *, by_itself: bool = False) -> str:
        """Plan, prepare and run; gives a sentence on how it ended, empty where all is well.

        Args:
            by_itself: leave the run to a process of its own, which the window does not end.
            only: `errors` or `failed`: such cells of the shown result again; else a new result.
            shown: the number of the shown result.

        Raises:
            ExperimentError: the file cannot be run.
            LedgerError: results cannot be written.
            ModelError: a connection lacks something.
            ToolSourceError: the tools cannot be started.
            WorkersError: the workers cannot be used.
            DetachedRunError: the process of its own did not begin.
        """
        self._over.clear()
        try:
            return await self._go(only, shown, by_itself=by_itself)
        finally:
            self._over.set()

    async def until_over(self) -> None:
        """Wait until the ledger is not needed any more."""
        await self._over.wait()

    async def _go(self, only: str, shown: int | None, *, by_itself: bool) -> str:
        ledger = self._ledger
        plan = await asyncio.to_thread(
            plan_experiment, self._path, self._services, on_rows=self._count_rows
        )
        if self._in_batches:
            plan = batch_plan(plan)
        runner = self._opened(plan, self._workers if not by_itself else None)
        said = ""
        try:
            estimate = await runner.prepare()
            if shown is not None and self._goes_on(shown, only) and runner.cells.resumable(shown):
                if only:
                    ledger.reopen(shown, errors=True, failed=only == "failed")
                result = shown
            else:
                lost = lost_rows(ledger, shown, plan) if only and shown is not None else frozenset()
                if lost:  # the file has changed since: what failed is asked as it is now
                    await runner.close()
                    plan = with_rows(plan, lost)
                    runner = self._opened(plan, self._workers)
                    estimate = await runner.prepare()
                    said = _asked_again(len(plan.rows))
                result = runner.begin()
            grid = await asyncio.to_thread(grid_of, ledger, result)
            self._on_begun(plan, estimate, result, grid)
            if by_itself:
                words = [*_command(self._path, self._workers), "--number", str(result)]
                words += ["--batch"] if self._in_batches else []
                await asyncio.to_thread(start_detached, words, ledger, result)
                return ""
            asked = asyncio.create_task(stop_when_asked(runner, ledger, result))
            try:
                await runner.run(result)
            finally:
                asked.cancel()
            if ledger.batches.under_way(result):
                return _tr(
                    "What was sent in batches is still answered and paid for. Run in batches again "
                    "to read it."
                )
            if refused := runner.refused_calls:
                return _refused(refused)
            return runner.paused_by or said
        finally:
            self._runner = None
            await runner.close()

    def _count_rows(self, count: int) -> None:
        self._rows_read += count

    def _opened(self, plan: ExperimentPlan, workers: WorkersAddress | None) -> ExperimentRunner:
        asker: CellAsker | None = None
        if self._in_batches:
            asker = BatchAsker(plan, self._services, self._ledger, self._tell)
        elif workers:
            asker = ClusterAsker(plan, self._services, workers, self._tell)
        self._runner = ExperimentRunner(
            plan,
            self._services,
            self._ledger,
            on_cell=lambda *each: self.arrived.append(each),
            asker=asker,
        )
        return self._runner

    def _goes_on(self, shown: int, only: str) -> bool:
        """Whether cells of the shown result are asked, instead of a new one's.

        Raises:
            ExperimentError: it has batches under way, and they are not what is asked for.
        """
        waits = bool(self._ledger.batches.under_way(shown))
        if only and waits and not self._in_batches:
            raise ExperimentError(
                _tr(
                    "The result has batches under way, whose cells would be asked a second time. "
                    "Choose batches to go on with them."
                )
            )
        return bool(only) or (waits and self._in_batches)

    async def stop(self) -> None:
        """Ask for no more; what is under way may end."""
        if self._runner is not None:
            self._runner.stop()


class FollowedRun:
    """A run of another process, as the window shows its own."""

    def __init__(self, ledger: ExperimentLedger, result: int) -> None:
        """Look at nothing yet."""
        self.arrived: deque[tuple[CellKey, CellOutcome]] = deque()
        """Cells that are over and not drawn yet, without their answers."""
        self._watched = WatchedRun(ledger, result)

    async def until_over(self) -> None:
        """It only reads the ledger, so there is nothing to wait for."""

    @property
    def progress(self) -> ExperimentProgress | None:
        """How far it is; None before the first look."""
        return self._watched.progress

    async def go(self) -> str:
        """Follow it to its end; gives a sentence where it has none.

        Raises:
            LedgerError: the results cannot be read.
        """
        while await asyncio.to_thread(self._watched.look):
            self.arrived.extend(await asyncio.to_thread(self._watched.arrived))
            await asyncio.sleep(_LOOK_SECONDS)
        if self._watched.is_lost:
            return _tr("The process that ran it is gone. Run goes on with what it had.")
        return ""

    async def stop(self) -> None:
        """Ask the other process to end."""
        await asyncio.to_thread(self._watched.ask_to_stop)


def _command(path: Path, workers: WorkersAddress | None) -> list[str]:
    """What the command line is called with to run an experiment."""
    words = ["experiment", "run", str(path)]
    if workers is not None:
        words += ["--workers", workers.address]
        if workers.certificates is not None:
            words += ["--certificates", str(workers.certificates)]
    return words


def _asked_again(rows: int) -> str:
    if rows == 1:
        return _tr(
            "The experiment has changed: this is the row that did not pass, asked as it is now."
        )
    return _tr(
        "The experiment has changed: these are the {count} rows that did not pass, "
        "asked as it is now."
    ).format(count=rows)


def _refused(calls: int) -> str:
    if calls == 1:
        return _tr(
            "1 tool call was refused: it asks for approval. Answer the tools by `mocks:` in the "
            "file."
        )
    return _tr(
        "{count} tool calls were refused: they ask for approval. Answer the tools by "
        "`mocks:` in the file."
    ).format(count=calls)
