"""One experiment of the window: its file, its results, and its current run."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.application.experiments.cases import CasesTable, plan_cases
from studio.application.experiments.cluster.dispatch import WorkersAddress, WorkersError
from studio.application.experiments.exports.forms import FORMS
from studio.application.experiments.facets import RowFacets, facets_of
from studio.application.experiments.grid import (
    ExperimentGrid,
    dot_of,
    grid_of,
    planned_grid,
    table_grid,
)
from studio.application.experiments.plan import ExperimentPlan, ExperimentServices, plan_experiment
from studio.application.experiments.planned_variants import PlannedVariant
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.report import ExperimentReport, ledger_path, report_of
from studio.application.experiments.run.estimate import ExperimentEstimate
from studio.application.experiments.run.spending import ExperimentProgress
from studio.application.words import tr
from studio.core.experiments.datasets import DatasetError
from studio.core.experiments.results.cells import CellKey, ResultHead, VariantTotal
from studio.core.experiments.results.database import LedgerError
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.models.base import ModelError
from studio.core.text.values import named_reason
from studio.core.tools.source import ToolSourceError
from studio.viewmodels.app.background import Background, LatestTask
from studio.viewmodels.app.jobs import repeating_timer
from studio.viewmodels.app.saved_files import SavedFiles
from studio.viewmodels.experiments.dialog_tasks import failure_words
from studio.viewmodels.experiments.grid_model import ExperimentGridModel
from studio.viewmodels.experiments.result_answers import CasesEditor, ResultAnswers, ShownResult
from studio.viewmodels.experiments.started_run import CostQuestion, StartedRun

_DRAW_MS = 33
_MOST_EARLIER = 20
_REPORT_MS = 1000
_REPORT_SHARE = 10
"""Ratio of the time between two counts to the time of one: counting takes at most a tenth."""

_MOST_AT_ONCE = 2000
_SHOWN_AT_ONCE = 64_000_000
"""Maximum size in bytes of a table whose rows are shown before they are planned."""

ServicesNow = Callable[[], ExperimentServices]
"""Returns the services for experiments with the user's current configuration."""


@dataclass(frozen=True)
class _Loaded:
    heads: tuple[ResultHead, ...]
    grid: ExperimentGrid | None
    report: ExperimentReport | None
    is_live: bool = False


class ExperimentController(QObject):
    """Reads and runs one experiment file, and emits its state."""

    loaded = Signal()
    report_changed = Signal(ExperimentReport)  # ExperimentReport | None
    progress_changed = Signal(ExperimentProgress)
    running_changed = Signal(bool)
    planned = Signal(str)  # reasons why the experiment cannot be run, one per line; empty if it can
    connection_missing = Signal(Path)  # a prompt that names a connection that is not configured
    reported = Signal(str)  # a sentence: paused, failed calls, written files
    failed = Signal(str)
    facets_changed = Signal(RowFacets)
    workers_changed = Signal(str)  # a sentence about the workers; empty for this process
    ended = Signal(ExperimentReport)  # a run has ended
    request_agreement = Signal(float)  # approximate cost of the cases in US dollars

    def __init__(
        self,
        path: Path,
        background: Background,
        services: ServicesNow,
        parent: QObject | None = None,
        cases: CasesTable | None = None,
    ) -> None:
        super().__init__(parent)
        self.path = path
        self.cases = cases
        """Table of a prompt's cases; None for an experiment file."""
        self.model = ExperimentGridModel(self)
        self.plan: ExperimentPlan | None = None
        self.report: ExperimentReport | None = None
        self.heads: tuple[ResultHead, ...] = ()
        self._background = background
        self._services = services
        self._ledger: ExperimentLedger | None = None
        self.workers: WorkersAddress | None = None
        self.in_batches = False
        """Whether the next run uses batches: answers within a day at half the price."""
        self._run: StartedRun | None = None
        self._has_ended = False
        self._work: Future[str] | None = None
        self.result: int | None = None
        """Number of the shown result."""
        self._loading = LatestTask(background)
        self._planning = LatestTask(background)
        self.asked: Callable[[], None] | None = None
        """Repeats the last request to run."""
        self._waits = False
        self._is_read = False
        self.answers = ResultAnswers(path, self.model, lambda: self.shown, self)
        """Reads and rates the cells of the shown result."""
        self.answers.reported.connect(self.reported)
        self.answers.failed.connect(self.failed)
        self.answers.written.connect(self.reload_plan)
        self.answers.rated.connect(self._count)
        self.model.read = self.answers.outcome
        self.model.is_editable = cases is not None
        self.editor = CasesEditor(self.answers, self.model, lambda: (self.cases, self.plan), self)
        """Edits the cases."""
        self.editor.file_made.connect(self._on_file)
        self._is_closed = False
        self.most_cost: Callable[[], float] | None = None
        """Returns the cost in US dollars above which a run asks for consent; None never asks."""
        self._files = SavedFiles(self)
        self._files.saved.connect(self.reload_plan)
        self._drawing = repeating_timer(self, self._draw, _DRAW_MS)
        self._asked_at = 0.0
        self._counting = repeating_timer(self, self._count)

    @property
    def is_running(self) -> bool:
        """Whether cells are being run."""
        return self._work is not None

    @property
    def shown(self) -> ShownResult | None:
        """The shown result with its ledger."""
        if self._ledger is None or self.result is None:
            return None
        return ShownResult(self._ledger, self.result)

    # -- reading --------------------------------------------------------------------------------

    def load(self, result: int | None = None) -> None:
        """Read the file and one of its results, by default the newest."""
        if self._ledger is None:
            try:
                self._ledger = ExperimentLedger(ledger_path(self.path))
            except (LedgerError, OSError) as error:
                self.failed.emit(named_reason(error))
                self.reload_plan()
                return
        self._loading.start(asyncio.to_thread(self._read, self._ledger, result), self._on_loaded)
        if self.cases is None:
            self.reload_plan()

    def reload_plan(self) -> None:
        """Read the saved file again."""
        if self._is_closed:
            return
        self._planning.start(
            asyncio.to_thread(self._planned, self._services(), self._ledger, self.result),
            self._on_planned,
        )

    def _planned(
        self, services: ExperimentServices, ledger: ExperimentLedger | None, result: int | None
    ) -> tuple[ExperimentPlan, ExperimentGrid]:
        if self.cases is None:
            plan = plan_experiment(self.path, services)
            return plan, planned_grid(plan)
        plan = plan_cases(self.cases, services)
        return plan, planned_grid(plan, ledger, result)

    def show_cases(self, cases: CasesTable) -> None:
        """Show another file of cases, or other columns."""
        if self.cases is not None and cases.rows != self.cases.rows:
            self.model.show(None)  # rows of the previous file would appear under the new name
            self.loaded.emit()
        self.cases = cases
        self._files.watch([cases.rows] if cases.rows is not None else [])
        self.reload_plan()

    def _on_file(self, path: Path) -> None:
        if self.cases is not None:
            self.cases = replace(self.cases, rows=path)
            self._files.watch([path])

    def reads(self, path: Path) -> bool:
        """Return whether a file is part of the experiment; True if it cannot be planned."""
        if self.plan is None or path.resolve() == self.path.resolve():
            return True
        return any(each.document.source.path == path.resolve() for each in self.plan.variants)

    def _read(self, ledger: ExperimentLedger, result: int | None) -> _Loaded:
        heads = tuple(ledger.results(str(self.path.resolve())))
        wanted = result if result is not None else (heads[0].id if heads else None)
        grid, cases = None, self.cases
        if cases is not None and cases.rows is not None and cases.rows.suffix in (".csv", ".tsv"):
            with suppress(DatasetError, OSError, UnicodeDecodeError):  # the plan reports the error
                if cases.rows.stat().st_size <= _SHOWN_AT_ONCE:
                    grid = table_grid(cases.rows, [each.name for each in cases.columns])
        if wanted is None:
            return _Loaded(heads, grid, None)
        grid = grid_of(ledger, wanted) if cases is None else grid
        return _Loaded(heads, grid, report_of(ledger, wanted), ledger.is_run(wanted))

    def _on_loaded(self, ended: Future[_Loaded]) -> None:
        try:
            found = ended.result()
        except (LedgerError, OSError) as error:
            self.failed.emit(named_reason(error))
            return
        except CancelledError:
            return
        self._is_read = True
        if self._work is not None and self.result is not None:
            return  # from before the current run
        self.heads = found.heads
        self.report = found.report
        self.result = found.report.head.id if found.report is not None else None
        if self.cases is None or self.model.grid is None:
            self.model.show(found.grid)
        self.loaded.emit()
        self.report_changed.emit(found.report)
        if self.cases is not None:
            self.show_cases(self.cases)
        self._look_for_facets()
        if self._has_ended and found.report is not None and not found.is_live:
            self._has_ended = False
            self.ended.emit(found.report)
        if found.is_live:
            self.reported.emit(
                tr("Another process is running this result; reload to see new cells.")
            )
        if self._waits and self.asked is not None:
            self._waits = False
            self.asked()

    def _on_planned(self, ended: Future[tuple[ExperimentPlan, ExperimentGrid]]) -> None:
        try:
            self.plan, grid = ended.result()
        except ExperimentError as error:
            self.plan = None
            self.planned.emit(str(error))
            if error.unconnected is not None:
                self.connection_missing.emit(error.unconnected)
        except CancelledError:
            return
        else:
            if not self.is_running and (self.cases is not None or self.model.grid is None):
                self._describe_columns()
                self.model.show(grid)
                self.loaded.emit()
            self.planned.emit("")

    def _describe_columns(self) -> None:
        """Give the grid the prompt's inputs and outputs and the model of each column."""
        plan = self.plan
        if plan is None:
            return
        if self.cases is not None:
            self.model.inputs = tuple(each.name for each in plan.variants[0].document.inputs)
        self.model.outputs = tuple(each.name for each in plan.variants[0].document.outputs)
        choices = [each.choice for each in plan.variants]
        names = (
            each.declaration.id or each.connection.name if each else "echo" for each in choices
        )
        self.model.heads = dict(enumerate(names))

    # -- running --------------------------------------------------------------------------------

    def run(self, only: str = "", keys: frozenset[CellKey] | None = None) -> None:
        """Run the cells of the saved file.

        Args:
            only: `errors` or `failed` to repeat such cells of the shown result; else a new result.
            keys: the cells to run, besides those that need no request; None runs all.
        """
        if self._work is not None:
            return
        self.asked = partial(self.run, only, keys)
        if self.cases is not None:
            only = only or "rest"
        if not self._is_read:
            self._waits = True  # requested before the file was read
            return
        ledger = self._ledger
        assert ledger is not None
        signal = self.reported if self.in_batches else self.workers_changed
        run = self._run = StartedRun(
            self.path,
            self._services(),
            ledger,
            lambda *begun: self._background.post(partial(self._on_begun, *begun)),
            self.workers,
            lambda text: self._background.post(partial(signal.emit, text)),
            in_batches=self.in_batches,
            cases=self.cases,
            most_cost=self.most_cost() if self.most_cost is not None else None,
        )
        self._work = self._background.start(run.go(only, self.result, keys), self._on_ended)
        self.running_changed.emit(True)
        self._drawing.start()
        self._counting.start(_REPORT_MS)

    def use_workers(self, address: WorkersAddress | None) -> None:
        """Use workers from the next run on; None uses this process.

        Raises:
            WorkersError: the address cannot be used.
        """
        if address is not None:
            address.check()
        self.workers = address
        self.workers_changed.emit(address.address if address is not None else "")

    def _on_begun(
        self, plan: ExperimentPlan, estimate: ExperimentEstimate, result: int, grid: ExperimentGrid
    ) -> None:
        self.plan = plan
        self.result = result
        self.report = None
        self._describe_columns()
        self.model.show(grid)
        self.loaded.emit()
        self.reported.emit(
            tr("To be sent: {sent}. Equal to earlier requests, at no cost: {equal}.").format(
                equal=estimate.equal, sent=estimate.to_send
            )
        )

    def stop(self) -> None:
        """Start no further cells; running ones may finish."""
        if self._run is not None:
            self._background.start(self._run.stop())

    def _on_ended(self, ended: Future[str]) -> None:
        self._work = None
        self._drawing.stop()
        self._counting.stop()
        try:
            self.reported.emit(ended.result())  # replaces the cells that were to be sent
        except CancelledError:
            return
        except CostQuestion as question:
            self.request_agreement.emit(question.cost)
        except (ExperimentError, LedgerError, ModelError, ToolSourceError, WorkersError) as error:
            self.failed.emit(failure_words(error))
        self._has_ended = True
        while self._run is not None and self._run.arrived:
            self._draw()
        self._run = None
        self.running_changed.emit(False)
        self.load(self.result)

    def _draw(self) -> None:
        """Update the grid with the outcomes since the last update."""
        run = self._run
        if run is None:
            return
        coming = [run.coming.popleft() for _ in range(len(run.coming))]
        for key, coming_progress in dict(coming).items():
            self.model.show_progress(key, coming_progress)
            self.answers.update(key)
        for _ in range(min(_MOST_AT_ONCE, len(run.arrived))):
            key, outcome = run.arrived.popleft()
            self.model.put(key, dot_of(outcome), outcome.score)
            self.answers.update(key)
        progress = run.progress
        if progress is not None:
            self.progress_changed.emit(progress)

    def _count(self) -> None:
        """Count the results for the sentence in the header while the experiment runs."""
        shown = self.shown
        if shown is None:
            return
        self._counting.stop()
        self._asked_at = time.monotonic()
        self._background.start(
            asyncio.to_thread(report_of, shown.ledger, shown.number), self._on_counted
        )

    def _on_counted(self, ended: Future[ExperimentReport]) -> None:
        try:
            report = ended.result()
        except (LedgerError, CancelledError):
            return
        finally:
            if self.is_running:  # large results are counted less often
                took = (time.monotonic() - self._asked_at) * 1000
                self._counting.start(max(_REPORT_MS, int(_REPORT_SHARE * took)))
        if report.head.id == self.result:
            self.report = report
            self.report_changed.emit(report)

    def _look_for_facets(self) -> None:
        """Compute the facets that filter the rows of the shown result, in the background."""
        shown, grid = self.shown, self.model.grid
        if shown is None or grid is None:
            self.facets_changed.emit(RowFacets())
            return
        before = next((each.id for each in self.heads if each.id < shown.number), None)
        self._background.start(
            asyncio.to_thread(facets_of, shown.ledger, shown.number, len(grid.variants), before),
            partial(self._on_facets, shown.number),
        )

    def _on_facets(self, result: int, ended: Future[RowFacets]) -> None:
        try:
            found = ended.result()
        except (LedgerError, CancelledError):
            return
        if result == self.result:
            self.facets_changed.emit(found)

    def earlier(self) -> tuple[tuple[int, dict[str, VariantTotal]], ...]:
        """Return the results of the file with the totals of their variants, oldest first."""
        ledger = self._ledger
        if ledger is None:
            return ()
        return tuple(
            (
                head.id,
                dict(
                    zip(
                        ledger.variants(head.id), ledger.scans.variant_totals(head.id), strict=False
                    )
                ),
            )
            for head in reversed(self.heads[:_MOST_EARLIER])
        )

    def variant(self, key: CellKey) -> PlannedVariant | None:
        """Return the current prompt and model of a cell's column."""
        grid, plan = self.model.grid, self.plan
        if grid is None or plan is None:
            return None
        name = grid.variants[key.variant]
        return next((each for each in plan.variants if each.name == name), None)

    def export(self, form: str, path: Path) -> None:
        """Export the shown result for other programs."""
        ledger, report = self._ledger, self.report
        if ledger is None or report is None:
            return
        try:
            path.write_text(FORMS[form](ledger, report), encoding="utf-8")
        except (OSError, LedgerError) as error:
            self.failed.emit(named_reason(error))
            return
        self.reported.emit(tr("The result was written to {name}.").format(name=path.name))

    def close(self) -> None:
        """Stop running work and close the file."""
        self._is_closed = True
        self._files.watch([])
        self._drawing.stop()
        self._counting.stop()
        work, self._work = self._work, None
        if work is not None:
            work.cancel()
        ledger, self._ledger = self._ledger, None
        if ledger is not None:
            self._background.start(_let_go(ledger, self._run))


async def _let_go(ledger: ExperimentLedger, run: StartedRun | None) -> None:
    """Close the ledger when the run no longer writes to it."""
    if run is not None:
        await run.until_over()
    ledger.close()
