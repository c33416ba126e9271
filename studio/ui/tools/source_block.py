"""One source of tools: its state, what its server says and has, its log."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from studio.core.text.invisible import reveal
from studio.core.tools.registry import VARIABLES_KEY, SourceStatus
from studio.ui.base.marked_text import QT_TRANSLATE_NOOP
from studio.ui.parts.long_text import LongText
from studio.ui.style.colors import fixed_font, paint_text
from studio.ui.style.in_use import theme_in_use
from studio.ui.style.theme import Theme

_STATES = {
    "ready": QT_TRANSLATE_NOOP("SourceBlock", "ready"),
    "failed": QT_TRANSLATE_NOOP("SourceBlock", "does not work"),
    "untrusted": QT_TRANSLATE_NOOP("SourceBlock", "not trusted"),
    "waiting": QT_TRANSLATE_NOOP("SourceBlock", "waits until you allow it"),
    "available": QT_TRANSLATE_NOOP("SourceBlock", "not started"),
}
_OFFERS = (
    ("prompt", QT_TRANSLATE_NOOP("SourceBlock", "Prompts")),
    ("resource", QT_TRANSLATE_NOOP("SourceBlock", "Resources")),
    (
        QT_TRANSLATE_NOOP("SourceBlock", "resource template"),
        QT_TRANSLATE_NOOP("SourceBlock", "Templates of resources"),
    ),
)
_FACTS = {
    "name": QT_TRANSLATE_NOOP("SourceBlock", "Name"),
    "python": QT_TRANSLATE_NOOP("SourceBlock", "Python"),
    "version": QT_TRANSLATE_NOOP("SourceBlock", "Version"),
    "protocol": QT_TRANSLATE_NOOP("SourceBlock", "Protocol"),
    "capabilities": QT_TRANSLATE_NOOP("SourceBlock", "Capabilities"),
    "instructions": QT_TRANSLATE_NOOP("SourceBlock", "Instructions"),
}
_TALKING = ("mcp:", "openapi:", "python:")
_MOST_LOG_LINES = 8


class SourceBlock(QWidget):
    """Made anew for another state; a log that grows is only written on."""

    request_restart = Signal(str)  # key of the source
    request_start = Signal(str)  # key of the server
    request_allow = Signal(str)  # key of the source, which waits
    request_open = Signal(Path, int)  # Path, line from 1
    request_traffic = Signal(SourceStatus)
    request_operations = Signal(str)  # key of the service
    request_offers = Signal(SourceStatus)  # the server whose prompts and resources are wanted

    def __init__(self, source: SourceStatus, parent: QWidget) -> None:
        super().__init__(parent)
        theme = theme_in_use()
        self._source = source
        self.log = LongText(self)
        self.log.setReadOnly(True)
        self.log.setFont(fixed_font(self.font()))
        self.log.setAccessibleName(self.tr("Log of {label}").format(label=source.label))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 8)
        column.setSpacing(4)
        column.addLayout(self._head())
        if source.message:
            column.addWidget(self._words(source.message, _color(theme, source)))
        facts = self._facts()
        if facts:
            column.addWidget(self._words(facts, theme.muted))
        for kind, title in _OFFERS:
            self._add_offers(column, kind, QCoreApplication.translate("SourceBlock", title))
        self._log_title = self._words(self.tr("Log"), theme.text)
        column.addWidget(self._log_title)
        column.addWidget(self.log)
        self._show_log()

    @property
    def text(self) -> str:
        """All its words, for search and tests."""
        return "\n".join(label.text() for label in self.findChildren(QLabel))

    def follow(self, source: SourceStatus) -> bool:
        """Show a newer status; False where more than the log is new, and a new block is needed."""
        if replace(source, log="") != replace(self._source, log=""):
            return False
        if source.log != self._source.log:
            self._source = source
            self._show_log()
        return True

    def _show_log(self) -> None:
        text = self._source.log.strip()
        self.log.setHidden(not text)
        self._log_title.setHidden(not text)
        bar = self.log.verticalScrollBar()
        at_end = bar.value() == bar.maximum()
        before = bar.value()
        self.log.setPlainText(text)
        lines = min(max(text.count("\n") + 1, 2), _MOST_LOG_LINES)
        self.log.setFixedHeight(self.log.fontMetrics().lineSpacing() * lines + 14)
        bar.setValue(bar.maximum() if at_end else before)

    def _head(self) -> QHBoxLayout:
        source = self._source
        head = QHBoxLayout()
        head.setSpacing(8)
        words = QVBoxLayout()
        words.setSpacing(0)
        name = QLabel(source.label, self)
        name.setTextFormat(Qt.TextFormat.PlainText)
        name.setProperty("title", True)
        name.setWordWrap(True)
        state = QLabel(QCoreApplication.translate("SourceBlock", _STATES[source.state]), self)
        if source.state == "ready":
            tools = self.tr("1 tool") if source.tools == 1 else self.tr("{count} tools")
            state.setText(f"{state.text()}, {tools.format(count=source.tools)}")
        paint_text(state, _color(theme_in_use(), source))
        words.addWidget(name)
        words.addWidget(state)
        head.addLayout(words, 1)
        for button in self._buttons():
            head.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return head

    def _buttons(self) -> list[QPushButton]:
        source = self._source
        made: list[QPushButton] = []
        if source.state == "available":
            start = QPushButton(self.tr("Start"), self)
            start.clicked.connect(partial(self.request_start.emit, source.key))
            made.append(start)
        elif source.state == "waiting":
            allow = QPushButton(self.tr("Allow…"), self)
            allow.setToolTip(self.tr("See what it wants, then decide"))
            allow.clicked.connect(partial(self.request_allow.emit, source.key))
            made.append(allow)
        elif source.state in ("ready", "failed") and not source.key.startswith("servers:"):
            restart = QPushButton(self.tr("Restart"), self)
            restart.setToolTip(self.tr("End what runs behind it, and load it again"))
            restart.clicked.connect(partial(self.request_restart.emit, source.key))
            made.append(restart)
        if source.key.startswith("openapi:") and source.state in ("ready", "failed"):
            choose = QPushButton(self.tr("Choose operations…"), self)
            choose.clicked.connect(partial(self.request_operations.emit, source.key))
            made.append(choose)
        if source.offers:
            offers = QPushButton(self.tr("Prompts and resources…"), self)
            offers.clicked.connect(partial(self.request_offers.emit, source))
            made.append(offers)
        if source.state in ("ready", "failed") and source.key.startswith(_TALKING):
            traffic = QPushButton(self.tr("Traffic…"), self)
            traffic.setToolTip(self.tr("What goes to it and comes from it"))
            traffic.clicked.connect(partial(self.request_traffic.emit, source))
            made.append(traffic)
        if source.path is not None and source.key != VARIABLES_KEY:
            opened = QPushButton(self.tr("Open"), self)
            opened.setToolTip(str(source.path))
            opened.clicked.connect(
                partial(self.request_open.emit, source.path, max(1, source.line))
            )
            made.append(opened)
        return made

    def _facts(self) -> str:
        lines = []
        for key, text in self._source.facts.items():
            title = QCoreApplication.translate("SourceBlock", _FACTS.get(key, key))
            if text:
                lines.append(f"{title}: {text}")
        return "\n".join(lines)

    def _add_offers(self, column: QVBoxLayout, kind: str, title: str) -> None:
        theme = theme_in_use()
        offers = [offer for offer in self._source.offers if offer.kind == kind]
        if not offers:
            return
        column.addWidget(self._words(f"{title} ({len(offers)})", theme.text))
        lines = [
            f"{offer.name}: {offer.description}" if offer.description else offer.name
            for offer in offers
        ]
        column.addWidget(self._words("\n".join(lines), theme.muted))

    def _words(self, text: str, color: str) -> QLabel:
        label = QLabel(reveal(text), self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        paint_text(label, color)
        return label


def _color(theme: Theme, source: SourceStatus) -> str:
    match source.state:
        case "ready":
            return theme.warning if source.message else theme.success
        case "failed":
            return theme.error
        case "untrusted" | "waiting":
            return theme.warning
        case _:
            return theme.muted
