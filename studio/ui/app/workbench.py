"""The window with its panes and view models, which are connected in this module only."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject

from studio.application.connections.model import tool_connection
from studio.application.preview.variables import PreviewTarget
from studio.application.run.cards.timeline import first_sent
from studio.application.run.debugging.console import DebugStore
from studio.application.run.displayed_run import RunView
from studio.application.run.past.record import StoreJournal
from studio.application.words import tr
from studio.core.agent.values.commands import SendBack
from studio.core.prompty.document import PromptDocument
from studio.core.runs.store import RunStore, StoreError
from studio.core.text.values import named_reason
from studio.core.tokens.tokenizers import Tokenizers
from studio.core.tools.mcp.server_config import OWN_FILE
from studio.core.tools.openapi.credentials import NamedConnection
from studio.ui.app.connection_coordinator import ConnectionCoordinator
from studio.ui.app.document_coordinator import DocumentCoordinator
from studio.ui.app.experiments_coordinator import ExperimentsCoordinator
from studio.ui.app.main_window import MainWindow
from studio.ui.app.past_runs import PastRuns, RunFiles
from studio.ui.app.recordings import Recordings
from studio.ui.app.run_coordinator import PersistentEdits, RunCoordinator, RunMarks
from studio.ui.app.tools_coordinator import ToolsCoordinator, trust_in
from studio.ui.base.services import Services
from studio.ui.history.pane import HistoryPane
from studio.ui.inputs.pane import InputsPane
from studio.ui.preview.pane import PreviewPane
from studio.ui.run.pane import RunPane
from studio.ui.style.theme import load_other_fonts
from studio.ui.tools.pane import ToolsPane
from studio.ui.window.parts import Panes
from studio.viewmodels.app.background import Background
from studio.viewmodels.connections.controller import ConnectionsController
from studio.viewmodels.exchange import RunExchange
from studio.viewmodels.history.controller import HistoryController
from studio.viewmodels.preview.controller import EmbeddedCount, PreviewController
from studio.viewmodels.run.breakpoint_book import Debugging
from studio.viewmodels.run.controller import RunController
from studio.viewmodels.tools.calls import CallRequest
from studio.viewmodels.tools.controller import ToolsController


class Workbench(QObject):
    """Owns the controllers and the window, and connects them."""

    _path = ""
    """File of the open prompt, or of the one that was open last."""
    _staged = ""
    """Id of the run whose pane was last opened automatically; the user may have closed it since."""

    def __init__(self, services: Services, window: MainWindow | None = None) -> None:
        """Create the controllers and panes.

        Args:
            services: the shared services.
            window: a window with empty docks; None creates one.
        """
        super().__init__()
        load_other_fonts()
        self._services = services
        self.trust = trust_in(services)
        self.background = Background(self)
        tokenizers = Tokenizers(services.paths.cache / "tokenizers")
        self.preview = PreviewController(self, tokenizers=tokenizers)
        own_servers = services.paths.config / OWN_FILE
        self.connections = ConnectionsController(
            self.background, services.paths.config / "connections.toml", self
        )
        self.tools = ToolsController(
            self.background,
            self.trust,
            self,
            own_servers=own_servers,
            history=services.paths.data / "runs.sqlite",
            masker=self.connections.secrets.masker,
        )
        self.tools.session.find_connection = self._find_connection
        self.counter = EmbeddedCount(self.background, self.connections.server, self)
        self.history = HistoryController(services.paths.data / "runs.sqlite", self)
        self._store = self._open_store()
        journal = StoreJournal(self._store) if self._store is not None else None
        self.run = RunController(self.background, journal, parent=self)
        self.call_request = CallRequest(self.background, self.tools.session, self)
        self.inputs_pane = InputsPane(memory=services.paths.data / "input-sets.json")
        self.preview_pane = PreviewPane()
        self.tools_pane = ToolsPane()
        self.run_pane = RunPane()
        self.history_pane = HistoryPane()
        self.exchange = RunExchange(
            services.paths.data / "runs.sqlite", self, hide=self.connections.secrets.mask
        )
        panes = Panes(
            self.preview_pane, self.inputs_pane, self.tools_pane, self.run_pane, self.history_pane
        )
        if window is None:
            window = MainWindow(services, panes)
        else:
            window.take_panes(panes)
        self.window = window
        self.coordinator = ConnectionCoordinator(self.connections, window.parts, services.messages)
        self.run_coordinator = RunCoordinator(
            window.parts,
            self.run,
            self.connections,
            self.coordinator,
            self.inputs_pane,
            self.trust,
            self.tools,
        )
        self.run_files = RunFiles(window, services.messages, self.run, self.exchange, self.run_pane)
        self.past_runs = PastRuns(
            self.run_coordinator, self.history, self.history_pane, self.run_files
        )
        self.kept_edits = PersistentEdits(window.parts, self.run)
        self.run_marks = RunMarks(window.parts, self.run.breakpoints, self.tools)
        self.debugging = Debugging(
            DebugStore(services.paths.data / "debugging.json"), self.run.breakpoints, self
        )
        self.tools_coordinator = ToolsCoordinator(
            self.tools_pane, self.tools, window.parts, self.trust, own_servers
        )
        self.document = DocumentCoordinator(
            window.parts,
            self.inputs_pane,
            self.preview_pane,
            self.tools_pane,
            self.preview,
            self.tools,
            self.connections,
            self.debugging,
            self.trust,
        )
        self.experiments = ExperimentsCoordinator(
            self.background, self.run_coordinator, self._store
        )
        self._wire()
        self.document.show_choice(self.connections.choice)
        self.history.mark_interrupted()
        self.past_runs.set_retention(
            services.settings.value.history_keep, services.settings.value.history_days
        )
        if window.tabs.document is not None:
            self.document.show_document(window.tabs.document)
            self._on_prompt(window.tabs.document)

    @property
    def is_settled(self) -> bool:
        """Return whether the panes show the current document; for taking pictures."""
        document = self.window.tabs.document
        preview = self.preview.preview
        if document is None:
            return self.window.tabs.current is None
        if not document.is_prompt:
            return not self.tools.is_loading
        is_shown = preview is not None and preview.document is document
        return is_shown and not (self.tools.is_loading or self.preview.details.is_busy)

    def _wire(self) -> None:
        """Connect the panes, one method for each subject."""
        self._connect_document()
        self._connect_inputs()
        self._connect_preview()
        self._connect_tools()
        self._connect_run()
        self._connect_answer()
        self._connect_breakpoints()
        self._connect_history()
        self._connect_experiments()

    def _connect_document(self) -> None:
        """Connect the document with its readers, with trust and with the model of a run."""
        window, document = self.window, self.document
        for shown in (document.show_document, self._on_prompt, self.coordinator.show_document):
            window.page_coordinator.document_changed.connect(shown)
        window.commands.trust_changed.connect(self.tools.reload)
        window.commands.trust_changed.connect(document.show_trust)
        self.tools.untrusted_changed.connect(self.run_coordinator.withdraw_refusal)
        window.files.roots_changed.connect(document.show_trust)
        window.closing.connect(self.close)
        document.trust_changed.connect(self._tell_exchange_trust)
        document.target_changed.connect(self._tell_exchange_target)
        document.refused.connect(self.run_coordinator.refuse)
        self.coordinator.protocol_chosen.connect(self.run_coordinator.choose_protocol)
        self.run_coordinator.protocol_changed.connect(self.preview.set_protocol)
        self.connections.changed.connect(document.show_choice)
        self.connections.saved.connect(self.tools.reload)  # tools may use a connection

    def _connect_inputs(self) -> None:
        """Connect the values of the inputs."""
        window, document, pane = self.window, self.document, self.inputs_pane
        for taken in (document.show_given, self.run_marks.show_given):
            pane.given_changed.connect(taken)
        pane.request_declare.connect(window.commands.declare_input)
        pane.request_reveal.connect(window.tabs.go_to)
        pane.request_samples.connect(document.keep_samples)
        pane.form.request_sample.connect(document.take_sample)
        pane.request_height.connect(window.docks.fit_inputs)
        pane.refused.connect(self.run_coordinator.refuse)
        pane.cases_button.clicked.connect(window.actions_by_id["prompt.cases"].trigger)
        window.tabs.path_moved.connect(pane.library.follow_path)
        window.tabs.first_saved.connect(pane.library.follow_path)
        window.tabs.input_renamed.connect(pane.library.note_rename)
        actions = window.actions_by_id
        actions["view.inputs"].triggered.connect(pane.fold_button.click)
        actions["view.inputs"].triggered.connect(lambda: window.docks.show("inputs"))
        actions["view.set_before"].triggered.connect(lambda: pane.library.step(-1))
        actions["view.set_after"].triggered.connect(lambda: pane.library.step(1))

    def _connect_preview(self) -> None:
        """Connect the preview and its details."""
        document, preview, pane = self.document, self.preview, self.preview_pane
        details = preview.details
        preview.previewed.connect(document.show_preview)
        details.counted.connect(document.show_count)
        details.counted.connect(self.coordinator.show_count)
        details.problems_found.connect(self.window.page_coordinator.show_more_problems)
        details.values_made.connect(document.show_inline)
        details.bodies_made.connect(pane.request.show_bodies)
        pane.request_bodies.connect(details.make_bodies)
        pane.request_figures.connect(details.make_figures)
        details.request_count.connect(self.counter.count)
        self.counter.counted.connect(details.show_count)
        self.run.sessions.ended.connect(details.count_again)
        preview.compared.connect(pane.diff.show_comparison)
        pane.request_compare.connect(preview.compare)
        pane.diff.request_earlier.connect(self._offer_earlier)
        self.inputs_pane.library.changed.connect(document.show_sets)
        preview.probed.connect(pane.show_probe)
        pane.request_probe.connect(preview.probe)
        pane.request_input.connect(document.focus_input)
        pane.request.request_sample.connect(document.take_sample)
        pane.request_fix.connect(self.window.page_coordinator.apply_fix)

    def _connect_answer(self) -> None:
        """Connect the card of the answer, which shows the same run as the run pane."""
        card, run, actions = self.preview_pane.answer, self.run, self.window.actions_by_id
        run.state_changed.connect(self._show_answer)
        run.streamed.connect(card.show_streamed)
        self.run_marks.compared.connect(card.show_compared)
        self.history.runs_found.connect(self._show_runs)
        for ended in (run.sessions.started, run.sessions.ended):
            ended.connect(lambda: self.history.find_runs(self._path))
        card.request_run.connect(self.past_runs.show_answer)
        card.offer_taken.connect(self.run_pane.commands.take_any)
        card.line.sent.connect(lambda text: run.send(SendBack(text)))
        card.details.clicked.connect(actions["run.go"].trigger)
        card.stop.clicked.connect(actions["run.stop"].trigger)
        card.keep.clicked.connect(actions["run.keep_row"].trigger)

    def _connect_tools(self) -> None:
        """Connect the tools and the panel for calls."""
        tools, pane, panel = self.tools, self.tools_pane, self.tools_pane.detail.try_panel
        tools.registry_changed.connect(pane.show_registry)
        tools.registry_changed.connect(self.document.show_registry)
        tools.loading_changed.connect(pane.show_loading)
        tools.trial_changed.connect(panel.show_trial)
        pane.request_change.connect(tools.change)
        panel.request_try.connect(tools.trials.start)
        panel.request_cancel.connect(tools.trials.cancel)
        pane.request_trust.connect(tools.trust_folder)
        pane.request_reload.connect(tools.load_again)
        pane.request_reveal.connect(self.window.tabs.go_to)
        pane.request_open.connect(self._open_at)

    def _connect_run(self) -> None:
        """Connect the shown run, its commands and its branches."""
        pane, run, past = self.run_pane, self.run, self.past_runs
        commands, views, coordinator = pane.commands, pane.views, self.run_coordinator
        commands.request_run.connect(coordinator.start)
        pane.seen_changed.connect(self._say_run)
        self.history.means_found.connect(self.coordinator.show_means)
        commands.request_other_run.connect(coordinator.ask_about_other)
        commands.request_run_to.connect(coordinator.run_to)
        commands.request_commands.connect(coordinator.send)
        offers: dict[str, Callable[[], object]] = {
            "resume": past.resume,
            "rerun": past.rerun,
            "switch": coordinator.switch_model,
            "replay": past.replay,
            "values": coordinator.ask_for_values,
            "connections": self.coordinator.manage,
            "model": self.coordinator.choose,
        }
        commands.request_offer.connect(lambda ask: offers[ask]())
        pane.request_breakpoints.connect(self.run_marks.list_breakpoints)
        commands.request_record_move.connect(run.move_record)
        views.request_inspection.connect(run.inspect)
        commands.request_fork.connect(run.fork_from)
        for each in (pane.bar.branch_chosen, pane.head.branch_chosen, pane.timeline.request_branch):
            each.connect(run.go_to)
        self.run_files.request_import.connect(self.window.commands.exchange.import_made)
        pane.bar.branch_named.connect(run.name_branch)
        pane.bar.compare_chosen.connect(run.compare_branches)
        pane.bar.compare_all_chosen.connect(run.compare_all)
        run.overviewed.connect(pane.show_overview)
        pane.editor.request_file.connect(self.kept_edits.keep)
        self.kept_edits.request_mock.connect(self.tools.change)
        self.kept_edits.refused.connect(coordinator.refuse)
        run.call_outputs_changed.connect(pane.side.running.show_live_output)
        run.repeated.connect(past.show_repeated)
        run.branch_named.connect(self.history.name_branch)
        coordinator.request_input.connect(self.document.focus_input)

    def _connect_breakpoints(self) -> None:
        """Connect breakpoints, watches, and the text of a run."""
        window, pane, run = self.window, self.run_pane, self.run
        views, marks, coordinator = pane.views, self.run_marks, self.run_coordinator
        pane.diagram.break_toggled.connect(run.breakpoints.toggle_place)
        pane.state_panel.breakpoints.breakpoint_switched.connect(run.breakpoints.switch)
        run.breakpoints.changed.connect(pane.state_panel.show_breakpoints)
        views.request_value.connect(run.work_out)
        run.worked_out.connect(pane.state_panel.console.add)
        views.watches_changed.connect(self.debugging.set_watches)
        self.debugging.watches_changed.connect(views.show_watches)
        self.debugging.failed.connect(coordinator.refuse)
        window.tabs.path_moved.connect(run.sessions.follow_prompt)
        window.tabs.path_moved.connect(self.connections.follow_move)
        window.tabs.breakpoint_toggled.connect(run.breakpoints.toggle_tool)
        window.tabs.message_breakpoint_toggled.connect(run.breakpoints.toggle_message)
        run.breakpoints.changed.connect(marks.show_breakpoints)
        for shown in (marks.show_view, pane.show_view, self._on_run, self.coordinator.show_speed):
            run.state_changed.connect(shown)
        views.moved.connect(marks.show_cursor)
        marks.compared.connect(pane.head.show_text)
        window.page_coordinator.document_changed.connect(marks.light)
        window.docks.changed.connect(marks.light)
        window.docks.changed.connect(self._say_run)
        self.call_request.changed.connect(pane.side.request.show_request)
        run.inspector_changed.connect(pane.inspector.show_inspector)
        run.compared.connect(pane.show_comparison)
        run.refused.connect(coordinator.refuse)
        run.sessions.stood_elsewhere.connect(coordinator.tell_elsewhere)
        run.sessions.marks_changed.connect(window.tabs.sides.show_runs)
        run.sessions.ended.connect(self._find_means)

    def _connect_history(self) -> None:
        """Connect the history and the recorder with the window and the run pane."""
        window, history, pane = self.window, self.history, self.history_pane
        self.recordings = Recordings(window.parts, self.run, self.background, self._store)
        history.compared.connect(self.run_pane.show_comparison)
        history.overviewed.connect(self.run_pane.show_overview)
        pane.request_open.connect(window.commands.navigation.visit_run)
        window.commands.navigation.open_run = history.open
        self.run_pane.bar.export_chosen.connect(self.run_files.export_shown)
        self.exchange.imported.connect(history.refresh)

    def _connect_experiments(self) -> None:
        """Connect the views of experiments."""
        window, actions = self.window, self.window.actions_by_id
        self.experiments.request_record.connect(self.history.open)
        self.experiments.run_kept.connect(self.history.refresh)
        window.tabs.take_views(self.experiments.open)
        actions["prompt.cases"].triggered.connect(lambda _: self.experiments.show_cases())
        actions["run.keep_row"].triggered.connect(lambda: self.experiments.keep(self.run.past))
        window.commands.request_cases_run.connect(self.experiments.run_cases)
        self.inputs_pane.library.rows_loaded.connect(self.experiments.show_cases)
        self.run_files.request_case.connect(self.experiments.keep_call)

    def _tell_exchange_trust(self, trusted: bool) -> None:
        self.window.commands.exchange.trusted = trusted
        self.window.commands.comparisons.trusted = trusted

    def _tell_exchange_target(self, target: PreviewTarget) -> None:
        self.window.commands.exchange.set_answerer(target.base_url, target.model_id)

    def _open_at(self, path: Path, line: int) -> None:
        page = self.window.tabs.open(path)
        if page is not None:
            page.editor.go_to_line(line)

    # -- runs -----------------------------------------------------------------------------------

    def _find_connection(self, name: str) -> NamedConnection | None:
        """Find a connection that a tool names; called in the loop, read-only."""
        return tool_connection(self.connections.connections, self.connections.secrets, name)

    def _on_prompt(self, document: PromptDocument | None) -> None:
        """Show the run and the selected model of the open prompt."""
        if document is None or not document.is_prompt:
            return
        path = document.source.path
        name = "" if path is None else str(path)
        self.run_pane.commands.show_prompt(name)
        self.run.show_prompt(name)
        if name != self._path:
            self._path = name
            self.preview_pane.answer.show_runs(())  # no links to runs of the previous prompt
            self.history.find_runs(name)
            self._find_means()
        self.connections.show_prompt(path)

    def _find_means(self) -> None:
        """Compute the means of the open prompt's last runs, for its price."""
        self.history.find_means(str(self.connections.file or ""))

    def _offer_earlier(self) -> None:
        """Offer earlier texts of the prompt for comparison."""
        page = self.window.tabs.current
        if page is not None:
            self.window.commands.comparisons.offer_earlier(page, self.run.state)

    def _show_runs(self, prompt: str, runs: tuple[str, ...]) -> None:
        if prompt == self._path:
            self.preview_pane.answer.show_runs(runs if prompt else self.run.slots.unsaved)

    def _show_answer(self, view: RunView) -> None:
        """Show the answer in its card, unless the run belongs to another prompt."""
        path = (view.state.setup.path or view.state.setup.program) if view.state else self._path
        is_own = path == self._path or not (path or view.record)  # or not saved then
        self.preview_pane.answer.show_view(view if is_own else RunView())
        self.preview.set_asked(first_sent(view.state if is_own else None))

    def _say_run(self) -> None:
        """Show the run's state once: in its pane or card, or else in the status bar."""
        is_seen = self.run_pane.isVisible() or self.preview_pane.answer.isVisible()
        is_there = self.run.view.state is not None or self.run.view.is_starting
        is_own = self.run.view.is_live or self.window.tabs.document is not None
        text = self.run.view.sentence if is_there and is_own and not is_seen else ""
        self.window.status.set_run(text)

    def _on_run(self, view: RunView) -> None:
        """Open the run pane when a run has more than a question and its answer."""
        run = view.state.setup.run if view.state is not None else ""
        # A run may end before its first view: it only must not be a past run.
        if not view.record and view.needs_stage and run != self._staged:
            self._staged = run
            self.window.docks.show("run")
        self._say_run()
        self.call_request.follow(self.run.state)

    # -- the end --------------------------------------------------------------------------------

    def close(self) -> None:
        """Stop the run, the tools, the model and the loop."""
        self.coordinator.close()
        self.experiments.close()
        self.run.close()
        self.exchange.close()
        self.tools.close()
        self.connections.close()
        self.background.stop()
        self.history.close()
        if self._store is not None:
            self._store.close()
            self._store = None

    def _open_store(self) -> RunStore | None:
        try:
            return RunStore(self._services.paths.data / "runs.sqlite")
        except (StoreError, OSError) as error:
            self._services.messages.error(
                tr("Runs will not be saved in History."), named_reason(error)
            )
            return None
