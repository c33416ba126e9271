"""Rows that a model invents, asked for on the loop's thread for a dialog."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.application.experiments.accept import AcceptedAnswer
from studio.application.experiments.generate import (
    GeneratedRow,
    GeneratedRows,
    RowRequest,
    add_rows,
    generate_rows,
    generator_choice,
    rows_file,
)
from studio.application.experiments.plan import ExperimentPlan, ExperimentServices
from studio.application.experiments.prompts import ExperimentError
from studio.core.models.base import ModelError
from studio.core.text.reason import named_reason
from studio.viewmodels.app.background import Background
from studio.viewmodels.experiments.dialog_task import DialogTask


class InventedRowsController(DialogTask):
    """Asks for rows of one experiment; writes those that the user wants."""

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
        self._document = plan.variants[0].document
        self._services = services

    @property
    def connections(self) -> list[str]:
        """Names of those who can invent."""
        return [each.name for each in self._services.connections.connections]

    @property
    def about(self) -> str:
        """What the prompt says of itself."""
        return self._document.description or self._document.name

    @property
    def target(self) -> str:
        """Name of the file that rows are added to."""
        return rows_file(self.path, self._plan.file.source.text).name

    def ask(self, provider: str, kinds: Sequence[str], count: int, about: str) -> None:
        """Ask for rows of each kind."""
        earlier = tuple(dict(row.case.variables) for row in self._plan.rows)
        asked = RowRequest(tuple(kinds), count, about, earlier)
        self.start(self._asked(provider, asked), self.generated.emit)

    def add(self, rows: Sequence[GeneratedRow]) -> None:
        """Write rows."""
        try:
            change = add_rows(self.path, rows)
            change.write()
        except (ExperimentError, OSError) as error:
            self.failed.emit(named_reason(error))
            return
        self.written.emit(change)

    async def _asked(self, provider: str, asked: RowRequest) -> GeneratedRows:
        trusted = self._plan.folder.trusted
        choice = generator_choice(self._document, provider, self._services, trusted=trusted)
        return await generate_rows(self._document, choice, self._services, asked, trusted=trusted)
