"""Where the tools come from: each source's state, what its server says, its log; and trust."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.tools_model import APPROVAL_WORDS
from studio.core.tools.registry import SourceStatus
from studio.ui.parts.colours import fixed_font, paint_text
from studio.ui.theme import Theme

_STATES = {
    "ready": "ready",
    "failed": QT_TRANSLATE_NOOP("SourcesPage", "does not work"),
    "untrusted": QT_TRANSLATE_NOOP("SourcesPage", "not trusted"),
    "available": QT_TRANSLATE_NOOP("SourcesPage", "not started"),
}


class SourcesPage(QWidget):
    """One block for each source, and what holds for the whole folder."""

    restart_asked = Signal(str)  # key of a source
    start_asked = Signal(str)  # key of a server
    open_asked = Signal(object, int)  # Path, line from 1
    trust_asked = Signal(object)  # Path of a folder
    forget_asked = Signal(object)  # Path of a folder
    folder_approval_asked = Signal(object)  # Approval, or None for the usual one
    own_servers_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._sources: tuple[SourceStatus, ...] = ()
        self._folder: Path | None = None
        self._trusted = False
        self._trust = QLabel(self)
        self._trust.setWordWrap(True)
        self._trust.setTextFormat(Qt.TextFormat.PlainText)
        self.trust_button = QPushButton(self.tr("Trust…"), self)
        self.trust_button.clicked.connect(self._ask_trust)
        self.approval = QComboBox(self)
        self.approval.setAccessibleName(self.tr("Approval of calls for the whole folder"))
        self.approval.addItem(self.tr("Each tool as it asks for"), None)
        for key, words in APPROVAL_WORDS.items():
            self.approval.addItem(words[0].upper() + words[1:], key)
        self.approval.activated.connect(
            lambda _: self.folder_approval_asked.emit(self.approval.currentData())
        )
        self._approval_label = QLabel(self.tr("Calls of this folder's tools"), self)
        self.own_button = QPushButton(self.tr("Your own MCP servers…"), self)
        self.own_button.setToolTip(self.tr("Open the file of servers that every prompt may name"))
        self.own_button.clicked.connect(self.own_servers_asked)
        self._list = QWidget(self)
        self._blocks = QVBoxLayout(self._list)
        self._blocks.setContentsMargins(12, 4, 12, 12)
        self._blocks.setSpacing(6)
        self.blocks: dict[str, QWidget] = {}
        self._arrange()
        self.set_theme(theme)

    def _arrange(self) -> None:
        trust = QHBoxLayout()
        trust.addWidget(self._trust, 1)
        trust.addWidget(self.trust_button, 0, Qt.AlignmentFlag.AlignTop)
        approval = QHBoxLayout()
        approval.addWidget(self._approval_label)
        approval.addWidget(self.approval)
        approval.addStretch(1)
        top = QVBoxLayout()
        top.setContentsMargins(12, 8, 12, 8)
        top.setSpacing(8)
        top.addLayout(trust)
        top.addLayout(approval)
        top.addWidget(self.own_button, 0, Qt.AlignmentFlag.AlignLeft)
        area = QScrollArea(self)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setWidget(self._list)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(top)
        layout.addWidget(area, 1)

    def show_folder(self, folder: Path | None, *, trusted: bool, approval: str | None) -> None:
        """Show what holds for the prompt's folder."""
        self._folder, self._trusted = folder, trusted
        if folder is None:
            self._trust.setText(self.tr("A prompt that is not saved yet has no tool files."))
        elif trusted:
            self._trust.setText(
                self.tr("{folder} is trusted: its tools may run.").format(folder=folder)
            )
        else:
            self._trust.setText(
                self.tr("{folder} is not trusted: nothing of it is run or read.").format(
                    folder=folder
                )
            )
        self.trust_button.setText(self.tr("Trust no more") if trusted else self.tr("Trust…"))
        self.trust_button.setEnabled(folder is not None)
        self.approval.setEnabled(folder is not None)
        self.approval.setCurrentIndex(max(0, self.approval.findData(approval)))

    def show_sources(self, sources: tuple[SourceStatus, ...]) -> None:
        """Show all sources."""
        if sources == self._sources and self.blocks:
            return
        self._sources = sources
        while (item := self._blocks.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.blocks = {}
        for source in sources:
            block = self._block(source)
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
            )
            nothing.setWordWrap(True)
            paint_text(nothing, self._theme.muted)
            self._blocks.addWidget(nothing)
        self._blocks.addStretch(1)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        paint_text(self._trust, theme.text)
        paint_text(self._approval_label, theme.muted)
        sources, self._sources, self.blocks = self._sources, (), {}
        self.show_sources(sources)

    def _block(self, source: SourceStatus) -> QWidget:
        block = QWidget(self._list)
        inside = QVBoxLayout(block)
        inside.setContentsMargins(0, 8, 0, 8)
        inside.setSpacing(4)
        head = QHBoxLayout()
        name = QLabel(source.label, block)
        name.setProperty("title", True)
        count = (
            self.tr(", {count} tools").format(count=source.tools) if source.state == "ready" else ""
        )
        state = QLabel(
            QCoreApplication.translate("SourcesPage", _STATES[source.state]) + count, block
        )
        paint_text(state, _colour(self._theme, source))
        head.addWidget(name)
        head.addWidget(state)
        head.addStretch(1)
        for button in self._buttons(source, block):
            head.addWidget(button)
        inside.addLayout(head)
        facts = [source.message, *(f"{key}: {text}" for key, text in source.facts.items() if text)]
        words = "\n".join(text for text in facts if text)
        if words:
            about = QLabel(words, block)
            about.setTextFormat(Qt.TextFormat.PlainText)
            about.setWordWrap(True)
            about.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            paint_text(about, self._theme.muted)
            inside.addWidget(about)
        if source.log.strip():
            log = QPlainTextEdit(source.log.strip(), block)
            log.setReadOnly(True)
            log.setFont(fixed_font(self.font()))
            log.setAccessibleName(self.tr("Log of {label}").format(label=source.label))
            log.setMaximumHeight(140)
            log.moveCursor(log.textCursor().MoveOperation.End)
            inside.addWidget(log)
        return block

    def _buttons(self, source: SourceStatus, block: QWidget) -> list[QPushButton]:
        made: list[QPushButton] = []
        if source.state == "available":
            start = QPushButton(self.tr("Start"), block)
            start.clicked.connect(partial(self.start_asked.emit, source.key))
            made.append(start)
        elif source.state in ("ready", "failed") and not source.key.startswith("servers:"):
            restart = QPushButton(self.tr("Restart"), block)
            restart.setToolTip(self.tr("End what runs behind it, and load it again"))
            restart.clicked.connect(partial(self.restart_asked.emit, source.key))
            made.append(restart)
        if source.path is not None:
            opened = QPushButton(self.tr("Open"), block)
            opened.clicked.connect(partial(self.open_asked.emit, source.path, max(1, source.line)))
            made.append(opened)
        return made

    def _ask_trust(self) -> None:
        if self._folder is not None:
            (self.forget_asked if self._trusted else self.trust_asked).emit(self._folder)


def _colour(theme: Theme, source: SourceStatus) -> str:
    match source.state:
        case "ready":
            return theme.success
        case "failed":
            return theme.error
        case "untrusted":
            return theme.warning
        case _:
            return theme.muted
