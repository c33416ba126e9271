"""Experiments of the window: a view for each file, and links from its cells to other panes."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from studio.application.connections.model import RequestedModel
from studio.application.experiments.cases import (
    AcceptedAnswer,
    AcceptError,
    CasesTable,
    GeneratedRows,
    case_files,
    free_path,
    kept_case,
)
from studio.application.experiments.improve.accept import ImproveError, Improvement, acceptance
from studio.application.experiments.plan import ExperimentServices
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.report import ExperimentReport
from studio.application.experiments.run.spending import ended_words
from studio.application.experiments.stepping import cell_to_step
from studio.application.history.open_calls import known_values
from studio.application.run.past.again import PastRun
from studio.application.words import tr
from studio.core.agent.values.events import Started
from studio.core.experiments.file.cases import plain_expected
from studio.core.experiments.results.cells import CellKey
from studio.core.models.base import ModelError
from studio.core.prompty.document import PromptDocument
from studio.core.runs.codec import JournalError
from studio.core.runs.exchange import read_journal
from studio.core.runs.store import RunStore, StoreError
from studio.core.text.files import read_text, write_atomically
from studio.core.text.values import JsonDict, JsonObject, named_reason
from studio.core.wire.wire_call import WireCall
from studio.ui.app.run_coordinator import RunCoordinator
from studio.ui.editor.page.page import EditorPage
from studio.ui.experiments.head import WorkersDialog
from studio.ui.experiments.improve_dialog import ImproveDialog
from studio.ui.experiments.view import ExperimentView
from studio.ui.window.notices import DesktopNotice
from studio.ui.window.parts import WindowParts
from studio.viewmodels.app.background import Background
from studio.viewmodels.app.notifications import NotificationAction
from studio.viewmodels.experiments.controller import ExperimentController, ServicesNow
from studio.viewmodels.experiments.dialog_tasks import ImproveController, InventedRowsController

_MOST_SENTENCES = 4


class ExperimentsCoordinator(QObject):
    """Creates views and opens the debugger, the history and the prompt of their cells."""

    request_record = Signal(str)  # id of a stored run
    run_kept = Signal()  # a run was added to the history

    def __init__(self, background: Background, run: RunCoordinator, store: RunStore | None) -> None:
        super().__init__(run)
        window = self._window = run.window
        self._background = background
        self._connections = connections = run.connections
        self._run = run
        self._store = store
        self._views: list[ExperimentView] = []
        self._cases: dict[Path, ExperimentView] = {}
        self._stack = QStackedWidget()
        self._dialogs = ExperimentDialogs(window, background, self._services, self)
        self._notice = DesktopNotice(window.widget)
        window.tabs.view_closed.connect(self._on_closed)
        window.tabs.saved.connect(self._on_saved)
        window.tabs.current_changed.connect(lambda _page: self._follow_page())
        for told in (connections.saved, connections.picked):
            told.connect(self._plan_again)
        run.request_experiment.connect(self._run_shown)

    def open(self, path: Path) -> QWidget:
        """Return a view of an experiment file."""
        return self._view(ExperimentController(path, self._background, self._services, self))

    def show_cases(self, rows: Path | None = None) -> None:
        """Show the cases of the open prompt in their pane.

        Args:
            rows: file of the cases; None for the one that was shown last, or the first beside the
                prompt.
        """
        document = self._window.tabs.document
        path = document.source.path if document is not None and document.is_prompt else None
        if path is None:
            self._run.refuse(tr("Open a saved prompt; its cases are stored in its folder."))
            return
        view = self._cases.get(path)
        if view is None:
            table = CasesTable(path, rows or next(iter(case_files(path)), None))
            controller = ExperimentController(
                table.path, self._background, self._services_with_texts, self, table
            )
            settings = self._window.services.settings
            controller.most_cost = lambda: settings.value.cases_cents / 100
            view = self._cases[path] = self._view(controller)
            self._stack.addWidget(view)
        elif rows is not None and view.controller.cases is not None:
            view.controller.show_cases(replace(view.controller.cases, rows=rows))
        if view.bar is not None:
            view.bar.models = [each.name for each in self._connections.connections.connections]
        self._stack.setCurrentWidget(view)
        if self._stack.parent() is None:
            self._window.docks.fill({"cases": self._stack})
        self._window.docks.show("cases")
        view.setFocus()

    def run_cases(self) -> None:
        """Run the shown cases."""
        view = self._stack.currentWidget()
        if isinstance(view, ExperimentView):
            view.run_all()

    def _follow_page(self) -> None:
        """Show the cases of the active prompt if their pane was opened."""
        document = self._window.tabs.document
        view = self._cases.get(document.source.path) if document and document.source.path else None
        if view is not None:
            self._stack.setCurrentWidget(view)

    def _view(self, controller: ExperimentController) -> ExperimentView:
        view = ExperimentView(controller)
        view.request_step.connect(lambda key: self._step(controller, key))
        view.request_edit.connect(lambda key: self._edit(controller, key))
        view.request_run.connect(lambda key: self._open_run(controller, key))
        view.request_file.connect(self._window.tabs.open_text)
        view.request_experiment.connect(lambda: self._keep_cases(controller))
        if view.bar is not None:
            view.bar.request_copy.connect(lambda: self._copy_prompt(view))
            view.bar.request_limit.connect(lambda cents: self._raise_limit(controller, cents))
        self._dialogs.join(view)
        controller.ended.connect(self._on_ended)
        controller.connection_missing.connect(self._offer_connection)
        self._views.append(view)
        controller.load()
        return view

    def close(self) -> None:
        """Stop running experiments and close the files."""
        for view in self._views:
            view.controller.close()
        self._views.clear()

    def _run_shown(self, at_entry: bool) -> None:
        """Run or step the active experiment, wherever the focus is."""
        for view in self._views:
            if view.isVisible():
                (view.detail.step_button if at_entry else view.run_button).click()

    def _services(self) -> ExperimentServices:
        """Return the services for experiments with their current configuration."""
        return ExperimentServices(
            self._run.trust,
            self._connections.connections,
            self._connections.secrets,
            self._connections.server,
        )

    def _services_with_texts(self) -> ExperimentServices:
        """Return the services with the unsaved texts of all editors, which cases use."""
        pages = [page for page in self._window.tabs.pages() if page.controller.path is not None]
        texts = {Path(str(each.controller.path)).resolve(): each.editor.text() for each in pages}
        return replace(self._services(), drafts=texts)

    def _on_ended(self, report: ExperimentReport) -> None:
        """Notify the desktop that a run has ended, if the user enabled this."""
        if self._window.services.settings.value.notify_ended:
            self._notice.tell(*ended_words(report))

    def _plan_again(self) -> None:
        """Plan cases again for the new model, and experiments that could not be run before."""
        for view in self._views:
            is_asked_now = view.bar is not None or view.controller.plan is None
            if is_asked_now and not view.controller.is_running:
                view.controller.reload_plan()

    def _offer_connection(self, prompt: Path) -> None:
        words = tr("{name} names a connection that is not configured here.")
        hint = tr("Nothing was sent. Add the connection, or choose one for the folder.")
        error = ModelError("missing-connection", words.format(name=prompt.name), hint)
        # A choice is saved, and then the file is planned again.
        self._run.questions.refuse(error, RequestedModel(file=prompt), lambda: None)

    def _on_closed(self, view: QWidget) -> None:
        if isinstance(view, ExperimentView) and view in self._views:
            self._views.remove(view)
            view.controller.close()
            view.controller.deleteLater()

    def _on_saved(self, path: Path) -> None:
        """Reload experiments that use a saved file; a running one has already read it."""
        for view in self._views:
            if not view.controller.is_running and view.controller.reads(path):
                view.controller.reload_plan()
                if view.bar is not None and view.bar.save_box.isChecked():
                    view.run_all()

    def _raise_limit(self, controller: ExperimentController, cents: int) -> None:
        settings = self._window.services.settings
        settings.set(replace(settings.value, cases_cents=cents))
        if controller.asked is not None:
            controller.asked()

    # -- created from other data -----------------------------------------------------------------

    def _keep_cases(self, controller: ExperimentController) -> None:
        """Write an experiment with the same cells and verdicts beside the prompt."""
        table, plan = controller.cases, controller.plan
        if table is None or plan is None:
            self._run.refuse(tr("The cases cannot be run."))
            return
        self._write_new(free_path(table.prompt), table.text(plan.variants[0].document))

    def _copy_prompt(self, view: ExperimentView) -> None:
        """Copy the prompt's text to a file beside it, open it, and add it as a column."""
        if view.controller.cases is None or view.bar is None:
            return
        prompt = view.controller.cases.prompt.resolve()
        text = self._services_with_texts().drafts.get(prompt)
        copy = free_path(prompt, prompt.suffix)
        self._write_new(copy, read_text(prompt) if text is None else text)
        if copy.is_file():
            view.bar.add_file(copy)
            self._window.docks.show("cases")  # beside the copy as well

    def keep(self, past: PastRun | None) -> None:
        """Add the values and the answer of a run to the cases of its prompt."""
        page = self._window.tabs.current
        path = Path(past.setup.path) if past is not None and past.setup.path else None
        if past is not None and path is None and page is not None:
            # The text had no name when it ran: its cases are stored beside the file where it was
            # saved.
            if page.controller.path is None and not self._window.tabs.save(page):
                return
            path = page.controller.path
        if past is None or path is None or not path.is_file():
            self._run.refuse(tr("Run a prompt that is saved first (F5)."))
            return
        row: JsonDict = {
            **past.setup.inputs,
            "expected": plain_expected(past.state.answer or ""),
        }
        self._keep_row(past.document, path, row)

    def keep_call(self, row: JsonObject) -> None:
        """Add a recorded call to the cases of the open prompt."""
        document = self._window.tabs.document_now()
        path = document.source.path if document is not None else None
        if document is None or path is None:
            self._run.refuse(tr("Open and save the prompt to which the call is added as a case."))
            return
        self._keep_row(document, path, {"expected": row["expected"], **known_values(row, document)})

    def _keep_row(self, document: PromptDocument, path: Path, row: JsonObject) -> None:
        try:
            change = kept_case(document, path, row)
            change.write()
        except (AcceptError, OSError) as error:
            self._run.refuse(named_reason(error))
            return
        words = tr("The run was added to {name} as a case.").format(name=change.path.name)
        self._dialogs.offer_undo(change, words, "run")

    def _write_new(self, path: Path, text: str) -> None:
        try:
            write_atomically(path, text)
        except OSError as error:
            self._run.refuse(f"{path.name}: {error.strerror or error}")
            return
        self._window.tabs.open(path)

    # -- from a cell ----------------------------------------------------------------------------

    def _step(self, controller: ExperimentController, key: CellKey) -> None:
        """Step through a cell's row with the prompt and model of its column."""
        grid, plan = controller.model.grid, controller.plan
        if grid is None or plan is None:
            self._run.refuse(tr("The experiment file cannot be run."))
            return
        try:
            self._run.start_cell(cell_to_step(plan, grid.variants[key.variant], key.row))
        except ExperimentError as error:
            self._run.refuse(str(error))

    def _edit(self, controller: ExperimentController, key: CellKey) -> None:
        """Open the prompt of a cell's column; an edited one as a separate text."""
        variant = controller.variant(key)
        if variant is None:
            self._run.refuse(tr("The experiment file cannot be run."))
            return
        path = variant.document.source.path
        tabs = self._window.tabs
        if path is not None and path.is_file():
            tabs.open_text(path)
        else:
            tabs.new(variant.document.source.text, f"{variant.name}.prompty")

    def _open_run(self, controller: ExperimentController, key: CellKey) -> None:
        """Add a cell's run to the history and open it there."""
        journal = controller.answers.journal_of(key)
        if journal is None or self._store is None:
            self._run.refuse(tr("The run of this cell was not saved."))
            return
        try:
            calls: dict[int, WireCall] = {}
            events = list(read_journal(journal.decode("utf-8", "surrogatepass"), calls))
            first = events[0]
            if not isinstance(first, Started):
                raise JournalError("a journal begins with Started")
            if self._store.summary(first.setup.run) is None:
                self._store.add(events, first.setup.run, calls)
                self.run_kept.emit()
        except (JournalError, StoreError, ValueError) as error:
            self._run.refuse(str(error))
            return
        self.request_record.emit(first.setup.run)


class ExperimentDialogs(QObject):
    """Opens the dialogs of experiments and passes their results to the editor and the user."""

    def __init__(
        self, window: WindowParts, background: Background, services: ServicesNow, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._window = window
        self._background = background
        self._services = services

    def join(self, view: ExperimentView) -> None:
        """Connect a view to the dialogs."""
        view.request_workers.connect(lambda: self._workers(view))
        view.request_rows.connect(lambda kinds: self._rows(view, kinds))
        view.request_improvement.connect(lambda: self._improve(view))

    def _workers(self, view: ExperimentView) -> None:
        WorkersDialog(view.controller, self._window.widget).open()

    def _rows(self, view: ExperimentView, kinds: tuple[str, ...]) -> None:
        """Generate rows of some kinds; they are added after review, with *Undo*."""
        plan, path = view.controller.plan, view.controller.path
        if plan is None:
            return
        controller = InventedRowsController(path, plan, self._background, self._services(), view)
        controller.failed.connect(view.controller.failed)
        controller.written.connect(lambda change: self._on_rows(view, change))

        def add(found: GeneratedRows) -> None:
            if found.left_out:
                view.controller.failed.emit("\n".join(found.left_out[:_MOST_SENTENCES]))
            if view.controller.cases is None and found.rows:
                controller.add(found.rows)
            else:
                view.controller.editor.add_rows([dict(row.values) for row in found.rows])

        controller.generated.connect(add)
        view.controller.reported.emit(tr("Generating one kind after another…"))
        controller.ask(kinds)

    def _improve(self, view: ExperimentView) -> None:
        plan, path = view.controller.plan, view.controller.path
        if plan is None:
            return
        controller = ImproveController(path, plan, self._background, self._services())
        controller.written.connect(lambda _count: view.controller.reload_plan())
        dialog = ImproveDialog(controller, self._window.widget)
        dialog.request_acceptance.connect(self._accept)
        dialog.request_result.connect(view.controller.load)
        dialog.open()

    def _accept(self, found: Improvement) -> None:
        """Put the better text into the prompt's editor, as one undo step."""
        page = self._window.tabs.open_text(Path(found.prompt))
        if page is not None:
            page.with_document(partial(self._put_in, page, found))

    def _put_in(self, page: EditorPage, found: Improvement, document: PromptDocument) -> None:
        try:
            edit = acceptance(document, found)
        except ImproveError as error:
            self._window.messages.error(named_reason(error))
            return
        page.editor.apply_edits([edit])
        page.editor.reveal(edit.span)

    def _on_rows(self, view: ExperimentView, change: AcceptedAnswer) -> None:
        view.controller.reload_plan()
        words = tr("The rows were added to {name}.").format(name=change.path.name)
        self.offer_undo(change, words, "rows", view.controller.reload_plan)

    def offer_undo(
        self,
        change: AcceptedAnswer,
        words: str,
        key: str,
        undone: Callable[[], None] = lambda: None,
    ) -> None:
        """Report a written change and offer to undo it.

        Args:
            change: the written change.
            words: text of the notification.
            key: key of the notification, which replaces an earlier one.
            undone: called after the change is undone.
        """

        def undo() -> None:
            try:
                change.undo()
            except (AcceptError, OSError) as error:
                self._window.messages.error(named_reason(error))
            undone()

        back = NotificationAction(tr("Undo"), undo)
        self._window.messages.say("success", words, offers=(back,), key=key)
