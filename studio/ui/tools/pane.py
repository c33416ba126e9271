"""The tools pane: everything an agent can reach, seen, tried, switched."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMessageBox,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.tools import Trial
from studio.bridge.tools_model import ToolsModel
from studio.bridge.tools_questions import Question
from studio.bridge.tools_recorded import Recording
from studio.core.tools.registry import SourceStatus, ToolEntry, ToolRegistry
from studio.ui.icons import icon
from studio.ui.parts.banner import Banner
from studio.ui.parts.colours import paint_text
from studio.ui.parts.empty_state import EmptyState
from studio.ui.theme import Theme
from studio.ui.tools.answer_dialog import AnswerDialog
from studio.ui.tools.detail import ToolDetail
from studio.ui.tools.sources_page import SourcesPage

_COLUMN_WIDTHS = {2: 320, 3: 400, 4: 480, 5: 560}
"""Width of the pane, in pixels, from which a column of the table is shown."""


class ToolsPane(QWidget):
    """Shows a `ToolRegistry`; asks for changes, calls, trust."""

    request_change = Signal(str, object)  # tool name, fields of its entry to set
    request_try = Signal(str, object)  # tool name, arguments
    request_cancel = Signal()
    request_trust = Signal(object)  # Path of a folder; the person has agreed
    request_reload = Signal()
    request_reveal = Signal(object)  # Span in the document
    request_open = Signal(object, int)  # Path of a file, line from 1
    request_declare = Signal(object)  # ToolEntry, to be written into the document
    request_recordings = Signal(str)  # tool, whose answers of former runs are wanted
    request_request = Signal(str, object)  # tool name, arguments: the HTTP request is wanted
    request_restart = Signal(str)  # key of a source
    request_start = Signal(str)  # key of a server
    request_forget = Signal(object)  # Path of a folder, trusted no more
    request_folder_approval = Signal(object)  # Approval, or None for the usual one
    request_own_servers = Signal()
    answered = Signal(int, str, bool)  # question, the person's answer, whether it is a failure

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Tools"))
        self._theme = theme
        self._registry = ToolRegistry()
        self._chosen = ""
        self.search = QLineEdit()
        self.search.setPlaceholderText(self.tr("Search tools"))
        self.search.setClearButtonEnabled(True)
        self.search.setAccessibleName(self.tr("Search tools"))
        self._count = QLabel()
        self.reload_button = QToolButton()
        self.reload_button.setIcon(icon("refresh-cw"))
        self.reload_button.setToolTip(self.tr("Load the tools again"))
        self.reload_button.setAccessibleName(self.tr("Load the tools again"))
        self.sources_button = QToolButton(self)
        self.sources_button.setIcon(icon("plug"))
        self.sources_button.setCheckable(True)
        self.sources_button.setToolTip(self.tr("Where the tools come from: servers, files, trust"))
        self.sources_button.setAccessibleName(self.tr("Show where the tools come from"))
        self.sources = SourcesPage(theme, self)
        self._questions: dict[int, AnswerDialog] = {}
        self.model = ToolsModel(self)
        self.table = QTreeView()
        self.table.setModel(self.model)
        self.detail = ToolDetail(theme)
        self.empty = EmptyState(
            "wrench",
            self.tr("No tools"),
            self.tr(
                "Declare tools in the front matter, or name a Python file of functions under "
                "metadata.agent.tools."
            ),
            theme,
        )
        self._banners = QVBoxLayout()
        self._banners.setSpacing(1)
        self._shown_banners: list[Banner] = []
        self._splitter = QSplitter(Qt.Orientation.Vertical)
        self._stack = QStackedWidget()
        self._arrange()
        self._connect()
        self.set_theme(theme)
        self.show_registry(self._registry)

    def _arrange(self) -> None:
        table = self.table
        table.setAccessibleName(self.tr("Tools"))
        table.setRootIsDecorated(False)
        table.setUniformRowHeights(True)
        table.setAllColumnsShowFocus(True)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        header = table.header()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft)
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(48)
        header.setResizeContentsPrecision(30)  # rows looked at; all 1,000 of them took 2 s
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column in range(1, self.model.columnCount()):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 8, 8, 8)
        bar.setSpacing(8)
        bar.addWidget(self.search, 1)
        bar.addWidget(self._count)
        bar.addWidget(self.sources_button)
        bar.addWidget(self.reload_button)
        self._splitter.addWidget(table)
        self._splitter.addWidget(self.detail)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([150, 450])
        self._splitter.setChildrenCollapsible(False)
        table.setMinimumHeight(84)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self._splitter)
        self._stack.addWidget(self.sources)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addLayout(self._banners)
        layout.addWidget(self._stack, 1)

    def _connect(self) -> None:
        self.search.textChanged.connect(self._filter)
        self.reload_button.clicked.connect(self.request_reload)
        self.model.enabled_asked.connect(self._enable)
        self.table.selectionModel().currentChanged.connect(self._choose)
        self.detail.change_asked.connect(self.request_change)
        self.detail.try_asked.connect(self.request_try)
        self.detail.cancel_asked.connect(self.request_cancel)
        self.detail.definition_asked.connect(self._go)
        self.detail.declare_asked.connect(self.request_declare)
        self.detail.declaration_asked.connect(self._go_to_declaration)
        self.detail.recordings_asked.connect(self.request_recordings)
        self.detail.request_asked.connect(self.request_request)
        self.sources_button.toggled.connect(lambda _: self._show_page())
        self.sources.restart_asked.connect(self.request_restart)
        self.sources.start_asked.connect(self.request_start)
        self.sources.open_asked.connect(self.request_open)
        self.sources.trust_asked.connect(self.offer_trust)
        self.sources.forget_asked.connect(self.request_forget)
        self.sources.folder_approval_asked.connect(self.request_folder_approval)
        self.sources.own_servers_asked.connect(self.request_own_servers)

    def show_registry(self, registry: ToolRegistry) -> None:
        """Show all tools and how their sources fare."""
        self._registry = registry
        self._show_sources(registry.sources)
        self.sources.show_sources(registry.sources)
        self._filter()
        # Not at every key of a search: measuring the rows took longer than finding them.
        for column in range(1, self.model.columnCount()):
            self.table.resizeColumnToContents(column)

    def show_trial(self, trial: Trial) -> None:
        """Show a call that began or ended."""
        self.detail.show_trial(trial)

    def show_loading(self, loading: bool) -> None:
        """Say that the tools are being loaded."""
        self.reload_button.setEnabled(not loading)
        self._count.setText(self.tr("Loading…") if loading else self._count_text())

    def show_folder(self, folder: Path | None, trusted: bool, approval: str | None) -> None:
        """Show what holds for the prompt's folder."""
        self.sources.show_folder(folder, trusted=trusted, approval=approval)

    def set_insertable(self, insertable: bool) -> None:
        """Whether a prompt is open that a tool could be inserted into."""
        self.detail.set_insertable(insertable)

    def show_recordings(self, name: str, found: tuple[Recording, ...]) -> None:
        """Offer what a tool answered in former runs."""
        if self.detail.entry is not None and self.detail.entry.name == name:
            self.detail.mock.show_recordings(found)

    def show_request(self, name: str, text: str) -> None:
        """Show the HTTP request that a call would send."""
        self.detail.try_panel.show_request(name, text)

    def show_question(self, question: Question) -> None:
        """Ask the person for the answer to a call."""
        dialog = AnswerDialog(question, self._theme, self.window())
        dialog.answered.connect(self._on_answered)
        self._questions[question.id] = dialog
        dialog.open()

    def _on_answered(self, number: int, text: str, is_error: bool) -> None:
        self._questions.pop(number, None)
        self.answered.emit(number, text, is_error)

    def settle_question(self, number: int) -> None:
        """Nobody waits for that answer any more."""
        dialog = self._questions.pop(number, None)
        if dialog is not None:
            dialog.withdraw()

    def choose(self, name: str) -> None:
        """Show one tool."""
        row = self.model.row_of(name)
        if row >= 0:
            self.table.setCurrentIndex(self.model.index(row, 0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow dock the lesser columns give way to the names."""
        super().resizeEvent(event)
        for column, least in _COLUMN_WIDTHS.items():
            self.table.setColumnHidden(column, self.width() < least)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        paint_text(self._count, theme.muted)
        self.detail.set_theme(theme)
        self.sources.set_theme(theme)
        self.empty.set_theme(theme)
        for banner in self._shown_banners:
            banner.set_theme(theme)

    def _filter(self) -> None:
        found = self._registry.search(self.search.text())
        self.model.show_entries(found)
        self._count.setText(self._count_text())
        self._show_page()
        names = [entry.name for entry in found]
        if not names:
            return
        self.choose(self._chosen if self._chosen in names else names[0])
        entry = self._registry.entry(self._chosen)
        if entry is not None and entry is not self.detail.entry:
            self.detail.show_entry(entry)

    def _count_text(self) -> str:
        total, shown = len(self._registry.entries), self.model.rowCount()
        if not total:
            return ""
        if shown == total:
            return self.tr("{total} tools").format(total=total)
        return self.tr("{shown} of {total}").format(shown=shown, total=total)

    def _choose(self, current: QModelIndex, _: QModelIndex) -> None:
        entry = self.model.entry(current.row()) if current.isValid() else None
        if entry is not None:
            self._chosen = entry.name
            if entry is not self.detail.entry:
                self.detail.show_entry(entry)

    def _show_page(self) -> None:
        if self.sources_button.isChecked():
            self._stack.setCurrentWidget(self.sources)
        else:
            self._stack.setCurrentWidget(self._splitter if self._registry.entries else self.empty)

    def _go_to_declaration(self, entry: ToolEntry) -> None:
        if entry.spec.span is not None:
            self.request_reveal.emit(entry.spec.span)

    def _enable(self, name: str, enabled: bool) -> None:
        self.request_change.emit(name, {"enabled": enabled})

    def _go(self, entry: ToolEntry) -> None:
        if entry.path is not None:
            self.request_open.emit(entry.path, max(1, entry.line))
        elif entry.spec.span is not None:
            self.request_reveal.emit(entry.spec.span)

    def _show_sources(self, sources: tuple[SourceStatus, ...]) -> None:
        for banner in self._shown_banners:
            self._banners.removeWidget(banner)
            banner.hide()
            banner.deleteLater()
        self._shown_banners = []
        for source in sources:
            if source.state == "available" or (source.state == "ready" and not source.message):
                continue
            banner = Banner(self._theme)
            self._banners.addWidget(banner)
            self._shown_banners.append(banner)
            if source.state == "untrusted":
                banner.say(f"{source.label}: {source.message}", self.tr("Trust…"), "warning")
            else:
                place = (
                    self.tr("Line {line}").format(line=source.line)
                    if source.line
                    else (self.tr("Open") if source.path else "")
                )
                tone = "error" if source.state == "failed" else "warning"
                banner.say(f"{source.label}: {source.message}", place, tone)
            banner.activated.connect(partial(self._source_clicked, source))

    def _source_clicked(self, source: SourceStatus) -> None:
        if source.state == "untrusted" and source.folder is not None:
            self.offer_trust(source.folder)
        elif source.path is not None:
            self.request_open.emit(source.path, max(1, source.line))

    def offer_trust(self, folder: Path) -> None:
        """Ask whether a folder is trusted, and if so say it on."""
        if self.ask_trust(folder):
            self.request_trust.emit(folder)

    def ask_trust(self, folder: Path) -> bool:
        """Ask the person once; a file can never grant itself trust."""
        answer = QMessageBox.question(
            self,
            self.tr("Trust this folder?"),
            self.tr(
                "Trust {folder} and what is below it?\n\nPrompts in it may then run Python "
                "tools and start MCP servers on this computer, and read environment "
                "variables. Trust only folders whose author you know."
            ).format(folder=folder),
            QMessageBox.StandardButton.Yes | QMessageBox.StandardButton.No,
            QMessageBox.StandardButton.No,
        )
        return answer == QMessageBox.StandardButton.Yes
