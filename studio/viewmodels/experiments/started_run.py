"""A running experiment in the loop's thread."""

import asyncio
from collections import deque
from collections.abc import Callable
from pathlib import Path

from studio.application.experiments.asking import Asker, CellProgress
from studio.application.experiments.batches.asker import BatchAsker, batch_plan
from studio.application.experiments.cases import CasesTable, plan_cases
from studio.application.experiments.cluster.asker import ClusterAsker
from studio.application.experiments.cluster.dispatch import WorkersAddress
from studio.application.experiments.grid import ExperimentGrid, grid_of, lost_rows
from studio.application.experiments.plan import (
    ExperimentPlan,
    ExperimentServices,
    plan_experiment,
    with_rows,
)
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.run.estimate import ExperimentEstimate
from studio.application.experiments.run.runner import ExperimentRunner
from studio.application.experiments.run.spending import ExperimentProgress
from studio.application.words import tr
from studio.core.experiments.results.cells import CellKey, CellOutcome
from studio.core.experiments.results.ledger import ExperimentLedger


class CostQuestion(Exception):  # noqa: N818 - nothing is wrong
    """Error for a run that would cost more than the user agreed to."""

    def __init__(self, cost: float) -> None:
        super().__init__(cost)
        self.cost = cost
        """Approximate cost in US dollars."""


OnBegun = Callable[[ExperimentPlan, ExperimentEstimate, int, ExperimentGrid], None]
"""Callback in the loop's thread with the plan, before the first request."""


class StartedRun:
    """One start of a run; the window takes new outcomes when it draws."""

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
        cases: CasesTable | None = None,
        most_cost: float | None = None,
    ) -> None:
        """Create the run; `go` starts it.

        Args:
            path: the experiment file.
            services: services that run it.
            ledger: ledger for the results.
            on_begun: called when the plan is complete.
            workers: address of workers that run the cells; None uses this process.
            tell: called in the loop's thread with news about workers or batches.
            in_batches: whether cells are sent in batches instead of to workers.
            cases: table of the cases; None for the rows of the file.
            most_cost: cost in US dollars above which nothing is sent; None for no limit.
        """
        self.arrived: deque[tuple[CellKey, CellOutcome]] = deque()
        """Finished cells that are not drawn yet."""
        self.coming: deque[tuple[CellKey, CellProgress]] = deque()
        """Partial answers that are not drawn yet."""
        self._cases, self._most_cost = cases, most_cost
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
        """Return the progress; None before rows are read."""
        if self._runner is not None:
            return self._runner.progress
        read = self._rows_read
        return ExperimentProgress(0, 0, 0, 0, 0.0, 0, 0.0, worked_out=read) if read else None

    async def go(self, only: str, shown: int | None, keys: frozenset[CellKey] | None = None) -> str:
        """Plan, prepare and run; return a sentence on how it ended, or "" on success.

        Args:
            only: `errors` or `failed` to repeat such cells of the shown result; `rest` for those
                without an answer; else a new result.
            shown: number of the shown result.
            keys: the cells to run, besides those that need no request; None runs all.

        Raises:
            ExperimentError: the file cannot be run.
            LedgerError: results cannot be written.
            ModelError: a connection is incomplete.
            ToolSourceError: the tools cannot be started.
            WorkersError: the workers cannot be used.
            CostQuestion: the run costs more than was agreed; nothing was sent.
        """
        self._over.clear()
        try:
            return await self._go(only, shown, keys)
        finally:
            self._over.set()

    async def until_over(self) -> None:
        """Wait until the run no longer uses the ledger."""
        await self._over.wait()

    async def _go(self, only: str, shown: int | None, keys: frozenset[CellKey] | None) -> str:
        ledger = self._ledger
        plan = await asyncio.to_thread(self._planned)
        if self._in_batches:
            plan = batch_plan(plan)
        runner = self._opened(plan)
        said = ""
        try:
            estimate = await runner.prepare()
            if self._most_cost is not None and (estimate.cost or 0.0) > self._most_cost:
                raise CostQuestion(estimate.cost or 0.0)
            if shown is not None and self._goes_on(shown, only) and runner.cells.resumable(shown):
                if only:
                    ledger.reopen(shown, errors=True, failed=only == "failed")
                if only == "rest":  # a judge may have been set since
                    runner.cells.decide_again(shown)
                result = shown
            else:
                asks_lost = only in ("errors", "failed") and shown is not None
                lost = lost_rows(ledger, shown or 0, plan) if asks_lost else frozenset()
                if lost:  # the file has changed: failed cells use its current text
                    await runner.close()
                    plan = with_rows(plan, lost)
                    runner = self._opened(plan)
                    await runner.prepare()
                    said = _asked_again(len(plan.rows))
                result = runner.begin()
            grid = await asyncio.to_thread(grid_of, ledger, result)
            self._on_begun(plan, runner.left(result), result, grid)
            await runner.run(result, keys)
            if ledger.batches.under_way(result):
                return tr(
                    "Requests sent in batches are still answered and charged. Run in batches "
                    "again to read the answers."
                )
            if refused := runner.refused_calls:
                return _refused(refused)
            return runner.paused_by or said
        finally:
            self._runner = None
            await runner.close()

    def _planned(self) -> ExperimentPlan:
        if self._cases is not None:
            return plan_cases(self._cases, self._services, self._count_rows)
        return plan_experiment(self._path, self._services, on_rows=self._count_rows)

    def _count_rows(self, count: int) -> None:
        self._rows_read += count

    def _opened(self, plan: ExperimentPlan) -> ExperimentRunner:
        asker: Asker | None = None
        if self._in_batches:
            asker = BatchAsker(plan, self._services, self._ledger, self._tell)
        elif self._workers:
            asker = ClusterAsker(plan, self._services, self._workers, self._tell)
        self._runner = ExperimentRunner(
            plan,
            self._services,
            self._ledger,
            on_cell=lambda *each: self.arrived.append(each),
            on_progress=lambda *each: self.coming.append(each),
            asker=asker,
        )
        return self._runner

    def _goes_on(self, shown: int, only: str) -> bool:
        """Return whether the run continues the shown result instead of starting a new one.

        Raises:
            ExperimentError: the result has unfinished batches, and other cells are requested.
        """
        waits = bool(self._ledger.batches.under_way(shown))
        if only and waits and not self._in_batches:
            raise ExperimentError(
                tr(
                    "The result has pending batches, whose cells would be sent again. Choose "
                    "batches to continue them."
                )
            )
        return bool(only) or (waits and self._in_batches)

    async def stop(self) -> None:
        """Start no further cells; running ones may finish."""
        if self._runner is not None:
            self._runner.stop()


def _asked_again(rows: int) -> str:
    if rows == 1:
        return tr("The experiment has changed: the failed row was run in its current form.")
    return tr(
        "The experiment has changed: the {count} failed rows were run in their current form."
    ).format(count=rows)


def _refused(calls: int) -> str:
    if calls == 1:
        return tr(
            "1 tool call was refused because it needs approval. Set `mocks:` for the tools in the "
            "file."
        )
    return tr(
        "{count} tool calls were refused because they need approval. Set `mocks:` for the tools "
        "in the file."
    ).format(count=calls)
