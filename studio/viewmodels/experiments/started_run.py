"""A run of an experiment that is under way on the loop's thread."""

import asyncio
from collections import deque
from collections.abc import Callable
from pathlib import Path

from studio.application.experiments.asking import Asker, CellProgress
from studio.application.experiments.batches.asker import BatchAsker, batch_plan
from studio.application.experiments.cluster.asker import ClusterAsker
from studio.application.experiments.cluster.dispatch import WorkersAddress
from studio.application.experiments.generate import CasesTable, plan_cases
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
    """A run that costs more than the user agreed to."""

    def __init__(self, cost: float) -> None:
        super().__init__(cost)
        self.cost = cost
        """About how many US dollars."""


OnBegun = Callable[[ExperimentPlan, ExperimentEstimate, int, ExperimentGrid], None]
"""Callback on the loop's thread with the plan before the first request."""


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
        cases: CasesTable | None = None,
        most_cost: float | None = None,
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
            cases: the table of which the cells are; None for those of the file.
            most_cost: US dollars above which nothing is sent; None sends whatever it costs.
        """
        self.arrived: deque[tuple[CellKey, CellOutcome]] = deque()
        """Cells that are over and not drawn yet."""
        self.coming: deque[tuple[CellKey, CellProgress]] = deque()
        """Answers so far, not drawn yet."""
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
        """Return the progress; None before the first rows are read."""
        if self._runner is not None:
            return self._runner.progress
        read = self._rows_read
        return ExperimentProgress(0, 0, 0, 0, 0.0, 0, 0.0, worked_out=read) if read else None

    async def go(self, only: str, shown: int | None, keys: frozenset[CellKey] | None = None) -> str:
        """Plan, prepare and run; gives a sentence on how it ended, empty where all is well.

        Args:
            only: `errors` or `failed`: such cells of the shown result again; `rest`: those that
                wait or have no answer; else a new result.
            shown: the number of the shown result.
            keys: the cells that are asked, beside those that need no request; None asks all.

        Raises:
            ExperimentError: the file cannot be run.
            LedgerError: results cannot be written.
            ModelError: a connection lacks something.
            ToolSourceError: the tools cannot be started.
            WorkersError: the workers cannot be used.
            CostQuestion: it costs more than was agreed; nothing was sent.
        """
        self._over.clear()
        try:
            return await self._go(only, shown, keys)
        finally:
            self._over.set()

    async def until_over(self) -> None:
        """Wait until the ledger is not needed any more."""
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
                    # A judge may have been named since.
                    failed, undecided = only == "failed", only == "rest"
                    ledger.reopen(shown, errors=True, failed=failed, undecided=undecided)
                result = shown
            else:
                asks_lost = only in ("errors", "failed") and shown is not None
                lost = lost_rows(ledger, shown or 0, plan) if asks_lost else frozenset()
                if lost:  # the file has changed since: what failed is asked as it is now
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
                    "What was sent in batches is still answered and paid for. Run in batches again "
                    "to read it."
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
        """Return whether cells of the shown result are asked, instead of a new one's.

        Raises:
            ExperimentError: it has batches under way, and they are not what is asked for.
        """
        waits = bool(self._ledger.batches.under_way(shown))
        if only and waits and not self._in_batches:
            raise ExperimentError(
                tr(
                    "The result has batches under way, whose cells would be asked a second time. "
                    "Choose batches to go on with them."
                )
            )
        return bool(only) or (waits and self._in_batches)

    async def stop(self) -> None:
        """Ask for no more; what is under way may end."""
        if self._runner is not None:
            self._runner.stop()


def _asked_again(rows: int) -> str:
    if rows == 1:
        return tr(
            "The experiment has changed: this is the row that did not pass, asked as it is now."
        )
    return tr(
        "The experiment has changed: these are the {count} rows that did not pass, "
        "asked as it is now."
    ).format(count=rows)


def _refused(calls: int) -> str:
    if calls == 1:
        return tr(
            "1 tool call was refused: it asks for approval. Answer the tools by `mocks:` in the "
            "file."
        )
    return tr(
        "{count} tool calls were refused: they ask for approval. Answer the tools by "
        "`mocks:` in the file."
    ).format(count=calls)
