"""A search for a better section, and texts by hand, on the loop's thread for a dialog."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.application.experiments.improve.accept import with_variants
from studio.application.experiments.improve.by_hand import propose_texts, rows_to_show
from studio.application.experiments.improve.candidates import section_text
from studio.application.experiments.improve.propose import ProposedText
from studio.application.experiments.improve.readiness import is_improvable
from studio.application.experiments.improve.search import SectionSearch
from studio.application.experiments.improve.values import (
    ImproveChoices,
    ImproveError,
    Improvement,
    ImproveProgress,
)
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
from studio.core.text.atomic_file import write_atomically
from studio.core.text.bounded_file import read_bounded
from studio.core.text.reason import named_reason
from studio.core.tools.source import ToolSourceError
from studio.viewmodels.app.background import Background
from studio.viewmodels.experiments.dialog_task import DialogTask

_ERRORS = (ExperimentError, ImproveError, LedgerError, ModelError, ToolSourceError, OSError)


class ImproveController(DialogTask):
    """Searches and proposes for one experiment, as its file stands when it was made."""

    progress_changed = Signal(ImproveProgress)
    ended = Signal(Improvement)
    proposed = Signal(tuple)  # of ProposedText
    written = Signal(int)  # how many variants were added

    def __init__(
        self,
        path: Path,
        plan: ExperimentPlan,
        background: Background,
        services: ExperimentServices,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(background, _ERRORS, parent)
        self.path = path
        self.plan = plan
        self._services = services
        self._search: SectionSearch | None = None

    @property
    def variants(self) -> list[str]:
        """Names of the variants whose prompt can be improved."""
        return [each.name for each in self.plan.variants if is_improvable(each)]

    @property
    def connections(self) -> list[str]:
        """Names of those who can propose."""
        return [each.name for each in self._services.connections.connections]

    def sections(self, variant: str) -> list[str]:
        """The sections of a variant's prompt."""
        found = self._variant(variant)
        return section_titles(found.document) if found is not None else []

    def text_of(self, variant: str, section: str) -> str:
        """The text of a section as it is; empty where there is none."""
        found = self._variant(variant)
        try:
            return section_text(found.document, section) if found is not None else ""
        except ExperimentError:
            return ""

    def search(self, variant: str, provider: str, choices: ImproveChoices) -> None:
        """Search a better text."""
        self.start(self._searched(variant, provider, choices), self.ended.emit)

    def propose(self, variant: str, provider: str, section: str, count: int, wish: str) -> None:
        """Ask for some texts to be looked at."""
        self.start(self._proposed(variant, provider, section, count, wish), self.proposed.emit)

    def add_variants(self, variant: str, section: str, texts: list[str]) -> None:
        """Write texts into the experiment as variants."""
        found = self._variant(variant)
        if found is None:
            return
        try:
            before = read_bounded(self.path).decode("utf-8")
            write_atomically(self.path, with_variants(before, found, section, texts))
        except (ExperimentError, OSError, UnicodeDecodeError) as error:
            self.failed.emit(named_reason(error))
            return
        self.written.emit(len(texts))

    def stop(self) -> None:
        """Ask for no more; what a search has under way may end."""
        if self._search is not None:
            self._background.start(self._stopped())
        else:
            self.cancel()

    # On the loop's thread -------------------------------------------------------------------------

    async def _stopped(self) -> None:
        if self._search is not None:
            self._search.stop()

    async def _searched(self, variant: str, provider: str, choices: ImproveChoices) -> Improvement:
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
            raise ImproveError(tr("`echo` proposes nothing."))
        return found

    def _place(self, variant: str) -> int:
        return next(at for at, each in enumerate(self.plan.variants) if each.name == variant)

    def _variant(self, name: str) -> PlannedVariant | None:
        return next((each for each in self.plan.variants if each.name == name), None)
