"""Run an experiment: lease cells, get answers, mark and store them, until all are finished.

Rows can form a conversation: a row whose prompt uses `_conversation` gets the previous turns.
Source: promptfoo 0.123, `runEval`: the rows of one `metadata.conversationId` run in order.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from weakref import WeakValueDictionary

from studio.application.experiments.asked_cell import AskedCell
from studio.application.experiments.asking import Asker, OnProgress
from studio.application.experiments.judge import PromptJudge
from studio.application.experiments.plan import ExperimentPlan, ExperimentServices
from studio.application.experiments.prompts import CONVERSATION, as_undecided, starts_as_chat
from studio.application.experiments.providers import answers_json
from studio.application.experiments.report import check_baseline
from studio.application.experiments.run.estimate import ExperimentEstimate, SentCells, transform_of
from studio.application.experiments.run.spending import ExperimentProgress, ExperimentSpending
from studio.application.experiments.turns import LeasedCell
from studio.application.words import tr
from studio.core.experiments.assertions.child import AssertionChild
from studio.core.experiments.assertions.marking import CellMarks, Markers, judged_by, mark_answer
from studio.core.experiments.assertions.result import AssertionContext, CellAnswer, UndecidedError
from studio.core.experiments.results import cells
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.values import ExperimentRow
from studio.core.text.values import Json, JsonDict, JsonObject, objects_of


class Conversations:
    """The finished turns of conversations, which later turns wait for."""

    def __init__(self, plan: ExperimentPlan, ledger: ExperimentLedger, asker: Asker) -> None:
        """Store the sources of the answers and messages of earlier turns."""
        self._plan = plan
        self._ledger = ledger
        self._asker = asker
        self._rows = {row.number: row for row in plan.rows}
        self._under_way: dict[cells.CellKey, asyncio.Event] = {}
        self._turns: dict[cells.CellKey, tuple[JsonObject, ...]] = {}

    def begin(self, key: cells.CellKey) -> None:
        """Register a running cell; must be called in the order of the rows."""
        if self._plan.turns_before:
            self._under_way[key] = asyncio.Event()

    def end(self, key: cells.CellKey) -> None:
        """Register the end of a cell."""
        if self._plan.turns_before:
            self._under_way.pop(key).set()

    async def row_of(self, result: int, key: cells.CellKey) -> ExperimentRow:
        """Return the row of a cell, with the previous turns as a value.

        Raises:
            UndecidedError: a previous turn has no answer.
        """
        row = self._rows[key.row]
        before = self._plan.turns_before.get((key.variant, key.row))
        if before is None:
            return row
        turns: list[Json] = list(await self._turns_until(result, replace(key, row=before)))
        return replace(
            row, case=replace(row.case, variables={**row.case.variables, CONVERSATION: turns})
        )

    async def _turns_until(self, result: int, key: cells.CellKey) -> tuple[JsonObject, ...]:
        """Return the turns of a conversation, including a cell's own."""
        if key in self._under_way:
            await self._under_way[key].wait()
        if key not in self._turns:
            outcome = self._ledger.outcome(result, key)
            row = await self.row_of(result, key)
            sent = await self._asker.sent(key.variant, row)
            if outcome is None or outcome.error or isinstance(sent, str):
                raise UndecidedError(
                    tr("The previous turn, row {row}, has no answer.").format(row=key.row)
                )
            messages = objects_of(sent.body.get("messages", sent.body.get("input")))
            last = messages[-1].get("content") if messages else ""
            is_chat = len(messages) > 1 or starts_as_chat(self._plan.variants[key.variant].document)
            turn: JsonObject = {
                "prompt": list(messages) if is_chat else last,
                "input": last,
                "output": outcome.output,
            }
            held = row.case.variables.get(CONVERSATION)
            self._turns[key] = (*objects_of(held), turn)
        return self._turns[key]


STOP_SECONDS = 5.0
"""Time that running cells get after a stop, in seconds."""

_ALL_JOURNALS = 100_000
_LEASED_AHEAD = 10

OnCell = Callable[[cells.CellKey, cells.CellOutcome], None]


class ExperimentRunner:
    """One run of an experiment, on one event loop."""

    def __init__(
        self,
        plan: ExperimentPlan,
        services: ExperimentServices,
        ledger: ExperimentLedger,
        *,
        on_cell: OnCell | None = None,
        on_progress: OnProgress | None = None,
        asker: Asker | None = None,
    ) -> None:
        """Store the settings; nothing is opened before `prepare`.

        Args:
            plan: the plan of the run.
            services: the shared services.
            ledger: the ledger for results.
            on_cell: called with each finished cell.
            on_progress: called with the progress of running cells.
            asker: runs the cells; None for this process.
        """
        self.plan = plan
        """Plan of the run."""
        self._ledger = ledger
        self._mask = services.secrets.masker.mask
        self._on_cell = on_cell
        self._asker = asker if asker is not None else Asker(plan, services)
        self._asker.on_progress = on_progress
        self.cells = SentCells(plan, ledger, self._asker)
        """Requests of the cells."""
        self._conversations = Conversations(plan, ledger, self._asker)
        self._judge = PromptJudge(plan, services, self._asker.turns, self._asker.limiter)
        self._code = AssertionChild(plan.folder.path, trusted=plan.folder.trusted)
        self._markers = Markers(self._read, self._find, self._code)
        self._rows = {row.number: row for row in plan.rows}
        self._turns: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()
        self._renewing = asyncio.Lock()
        self._stopping = False
        self._only: Collection[cells.CellKey] | None = None
        self._left: list[cells.CellKey] = []
        self._wake = asyncio.Event()
        self._ended: deque[asyncio.Task[None]] = deque()
        self._spending = ExperimentSpending(plan.cells, plan.file.budget, plan.options)
        self.refused_calls = 0
        """Number of tool calls that were not allowed."""
        self.paused_by = ""
        """Reason of the pause, one sentence; empty if it did not pause."""

    # Preparation ----------------------------------------------------------------------------------

    async def prepare(self, going_on: int | None = None) -> ExperimentEstimate:
        """Open models and tools, and build the requests. Nothing is sent.

        Args:
            going_on: a result to continue, whose finished cells do not run again.

        Raises:
            ExperimentError: the baseline does not exist, or gates need one.
            ModelError: a connection is incomplete.
            ToolSourceError: the tools cannot be started.
        """
        plan, file = self.plan, self.plan.file
        asked = {each.name for each in plan.variants}
        names = asked | {each.name for each in file.variants}
        check_baseline(self._ledger, str(file.path or ""), names, asked, plan.baseline, file.gates)
        await self._asker.open()
        return await self.cells.prepare(self._spending, going_on)

    def left(self, result: int) -> ExperimentEstimate:
        """Return the estimate of a result's remaining cells; must be called after `prepare`."""
        return self.cells.estimate(self._ledger.waiting_keys(result), self._spending)

    # Running --------------------------------------------------------------------------------------

    def begin(self) -> int:
        """Create a result in the ledger; return its number."""
        return self._ledger.begin(self.cells.new_result(self._mask))

    async def run(self, result: int, only: Collection[cells.CellKey] | None = None) -> str:
        """Run until every cell is finished; return the end state: `done`, `paused` or `cancelled`.

        Args:
            result: the result.
            only: the cells to run, besides those without a request; None for all.

        Raises:
            LedgerError: results cannot be written; only the last cells are lost.
        """
        with self._ledger.hold(result):
            self._only, self._left = only, []
            return await self._run(result)

    async def _run(self, result: int) -> str:
        await self._asker.start(result)
        self.cells.resume(result, renamed=self._asker.turns.is_timed)
        self._ledger.take_back(result)
        self._ledger.end(result, "running")
        self._spending.start(self._ledger.scans.variant_totals(result))
        leased: deque[cells.CellKey] = deque()
        tasks: set[asyncio.Task[None]] = set()
        try:
            while not self._stopping and not self._is_paused():
                room = self._room() - len(tasks)
                if not leased:
                    leased.extend(self._lease(result, max(_LEASED_AHEAD, room)))
                if not leased and not tasks:
                    break
                while leased and room > 0 and self._spending.may_begin(len(tasks)):
                    self._asker.begin_cell()
                    tasks.add(self._started(result, leased.popleft()))
                    room -= 1
                await self._some_ended(tasks)
            await self._end_what_is_under_way(tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        finally:
            if leased or self._left:
                self._ledger.give_back(result, [*leased, *self._left])
        self._ledger.take_back(result)
        state = (
            "cancelled" if self._stopping else "paused" if self.paused_by or self._left else "done"
        )
        if state != "done" and not self._ledger.waiting(result):
            state = "done"
        if state == "done" and not self._asker.turns.is_timed:
            for variant in self._ledger.scans.left_out(result):
                await self.cells.renew(result, variant)
        self._ledger.end(result, state)
        return state

    def _lease(self, result: int, count: int) -> list[cells.CellKey]:
        """Lease cells to run; other leased cells are released at the end."""
        while keys := self._ledger.lease(result, count):
            wanted = {key for key in keys if self._only is None or key in self._only}
            wanted |= {key for key in keys if key not in wanted and self.cells.is_free(key)}
            self._left += [key for key in keys if key not in wanted]
            if wanted:
                return [key for key in keys if key in wanted]
        return []

    def stop(self) -> None:
        """Start no more cells; running ones may end. Must be called on the loop."""
        self._stopping = True
        self._wake.set()

    async def close(self) -> None:
        """Close models, tools and the child process."""
        await self._code.close()
        await self._judge.close()
        await self._asker.close()
        self.cells.clear()  # the following report needs as much memory

    @property
    def progress(self) -> ExperimentProgress:
        """The progress of the run."""
        return self._spending.progress

    def _is_paused(self) -> bool:
        self.paused_by = self._spending.used_up
        return bool(self.paused_by)

    def _room(self) -> int:
        options = self.plan.options
        if options.delay_ms:
            return 1
        return self._asker.room

    def _started(self, result: int, key: cells.CellKey) -> asyncio.Task[None]:
        self._conversations.begin(key)
        task = asyncio.create_task(self._cell(result, key))
        task.add_done_callback(self._note_end)
        return task

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._ended.append(task)
        self._wake.set()

    async def _some_ended(self, tasks: set[asyncio.Task[None]]) -> None:
        """Wait until a cell has ended, and remove all ended ones, since thousands may run."""
        await self._wake.wait()
        self._wake.clear()
        while self._ended:
            task = self._ended.popleft()
            tasks.discard(task)
            task.result()

    async def _end_what_is_under_way(self, tasks: set[asyncio.Task[None]]) -> None:
        if not tasks:
            return
        # Cells in a batch would take hours; they are read when the run is continued.
        patience = STOP_SECONDS if self._asker.turns.is_timed else 0.0
        timeout = patience if self._stopping else None
        done, late = await asyncio.wait(tasks, timeout=timeout)
        for task in late:
            task.cancel()
        if late:
            await asyncio.gather(*late, return_exceptions=True)
        for task in done:
            task.result()

    async def _cell(self, result: int, key: cells.CellKey) -> None:
        outcome: cells.CellOutcome | None = None
        try:
            while outcome is None:
                cell = self.cells.leased(key)
                async with self._turn_of(cell):
                    outcome = await self._finished(result, cell)
        finally:
            self._asker.end_cell()
            self._conversations.end(key)
            if outcome is None:
                self._ledger.give_back(result, [key])
        self._spending.count(outcome)
        if self._on_cell is not None:
            self._on_cell(key, outcome)

    def _turn_of(self, cell: LeasedCell) -> AbstractAsyncContextManager[object]:
        """Make cells with the same request wait for the first, whose answer they reuse."""
        # The cells of a batch are sent together, so none can wait for another.
        if not self.plan.options.cache or not self._asker.turns.is_timed:
            return nullcontext()
        return self._turns.setdefault(cell.identity, asyncio.Lock())

    async def _finished(self, result: int, cell: LeasedCell) -> cells.CellOutcome | None:
        """Run and store a cell; None if its request differs from its identity."""
        found = await self._outcome(result, cell, self._rows[cell.key.row])
        if found is None:
            async with self._renewing:
                if self.cells.identities[cell.key] == cell.identity:
                    await self.cells.renew(result, cell.key.variant)
            return None
        outcome, journal = found
        self._ledger.finish(result, cell.key, outcome, journal)
        if outcome.state is cells.CellState.DONE and not outcome.is_cached:
            self.cells.note_answered(result, cell.key)
        return outcome

    async def _outcome(
        self, result: int, cell: LeasedCell, row: ExperimentRow
    ) -> tuple[cells.CellOutcome, bytes | None] | None:
        key = cell.key
        fault = self.cells.fault_of(key)
        if fault is not None:
            return cells.CellOutcome(cells.CellState.ERROR, error=fault), None
        before = self.cells.answered_before(key)
        if before is not None:
            answer = cells.answer_of(before)
            marks = await self._mark(cell, row, answer)
            left_out = [option.name for option in cell.refused or () if not option.instead]
            return replace(
                cells.done_outcome(answer, marks, before.cost, is_cached=before.is_cached),
                facts={**before.facts, "left_out": left_out},
            ), None
        provider = self.plan.variants[key.variant].entry.provider
        if delay := provider.delay_ms or self.plan.options.delay_ms:
            await asyncio.sleep(delay / 1000)
        try:
            row = await self._conversations.row_of(result, key)
        except UndecidedError as error:
            return cells.CellOutcome(cells.CellState.ERROR, error=str(error)), None
        asked = await self._asker.ask(cell, row)
        if asked.is_stale:
            return None
        self.refused_calls += asked.refused
        if asked.answer is None:
            outcome = cells.CellOutcome(cells.CellState.ERROR, error=asked.error)
        else:
            marks = await self._mark(cell, row, asked.answer)
            outcome = cells.done_outcome(asked.answer, marks, asked.answer.cost)
        return outcome, self._journal_of(asked, outcome)

    async def _mark(self, cell: LeasedCell, row: ExperimentRow, answer: CellAnswer) -> CellMarks:
        case = row.case
        asked = self.cells.text_of(cell.key)
        variables: JsonDict = dict(case.variables)
        if case.expected is not None:
            variables["expected"] = case.expected
        is_json = answers_json(self.plan.variants[cell.key.variant].document, answer)
        context = AssertionContext(variables, asked.text, asked.tools, is_json)
        return await mark_answer(
            judged_by(case.assertions, case.options),
            case.threshold,
            answer,
            context,
            replace(self._markers, judge=self._judge.of(cell)),
            transform_of(row),
        )

    def _journal_of(self, asked: AskedCell, outcome: cells.CellOutcome) -> bytes | None:
        keep = self.plan.file.keep
        if not asked.journal or keep == "none":
            return None
        is_good = outcome.state is cells.CellState.DONE and outcome.passed is True
        if is_good and (keep == "failed" or self.plan.cells > _ALL_JOURNALS):
            return None
        from studio.core.runs.exchange import without_replies

        return without_replies(asked.journal) if is_good else asked.journal

    def _read(self, name: str) -> str:
        with as_undecided():
            return self.plan.folder.read(name)

    def _find(self, name: str) -> str:
        with as_undecided():
            return str(self.plan.folder.find(name))
