"""Where the tools come from: each source's state, what its server says, its log; and trust."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from studio.application.tools.rows import APPROVAL_WORDS
from studio.core.tools.registry import SourceStatus
from studio.ui.parts.boxes import ComboBox
from studio.ui.parts.flow_layout import FlowLayout
from studio.ui.parts.layouts import column_of
from studio.ui.style.colors import paint_text
from studio.ui.style.in_use import FollowsTheme
from studio.ui.tools.source_block import SourceBlock, SourceRequests

_LOG_MS = 1000
"""How often the logs are looked at while they are in sight."""


class _Page(QWidget):
    """As high as its broken lines need at its width; a scroll area does not ask for that."""

    def event(self, event: QEvent) -> bool:
        """Measured anew when the width or a text changes."""
        layout = self.layout()
        if layout is not None and event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self.setMinimumHeight(layout.totalHeightForWidth(self.width()))
        return super().event(event)


class SourcesPage(FollowsTheme, QWidget):
    """One block for each source, and what holds for the whole folder."""

    request_folder_approval = Signal(object)  # Approval, or None for the usual one
    request_own_servers = Signal()
    request_new_server = Signal()
    request_logs = Signal()  # what the servers wrote meanwhile is wanted

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sources: tuple[SourceStatus, ...] = ()
        self.requests = SourceRequests(self)
        self.approval = ComboBox(self)
        self.approval.setAccessibleName(self.tr("Approval of calls for the whole folder"))
        self.approval.addItem(self.tr("Each tool as it asks for"), None)
        for key, each in APPROVAL_WORDS.items():
            words = QCoreApplication.translate("ToolsModel", each)
            self.approval.addItem(words[0].upper() + words[1:], key)
        self.approval.activated.connect(
            lambda _: self.request_folder_approval.emit(self.approval.currentData())
        )
        self._approval_label = QLabel(self.tr("Calls of this folder's tools"), self)
        self.own_button = QPushButton(self.tr("Your own MCP servers…"), self)
        self.own_button.setToolTip(self.tr("Open the file of servers that every prompt may name"))
        self.own_button.clicked.connect(self.request_own_servers)
        self.add_button = QPushButton(self.tr("Add a server…"), self)
        self.add_button.setToolTip(
            self.tr("Write an MCP server down, or take over those of other programs")
        )
        self.add_button.clicked.connect(self.request_new_server)
        self._list = QWidget(self)
        self._blocks = QVBoxLayout(self._list)
        self.blocks: dict[str, SourceBlock] = {}
        self._follow = QTimer(self, interval=_LOG_MS)
        self._follow.timeout.connect(self.request_logs)
        self._arrange()
        paint_text(self._approval_label, "muted")
        self.follow_theme()

    def _arrange(self) -> None:
        switches = FlowLayout(spacing=8)
        for part in (self._approval_label, self.approval, self.own_button, self.add_button):
            switches.addWidget(part)
        self._blocks.setContentsMargins(0, 0, 0, 0)
        self._blocks.setSpacing(8)
        page = _Page(self)
        column_of(switches, (self._list, 1), on=page, margins=(12, 8, 12, 12), spacing=8)
        area = QScrollArea(self, widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(page)
        column_of(area, on=self, margins=0)

    def show_folder(self, folder: Path | None, approval: str | None) -> None:
        """Show what holds for calls of the tools of the prompt's folder."""
        self.approval.setEnabled(folder is not None)
        self.approval.setCurrentIndex(max(0, self.approval.findData(approval)))

    def show_sources(self, sources: tuple[SourceStatus, ...]) -> None:
        """Show all sources."""
        same = [source.key for source in sources] == [*self.blocks]
        if self.blocks and same and all(self.blocks[each.key].follow(each) for each in sources):
            self._sources = sources
            return
        self._sources = sources
        while (item := self._blocks.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.blocks = {}
        for source in sources:
            block = SourceBlock(source, self.requests, self._list)
            self.blocks[source.key] = block
            self._blocks.addWidget(block)
        if not sources:
            nothing = QLabel(
                self.tr(
                    "This prompt names no tool file, server or description. Name a Python file "
                    "under metadata.agent.tools, or an MCP server under "
                    "metadata.agent.mcp_servers."
                ),
                self._list,
                wordWrap=True,
            )
            paint_text(nothing, "muted")
            self._blocks.addWidget(nothing)
        self._blocks.addStretch(1)

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        sources, self._sources, self.blocks = self._sources, (), {}
        self.show_sources(sources)

    def showEvent(self, event: QShowEvent) -> None:
        """While it is looked at, logs are followed."""
        super().showEvent(event)
        self._follow.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks."""
        super().hideEvent(event)
        self._follow.stop()
