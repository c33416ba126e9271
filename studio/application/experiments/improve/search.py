"""Search for a better section with GEPA (the extra `improve`), by the studio's rules.

GEPA decides which text is changed next and which one is kept. Proposals, permissions, costs and
rows are decided here: GEPA calls back from its own thread, which waits for the loop. It never gets
the deciding rows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any, Protocol

from studio.application.experiments.improve import accept, candidates
from studio.application.experiments.improve.score import RowScorer, SpentError
from studio.application.experiments.plan import ExperimentPlan, ExperimentServices
from studio.application.experiments.report import report_of
from studio.application.words import tr
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.values import ExperimentRow
from studio.core.models.choice import ModelChoice
from studio.core.text.amounts import by_count

_SECTION = "section"
_MINIBATCH = 3
_MOST_IDLE = 3
"""Number of consecutive failures of the proposer after which the search ends."""

OnImproveProgress = Callable[[accept.ImproveProgress], None]


def gepa_module() -> ModuleType:
    """Return the library for the search.

    Raises:
        ImproveError: it is not installed; the text says how to install it.
    """
    try:
        import gepa.api
    except ImportError:
        raise accept.ImproveError(
            tr("Improving needs gepa: pip install 'prompt-studio[improve]'.")
        ) from None
    found: ModuleType = gepa.api
    return found


class SectionSearch:
    """A search for a better text of a section, on one event loop."""

    def __init__(
        self,
        plan: ExperimentPlan,
        at: int,
        choices: accept.ImproveChoices,
        proposer: ModelChoice,
        services: ExperimentServices,
        ledger: ExperimentLedger,
        on_progress: OnImproveProgress = lambda _progress: None,
    ) -> None:
        """Divide the rows for a search; nothing is sent.

        Args:
            plan: the experiment.
            at: index of the variant to improve, from 0.
            choices: the section and the budget.
            proposer: the proposer's model.
            services: the shared services.
            ledger: the ledger for the answers.
            on_progress: receives the progress.

        Raises:
            ImproveError: the search cannot work.
            ExperimentError: there is no such section.
            ModelError: the proposer's model cannot be opened.
        """
        accept.check_choices(plan, at, choices, proposer)
        self._variant = plan.variants[at]
        self._before = candidates.section_text(self._variant.document, choices.section)
        self._gepa = gepa_module()
        self._choices = choices
        self._ledger = ledger
        self._tell = on_progress
        self._learn, self._choose, self._decide = accept.split_rows(
            [row for row in plan.rows if self._variant.takes(row.case)], choices.seed
        )
        self._scorer = RowScorer(plan, at, choices, services, ledger)
        self._scorer.reserved = 2 * len(self._decide) * plan.repeats
        self._proposer = candidates.SectionProposer(
            self._variant.document,
            choices.section,
            proposer,
            services,
            trusted=plan.folder.trusted,
            wish=choices.wish,
        )
        self._candidates = [accept.Candidate(0, None, self._before, "start")]
        self._asking: Future[list[candidates.ProposedText]] | None = None
        self._idle = 0
        self._rounds = 0
        self._ended = ""
        self._is_deciding = False

    def stop(self) -> None:
        """Start no more cells; running ones may end. Must be called on the loop."""
        self._scorer.stop()

    async def close(self) -> None:
        """Close a search that was not started."""
        await self._proposer.close()
        await self._scorer.close()

    async def run(self) -> accept.Improvement:
        """Search, then decide by the unseen rows.

        Raises:
            ImproveError: a row cannot run.
            ModelError: a connection is incomplete.
        """
        loop = asyncio.get_running_loop()
        try:
            await self._searched(loop)
            best = self._best()
            result = None
            if best.number and not self._scorer.is_stopped:
                self._is_deciding = True
                self._say()
                try:
                    name = f"{self._variant.name} · {self._choices.section}"
                    result = await self._scorer.decide(best.text, self._decide, name)
                except SpentError as error:
                    self._ended = str(error)
        finally:
            await self.close()
        path = self._variant.document.source.path
        report = report_of(self._ledger, result) if result is not None else None
        return accept.Improvement(
            self._choices.section,
            str(path or ""),
            self._before,
            best.text,
            tuple(self._candidates),
            (len(self._learn), len(self._choose), len(self._decide)),
            result,
            report,
            self._scorer.total,
            self._ended,
        )

    async def _searched(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wait for the end of GEPA's thread, even after a cancellation."""
        work = asyncio.create_task(asyncio.to_thread(self._search, loop))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            self._scorer.abort()
            if self._asking is not None:
                self._asking.cancel()
            await asyncio.wait({work})
            raise

    # In GEPA's thread -----------------------------------------------------------------------------

    def _search(self, loop: asyncio.AbstractEventLoop) -> None:
        adapter = _Adapter(self, loop)
        try:
            self._gepa.optimize(
                seed_candidate={_SECTION: self._before},
                trainset=list(self._learn),
                valset=list(self._choose),
                adapter=adapter,
                custom_candidate_proposer=partial(self._propose, loop),
                reflection_minibatch_size=min(_MINIBATCH, len(self._learn)),
                stop_callbacks=[self._is_over],
                logger=_Silence(),
                seed=self._choices.seed,
                raise_on_exception=True,
                track_best_outputs=False,
            )
        except SpentError as error:
            self._ended = self._ended or str(error)
        except CancelledError:  # of the awaited future: its result is not needed any more
            return

    def _is_over(self, _state: object) -> bool:
        """Return whether the search ends; GEPA calls it before each round."""
        self._rounds += 1
        if self._ended:
            return True
        best = self._best().score
        if best is not None and best >= 1.0:
            self._ended = tr("All selection rows pass.")
        elif len(self._candidates) > self._choices.proposals:
            one, many = tr("1 text was proposed."), tr("{count} texts were proposed.")
            self._ended = by_count(self._choices.proposals, one, many)
        elif self._rounds > 4 * self._choices.proposals + 20:
            self._ended = tr("All training rows already pass.")
        else:
            self._ended = self._scorer.refusal()
        return bool(self._ended)

    def evaluate(
        self, loop: asyncio.AbstractEventLoop, text: str, rows: list[ExperimentRow]
    ) -> list[candidates.AnsweredRow]:
        """Score rows; called in GEPA's thread."""
        at = next(
            at
            for at, each in enumerate(self._candidates)
            if each.text == text and each.state != "refused"
        )
        chosen = {row.number for row in rows} <= {row.number for row in self._choose}
        try:
            found = asyncio.run_coroutine_threadsafe(self._scorer.score(text, rows), loop).result()
        except SpentError as error:
            self._candidates[at] = replace(self._candidates[at], reason=str(error))
            raise
        mean = sum(each.score for each in found) / max(1, len(found))
        if chosen:
            state: accept.CandidateState = "kept" if at else "start"
            kept = replace(self._candidates[at], state=state, score=mean, reason="")
            self._candidates[at] = kept
        loop.call_soon_threadsafe(self._say)
        return found

    def _propose(
        self,
        loop: asyncio.AbstractEventLoop,
        candidate: Mapping[str, str],
        shown: Mapping[str, Sequence[Mapping[str, Any]]],
        _names: list[str],
    ) -> dict[str, str]:
        """Return a text to score; empty if the proposer returns none. Never raises."""
        current = candidate[_SECTION]
        rows = [each["row"] for each in shown[_SECTION]]
        known = [each.text for each in self._candidates if each.state != "refused"]
        asked = self._proposer.texts(current, rows, known)
        try:
            self._asking = asyncio.run_coroutine_threadsafe(asked, loop)
            made = self._asking.result()
        except Exception as error:  # noqa: BLE001 - GEPA would ask once more, and be charged
            self._ended = str(error) or type(error).__name__
            return {}
        finally:
            self._scorer.count_proposal(self._proposer.tokens, self._proposer.cost)
        parent = next(
            each.number
            for each in self._candidates
            if each.text == current and each.state != "refused"
        )
        for each in made:
            number = len(self._candidates)
            self._candidates.append(
                accept.Candidate(number, parent, each.text, "refused", reason=each.refusal)
                if each.refusal
                else accept.Candidate(
                    number,
                    parent,
                    each.text,
                    "dropped",
                    reason=tr("It was not better on the training rows."),
                )
            )
        loop.call_soon_threadsafe(self._say)
        if made and not made[-1].refusal:
            self._idle = 0
            return {_SECTION: made[-1].text}
        self._idle += 1
        if self._idle >= _MOST_IDLE:
            self._ended = tr("The model proposes no usable text: {reason}").format(
                reason=made[-1].refusal if made else ""
            )
        return {}

    # The state ------------------------------------------------------------------------------------

    def _best(self) -> accept.Candidate:
        """Return the candidate with the highest score, the first of equal ones."""
        scored = [each for each in self._candidates if each.score is not None]
        return max(
            scored, key=lambda each: (each.score or 0.0, -each.number), default=self._candidates[0]
        )

    def _say(self) -> None:
        self._tell(
            accept.ImproveProgress(
                len(self._candidates) - 1,
                self._choices.proposals,
                self._scorer.total,
                self._best().score,
                self._is_deciding,
            )
        )


class _Adapter:
    """Adapter through which GEPA scores texts on rows."""

    propose_new_texts = None

    def __init__(self, search: SectionSearch, loop: asyncio.AbstractEventLoop) -> None:
        self._search = search
        self._loop = loop

    def evaluate(
        self, batch: list[ExperimentRow], candidate: dict[str, str], capture_traces: bool = False
    ) -> object:
        from gepa.core.adapter import EvaluationBatch

        found = self._search.evaluate(self._loop, candidate[_SECTION], batch)
        return EvaluationBatch(
            outputs=[each.answer for each in found],
            scores=[each.score for each in found],
            trajectories=found if capture_traces else None,
        )

    def make_reflective_dataset(
        self, _candidate: dict[str, str], evaluated: _Evaluated, names: list[str]
    ) -> dict[str, list[dict[str, object]]]:
        return {name: [{"row": each} for each in evaluated.trajectories] for name in names}


class _Evaluated(Protocol):
    """The result of `evaluate` in the form that GEPA expects."""

    @property
    def trajectories(self) -> Sequence[candidates.AnsweredRow]:
        """The rows."""
        ...


class _Silence:
    """A logger that discards GEPA's output."""

    def log(self, _message: str) -> None:
        """Ignore the call."""
