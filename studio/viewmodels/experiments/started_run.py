"""A run of an experiment that is under way on the loop's thread."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from studio.application.experiments.grid import ExperimentGrid, grid_of
from studio.application.experiments.plan import (
    ExperimentPlan,
    ExperimentServices,
    plan_experiment,
)
from studio.application.experiments.run.again import lost_rows, with_rows
from studio.application.experiments.run.estimate import ExperimentEstimate
from studio.application.experiments.run.runner import ExperimentRunner
from studio.application.experiments.run.spending import ExperimentProgress
from studio.core.experiments.results.cells import CellKey, CellOutcome
from studio.core.experiments.results.ledger import ExperimentLedger

_tr = partial(QCoreApplication.translate, "ExperimentController")

OnBegun = Callable[[ExperimentPlan, ExperimentEstimate, int, ExperimentGrid], None]
"""Told, on the loop's thread, what is about to be asked."""


class StartedRun:
    """One start; the window fetches what has arrived when it draws."""

    def __init__(
        self, path: Path, services: ExperimentServices, ledger: ExperimentLedger, on_begun: OnBegun
    ) -> None:
        """Begin nothing yet.

        Args:
            path: the experiment file.
            services: what it is run with.
            ledger: where results are kept.
            on_begun: told once the plan stands.
        """
        self.arrived: deque[tuple[CellKey, CellOutcome]] = deque()
        """Cells that are over and not drawn yet."""
        self._path, self._services, self._ledger = path, services, ledger
        self._on_begun = on_begun
        self._runner: ExperimentRunner | None = None
        self.is_writing = False
        """Whether the ledger is needed."""

    @property
    def progress(self) -> ExperimentProgress | None:
        """How far it is; None before the plan stands."""
        return self._runner.progress if self._runner is not None else None

    async def go(self, only: str, shown: int | None) -> str:
        """Plan, prepare and run; gives a sentence on how it ended, empty where all is well.

        Args:
            only: `errors` or `failed`: such cells of the shown result again; else a new result.
            shown: the number of the shown result.

        Raises:
            ExperimentError: the file cannot be run.
            LedgerError: results cannot be written.
            ModelError: a connection lacks something.
            ToolSourceError: the tools cannot be started.
        """
        self.is_writing = True
        try:
            return await self._go(only, shown)
        finally:
            self.is_writing = False

    async def _go(self, only: str, shown: int | None) -> str:
        ledger = self._ledger
        plan = await asyncio.to_thread(plan_experiment, self._path, self._services)
        runner = self._opened(plan)
        said = ""
        try:
            estimate = await runner.prepare()
            if only and shown is not None and runner.resumable(shown):
                ledger.reopen(shown, errors=True, failed=only == "failed")
                result = shown
            else:
                lost = lost_rows(ledger, shown, plan) if only and shown is not None else frozenset()
                if lost:  # the file has changed since: what failed is asked as it is now
                    await runner.close()
                    plan = with_rows(plan, lost)
                    runner = self._opened(plan)
                    estimate = await runner.prepare()
                    said = _tr(
                        "The experiment has changed: these are the {count} rows that did not pass, "
                        "asked as it is now."
                    ).format(count=len(plan.rows))
                result = runner.begin()
            grid = await asyncio.to_thread(grid_of, ledger, result)
            self._on_begun(plan, estimate, result, grid)
            await runner.run(result)
            if refused := runner.refused_calls:
                return _tr(
                    "{count} tool calls were refused: they ask for approval. Answer the tools by "
                    "`mocks:` in the file."
                ).format(count=refused)
            return runner.paused_by or said
        finally:
            self._runner = None
            await runner.close()

    def _opened(self, plan: ExperimentPlan) -> ExperimentRunner:
        self._runner = ExperimentRunner(
            plan, self._services, self._ledger,
            on_cell=lambda *each: self.arrived.append(each),
        )  # fmt: skip
        return self._runner

    async def stop(self) -> None:
        """Ask for no more; what is under way may end."""
        if self._runner is not None:
            self._runner.stop()
