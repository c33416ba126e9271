"""Background tasks of the dialogs for better sections, proposed texts and invented rows."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from studio.application.experiments.cases import (
    AcceptedAnswer,
    GeneratedRow,
    GeneratedRows,
    RowRequest,
    add_rows,
    generate_rows,
    generator_choice,
)
from studio.application.experiments.improve import accept
from studio.application.experiments.improve.candidates import ProposedText, section_text
from studio.application.experiments.improve.score import propose_texts, rows_to_show
from studio.application.experiments.improve.search import SectionSearch
from studio.application.experiments.plan import ExperimentPlan, ExperimentServices
from studio.application.experiments.planned_variants import PlannedVariant
from studio.application.experiments.prompts import ExperimentError, section_titles
from studio.application.experiments.providers import choice_for
from studio.application.experiments.report import ledger_path
from studio.application.words import tr
from studio.core.experiments.results.database import LedgerError
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.values import ProviderEntry
from studio.core.models.base import ModelError
from studio.core.models.choice import ModelChoice
from studio.core.text.files import read_bounded, write_atomically
from studio.core.text.values import named_reason
from studio.core.tools.source import ToolSourceError
from studio.viewmodels.app.background import Background

# Base of the dialogs' tasks: one at a time in the background loop.

Result = TypeVar("Result")


class DialogTask(QObject):
    """Runs a task and reports its failure unless the dialog is closed."""

    running_changed = Signal(bool)
    failed = Signal(str)  # a sentence

    def __init__(
        self,
        background: Background,
        errors: tuple[type[Exception], ...],
        parent: QObject | None = None,
    ) -> None:
        """Create it.

        Args:
            background: the loop.
            errors: exception types that are shown to the user; any other is a bug.
            parent: owner.
        """
        super().__init__(parent)
        self._background = background
        self._errors = errors
        self._work: Future[object] | None = None

    @property
    def is_running(self) -> bool:
        """Whether a task is running."""
        return self._work is not None

    def start(
        self, work: Coroutine[object, object, Result], done: Callable[[Result], None]
    ) -> None:
        """Run `work` and pass its result to `done`; do nothing while another task is running."""
        if self._work is not None:
            work.close()
            return
        self._work = self._background.start(work, partial(self._end, done))
        self.running_changed.emit(True)

    def cancel(self) -> None:
        """Cancel the running task."""
        if self._work is not None:
            self._work.cancel()

    def close(self) -> None:
        """Cancel the running task, without a signal."""
        work, self._work = self._work, None
        if work is not None:
            work.cancel()

    def _end(self, done: Callable[[Result], None], ended: Future[Result]) -> None:
        if ended is not self._work:
            return  # the dialog was closed
        self._work = None
        self.running_changed.emit(False)
        try:
            found = ended.result()
        except CancelledError:
            return
        except self._errors as error:
            self.failed.emit(failure_words(error))
        else:
            done(found)


def failure_words(error: Exception) -> str:
    """Describe a failure, with the advice of a model error."""
    hint = error.hint if isinstance(error, ModelError) else ""
    return f"{named_reason(error)} {hint}".strip()


_ERRORS = (ExperimentError, accept.ImproveError, LedgerError, ModelError, ToolSourceError, OSError)


class ImproveController(DialogTask):
    """Searches and proposes texts for an experiment file as it was when the dialog opened."""

    progress_changed = Signal(accept.ImproveProgress)
    ended = Signal(accept.Improvement)
    proposed = Signal(tuple)  # of ProposedText
    written = Signal(int)  # number of added variants

    def __init__(
        self, path: Path, plan: ExperimentPlan, background: Background, services: ExperimentServices
    ) -> None:
        super().__init__(background, _ERRORS)
        self.path = path
        self.plan = plan
        self._services = services
        self._search: SectionSearch | None = None

    @property
    def variants(self) -> list[str]:
        """Names of the variants whose prompts can be improved."""
        return [each.name for each in self.plan.variants if accept.is_improvable(each)]

    @property
    def connections(self) -> list[str]:
        """Names of the connections that can propose texts."""
        return [each.name for each in self._services.connections.connections]

    def sections(self, variant: str) -> list[str]:
        """Return the sections of a variant's prompt."""
        found = self._variant(variant)
        return section_titles(found.document) if found is not None else []

    def text_of(self, variant: str, section: str) -> str:
        """Return the current text of a section; empty if there is none."""
        found = self._variant(variant)
        try:
            return section_text(found.document, section) if found is not None else ""
        except ExperimentError:
            return ""

    def search(self, variant: str, provider: str, choices: accept.ImproveChoices) -> None:
        """Search for a better text."""
        self.start(self._searched(variant, provider, choices), self.ended.emit)

    def propose(self, variant: str, provider: str, section: str, count: int, wish: str) -> None:
        """Request proposed texts for review."""
        self.start(self._proposed(variant, provider, section, count, wish), self.proposed.emit)

    def add_variants(self, variant: str, section: str, texts: list[str]) -> None:
        """Add texts to the experiment as variants."""
        found = self._variant(variant)
        if found is None:
            return
        try:
            before = read_bounded(self.path).decode("utf-8")
            write_atomically(self.path, accept.with_variants(before, found, section, texts))
        except (ExperimentError, OSError, UnicodeDecodeError) as error:
            self.failed.emit(named_reason(error))
            return
        self.written.emit(len(texts))

    def stop(self) -> None:
        """Start no further requests; running ones may finish."""
        if self._search is not None:
            self._background.start(self._stopped())
        else:
            self.cancel()

    # On the loop's thread -------------------------------------------------------------------------

    async def _stopped(self) -> None:
        if self._search is not None:
            self._search.stop()

    async def _searched(
        self, variant: str, provider: str, choices: accept.ImproveChoices
    ) -> accept.Improvement:
        at = self._place(variant)
        ledger = ExperimentLedger(ledger_path(self.path))
        try:
            services = replace(self._services, approve=False)
            self._search = SectionSearch(
                self.plan,
                at,
                choices,
                self._proposer(at, provider),
                services,
                ledger,
                lambda told: self._background.post(partial(self.progress_changed.emit, told)),
            )
            return await self._search.run()
        finally:
            self._search = None
            ledger.close()

    async def _proposed(
        self, variant: str, provider: str, section: str, count: int, wish: str
    ) -> tuple[ProposedText, ...]:
        at = self._place(variant)
        ledger = ExperimentLedger(ledger_path(self.path))
        try:
            rows = await asyncio.to_thread(rows_to_show, ledger, self.plan, at)
        finally:
            ledger.close()
        made, _ = await propose_texts(
            self.plan.variants[at].document,
            section,
            count,
            self._proposer(at, provider),
            self._services,
            rows,
            trusted=self.plan.folder.trusted,
            wish=wish,
        )
        return made

    def _proposer(self, at: int, provider: str) -> ModelChoice:
        found = choice_for(
            ProviderEntry(provider),
            self.plan.variants[at].document,
            self._services.connections,
            trusted=self.plan.folder.trusted,
        )
        if found is None:
            raise accept.ImproveError(tr("`echo` proposes nothing."))
        return found

    def _place(self, variant: str) -> int:
        return next(at for at, each in enumerate(self.plan.variants) if each.name == variant)

    def _variant(self, name: str) -> PlannedVariant | None:
        return next((each for each in self.plan.variants if each.name == name), None)


# Rows that a model invents for a dialog, in the loop's thread.


class InventedRowsController(DialogTask):
    """Generates rows for an experiment and writes them."""

    generated = Signal(GeneratedRows)
    written = Signal(AcceptedAnswer)

    def __init__(
        self,
        path: Path,
        plan: ExperimentPlan,
        background: Background,
        services: ExperimentServices,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(background, (ExperimentError, ModelError), parent)
        self.path = path
        self._plan = plan
        self._services = services

    def ask(self, kinds: Sequence[str]) -> None:
        """Let the prompt's own model invent rows of each kind."""
        earlier = tuple(dict(row.case.variables) for row in self._plan.rows)
        self.start(self._asked(RowRequest(tuple(kinds), earlier=earlier)), self.generated.emit)

    def add(self, rows: Sequence[GeneratedRow]) -> None:
        """Write rows to the file."""
        try:
            change = add_rows(self.path, rows)
            change.write()
        except (ExperimentError, OSError) as error:
            self.failed.emit(named_reason(error))
            return
        self.written.emit(change)

    async def _asked(self, asked: RowRequest) -> GeneratedRows:
        trusted, first = self._plan.folder.trusted, self._plan.variants[0]
        provider = first.entry.provider.id
        choice = generator_choice(first.document, provider, self._services, trusted=trusted)
        return await generate_rows(first.document, choice, self._services, asked, trusted=trusted)
