"""The dialogs of an experiment's tab: workers, invented rows, a better section."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDialog

from studio.application.experiments.accept import AcceptedAnswer, AcceptError
from studio.application.experiments.improve.accept import acceptance
from studio.application.experiments.improve.values import ImproveError, Improvement
from studio.core.prompty.parse import parse
from studio.core.text.reason import named_reason
from studio.ui.experiments.improve_dialog import ImproveDialog
from studio.ui.experiments.rows_dialog import InventedRowsDialog
from studio.ui.experiments.view import ExperimentView
from studio.ui.experiments.workers_dialog import WorkersDialog
from studio.ui.window.parts import WindowParts
from studio.viewmodels.app.background import Background
from studio.viewmodels.app.notifications import Notification, NotificationAction
from studio.viewmodels.experiments.controller import ServicesNow
from studio.viewmodels.experiments.improving import ImproveController
from studio.viewmodels.experiments.inventing import InventedRowsController


class ExperimentDialogs(QObject):
    """Opens them, and carries what they find to the editor and the user."""

    def __init__(
        self, window: WindowParts, background: Background, services: ServicesNow, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._window = window
        self._background = background
        self._services = services

    def join(self, view: ExperimentView) -> None:
        """Open them from a view."""
        view.request_workers.connect(lambda: self._workers(view))
        view.request_rows.connect(lambda: self._rows(view))
        view.request_improvement.connect(lambda: self._improve(view))

    def _workers(self, view: ExperimentView) -> None:
        self._open(WorkersDialog(view.controller, self._window.widget))

    def _rows(self, view: ExperimentView) -> None:
        plan, path = view.controller.plan, view.controller.path
        if plan is None:
            return
        controller = InventedRowsController(path, plan, self._background, self._services())
        controller.written.connect(lambda change: self._on_rows(view, change))
        self._open(InventedRowsDialog(controller, self._window.widget))

    def _improve(self, view: ExperimentView) -> None:
        plan, path = view.controller.plan, view.controller.path
        if plan is None:
            return
        controller = ImproveController(path, plan, self._background, self._services())
        controller.written.connect(lambda _count: view.controller.reload_plan())
        dialog = ImproveDialog(controller, self._window.widget)
        dialog.request_acceptance.connect(self._accept)
        dialog.request_result.connect(view.controller.load)
        self._open(dialog)

    def _open(self, dialog: WorkersDialog | InventedRowsDialog | ImproveDialog) -> None:
        QDialog.open(dialog)

    def _accept(self, found: Improvement) -> None:
        """Put the better text into the prompt's editor, as one step that can be undone."""
        page = self._window.tabs.open_text(Path(found.prompt))
        if page is None:
            return
        try:
            edit = acceptance(parse(page.editor.text(), page.controller.path), found)
        except ImproveError as error:
            self._window.services.messages.error(named_reason(error))
            return
        page.editor.apply_edits([edit])
        page.editor.reveal(edit.span)

    def _on_rows(self, view: ExperimentView, change: AcceptedAnswer) -> None:
        view.controller.reload_plan()

        def undo() -> None:
            try:
                change.undo()
            except (AcceptError, OSError) as error:
                self._window.services.messages.error(named_reason(error))
            view.controller.reload_plan()

        words = self.tr("The rows are added to {name}.").format(name=change.path.name)
        back = NotificationAction(self.tr("Undo"), undo)
        self._window.services.messages.say(
            Notification("success", words, offers=(back,), key="rows")
        )
