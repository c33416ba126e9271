"""Running an experiment: cells are leased, asked, marked and kept, until all are over."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial

from studio.application.experiments.asking import AskedCell, Asker, CellAsker, sent_text
from studio.application.experiments.judge import PromptJudge
from studio.application.experiments.plan import (
    ExperimentPlan,
    ExperimentServices,
    PlannedVariant,
)
from studio.application.experiments.prompts import ExperimentError
from studio.application.words import translate
from studio.core.experiments.assertions.child import AssertionChild
from studio.core.experiments.assertions.marking import CellMarks, Markers, mark_answer
from studio.core.experiments.assertions.result import (
    AssertionContext,
    CellAnswer,
    UndecidedError,
)
from studio.core.experiments.identity import SentCell, cell_identity
from studio.core.experiments.results.cells import (
    CellKey,
    CellOutcome,
    CellState,
    calls_of,
    facts_of,
)
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.results.result import NewResult, ResultRow
from studio.core.experiments.values import ExperimentRow
from studio.core.models.capabilities import facts_of as facts_of_model
from studio.core.models.prices import Price
from studio.core.text.values import Json
from studio.core.tokens.estimate import estimate_tokens
from studio.core.wire.reply import Usage

_tr = partial(translate, "ExperimentRun")

STOP_SECONDS = 5.0
"""How long what is under way may go on after a stop."""

_ALL_JOURNALS = 100_000
_LEASED_AHEAD = 10
_REPLY_TOKENS = 400
"""Tokens of a reply that an estimate assumes where the prompt sets no bound."""

OnCell = Callable[[CellKey, CellOutcome], None]


@dataclass(frozen=True, slots=True)
class ExperimentEstimate:
    """What a run would do, before it does."""

    cells: int
    """All cells."""

    equal: int
    """Cells whose request is equal to one that was answered before: they cost nothing."""

    to_send: int
    """Cells that will be asked."""

    tokens: int
    """About how many tokens of requests and replies."""

    cost: float | None
    """About how many US dollars; None where a price is not known."""

    faults: tuple[str, ...] = ()
    """Rows whose prompt cannot be rendered, a sentence each."""


@dataclass(frozen=True, slots=True)
class ExperimentProgress:
    """How far a run is."""

    total: int
    """Cells of the result."""

    over: int
    """Cells that are over."""

    errors: int
    """Of them without an answer."""

    cached: int
    """Of them taken from before."""

    cost: float
    """US dollars so far."""

    tokens: int
    """Tokens so far."""

    seconds: float
    """Since the start."""

    @property
    def seconds_left(self) -> float | None:
        """About how long it goes on; None before anything is known."""
        if not self.over:
            return None
        return self.seconds / self.over * (self.total - self.over)


class ExperimentRunner:
    """One start of one experiment, on one event loop."""

    def __init__(
        self,
        plan: ExperimentPlan,
        services: ExperimentServices,
        ledger: ExperimentLedger,
        *,
        on_cell: OnCell | None = None,
        asker: CellAsker | None = None,
    ) -> None:
        """Take a plan; nothing is opened before `prepare`.

        Args:
            plan: what is run.
            services: what it is run with.
            ledger: where results are kept.
            on_cell: told of each cell that is over.
            asker: who asks the cells; None asks them in this process.
        """
        self.plan = plan
        """What is run."""
        self._ledger = ledger
        self._services = services
        self._on_cell = on_cell
        self._asker = asker if asker is not None else Asker(plan, services)
        self._judge = PromptJudge(plan, services, self._asker.limiter)
        self._code = AssertionChild(plan.folder.path, trusted=plan.folder.trusted)
        self._markers = Markers(self._read, self._find, self._code, self._judge)
        self._rows = {row.number: row for row in plan.rows}
        self._sent: dict[tuple[int, int], SentCell | str] = {}
        self._known: dict[bytes, tuple[int, CellKey]] = {}
        self._stopping = False
        self._wake = asyncio.Event()
        self._started = time.monotonic()
        self._over = self._errors = self._cached = self._tokens = 0
        self._cost = self._dearest = self._usual_cost = self._usual_tokens = 0.0
        self._total = plan.cells
        self.refused_calls = 0
        """Tool calls that were refused, because nobody allowed them."""
        self.paused_by = ""
        """Why it paused, a sentence; empty where it did not."""

    # Before ---------------------------------------------------------------------------------------

    async def prepare(self) -> ExperimentEstimate:
        """Open models and tools, and work out what would be sent. Nothing is.

        Raises:
            ModelError: a connection lacks something.
            ToolSourceError: the tools cannot be started.
        """
        await self._asker.open()
        for row in self.plan.rows:
            for at in range(len(self.plan.variants)):
                self._sent[at, row.number] = await self._asker.sent(at, row)
        identities = {key: self._identity(key) for key in self._keys()}
        if self.plan.options.cache:
            self._known = self._ledger.known(list(dict.fromkeys(identities.values())))
        equal = sum(identity in self._known for identity in identities.values())
        faults = [
            f"{self.plan.variants[at].name}, row {number}: {sent}"
            for (at, number), sent in self._sent.items() if isinstance(sent, str)
        ]  # fmt: skip
        tokens, cost = self._estimated(identities)
        self._usual_tokens = tokens / max(1, len(identities) - equal)
        self._usual_cost = (cost or 0.0) / max(1, len(identities) - equal)
        return ExperimentEstimate(
            len(identities), equal, len(identities) - equal, tokens, cost, tuple(faults)
        )

    def _keys(self) -> list[CellKey]:
        return [
            CellKey(repeat, row.number, at)
            for repeat in range(1, self.plan.repeats + 1)
            for row in self.plan.rows
            for at in range(len(self.plan.variants))
        ]

    def _identity(self, key: CellKey) -> bytes:
        sent = self._sent[key.variant, key.row]
        if isinstance(sent, str):
            sent = SentCell({"unrendered": sent}, self.plan.variants[key.variant].name, "")
        return cell_identity(sent, key.repeat)

    def _estimated(self, identities: Mapping[CellKey, bytes]) -> tuple[int, float | None]:
        """Tokens and dollars of what will be sent, a call for each cell."""
        tokens, cost, priced = 0, 0.0, True
        prices = [_price_of(each) for each in self.plan.variants]
        for key, identity in identities.items():
            sent = self._sent[key.variant, key.row]
            if identity in self._known or isinstance(sent, str):
                continue
            into = estimate_tokens(sent_text(sent))
            tokens += into + _REPLY_TOKENS
            choice = self.plan.variants[key.variant].choice
            if choice is None or not choice.connection.is_remote:
                continue
            price = prices[key.variant]
            spent = price.of(Usage(into, _REPLY_TOKENS)) if price is not None else None
            priced = priced and spent is not None
            cost += spent or 0.0
        return tokens, cost if priced else None

    # Going ----------------------------------------------------------------------------------------

    def begin(self) -> int:
        """Begin a result in the ledger; gives its number."""
        file = self.plan.file
        masker = self._services.secrets.masker
        return self._ledger.begin(
            NewResult(
                file.name,
                str(file.path or ""),
                {
                    "pass_rule": file.pass_rule, "baseline": self.plan.baseline,
                    "bases": {each.name: each.base for each in self.plan.variants if each.base},
                    "gates": asdict(file.gates), "description": file.description,
                    "connections": [
                        each.choice.connection.name if each.choice is not None else "echo"
                        for each in self.plan.variants
                    ],
                    "models": [
                        each.choice.declaration.id if each.choice is not None else "echo"
                        for each in self.plan.variants
                    ],
                    "prompts": [
                        str(each.document.source.path or "") for each in self.plan.variants
                    ],
                },
                [each.name for each in self.plan.variants],
                [
                    ResultRow(row.number, row.key, row_facts(row, masker.mask))
                    for row in self.plan.rows
                ],
                self.plan.repeats,
                ((key, self._identity(key)) for key in self._keys()),
            )
        )  # fmt: skip

    def resumable(self, result: int) -> bool:
        """Whether an earlier result has exactly the cells of this plan."""
        if self._ledger.variants(result) != [each.name for each in self.plan.variants]:
            return False
        kept = [row.key for row in self._ledger.rows(result)]
        if kept != [row.key for row in self.plan.rows]:
            return False
        head = self._ledger.result(result)
        if head.repeats != self.plan.repeats:
            return False
        sample = self._keys()
        step = max(1, len(sample) // 200)
        return all(
            self._ledger.identity(result, key) == self._identity(key) for key in sample[::step]
        )

    async def run(self, result: int) -> str:
        """Go on until every cell is over; gives how it ended: `done`, `paused` or `cancelled`.

        Raises:
            LedgerError: results cannot be written; what was asked last is lost, nothing else.
        """
        await self._asker.start()
        self._started = time.monotonic()
        self._ledger.take_back(result)
        self._ledger.end(result, "running")
        self._count_what_is_over(result)
        leased: deque[CellKey] = deque()
        tasks: set[asyncio.Task[None]] = set()
        try:
            while not self._stopping and not self._is_used_up():
                if not leased:
                    leased.extend(self._ledger.lease(result, _LEASED_AHEAD))
                if not leased and not tasks:
                    break
                room = self._room() - len(tasks)
                while leased and room > 0 and self._may_begin(len(tasks)):
                    tasks.add(asyncio.create_task(self._cell(result, leased.popleft())))
                    room -= 1
                tasks = await self._some_done(tasks)
            await self._end_what_is_under_way(tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        finally:
            if leased:
                self._ledger.give_back(result, leased)
        self._ledger.take_back(result)
        state = "cancelled" if self._stopping else "paused" if self.paused_by else "done"
        if state != "done" and not self._ledger.waiting(result):
            state = "done"
        self._ledger.end(result, state)
        return state

    def stop(self) -> None:
        """Ask for no more; what is under way may end. To be called on the loop."""
        self._stopping = True
        self._wake.set()

    async def close(self) -> None:
        """Let go of models, tools and the child."""
        await self._code.close()
        await self._judge.close()
        await self._asker.close()

    @property
    def progress(self) -> ExperimentProgress:
        """How far it is."""
        return ExperimentProgress(
            self._total, self._over, self._errors, self._cached, self._cost, self._tokens,
            time.monotonic() - self._started,
        )  # fmt: skip

    def _count_what_is_over(self, result: int) -> None:
        totals = self._ledger.variant_totals(result)
        self._over = sum(each.done + each.errors for each in totals)
        self._errors = sum(each.errors for each in totals)
        self._cost = sum(each.cost for each in totals)
        self._tokens = sum(each.tokens for each in totals)

    def _room(self) -> int:
        options = self.plan.options
        if options.delay_ms:
            return 1
        return self._asker.room

    def _is_used_up(self) -> bool:
        """Whether a budget is used up; then it pauses."""
        budget = self.plan.file.budget
        allowed = [each for each in (budget.minutes, self.plan.options.minutes) if each]
        minutes = (time.monotonic() - self._started) / 60
        if budget.cost is not None and self._cost >= budget.cost:
            self.paused_by = _tr("The budget of ${amount:.2f} is used up.").format(
                amount=budget.cost
            )
        elif budget.tokens is not None and self._tokens >= budget.tokens:
            self.paused_by = _tr("The budget of {count:,} tokens is used up.").format(
                count=budget.tokens
            )
        elif allowed and minutes >= min(allowed):
            self.paused_by = _tr("The {minutes:g} minutes are over.").format(minutes=min(allowed))
        return bool(self.paused_by)

    def _may_begin(self, under_way: int) -> bool:
        """Whether another cell fits into the budget beside those under way, at their worst."""
        budget = self.plan.file.budget
        if not under_way:
            return True
        asked = max(1, self._over - self._cached)
        tokens = max(self._tokens / asked, self._usual_tokens)
        cost = max(self._dearest, self._usual_cost)
        if budget.tokens is not None and self._tokens + tokens * under_way >= budget.tokens:
            return False
        return budget.cost is None or self._cost + cost * under_way < budget.cost

    async def _some_done(self, tasks: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
        self._wake.clear()
        waker = asyncio.create_task(self._wake.wait())
        try:
            done, _ = await asyncio.wait({*tasks, waker}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waker.cancel()
        for task in done - {waker}:
            task.result()
        return tasks - done

    async def _end_what_is_under_way(self, tasks: set[asyncio.Task[None]]) -> None:
        if not tasks:
            return
        timeout = STOP_SECONDS if self._stopping else None
        done, late = await asyncio.wait(tasks, timeout=timeout)
        for task in late:
            task.cancel()
        if late:
            await asyncio.gather(*late, return_exceptions=True)
        for task in done:
            task.result()

    async def _cell(self, result: int, key: CellKey) -> None:
        row = self._rows[key.row]
        is_over = False
        try:
            outcome, journal = await self._outcome(key, row)
            self._ledger.finish(result, key, outcome, journal)
            is_over = True
        finally:
            if not is_over:
                self._ledger.give_back(result, [key])
        if outcome.state is CellState.DONE and not outcome.is_cached:
            self._known.setdefault(self._identity(key), (result, key))
        self._count(outcome)
        if self._on_cell is not None:
            self._on_cell(key, outcome)

    def _count(self, outcome: CellOutcome) -> None:
        self._over += 1
        self._errors += outcome.state is CellState.ERROR
        self._cached += outcome.is_cached
        if not outcome.is_cached:
            self._cost += outcome.cost or 0.0
            self._dearest = max(self._dearest, outcome.cost or 0.0)
            self._tokens += outcome.input_tokens + outcome.output_tokens

    async def _outcome(self, key: CellKey, row: ExperimentRow) -> tuple[CellOutcome, bytes | None]:
        sent = self._sent[key.variant, key.row]
        if isinstance(sent, str):
            return CellOutcome(CellState.ERROR, error=sent), None
        place = self._known.get(self._identity(key)) if self.plan.options.cache else None
        before = self._ledger.outcome(*place) if place is not None else None
        if before is not None and before.state is CellState.DONE:
            answer = answer_of(before)
            marks = await self._mark(row, sent, answer)
            return replace(
                _done(answer, marks, before.cost, is_cached=True), facts=before.facts
            ), None
        if self.plan.options.delay_ms:
            await asyncio.sleep(self.plan.options.delay_ms / 1000)
        asked = await self._asker.ask(key.variant, row)
        self.refused_calls += asked.refused
        if asked.answer is None:
            outcome = CellOutcome(CellState.ERROR, error=asked.error)
        else:
            marks = await self._mark(row, sent, asked.answer)
            outcome = _done(asked.answer, marks, asked.answer.cost)
        return outcome, self._journal_of(asked, outcome)

    async def _mark(self, row: ExperimentRow, sent: SentCell, answer: CellAnswer) -> CellMarks:
        case = row.case
        variables: dict[str, Json] = dict(case.variables)
        if case.expected is not None:
            variables["expected"] = case.expected
        context = AssertionContext(
            variables, sent_text(sent), tuple(str(each.get("name")) for each in sent.tools)
        )
        transform = case.options.get("transform", case.options.get("postprocess"))
        return await mark_answer(
            case.assertions, case.threshold, answer, context, self._markers,
            transform if isinstance(transform, str) else "",
        )  # fmt: skip

    def _journal_of(self, asked: AskedCell, outcome: CellOutcome) -> bytes | None:
        keep = self.plan.file.keep
        if not asked.journal or keep == "none":
            return None
        is_good = outcome.state is CellState.DONE and outcome.passed is True
        if is_good and (keep == "failed" or self._total > _ALL_JOURNALS):
            return None
        return asked.journal

    def _read(self, name: str) -> str:
        try:
            return self.plan.folder.read(name)
        except ExperimentError as error:
            raise UndecidedError(str(error)) from None

    def _find(self, name: str) -> str:
        try:
            return str(self.plan.folder.find(name))
        except ExperimentError as error:
            raise UndecidedError(str(error)) from None


def _price_of(variant: PlannedVariant) -> Price | None:
    """What the tokens of a variant cost; None where nobody knows."""
    if variant.choice is None:
        return None
    connection, model = variant.choice.connection, variant.choice.declaration.id
    return facts_of_model(model, corrections=connection.capabilities, connection=connection).price


def _done(
    answer: CellAnswer, marks: CellMarks, cost: float | None, *, is_cached: bool = False
) -> CellOutcome:
    """A cell with an answer and its marks; the judges' cost is added to its own."""
    undecided = marks.is_undecided and not _is_lost_anyway(marks)
    whole = cost
    if not is_cached and marks.cost:
        whole = (cost or 0.0) + marks.cost
    return CellOutcome(
        CellState.DONE,
        answer.text,
        None if undecided else marks.passed,
        marks.score,
        whole,
        answer.input_tokens,
        answer.output_tokens,
        answer.latency_ms,
        answer.steps,
        is_cached=is_cached,
        results=marks.results,
        facts=facts_of(
            answer.calls, finish=answer.finish_reason, refused=answer.is_refusal,
            errors=answer.errors, asked_cost=answer.cost,
        ),
    )  # fmt: skip


def _is_lost_anyway(marks: CellMarks) -> bool:
    """Whether an assertion that could be decided fails the cell already."""
    return any(each.state == "failed" and each.weight > 0 for each in marks.results)


def answer_of(outcome: CellOutcome) -> CellAnswer:
    """The kept answer, to be marked again."""
    facts = outcome.facts
    errors, cost = facts.get("errors"), facts.get("asked_cost", outcome.cost)
    return CellAnswer(
        outcome.output,
        outcome.ms,
        cost if isinstance(cost, float) else outcome.cost,
        outcome.input_tokens,
        outcome.output_tokens,
        outcome.steps,
        calls_of(facts),
        str(facts.get("finish", "")),
        is_refusal=facts.get("refused") is True,
        errors=errors if isinstance(errors, int) else 0,
    )


def row_facts(row: ExperimentRow, mask: Callable[[str], str]) -> dict[str, Json]:
    """What a result keeps of a row; secrets among its values are masked."""
    case = row.case
    others: dict[str, Json] = {
        "tags": list(case.tags), "description": case.description, "file": case.file,
        "line": case.line, "metadata": dict(case.metadata), "threshold": case.threshold,
        "expected": case.expected,
    }  # fmt: skip
    kept = {name: value for name, value in others.items() if value}
    return {"vars": _masked(dict(case.variables), mask), **kept}


def _masked(value: Json, mask: Callable[[str], str]) -> Json:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {key: _masked(item, mask) for key, item in value.items()}
    return [_masked(each, mask) for each in value] if isinstance(value, list) else value
