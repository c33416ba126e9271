"""Experiments of the window: a view for each file, and the ways from a cell to everything else."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from studio.application.experiments.plan import ExperimentServices
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.stepping import cell_to_step
from studio.core.agent.values.events import Started
from studio.core.experiments.results.cells import CellKey
from studio.core.runs.codec import JournalError, decode_event
from studio.core.runs.store import RunStore, StoreError
from studio.core.tools.trust.store import TrustStore
from studio.ui.app.run_coordinator import RunCoordinator
from studio.ui.experiments.view import ExperimentView
from studio.ui.style.theme import Theme
from studio.ui.window.parts import WindowParts
from studio.viewmodels.app.background import Background
from studio.viewmodels.connections.controller import ConnectionsController
from studio.viewmodels.experiments.controller import ExperimentController


class ExperimentsCoordinator(QObject):
    """Makes views, and leads from their cells to the debugger, the history and the prompt."""

    request_record = Signal(str)  # id of a run of the history
    run_kept = Signal()  # the history has one more

    def __init__(
        self,
        window: WindowParts,
        background: Background,
        connections: ConnectionsController,
        run: RunCoordinator,
        trust: TrustStore,
        store: RunStore | None,
    ) -> None:
        super().__init__(window.widget)
        self._window = window
        self._background = background
        self._connections = connections
        self._run = run
        self._trust = trust
        self._store = store
        self._views: list[ExperimentView] = []
        window.themes.changed.connect(self._set_theme)
        window.tabs.view_closed.connect(self._on_closed)

    def open(self, path: Path) -> QWidget:
        """A view of an experiment file."""
        controller = ExperimentController(path, self._background, self._services, self)
        view = ExperimentView(controller)
        view.set_theme(self._window.themes.value)
        view.request_step.connect(lambda key: self._step(controller, key))
        view.request_edit.connect(lambda key: self._edit(controller, key))
        view.request_run.connect(lambda key: self._open_run(controller, key))
        view.request_file.connect(self._window.tabs.open_text)
        self._views.append(view)
        controller.load()
        return view

    def close(self) -> None:
        """Stop what is under way and let go of the files."""
        for view in self._views:
            view.controller.close()
        self._views.clear()

    def _services(self) -> ExperimentServices:
        """What experiments are run with, as it is set up now."""
        return ExperimentServices(
            self._trust,
            self._connections.connections,
            self._connections.secrets,
            self._connections.server,
        )

    def _set_theme(self, theme: Theme) -> None:
        for view in self._views:
            view.set_theme(theme)

    def _on_closed(self, view: QWidget) -> None:
        if isinstance(view, ExperimentView) and view in self._views:
            self._views.remove(view)
            view.controller.close()
            view.controller.deleteLater()

    # -- from a cell ----------------------------------------------------------------------------

    def _step(self, controller: ExperimentController, key: CellKey) -> None:
        """Step through a cell's row live, with the prompt and model of its column."""
        grid, plan = controller.model.grid, controller.plan
        if grid is None or plan is None:
            self._run.refuse(self.tr("The experiment's file cannot be run as it is."))
            return
        try:
            self._run.start_cell(cell_to_step(plan, grid.variants[key.variant], key.row))
        except ExperimentError as error:
            self._run.refuse(str(error))

    def _edit(self, controller: ExperimentController, key: CellKey) -> None:
        """Open the prompt of a cell's column; one that is made of an edit as a text of its own."""
        variant = controller.variant(key)
        if variant is None:
            self._run.refuse(self.tr("The experiment's file cannot be run as it is."))
            return
        path = variant.document.source.path
        tabs = self._window.tabs
        if path is not None and path.is_file():
            tabs.open_text(path)
        else:
            tabs.new(variant.document.source.text, f"{variant.name}.prompty")

    def _open_run(self, controller: ExperimentController, key: CellKey) -> None:
        """Put a kept run into the history, and open it there."""
        journal = controller.journal_of(key)
        if journal is None or self._store is None:
            self._run.refuse(self.tr("The run of this cell was not kept."))
            return
        try:
            events = [decode_event(json.loads(line)) for line in journal.decode().split("\n")]
            first = events[0]
            if not isinstance(first, Started):
                raise JournalError("a journal begins with Started")
            if self._store.summary(first.setup.run) is None:
                writer = self._store.journal(first.setup.run)
                for event in events:
                    writer.write(event)
                self.run_kept.emit()
        except (JournalError, StoreError, ValueError) as error:
            self._run.refuse(str(error))
            return
        self.request_record.emit(first.setup.run)
