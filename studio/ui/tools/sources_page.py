"""Sources of the tools: state, server description and log of each source; and trust.

Each source has a block of its own.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from studio.application.tools.rows import APPROVAL_WORDS
from studio.application.words import marked, tr
from studio.core.text.amounts import by_count
from studio.core.text.invisible import reveal
from studio.core.tools.registry import VARIABLES_KEY, SourceStatus
from studio.ui.parts import kit
from studio.ui.parts.empty_state import Banner
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.text_views import fixed_text
from studio.ui.style.theme import FollowsTheme, Theme, paint_text, theme_in_use
from studio.viewmodels.app.jobs import repeating_timer

_STATES = {
    "ready": marked("ready"),
    "failed": marked("does not work"),
    "untrusted": marked("not trusted"),
    "waiting": marked("waits for your consent"),
    "available": marked("not started"),
}
_OFFERS = (
    ("prompt", marked("Prompts")),
    ("resource", marked("Resources")),
    (
        marked("resource template"),
        marked("Resource templates"),
    ),
)
_FACTS = {
    "name": marked("Name"),
    "python": marked("Python"),
    "version": marked("Version"),
    "protocol": marked("Protocol"),
    "capabilities": marked("Capabilities"),
    "instructions": marked("Instructions"),
}
_TALKING = ("mcp:", "openapi:", "python:")
_MOST_LOG_LINES = 8


class SourceRequests(QObject):
    """Requests from the blocks of all sources."""

    restart = Signal(str)  # key of the source
    start = Signal(str)  # key of the server
    allow = Signal(str)  # key of the source that waits for consent
    open = Signal(Path, int)  # Path, line from 1
    traffic = Signal(SourceStatus)
    operations = Signal(str)  # key of the service
    offers = Signal(SourceStatus)  # server whose prompts and resources to show
    edit = Signal(SourceStatus)  # MCP server whose settings to edit


class SourceBlock(QWidget):
    """A source's block, which is created again for a new state; new log lines are only appended."""

    def __init__(self, source: SourceStatus, requests: SourceRequests, parent: QWidget) -> None:
        super().__init__(parent)
        theme = theme_in_use()
        self._source, self._requests = source, requests
        self.log = fixed_text(tr("Log of {label}").format(label=source.label), parent=self)
        column = kit.column_of(self._head(), on=self, margins=(0, 8, 0, 8), spacing=4)
        if source.message:
            column.addWidget(self._words(source.message, _color(theme, source)))
        facts = self._facts()
        if facts:
            column.addWidget(self._words(facts, theme.muted))
        for kind, title in _OFFERS:
            self._add_offers(column, kind, tr(title))
        self._log_title = self._words(tr("Log"), theme.text)
        column.addWidget(self._log_title)
        column.addWidget(self.log)
        self._show_log()

    @property
    def text(self) -> str:
        """The whole text, for search and tests."""
        return "\n".join(label.text() for label in self.findChildren(QLabel))

    def follow(self, source: SourceStatus) -> bool:
        """Show a newer status; return False if more than the log changed (use a new block)."""
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
        name = QLabel(source.label, self, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        name.setProperty("title", True)
        state = QLabel(tr(_STATES[source.state]), self)
        if source.state == "ready":
            tools = by_count(source.tools, tr("1 tool"), tr("{count} tools"))
            state.setText(f"{state.text()}, {tools}")
        paint_text(state, _color(theme_in_use(), source))
        words.addWidget(name)
        words.addWidget(state)
        head.addLayout(words, 1)
        for button in self._buttons():
            head.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return head

    def _buttons(self) -> list[QPushButton]:
        source, ask, key = self._source, self._requests, self._source.key
        made: list[QPushButton] = []

        def add(words: str, act: Callable[[], object], tip: str = "") -> None:
            made.append(kit.push_button(words, lambda _: act(), parent=self, tip=tip))

        is_loaded = source.state in ("ready", "failed")
        if source.state == "available":
            add(tr("Start"), partial(ask.start.emit, key))
        elif source.state == "waiting":
            tip = tr("Show what it needs, then decide")
            add(tr("Allow…"), partial(ask.allow.emit, key), tip)
        elif is_loaded and not key.startswith("servers:"):
            tip = tr("Stop its processes and load it again")
            add(tr("Restart"), partial(ask.restart.emit, key), tip)
        if is_loaded and key.startswith("openapi:"):
            add(tr("Choose operations…"), partial(ask.operations.emit, key))
        if source.offers:
            add(tr("Prompts and resources…"), partial(ask.offers.emit, source))
        if is_loaded and key.startswith(_TALKING):
            tip = tr("Messages to and from it")
            add(tr("Traffic…"), partial(ask.traffic.emit, source), tip)
        if key.startswith("mcp:"):
            tip = tr("Change its command line, address, variables or login, or remove it")
            add(tr("Edit…"), partial(ask.edit.emit, source), tip)
        if source.path is not None and key != VARIABLES_KEY:
            act = partial(ask.open.emit, source.path, max(1, source.line))
            add(tr("Open"), act, str(source.path))
        return made

    def _facts(self) -> str:
        lines = []
        for key, text in self._source.facts.items():
            title = tr(_FACTS.get(key, key))
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
        label = QLabel(
            reveal(text),
            self,
            textFormat=Qt.TextFormat.PlainText,
            wordWrap=True,
            textInteractionFlags=Qt.TextInteractionFlag.TextSelectableByMouse,
        )
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


_LOG_MS = 1000
"""Interval at which visible logs are read, in milliseconds."""


class _Page(QWidget):
    """As high as its wrapped text at its width, which a scroll area does not query."""

    def event(self, event: QEvent) -> bool:
        """Update the height when the width or a text changes."""
        layout = self.layout()
        if layout is not None and event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self.setMinimumHeight(layout.totalHeightForWidth(self.width()))
        return super().event(event)


class SourcesPage(FollowsTheme, QWidget):
    """A block for each source, and the settings of the whole folder."""

    request_folder_approval = Signal(object)  # Approval, or None for the default
    request_own_servers = Signal()
    request_new_server = Signal()
    request_logs = Signal()  # read new log lines

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sources: tuple[SourceStatus, ...] = ()
        self.requests = SourceRequests(self)
        self.approval = kit.named(ComboBox(self), tr("Approval of calls for the whole folder"))
        self.approval.addItem(tr("As each tool requests"), None)
        for key, each in APPROVAL_WORDS.items():
            words = tr(each)
            self.approval.addItem(words[0].upper() + words[1:], key)
        self.approval.activated.connect(
            lambda _: self.request_folder_approval.emit(self.approval.currentData())
        )
        self._approval_label = kit.toned_label(
            "muted", tr("Calls of this folder's tools"), parent=self
        )
        self.own_button = QPushButton(tr("Your own MCP servers…"), self)
        self.own_button.setToolTip(tr("Open the file of servers that every prompt can use"))
        self.own_button.clicked.connect(self.request_own_servers)
        self.add_button = kit.push_button(tr("Add a server…"), self.request_new_server, parent=self)
        self.add_button.setToolTip(tr("Add an MCP server, or import those of other programs"))
        self._list = QWidget(self)
        self._blocks = QVBoxLayout(self._list)
        self.blocks: dict[str, SourceBlock] = {}
        self._follow = repeating_timer(self, self.request_logs, _LOG_MS)
        self._arrange()
        self.follow_theme()

    def _arrange(self) -> None:
        switches = kit.FlowLayout(spacing=8)
        for part in (self._approval_label, self.approval, self.own_button, self.add_button):
            switches.addWidget(part)
        self._blocks.setContentsMargins(0, 0, 0, 0)
        self._blocks.setSpacing(8)
        page = _Page(self)
        kit.column_of(switches, (self._list, 1), on=page, margins=(12, 8, 12, 12), spacing=8)
        kit.column_of(kit.scroll_area(page, parent=self), on=self, margins=0)

    def show_folder(self, folder: Path | None, approval: str | None) -> None:
        """Show the approval setting for tools of the prompt's folder."""
        self.approval.setEnabled(folder is not None)
        self.approval.setCurrentIndex(max(0, self.approval.findData(approval)))

    def show_sources(self, sources: tuple[SourceStatus, ...]) -> None:
        """Show all sources."""
        same = [source.key for source in sources] == [*self.blocks]
        if self.blocks and same and all(self.blocks[each.key].follow(each) for each in sources):
            self._sources = sources
            return
        self._sources = sources
        kit.empty_layout(self._blocks)
        self.blocks = {}
        for source in sources:
            block = SourceBlock(source, self.requests, self._list)
            self.blocks[source.key] = block
            self._blocks.addWidget(block)
        if not sources:
            nothing = QLabel(
                tr(
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
        """Use the colors of the current theme."""
        sources, self._sources, self.blocks = self._sources, (), {}
        self.show_sources(sources)

    def showEvent(self, event: QShowEvent) -> None:
        """Read the logs while shown."""
        super().showEvent(event)
        self._follow.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop reading the logs."""
        super().hideEvent(event)
        self._follow.stop()


# Lines above the tools about sources that do not work, with links to solutions.

_MOST_FAILED = 2
"""Maximum number of failed sources with lines of their own; more share one line."""


class SourceBanners(QWidget):
    """A line for each failed source, or one for all, and one for each untrusted folder."""

    request_trust = Signal(Path)  # path of a folder
    request_allow = Signal(str)  # key of a waiting source
    request_open = Signal(Path, int)  # Path of a file, line from 1
    request_reload = Signal()  # read a source after all that the user stopped
    request_sources = Signal()  # show all sources with their problems

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown: list[Banner] = []
        """The lines from top to bottom."""
        self._column = kit.column_of(on=self, margins=0, spacing=2)

    def show_sources(self, sources: tuple[SourceStatus, ...]) -> None:
        """Show the problems of the sources; hidden if there are none."""
        for banner in self.shown:
            self._column.removeWidget(banner)
            banner.hide()
            banner.deleteLater()
        self.shown = []
        untrusted: dict[Path, list[SourceStatus]] = {}
        failed: list[SourceStatus] = []
        for source in sources:
            if source.state == "untrusted" and source.folder is not None:
                untrusted.setdefault(source.folder, []).append(source)
            elif source.state == "waiting":
                banner = self._add(_named(source), tr("Look…"), "warning")
                banner.activated.connect(partial(self.request_allow.emit, source.key))
            elif source.state == "failed" or (source.state == "ready" and source.message):
                failed.append(source)
            elif source.state == "untrusted":
                self._add(_named(source), "", "warning")
        if len(failed) > _MOST_FAILED:
            self._say_all_failed(failed)
        else:
            for source in failed:
                self._say_failed(source)
        for folder, waiting in untrusted.items():
            banner = self._add(self._untrusted_text(folder, waiting), tr("Trust…"), "warning")
            banner.activated.connect(partial(self.request_trust.emit, folder))

    def _say_failed(self, source: SourceStatus) -> None:
        if source.stopped:
            banner = self._add(_named(source), tr("Read it"), "warning")
            banner.activated.connect(self.request_reload)
            return
        place = ""
        if source.line:
            place = tr("Line {line}").format(line=source.line)
        elif source.path is not None:
            place = tr("Open")
        tone = "error" if source.state == "failed" else "warning"
        banner = self._add(_named(source), place, tone)
        if source.path is not None:
            banner.activated.connect(
                partial(self.request_open.emit, source.path, max(1, source.line))
            )

    def _say_all_failed(self, failed: list[SourceStatus]) -> None:
        tone = "error" if any(source.state == "failed" for source in failed) else "warning"
        one, many = (
            tr("1 source has problems: {sources}."),
            tr("{count} sources have problems: {sources}."),
        )
        text = by_count(
            len(failed), one, many, sources=", ".join(source.label for source in failed)
        )
        self._add(text, tr("Show"), tone).activated.connect(self.request_sources)

    def _untrusted_text(self, folder: Path, waiting: Iterable[SourceStatus]) -> str:
        labels = [source.label for source in waiting if source.key != VARIABLES_KEY]
        if not labels:
            return tr(
                "{folder} is not trusted: no ${{env:}} and no ${{file:}} of it is read."
            ).format(folder=folder)
        return tr("{folder} is not trusted: {sources} will not run.").format(
            folder=folder, sources=", ".join(labels)
        )

    def _add(self, text: str, place: str, tone: str) -> Banner:
        banner = Banner(self)
        self._column.addWidget(banner)
        self.shown.append(banner)
        banner.say(text, place, tone)
        return banner


def _named(source: SourceStatus) -> str:
    """Return a source's message, starting with its name."""
    if source.message.startswith(f"{source.label}:"):
        return reveal(source.message)
    return reveal(f"{source.label}: {source.message.removeprefix(f'{source.label} ')}")


def why_no_tools(sources: tuple[SourceStatus, ...]) -> tuple[str, str]:
    """Return a short reason why there are no tools, and advice."""
    states = {source.state for source in sources if source.key != VARIABLES_KEY}
    if states & {"untrusted", "waiting"}:
        why = tr("The tools of this prompt are listed when you trust them.")
        return tr("No tools yet"), why
    if "failed" in states:
        why = tr("No source of this prompt has a tool; the problems are listed above.")
        return tr("No tools"), why
    return tr("No tools"), tr(
        "Declare tools in the front matter, or name a Python file of functions under "
        "metadata.agent.tools."
    )
