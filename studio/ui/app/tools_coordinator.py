"""Executes the requests of the tools pane with the controller, the window and files."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from PySide6.QtCore import QObject, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QDockWidget, QFileDialog, QMenu

from studio.application.tools import saved_calls
from studio.application.tools.server_content import kept_content, offered_text
from studio.application.trust import FolderTrust, folder_trust
from studio.application.words import tr
from studio.core.prompty.document import PromptDocument, ToolId
from studio.core.text.source import Span, TextEdit
from studio.core.tools.declaration import choice_value, declare_tool, write_choice
from studio.core.tools.openapi.loading import OperationRow
from studio.core.tools.registry import SourceStatus, ToolEntry, ToolRegistry
from studio.core.tools.source import OfferContent, ServerOffer, ToolOutcome
from studio.core.tools.trust.store import WHOLE_FOLDER, TooWideError, TrustStore
from studio.ui.app.servers_coordinator import ServersCoordinator
from studio.ui.base.services import Services
from studio.ui.tools.add_server import OperationsDialog
from studio.ui.tools.calls_dialog import CallsDialog
from studio.ui.tools.offers_dialog import OffersDialog
from studio.ui.tools.pane import ToolsPane
from studio.ui.tools.traffic_dialog import TrafficDialog
from studio.ui.window.parts import WindowParts
from studio.viewmodels.app.notifications import NotificationAction
from studio.viewmodels.app.saved_files import SavedFiles
from studio.viewmodels.tools.calls import ToolTrial
from studio.viewmodels.tools.controller import ToolsController

# Saved tool calls: read from and written to a file beside the prompt, and repeated.

_Result = TypeVar("_Result")


class SavedCallsCoordinator(QObject):
    """Connects the tools pane with the file of saved calls and with calls of whole lists."""

    def __init__(self, pane: ToolsPane, tools: ToolsController, window: WindowParts) -> None:
        super().__init__(window.widget)
        self._pane, self._tools, self._window = pane, tools, window
        self._dialog: CallsDialog | None = None
        self._held: Path | None = None
        """The open list and the file of its calls."""
        self._file_watch = SavedFiles(self)
        self._file_watch.saved.connect(self._read_again)
        pane.detail.try_panel.request_saved.connect(self._show)
        pane.detail.try_panel.request_save.connect(self._save)
        pane.detail.try_panel.request_calls.connect(self._open)
        pane.request_recordings.connect(self._offer_answers)

    @property
    def _file(self) -> Path | None:
        document = self._window.tabs.document
        path = document.source.path if document is not None else None
        return saved_calls.calls_file(path) if path is not None else None

    def _tried(self, act: Callable[[], _Result], where: Path | None) -> _Result | None:
        """Return the result of `act`; if a file cannot be used, report it and return None."""
        try:
            return act()
        except saved_calls.SavedCallsError as error:
            self._window.messages.error(str(error), where=str(where))
            return None

    def _read(self, path: Path | None) -> tuple[saved_calls.SavedCall, ...] | None:
        """Read the calls of a file; return None if this fails."""
        return self._tried(lambda: saved_calls.read_calls(path), path) if path is not None else ()

    def _change(
        self, path: Path | None, changes: Sequence[saved_calls.CallChange]
    ) -> saved_calls.CallsWritten | None:
        """Change calls of a file; return None if this fails."""
        if path is not None:
            return self._tried(lambda: saved_calls.change_calls(path, changes), path)
        self._window.messages.info(
            tr("Save the prompt first: its calls are saved in a file beside it.")
        )
        return None

    def _read_again(self) -> None:
        """Reload the file of the listed calls: another program may have changed it."""
        found = self._read(self._held)
        if self._dialog is not None and self._held is not None and found is not None:
            self._dialog.show_file(found)

    def _calls_of(self, tool: ToolId) -> tuple[saved_calls.SavedCall, ...]:
        return saved_calls.calls_of(self._read(self._file) or (), self._tools.registry, tool)

    def _show(self, tool: ToolId) -> None:
        self._pane.detail.try_panel.show_saved(tool, self._calls_of(tool))

    def _offer_answers(self, tool: ToolEntry) -> None:
        """Offer a tool's saved calls as its mock."""
        self._pane.offer_saved_answers(tool.id, saved_calls.answers_of(self._calls_of(tool.id)))

    def _save(self, trial: ToolTrial) -> None:
        path = self._file
        if trial.outcome is None:
            return
        fresh = saved_calls.saved(
            saved_calls.SavedCall("", trial.tool, trial.arguments), trial.outcome
        )
        written = self._change(path, ((None, fresh),))
        if written is None or path is None:
            return
        if self._dialog is not None and path == self._held:
            self._dialog.show_file(written.calls)
        name = written.calls[-1].name
        self._window.messages.info(
            tr("Saved as {name!r} in {file}.").format(name=name, file=path.name)
        )

    def _make(
        self, dialog: CallsDialog, path: Path | None, calls: tuple[saved_calls.SavedCall, ...]
    ) -> None:
        """Make calls with the tools of the prompt beside which they were saved."""
        if path != self._file:
            self._window.messages.info(tr("Open the prompt of these calls first."))
            dialog.show_all_ended()
            return
        registry = self._tools.registry
        self._tools.calls.make(
            [(saved_calls.called_tool(each, registry), each.arguments) for each in calls]
        )

    def _let_go(self, dialog: CallsDialog) -> None:
        if self._dialog is dialog:
            self._dialog = self._held = None
            self._file_watch.watch(())

    def _open(self, tool: ToolId) -> None:
        """Show the list of saved calls and rows of a file."""
        path = self._file
        found, entry = self._read(path), self._tools.registry.entry(tool)
        if found is None or entry is None:
            return
        if self._dialog is not None:  # all lists receive the same signals: one at a time
            self._dialog.close()
        dialog = CallsDialog(
            entry, found, self._changes, partial(self._change, path), self._pane.window()
        )
        self._dialog, self._held = dialog, path
        dialog.request_make.connect(lambda calls: self._make(dialog, path, calls))
        dialog.request_cancel.connect(self._tools.calls.cancel)
        dialog.finished.connect(self._tools.calls.cancel)
        dialog.finished.connect(lambda: self._let_go(dialog))
        self._file_watch.watch((path,) if path is not None else ())
        dialog.request_rows.connect(lambda tool: self._take_rows(dialog, tool))
        dialog.request_export.connect(lambda ended: self._export(dialog, ended))
        self._tools.calls.call_began.connect(dialog.show_began)
        self._tools.calls.call_ended.connect(dialog.show_ended)
        self._tools.calls.calls_ended.connect(dialog.show_all_ended)
        dialog.show()

    def _changes(self, call: saved_calls.SavedCall) -> bool:
        """Return whether a call may have side effects."""
        registry = self._tools.registry
        entry = registry.entry(saved_calls.called_tool(call, registry))
        return entry is not None and entry.spec.has_effects and entry.mock is None

    def _take_rows(self, dialog: CallsDialog, tool: ToolEntry) -> None:
        start = str(self._file.parent) if self._file is not None else ""
        name, _ = QFileDialog.getOpenFileName(
            dialog, tr("Rows"), start, tr("Rows (*.csv *.jsonl *.json *.yaml *.yml)")
        )
        if name:
            path, schema = Path(name), tool.spec.parameters
            self._tried(
                lambda: dialog.add_rows(saved_calls.calls_of_rows(path, tool.id, schema)), path
            )

    def _export(
        self, dialog: CallsDialog, ended: tuple[tuple[saved_calls.SavedCall, ToolOutcome], ...]
    ) -> None:
        start = str(self._file.parent / "answers.jsonl") if self._file is not None else ""
        name, _ = QFileDialog.getSaveFileName(
            dialog, tr("Export the answers"), start, tr("JSON lines (*.jsonl)")
        )
        if name:
            kept = (saved_calls.saved(call, outcome) for call, outcome in ended)
            self._tried(lambda: saved_calls.write_calls(Path(name), kept), Path(name))


_NOTICE = "trust"
_ALONE = QSize(1080, 740)
"""Initial size of the pane in a separate window, in pixels."""
_NO_SERVERS = '{\n  "mcpServers": {\n  }\n}\n'


def trust_in(services: Services) -> TrustStore:
    """Return what the user trusts: in safe mode nothing, and nothing of it is kept."""
    if services.is_safe:
        return TrustStore(services.paths.data / f"safe-mode-{uuid4().hex}.json")
    trust = TrustStore(services.paths.data / "trust.json")
    # The user's copies of the bundled examples: the studio itself writes this folder.
    examples = services.paths.data / "examples"
    if not (trust.fault or trust.is_trusted(examples)):
        with suppress(OSError):  # the next start can
            trust.trust(examples)
    return trust


class ToolsCoordinator(QObject):
    """Connects the tools pane with its controller and the window."""

    def __init__(
        self,
        pane: ToolsPane,
        tools: ToolsController,
        window: WindowParts,
        trust: TrustStore,
        own_servers: Path,
    ) -> None:
        super().__init__(window.widget)
        self._pane = pane
        self._tools = tools
        self._window = window
        self._messages = window.messages
        self._trust = trust
        self._own_servers = own_servers
        self._saved_calls = SavedCallsCoordinator(pane, tools, window)
        self._servers = ServersCoordinator(pane, tools, window, own_servers, self._edit)
        self._asked: set[Path] = set()
        """Folders for which the user was asked for trust since the start."""
        self._untrusted: Path | None = None
        """Folder of the open file, if it is not trusted."""
        pane.folder_to_trust = self._folder_to_trust
        if trust.fault:
            self._messages.error(trust.fault)
        self._connect()

    def _connect(self) -> None:
        pane, tools = self._pane, self._tools
        panel, sources, asked = pane.detail.try_panel, pane.sources, pane.sources.requests
        tools.registry_changed.connect(self._show_folder)
        tools.untrusted_changed.connect(self._say_untrusted)
        tools.refused.connect(self._messages.error)
        self._window.files.roots_changed.connect(lambda: self._say_untrusted(self._untrusted))
        self._window.status.request_trust.connect(self._show_trust_menu)
        tools.recordings_found.connect(pane.show_recordings)
        tools.request_shown.connect(panel.show_request)
        tools.trials.output_changed.connect(panel.show_live_output)
        tools.reading_moved.connect(pane.readings.show_progress)
        tools.reading_ended.connect(pane.readings.end)
        tools.document_left.connect(pane.readings.clear)
        pane.readings.request_stop.connect(tools.stop_reading)
        tools.questions.request_answer.connect(pane.show_question)
        tools.questions.request_input.connect(pane.show_input)
        pane.input_given.connect(tools.questions.give_input)
        tools.questions.settled.connect(pane.settle_question)
        pane.answered.connect(tools.questions.answer)
        pane.request_recordings.connect(tools.find_recordings)
        panel.request_http_request.connect(tools.show_request)
        asked.restart.connect(tools.restart)
        asked.start.connect(tools.start_server)
        pane.request_allow.connect(tools.allow_source)
        pane.detail.head.request_allow.connect(tools.allow_tool)
        sources.request_folder_approval.connect(tools.approve_folder)
        pane.detail.head.request_declare.connect(self._declare)
        pane.request_changes.connect(tools.change_all)
        sources.request_own_servers.connect(self._open_own_servers)
        asked.traffic.connect(self._show_traffic)
        asked.operations.connect(tools.list_operations)
        tools.operations_listed.connect(self._show_operations)
        asked.offers.connect(self._show_offers)
        sources.request_logs.connect(tools.read_logs)
        pane.request_own_window.connect(self._stand_alone)
        self._dock.topLevelChanged.connect(pane.bar.own_window.setChecked)
        for identifier, act in (
            ("tools.search", self._search),
            ("tools.sources", self._show_sources),
            ("tools.trust", self._window.status.offer_trust),
            ("tools.reload", tools.load_again),
            ("tools.window", lambda: self._stand_alone(not self._dock.isFloating())),
        ):
            self._window.actions[identifier].triggered.connect(lambda _=False, act=act: act())

    @property
    def _dock(self) -> QDockWidget:
        return self._window.docks["tools"]

    def _search(self) -> None:
        self._window.docks.show("tools")
        self._pane.bar.sources.setChecked(False)
        self._pane.search.setFocus()
        self._pane.search.selectAll()

    def _show_sources(self) -> None:
        self._window.docks.show("tools")
        self._pane.show_sources()

    def _stand_alone(self, alone: bool) -> None:
        """Move the pane into a separate window, with room for the whole table, or back."""
        self._window.docks.show("tools")
        self._dock.setFloating(alone)
        if alone:
            room = self._window.widget.screen().availableGeometry()
            size = QSize(_ALONE).boundedTo(room.size())
            place = self._window.widget.frameGeometry().center()
            box = QRect(QPoint(0, 0), size)
            box.moveCenter(place)
            self._dock.setGeometry(box)

    def _held(self, folder: Path) -> FolderTrust:
        opened = self._window.files.root_of(folder / "any")
        return folder_trust(folder, self._trust, opened)

    def _folder_to_trust(self, folder: Path) -> Path | None:
        asked = self._held(folder).folder
        if asked is None:
            self._messages.info(str(TooWideError(folder)))
        return asked

    def _show_folder(self, _: ToolRegistry) -> None:
        folder = self._window.tabs.folder
        approval = self._trust.current.approval(folder, WHOLE_FOLDER) if folder else None
        self._pane.sources.show_folder(folder, approval)

    def _show_trust_menu(self, place: QPoint) -> None:
        """Offer to trust the folder of the file, or to stop trusting it."""
        folder = self._window.tabs.folder
        if folder is None:
            self._messages.info(tr("A text that was never saved needs no trust."))
            return
        held = self._held(folder)
        menu = QMenu(self._window.widget)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if held.is_trusted:
            act = menu.addAction(tr("Stop trusting {folder}"))
            act.triggered.connect(lambda: self._tools.forget_folder(folder))
            act.setEnabled(held.is_given)
        else:
            act = menu.addAction(tr("Trust {folder}…"))
            act.triggered.connect(lambda: self._pane.offer_trust(folder))
        act.setText(act.text().format(folder=held.folder or folder))
        menu.addAction(self._window.actions["tools.sources"])
        menu.popup(place - QPoint(0, menu.sizeHint().height()))

    def _say_untrusted(self, folder: Path | None) -> None:
        self._untrusted = folder
        asked = self._held(folder).folder if folder is not None else None
        if asked is None or folder is None:
            self._messages.withdraw(_NOTICE)
            return
        if asked in self._asked:
            return  # only once: the status bar shows it all the time
        self._asked.add(asked)
        self._messages.say(
            "warning",
            tr("This folder is not trusted."),
            tr(
                "Until you trust it, its Python tools and MCP servers do not run, no variables "
                "are read, and none of its files is sent. The preview may show text files of the "
                "opened folder."
            ),
            str(asked),
            (NotificationAction(tr("Trust…"), partial(self._pane.offer_trust, folder)),),
            _NOTICE,
        )

    def _edit(self, edits_of: Callable[[PromptDocument], Iterable[TextEdit]]) -> None:
        """Edit the current text of the prompt."""
        page, document = self._window.tabs.current, self._window.tabs.document
        if page is not None and document is not None and document.is_prompt:
            page.with_document(lambda document: page.editor.apply_edits(edits_of(document)))

    def _declare(self, entry: ToolEntry) -> None:
        def edits(document: PromptDocument) -> Iterable[TextEdit]:
            try:
                return declare_tool(document, entry.spec)
            except ValueError as error:
                self._messages.error(tr("The tool was not inserted: {error}.").format(error=error))
                return ()

        self._edit(edits)

    def _show_offers(self, source: SourceStatus) -> None:
        """Show a server's prompts and resources."""
        dialog = OffersDialog(source, self._pane.window())
        dialog.request_open.connect(self._tools.open_offer)
        dialog.request_complete.connect(self._tools.complete_offer)
        dialog.request_insert.connect(self._insert_content)
        dialog.request_keep.connect(self._keep_content)
        self._tools.offer_opened.connect(dialog.show_content)
        self._tools.offer_completed.connect(dialog.show_proposals)
        dialog.open()

    def _insert_content(self, content: OfferContent) -> None:
        """Insert content from a server at the caret of the prompt, as literal text."""
        page, document = self._window.tabs.current, self._window.tabs.document
        if page is None or document is None or page.editor.isReadOnly():
            self._messages.info(tr("No prompt is open to insert it into."))
            return
        caret = page.editor.caret()
        text = offered_text(content, document.template.format)
        page.editor.apply_edits((TextEdit(Span(caret, caret), text),))

    def _keep_content(self, offer: ServerOffer, content: OfferContent) -> None:
        """Save content from a server in a file beside the prompt, as the default of an input."""
        page, document = self._window.tabs.current, self._window.tabs.document
        folder = self._window.tabs.folder
        if page is None or document is None or folder is None or page.editor.isReadOnly():
            self._messages.info(tr("Save the prompt first: the file is saved beside it."))
            return
        if document.source.text != page.editor.text():
            return
        kept = kept_content(
            document,
            content,
            offer.name,
            page.editor.caret(),
            lambda name: (folder / name).exists(),
        )
        try:
            with (folder / kept.file).open("x", encoding="utf-8", errors="replace") as file:
                file.write(kept.text)
        except OSError as error:
            self._say_not_made(folder / kept.file, error)
            return
        page.editor.apply_edits(kept.edits)
        self._messages.info(tr("Saved as {file}.").format(file=kept.file))

    def _say_not_made(self, path: Path, error: OSError) -> None:
        words = tr("{name} cannot be created: {strerror}.")
        text = words.format(name=path.name, strerror=error.strerror)
        self._messages.error(text, where=str(path))

    def _show_traffic(self, source: SourceStatus) -> None:
        """Show the messages to and from a source as they are sent."""
        dialog = TrafficDialog(source, self._pane.window())
        dialog.request_traffic.connect(self._tools.read_traffic)
        self._tools.traffic_read.connect(dialog.show_traffic)
        dialog.show()

    def _show_operations(self, key: str, rows: tuple[OperationRow, ...], problem: str) -> None:
        """Let the user select operations of a service, and write them into the prompt."""
        if problem:
            self._messages.error(problem)
            return
        name = key.partition(":")[2]
        dialog = OperationsDialog(name, rows, self._pane.window())
        dialog.chosen.connect(lambda wanted: self._write_choice(name, rows, wanted))
        dialog.open()

    def _write_choice(
        self, name: str, rows: tuple[OperationRow, ...], wanted: frozenset[str]
    ) -> None:
        try:
            self._edit(lambda document: write_choice(document, name, choice_value(rows, wanted)))
        except (LookupError, ValueError):
            self._messages.error(
                tr("The prompt no longer declares a tool {name!r}.").format(name=name)
            )

    def _open_own_servers(self) -> None:
        path = self._own_servers
        try:
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(_NO_SERVERS, encoding="utf-8")
        except OSError as error:
            self._say_not_made(path, error)
            return
        self._window.tabs.open(path)
