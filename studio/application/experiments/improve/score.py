"""Score texts of a section on rows, within a budget; the ledger stores the answers."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from studio.application.experiments.asking import Asker
from studio.application.experiments.improve import candidates
from studio.application.experiments.improve.accept import ImproveChoices, ImproveError, Spending
from studio.application.experiments.plan import ExperimentPlan, ExperimentServices
from studio.application.experiments.planned_variants import PlannedVariant
from studio.application.experiments.run.runner import ExperimentRunner, OnCell
from studio.application.words import tr
from studio.core.experiments.results.cells import CellKey, CellOutcome
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.values import ExperimentBudget, ExperimentRow, Gates
from studio.core.models.choice import ModelChoice
from studio.core.prompty.document import PromptDocument
from studio.core.text.source import SourceText

SEARCHED = "#improve"
"""Suffix of the file name under which the ledger stores a search's cells, so that they are no
result of the file.
"""

_ALMOST = 0.99
"""Maximum score of an answer that does not pass."""


class SpentError(Exception):
    """Raised when the budget is used up, or the user stopped the search."""


class _LastingAsker(Asker):
    """The models and tools of a search: opened once and kept for all candidates."""

    def take(self, plan: ExperimentPlan) -> None:
        """Use another text of the variant from now on."""
        self._plan = plan
        self._contexts.clear()
        self._setups.clear()
        self._drafts.clear()

    async def open(self) -> None:
        """Open models and tools that are not open yet."""
        if not self._models:
            await super().open()

    async def close(self) -> None:
        """Do nothing: the search continues."""

    async def end(self) -> None:
        """Close models and tools."""
        await super().close()


class RowScorer:
    """A runner of an experiment's rows with texts of one section in a variant's prompt."""

    def __init__(
        self,
        plan: ExperimentPlan,
        at: int,
        choices: ImproveChoices,
        services: ExperimentServices,
        ledger: ExperimentLedger,
    ) -> None:
        """Store the settings; nothing is sent.

        Args:
            plan: the experiment.
            at: index of the variant, from 0.
            choices: the section and the budget.
            services: the shared services.
            ledger: the ledger for the answers.
        """
        self._plan = plan
        self._at = at
        self._choices = choices
        self._services = services
        self._ledger = ledger
        self._known: dict[tuple[str, int], candidates.AnsweredRow] = {}
        self._runner: ExperimentRunner | None = None
        self._task: asyncio.Task[object] | None = None
        self._asker: _LastingAsker | None = None
        self.is_stopped = False
        """Whether the user stopped the search."""
        choice = plan.variants[at].choice
        self._is_remote = choice is not None and choice.connection.is_remote
        self.spent = Spending()
        """Spending so far."""
        self.other_tokens = 0
        """Tokens of the proposer, which count too."""
        self.other_cost: float | None = 0.0
        """Cost of the proposer in US dollars."""
        self.dearest = (0, 0.0)
        """Tokens and cost of the proposer's most expensive round, as an estimate for the next
        one.
        """
        self.reserved = 0
        """Number of cells reserved for the deciding rows."""

    def stop(self) -> None:
        """Start no more cells; running ones may end. Must be called on the loop."""
        self.is_stopped = True
        if self._runner is not None:
            self._runner.stop()

    def abort(self) -> None:
        """Start no more cells, and cancel running ones. Must be called on the loop."""
        self.stop()
        if self._task is not None:
            self._task.cancel()

    @property
    def total(self) -> Spending:
        """The total spending, including the proposer's."""
        cost = None
        if self.spent.cost is not None and self.other_cost is not None:
            cost = self.spent.cost + self.other_cost
        return Spending(self.spent.calls, self.spent.tokens + self.other_tokens, cost)

    def _count(self, outcome: CellOutcome) -> None:
        self.spent = self.spent.with_cell(outcome, is_remote=self._is_remote)

    def count_proposal(self, tokens: int, cost: float | None) -> None:
        """Add the spending of one round of the proposer."""
        before = self.other_cost or 0.0
        spent = tokens - self.other_tokens, (cost or 0.0) - before
        self.dearest = max(self.dearest[0], spent[0]), max(self.dearest[1], spent[1])
        self.other_tokens, self.other_cost = tokens, cost

    def refusal(self) -> str:
        """Return why nothing more may be sent before the deciding rows; empty if it may."""
        if self.is_stopped:
            return tr("It was stopped.")
        left, calls = self._left(), self._choices.calls
        rest = [
            None if left.cost is None else left.cost - self.dearest[1],
            None if left.tokens is None else left.tokens - self.dearest[0],
        ]
        if calls is not None:
            rest.append(calls - self.spent.calls - self.reserved)
        return _used_up() if any(each is not None and each <= 0 for each in rest) else ""

    async def score(self, text: str, rows: Sequence[ExperimentRow]) -> list[candidates.AnsweredRow]:
        """Score rows with a text of the section; earlier answers are reused.

        Raises:
            SpentError: the budget is not sufficient; cells that ran count as spent.
        """
        asked = [row for row in rows if (text, row.number) not in self._known]
        if asked:
            found = await self._ask(text, asked)
            for row in asked:
                self._known[text, row.number] = answered_row(row, found.get(row.number, []))
        return [self._known[text, row.number] for row in rows]

    async def _ask(self, text: str, rows: Sequence[ExperimentRow]) -> dict[int, list[CellOutcome]]:
        found: dict[int, list[CellOutcome]] = {}

        def keep(key: CellKey, outcome: CellOutcome) -> None:
            found.setdefault(rows[key.row - 1].number, []).append(outcome)
            self._count(outcome)

        plan = self._plan_of([self._variant(text)], rows, self._left())
        path = plan.file.path or Path("experiment")
        source = SourceText(plan.file.source.text, path.with_name(f"{path.name}{SEARCHED}"))
        plan = replace(plan, file=replace(plan.file, source=source, keep="none"))
        if self._asker is None:
            self._asker = _LastingAsker(plan, self._services)
        self._asker.take(plan)
        await self._run(plan, keep, self._asker)
        return found

    async def close(self) -> None:
        """Close models and tools."""
        if self._asker is not None:
            await self._asker.end()

    async def decide(self, text: str, rows: Sequence[ExperimentRow], name: str) -> int:
        """Run the unseen rows with the current prompt and with a text; return the result's number.

        Raises:
            SpentError: the search was stopped.
        """
        self.reserved = 0
        before = self._plan.variants[self._at]
        after = replace(self._variant(text), name=name, base="")
        plan = self._plan_of([replace(before, base=""), after], rows, self._left())
        plan = replace(plan, baseline=before.name)
        return await self._run(plan, lambda _key, outcome: self._count(outcome))

    def _variant(self, text: str) -> PlannedVariant:
        variant = self._plan.variants[self._at]
        document = candidates.with_section(variant.document, self._choices.section, text)
        return replace(variant, document=document)

    def _plan_of(
        self,
        variants: Sequence[PlannedVariant],
        rows: Sequence[ExperimentRow],
        budget: ExperimentBudget,
    ) -> ExperimentPlan:
        # A result numbers its rows from 1 without gaps, as the grid requires.
        numbered = [
            replace(row, number=at, case=replace(row.case, prompts=None, providers=None))
            for at, row in enumerate(rows, 1)
        ]  # the rows of the variant, whatever its candidates are named
        values = {
            (to, at): self._plan.values[self._at, row.number]
            for at, row in enumerate(rows, 1)
            if (self._at, row.number) in self._plan.values
            for to in range(len(variants))
        }
        file = replace(self._plan.file, gates=Gates(), budget=budget)
        return replace(
            self._plan,
            file=file,
            variants=tuple(variants),
            rows=tuple(numbered),
            values=values,
            baseline="",
            warnings=(),
        )

    async def _run(self, plan: ExperimentPlan, keep: OnCell, asker: Asker | None = None) -> int:
        if self.is_stopped:
            raise SpentError(tr("It was stopped."))
        runner = ExperimentRunner(plan, self._services, self._ledger, on_cell=keep, asker=asker)
        self._runner, self._task = runner, asyncio.current_task()
        try:
            estimate = await runner.prepare()
            if estimate.faults:
                raise ImproveError(estimate.faults[0])
            self._check_calls(estimate.to_send)
            result = runner.begin()
            state = await runner.run(result)
        finally:
            self._runner = self._task = None
            await runner.close()
        if state != "done":
            raise SpentError(tr("It was stopped.") if self.is_stopped else _used_up())
        return result

    def _check_calls(self, count: int) -> None:
        calls = self._choices.calls
        if calls is not None and self.spent.calls + count + self.reserved > calls:
            raise SpentError(_used_up())

    def _left(self) -> ExperimentBudget:
        """Return the remaining budget without the share of the deciding rows."""
        choices = self._choices
        mean_tokens = self.spent.tokens / max(1, self.spent.calls)
        cost, tokens = None, None
        if choices.cost is not None:
            spent = self.total.cost or 0.0
            mean = (self.spent.cost or 0.0) / max(1, self.spent.calls)
            cost = choices.cost - spent - mean * self.reserved
        if choices.tokens is not None:
            tokens = choices.tokens - self.total.tokens - int(mean_tokens * self.reserved)
        return ExperimentBudget(cost=cost, tokens=tokens)


def answered_row(row: ExperimentRow, outcomes: Sequence[CellOutcome]) -> candidates.AnsweredRow:
    """Return a row's repeats as one: their mean score, and the first failure as an example."""
    scores = [1.0 if each.passed else min(each.score, _ALMOST) for each in outcomes]
    failed = [each for each in outcomes if not each.passed]
    shown = next(iter(failed or outcomes), None)
    reasons: tuple[str, ...] = ()
    if shown is not None:
        reasons = tuple(
            f"{each.label}: {each.state}. {each.reason}"
            for each in shown.results
            if each.state != "passed"
        )
    return candidates.AnsweredRow(
        dict(row.case.variables),
        shown.output or shown.error if shown is not None else "",
        bool(outcomes) and not failed,
        sum(scores) / len(scores) if scores else 0.0,
        reasons,
        row.case.expected or "",
    )


def _used_up() -> str:
    return tr("The budget is used up, except for the unseen rows.")


# Texts for a section without a search: proposed, reviewed, and tried as variants.

MOST_TEXTS = 8
"""Maximum number of texts proposed at a time."""

_MOST_ROWS = 6


def rows_to_show(
    ledger: ExperimentLedger, plan: ExperimentPlan, at: int
) -> tuple[candidates.AnsweredRow, ...]:
    """Return the rows of the newest result with a variant, failed ones first."""
    name = plan.variants[at].name
    for head in ledger.results(str(plan.file.path or "")):
        names = ledger.variants(head.id)
        if name not in names:
            continue
        rows = {row.key: row for row in plan.rows}
        keys = {row.number: row.key for row in ledger.rows(head.id)}
        cells = sorted(
            (bool(passed), CellKey(repeat, row, of))
            for repeat, row, of, _, passed, _ in ledger.scans.states(head.id)
            if names[of] == name and passed is not None
        )
        shown: dict[int, candidates.AnsweredRow] = {}
        for _, cell in cells:
            row, outcome = rows.get(keys[cell.row]), ledger.outcome(head.id, cell)
            if row is not None and outcome is not None and cell.row not in shown:
                shown[cell.row] = answered_row(row, [outcome])
            if len(shown) == _MOST_ROWS:
                break
        return tuple(shown.values())
    return ()


async def propose_texts(
    document: PromptDocument,
    title: str,
    count: int,
    proposer: ModelChoice,
    services: ExperimentServices,
    rows: Sequence[candidates.AnsweredRow],
    *,
    trusted: bool,
    wish: str = "",
) -> tuple[tuple[candidates.ProposedText, ...], candidates.SectionProposer]:
    """Propose several different texts for a section.

    Returns:
        All proposals, refused ones with their reason, and the proposer with its tokens and cost.

    Raises:
        ExperimentError: there is no such section.
        ModelError: the model cannot be opened.
    """
    current = candidates.section_text(document, title)
    asked = candidates.SectionProposer(
        document, title, proposer, services, trusted=trusted, wish=wish
    )
    made: list[candidates.ProposedText] = []
    try:
        for _ in range(max(1, min(count, MOST_TEXTS))):
            known = [each.text for each in made if not each.refusal]
            made += await asked.texts(current, rows, known)
            if made[-1].refusal:
                break  # some attempts failed: further ones would, too
    finally:
        await asked.close()
    return tuple(made), asked
