"""Runs to files and back: asks for the file, has it written or read, and says how it went."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths
from PySide6.QtWidgets import QWidget

from studio.application.exchange.runs import file_name, form_of
from studio.core.runs.summary import RunSummary
from studio.ui.run.file_choice import ask_journals, ask_target
from studio.viewmodels.app.notifications import Notification, Notifications
from studio.viewmodels.exchange import RunExchange
from studio.viewmodels.run.controller import RunController


class RunFiles(QObject):
    """What stands between the wish for a file and the file."""

    def __init__(
        self, window: QWidget, messages: Notifications, run: RunController, exchange: RunExchange
    ) -> None:
        super().__init__(window)
        self._window = window
        self._messages = messages
        self._run = run
        self._exchange = exchange
        self._folder = Path(
            QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        )
        exchange.exported.connect(self._on_exported)
        exchange.imported.connect(self._on_imported)
        exchange.failed.connect(self._on_failed)

    def export_shown(self, name: str) -> None:
        """Write the branch that the run pane shows."""
        past = self._run.past
        if past is None:
            self._messages.info(
                self.tr("There is no run to export."), self.tr("Run the prompt first (F5).")
            )
            return
        form = form_of(name)
        setup = past.setup
        target = self._folder / file_name(setup.prompt, past.events[0].at, setup.run, form)

        def write(path: Path) -> None:
            self._folder = path.parent
            self._exchange.export_events(past.events, form, path, past.last)

        ask_target(self._window, form, target, write)

    def export_kept(self, run: RunSummary, name: str) -> None:
        """Write a run of the history."""
        form = form_of(name)
        target = self._folder / file_name(run.prompt, run.started, run.id, form)
        ask_target(self._window, form, target, partial(self._exchange.export_run, run.id, form))

    def take(self) -> None:
        """Ask for journals, and take them into the history."""
        ask_journals(self._window, self._folder, self._exchange.import_files)

    def _on_exported(self, path: Path) -> None:
        self._messages.say(
            Notification(
                "info", self.tr("The run was written to {name}.").format(name=path.name), str(path)
            )
        )

    def _on_imported(self, runs: tuple[str, ...]) -> None:
        words = (
            self.tr("1 run was taken")
            if len(runs) == 1
            else self.tr("{count} runs were taken").format(count=len(runs))
        )
        self._messages.say(
            Notification("info", self.tr("{words} into the history.").format(words=words))
        )

    def _on_failed(self, what: str, hint: str) -> None:
        self._messages.error(what, hint)
