"""The tools of the open document: loaded in the background, called, mocked and trusted."""

import asyncio
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal

from studio.application.tools.pasted_server import PastedServer, list_pasted
from studio.application.tools.rows import (
    COLUMNS,
    cell_text,
    cell_tip,
    column_head,
    column_tip,
    sort_key,
)
from studio.application.tools.saved_calls import ToolRecording, find_recordings
from studio.application.words import tr
from studio.core.masking.masker import Masker
from studio.core.prompty.document import HoistedTool, PromptDocument, ToolId, ToolSpec
from studio.core.text.invisible import plain_tip, reveal
from studio.core.text.values import JsonDict, JsonObject, named_reason
from studio.core.tools.document_tools import ToolSession
from studio.core.tools.openapi.loading import ReadingProgress
from studio.core.tools.registry import ToolEntry, ToolRegistry
from studio.core.tools.source import DEFAULT_LIMITS, OfferContent, ServerOffer, ToolOutcome
from studio.core.tools.trust.store import Approval, TrustStore
from studio.viewmodels.app.background import Background
from studio.viewmodels.app.jobs import LatestJob, single_shot
from studio.viewmodels.app.row_table import DISPLAY, TIP, Index, RowTable
from studio.viewmodels.app.saved_files import SavedFiles
from studio.viewmodels.tools.calls import ToolCalls, ToolQuestions, ToolTrial, ToolTrials

_LOAD_MS = 300
_CLOSE_SECONDS = 2.0


class ToolsController(QObject):
    """Connects a `ToolSession` with the document, the tools pane and the background loop."""

    registry_changed = Signal(ToolRegistry)
    loading_changed = Signal(bool)
    trial_changed = Signal(ToolTrial)  # ToolTrial: started or ended
    untrusted_changed = Signal(Path)  # path of the untrusted folder, or None
    request_shown = Signal(ToolId, str)  # tool, HTTP request that a call would send
    offer_opened = Signal(ServerOffer, OfferContent, str)  # the content, or why it cannot be opened
    offer_completed = Signal(ServerOffer, str, tuple)  # argument, tuple[str, ...] of suggestions
    server_tried = Signal(tuple, str)  # tuple[ToolSpec, ...], reason if there are none
    operations_listed = Signal(str, tuple, str)  # key, tuple[OperationRow, ...], error
    reading_moved = Signal(str, ReadingProgress)  # key of a source, its progress
    _reading_changed = Signal(Path, str, ReadingProgress)  # or None, key, or None at the end
    document_left = Signal()  # the tools of another document are shown from now on
    reading_ended = Signal(str)  # key of a source
    traffic_read = Signal(str, tuple)  # key of a source, tuple[TrafficMessage, ...]
    recordings_found = Signal(ToolId, tuple)  # tool, tuple[Recording, ...]
    refused = Signal(str)  # why what the user chose cannot be kept

    def __init__(
        self,
        background: Background,
        trust: TrustStore,
        parent: QObject | None = None,
        *,
        own_servers: Path | None = None,
        history: Path | None = None,
        masker: Masker | None = None,
    ) -> None:
        """Create the controller.

        Args:
            background: loop in which tools run.
            trust: folders whose code may run.
            parent: its owner.
            own_servers: file of the user's own MCP servers.
            history: file of the history, for recorded answers.
            masker: masks secrets in the output of tools.
        """
        super().__init__(parent)
        self._background = background
        self._trust = trust
        self.questions = ToolQuestions(background, self)
        self.session = ToolSession(
            trust, DEFAULT_LIMITS, own_servers, masker, self.questions.ask_for_input
        )
        """The session, whose `toolbox` a run uses; call it in the background loop only."""
        self.calls = ToolCalls(background, self.call, self)
        self._own_servers = own_servers
        self._history = history
        self._untrusted: Path | None = None
        self._saved = SavedFiles(self)
        self._saved.saved.connect(self.reload)
        self._searching = LatestJob(self, self._on_recordings)
        self._document: PromptDocument | None = None
        self._hoisted: tuple[HoistedTool, ...] = ()
        self._inputs: JsonDict = {}
        self._loads = 0
        self._changes = 0
        """Number of requested changes that the loop has not made yet."""
        self._load: Future[ToolRegistry] | None = None
        self.trials = ToolTrials(background, self.call, self._read_live_output, self)
        self.trials.changed.connect(self._on_trial)
        self._timer = single_shot(self, self.reload, _LOAD_MS)
        start = self._timer.start  # no bound method: the loop would collect its cycle
        self.session.on_change = lambda: background.post(start)
        emit = self._reading_changed.emit
        self._reading_changed.connect(self._on_reading)
        self.session.on_reading = lambda path, key, progress: background.post(
            partial(emit, path, key, progress)
        )

    @property
    def registry(self) -> ToolRegistry:
        """The newest registry."""
        return self.session.registry

    @property
    def is_loading(self) -> bool:
        """Whether the tools are loading, or loading is scheduled."""
        return bool(self._loads) or self._timer.isActive()

    def set_document(
        self, document: PromptDocument | None, hoisted: Iterable[HoistedTool] = ()
    ) -> None:
        """Set the document; its tools are loaded again after a pause in typing."""
        fresh = tuple(hoisted)
        if document is self._document and fresh == self._hoisted:
            return
        other_file = (document.source.path if document else None) != (
            self._document.source.path if self._document else None
        )
        self._document, self._hoisted = document, fresh
        if other_file:
            self.calls.cancel()  # they belong to the previous prompt
            self.document_left.emit()
        if document is None:
            self._timer.stop()
            self.session.leave()
            self._saved.watch(())
            self._show(self.session.registry)
        elif other_file:
            self.reload()
        else:
            self._timer.start()

    def set_inputs(self, values: JsonObject) -> None:
        """Set the input values for bound parameters of tool calls by the user."""
        self._inputs = dict(values)

    def reload(self) -> None:
        """Load the tools now."""
        self._timer.stop()
        if self._document is None or not self._background.is_running:
            return
        self._loads += 1
        self.loading_changed.emit(True)
        self._load = self._background.start(
            self.session.load(self._document, self._hoisted), self._loaded
        )

    def load_again(self) -> None:
        """Load the tools of every source now, also of those whose reading the user stopped."""
        if self._background.is_running:
            self._background.start(
                self.session.current.sources.read_again(), lambda _: self.reload()
            )

    def stop_reading(self, key: str) -> None:
        """Stop reading a description; it is not read again automatically."""
        self._background.start(self.session.current.sources.stop_reading(key))

    def change(self, tool: ToolId, changes: Mapping[str, object]) -> None:
        """Set `enabled`, `approval` or `mock` of a tool, in the loop, where tools are loaded."""
        self.change_all((tool,), changes)

    def change_all(self, tools: Iterable[ToolId], changes: Mapping[str, object]) -> None:
        """Set the same values for many tools, with one signal."""
        wanted = tuple(tools)

        def change() -> None:
            for tool in wanted:
                self.session.current.change(tool, **changes)

        self._make_change(change)

    def trust_folder(self, folder: Path) -> None:
        """Trust a folder: its tools may run from now on in their shown form."""
        with self._saying_refusals():
            self._trust.trust(folder, self.registry.wants)
        self.reload()

    def allow_source(self, key: str) -> None:
        """Allow new or changed parts of a source in a trusted folder in their current form."""

        async def allow() -> None:
            self.session.current.allow_source(key)

        def done(future: Future[None]) -> None:
            with self._saying_refusals(), suppress(CancelledError):
                future.result()
            self.reload()

        self._background.start(allow(), done)

    def allow_tool(self, tool: ToolId) -> None:
        """Allow a tool in its current form."""
        self._make_change(lambda: self.session.current.allow_tools(tool))

    def forget_folder(self, folder: Path) -> None:
        """Stop trusting a folder, and end its running processes."""
        trusted_as = self._trust.current.trusted_as(folder)
        if trusted_as is not None:
            with self._saying_refusals():
                self._trust.forget(trusted_as)
        self._background.start(self.session.close(), lambda _: self.reload())

    def approve_folder(self, approval: Approval | None) -> None:
        """Set which calls of the folder's tools need approval; None for the default."""
        self._make_change(lambda: self.session.current.approve_folder(approval))

    def restart(self, key: str) -> None:
        """End a source's processes and load its tools again."""
        self._background.start(self.session.current.sources.restart(key), lambda _: self.reload())

    def start_server(self, key: str) -> None:
        """Start a server that the prompt does not use."""
        self.session.start_server(key)
        self.reload()

    def read_logs(self) -> None:
        """Show new lines of the servers' logs."""
        before = self.session.registry

        def done(future: Future[ToolRegistry]) -> None:
            if not future.cancelled() and future.result() is not before:
                self._show(future.result())

        if self._background.is_running:
            self._background.start(self.session.current.read_logs(), done)

    def find_recordings(self, tool: ToolEntry) -> None:
        """Find answers of a tool in earlier runs."""
        history, prompt = self._history, self._document.source.path if self._document else None
        if history is not None:
            self._searching.submit(lambda: (tool.id, find_recordings(history, tool.spec, prompt)))

    def open_offer(self, key: str, offer: ServerOffer, given: Mapping[str, str]) -> None:
        """Open a prompt or resource of a server."""
        self._background.ask(
            self.session.current.sources.open_offer(key, offer, given),
            lambda content: self.offer_opened.emit(offer, content, ""),
            lambda problem: self.offer_opened.emit(offer, OfferContent(()), problem),
        )

    def complete_offer(
        self, key: str, offer: ServerOffer, argument: str, text: str, given: Mapping[str, str]
    ) -> None:
        """Request a server's suggestions for an argument."""
        self._background.ask(
            self.session.current.sources.complete_offer(key, offer, argument, text, given),
            partial(self.offer_completed.emit, offer, argument),
        )

    def read_traffic(self, key: str) -> None:
        """Show the messages to and from a source."""
        if self._background.is_running:
            show = partial(self.traffic_read.emit, key)
            self._background.ask(self.session.current.sources.read_traffic(key), show)

    def try_servers(self, servers: tuple[PastedServer, ...], folder: Path) -> None:
        """Start or connect to pasted servers and list their tools.

        Args:
            servers: the pasted servers.
            folder: working directory of the servers.
        """

        async def listed() -> tuple[ToolSpec, ...]:
            found = await asyncio.gather(*(list_pasted(each, folder) for each in servers))
            return tuple(itertools.chain.from_iterable(found))

        self._background.ask(
            listed(),
            lambda specs: self.server_tried.emit(specs, ""),
            lambda problem: self.server_tried.emit((), problem),
        )

    def list_operations(self, key: str) -> None:
        """List every operation of a service for selection."""
        self._background.ask(
            self.session.current.sources.operations(key),
            lambda found: self.operations_listed.emit(key, found, ""),
            lambda problem: self.operations_listed.emit(key, (), problem),
        )

    def show_request(self, tool: ToolId, arguments: JsonObject) -> None:
        """Build the HTTP request that a call of an OpenAPI tool would send."""
        show = partial(self.request_shown.emit, tool)
        request = self.session.request_text(tool, arguments, self._inputs)
        self._background.ask(request, show, show)

    async def call(self, tool: ToolId, arguments: JsonObject) -> ToolOutcome:
        """Call a tool at the user's request; must be awaited in the loop."""
        return await self.session.current.try_tool(
            tool, arguments, self._inputs, self.questions.ask
        )

    async def _read_live_output(self) -> str:
        return await self.session.current.read_live_output()

    def close(self) -> None:
        """End all processes of the tools; wait at most two seconds."""
        self._timer.stop()
        self.trials.close()
        self._saved.watch(())
        self._searching.drop()
        self.calls.cancel()
        if self._load is not None:
            self._load.cancel()
        if self._background.is_running:
            with suppress(TimeoutError, CancelledError):
                self._background.start(self.session.close()).result(_CLOSE_SECONDS)

    def _make_change(self, change: Callable[[], object]) -> None:
        async def make() -> None:
            change()

        self._changes += 1
        self._background.start(make(), self._changed)

    def _changed(self, future: Future[None]) -> None:
        self._changes -= 1
        if not future.cancelled():
            with self._saying_refusals():
                future.result()
            self._show(self.session.registry)

    @contextmanager
    def _saying_refusals(self) -> Iterator[None]:
        """Say why a file that is to be written cannot be."""
        try:
            yield
        except OSError as error:
            self.refused.emit(tr("This cannot be kept: {error}").format(error=named_reason(error)))

    def _loaded(self, future: Future[ToolRegistry]) -> None:
        self._loads -= 1
        if not self._loads:
            self.loading_changed.emit(False)
        try:
            future.result()
        except CancelledError:
            return
        if self._document is not None:
            self._saved.watch(self.session.current.watched)
            # Not the loaded document: that may no longer be shown.
            self._show(self.session.registry)

    def _show(self, registry: ToolRegistry) -> None:
        if self._changes:
            return  # older than the user's last choice, which is shown when it is made
        self.registry_changed.emit(registry)
        folders = (status.folder for status in registry.sources if status.state == "untrusted")
        untrusted = next((folder for folder in folders if folder), None)
        if untrusted != self._untrusted:
            self._untrusted = untrusted
            self.untrusted_changed.emit(untrusted)

    def _on_reading(self, path: Path | None, key: str, progress: ReadingProgress | None) -> None:
        if path != (self._document.source.path if self._document is not None else None):
            return  # from a document that is no longer shown
        if progress is None:
            self.reading_ended.emit(key)
        else:
            self.reading_moved.emit(key, progress)

    def _on_recordings(self, found: tuple[ToolId, tuple[ToolRecording, ...]]) -> None:
        self.recordings_found.emit(*found)

    def _on_trial(self, trial: ToolTrial) -> None:
        self.trial_changed.emit(trial)
        if trial.outcome is not None:
            self._show(self.session.registry)


# The registry's entries as a table.

MARK = int(Qt.ItemDataRole.UserRole)
"""Role for whether the user should review the tool's texts."""

_EDIT = int(Qt.ItemDataRole.EditRole)
_ROLES = (DISPLAY, int(Qt.ItemDataRole.CheckStateRole), TIP, MARK)

_PLAIN = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
_TICKED = _PLAIN | Qt.ItemFlag.ItemIsUserCheckable
"""Created once: views request the flags of every row for each key of a search."""


class ToolsModel(RowTable[ToolEntry]):
    """One row for each tool; the checkbox in the first column says whether the model gets it."""

    request_enabled = Signal(ToolId, bool)  # tool, whether the model gets it

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(len(COLUMNS), parent)
        self._entries: tuple[ToolEntry, ...] = ()
        self._sorted_by = -1
        self._order = Qt.SortOrder.AscendingOrder

    def show_entries(self, entries: Sequence[ToolEntry]) -> None:
        """Show entries; rows that remain keep their selection."""
        self._entries = tuple(entries)
        self.show_rows(self._in_order(), lambda entry: entry.id)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; -1 restores the order of the registry."""
        if (column, order) == (self._sorted_by, self._order):
            return
        self._sorted_by, self._order = column, order
        self.layoutAboutToBeChanged.emit()
        kept = self.persistentIndexList()
        tools = [self._rows[index.row()].id for index in kept]
        self._rows = self._in_order()
        places = {entry.id: row for row, entry in enumerate(self._rows)}
        moved = [
            self.index(places[tool], index.column())
            for tool, index in zip(tools, kept, strict=True)
        ]
        self.changePersistentIndexList(kept, moved)
        self.layoutChanged.emit()

    def _in_order(self) -> tuple[ToolEntry, ...]:
        if self._sorted_by < 0:
            return self._entries
        return tuple(
            sorted(
                self._entries,
                key=lambda entry: sort_key(entry, self._sorted_by),
                reverse=self._order == Qt.SortOrder.DescendingOrder,
            )
        )

    def entry(self, row: int) -> ToolEntry | None:
        """Return the tool of a row."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def row_of(self, tool: ToolId) -> int:
        """Return the row of a tool; -1 if there is none."""
        return next((row for row, item in enumerate(self._rows) if item.id == tool), -1)

    def head(self, column: int, role: int) -> object:
        """Return a column's title and tooltip."""
        if role == DISPLAY:
            return column_head(column)
        return column_tip(column) if role == TIP else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return the item flags: the first column has a checkbox."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return _TICKED if index.column() == 0 else _PLAIN

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Return the data of a cell."""
        # Most calls are for display roles, and there are thousands of them.
        return super().data(index, role) if role in _ROLES else None

    def cell(self, row: ToolEntry, column: int, role: int) -> object:
        """Return a cell's text, its check state, or a tooltip with all facts about the tool."""
        if role == DISPLAY:
            return cell_text(row, column)
        if role == TIP:
            return plain_tip(reveal(cell_tip(row)))
        if role == MARK:
            return bool(row.marks) and column == 0
        if column == 0:
            return Qt.CheckState.Checked if row.enabled else Qt.CheckState.Unchecked
        return None

    def setData(self, index: Index, value: object, role: int = _EDIT) -> bool:
        """Request that a tool is enabled or disabled; the result comes with the next registry."""
        entry = self.entry(index.row())
        if entry is None or role != Qt.ItemDataRole.CheckStateRole:
            return False
        checked = Qt.CheckState(value) == Qt.CheckState.Checked
        self.request_enabled.emit(entry.id, checked)
        return True
