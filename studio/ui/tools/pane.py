"""The tools pane: shows, calls, enables and disables the tools of an agent.

It also asks for consent before untrusted files start, connect to or read anything.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QResizeEvent

from studio.application.tools.saved_calls import ToolRecording
from studio.application.words import marked, tr
from studio.core.prompty.document import ToolId
from studio.core.text.amounts import by_count
from studio.core.text.invisible import reveal
from studio.core.text.source import Span
from studio.core.tools.mcp.connection import InputGiven
from studio.core.tools.registry import RecordedAnswer, ToolEntry, ToolRegistry
from studio.core.tools.trust.store import Doubt, Want
from studio.ui.parts.empty_state import EmptyState
from studio.ui.parts.kit import Drawing, column_of, push_button, row_of
from studio.ui.style.theme import fixed_font, paint_text
from studio.ui.tools.bar import ReadingBars, ToolsBar
from studio.ui.tools.detail import ToolDetail
from studio.ui.tools.questions import AnswerDialog, InputDialog
from studio.ui.tools.sources_page import SourceBanners, SourcesPage, why_no_tools
from studio.ui.tools.table import ToolTable
from studio.viewmodels.tools.calls import InputQuestion, Question

_TITLES = {
    "command": marked("Programs that may be started"),
    "address": marked("Addresses that may be accessed"),
    "variable": marked("Environment variables that may be read"),
    "file": marked("Files that may be run or read"),
}
_MOST_LINES = 14


class ConsentDialog(QtWidgets.QDialog):
    """A question with all that consent covers; No is the default, also for closing it."""

    def __init__(
        self, title: str, words: str, covered: str, yes: str, parent: QtWidgets.QWidget
    ) -> None:
        """Create the dialog.

        Args:
            title: the question.
            words: effect of consent.
            covered: what consent covers, one item per line.
            yes: text of the button that agrees.
            parent: parent widget.
        """
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setMinimumWidth(560)
        picture = Drawing("shield-check", 32, "warning")
        self.words = QtWidgets.QLabel(words)
        self.covered = QtWidgets.QPlainTextEdit(covered, readOnly=True, tabChangesFocus=True)
        self.covered.setFont(fixed_font(self.font()))
        self.covered.setAccessibleName(tr("What it covers"))
        rows = min(max(covered.count("\n") + 1, 2), _MOST_LINES)
        height = QFontMetrics(self.covered.font()).lineSpacing() * rows
        self.covered.setMinimumHeight(height + 18)
        self.warning = QtWidgets.QLabel(tr("Agree only if you know who wrote the folder's files."))
        for label in (self.words, self.warning):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        paint_text(self.warning, "muted")
        self.agree = push_button(yes, self.accept, takes_enter=False)
        self.refuse = push_button(tr("No"), self.reject, is_default=True)
        self._arrange(picture)
        self.refuse.setFocus()

    def _arrange(self, picture: QtWidgets.QWidget) -> None:
        column = column_of(self.words, (self.covered, 1), self.warning, spacing=12)
        top = QtWidgets.QHBoxLayout()
        top.setSpacing(16)
        top.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        top.addLayout(column, 1)
        buttons = row_of(1, self.agree, self.refuse)
        column_of((top, 1), buttons, on=self, margins=(20, 20, 20, 16), spacing=16)


def covered_text(wants: Sequence[Want]) -> str:
    """Describe what trust covers, by kind: each item once, with its source."""
    lines: list[str] = []
    for kind, title in _TITLES.items():
        found = dict.fromkeys(
            f"    {reveal(want.text, lines=False)}{_for(want)}"
            for want in wants
            if want.kind == kind
        )
        if found:
            lines += [tr(title) + ":", *found]
    if not lines:
        return tr("The prompt names no program, address, variable or file yet.")
    return "\n".join(lines)


def doubt_text(doubt: Doubt) -> str:
    """Describe the question, and the difference to what was allowed before."""
    now = doubt.want.pin.lines if doubt.want.pin is not None else (doubt.want.text,)
    if doubt.before is None:
        return _block(now)
    before = tr("Allowed before:")
    after = tr("Now:")
    if doubt.before.lines == now:
        now = (*now, tr("(hidden value)"))
    return "\n".join([before, _block(doubt.before.lines), after, _block(now)])


def _block(lines: Sequence[str]) -> str:
    return "\n".join(f"    {reveal(line, lines=False)}" for line in lines)


def _for(want: Want) -> str:
    return f"   ({reveal(want.of, lines=False)})" if want.of else ""


_NARROWEST = 320
"""Minimum width of the pane in pixels, the same for the table and for one tool."""

_LOW = 600
"""Height of the pane in pixels below which it shows either the table or one tool."""


class ToolsPane(QtWidgets.QWidget):
    """Shows a `ToolRegistry`; requests changes, calls and trust."""

    request_change = Signal(ToolId, Mapping)  # tool, new values of its entry's fields
    request_changes = Signal(tuple, Mapping)  # tuple[ToolId, ...], new values of fields
    request_trust = Signal(Path)  # path of a folder; the user has agreed
    request_reload = Signal()
    request_reveal = Signal(Span)  # Span in the document
    request_open = Signal(Path, int)  # Path of a file, line from 1
    request_recordings = Signal(ToolEntry)  # tool whose answers in earlier runs are requested
    request_allow = Signal(str)  # key of a waiting source; the user has agreed
    request_own_window = Signal(bool)  # whether to show the pane in a separate window
    answered = Signal(int, str, bool)  # question, the user's answer, whether it is a failure
    input_given = Signal(int, InputGiven)  # question of a server, the user's input

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Tools"))
        self.setMinimumWidth(_NARROWEST)
        self.registry = ToolRegistry()
        """The shown registry."""
        self._chosen = ToolId()
        self._is_inside = False
        self._is_filtering = False
        self._questions: dict[int, AnswerDialog | InputDialog] = {}
        self.bar = ToolsBar(self)
        self.search = self.bar.search
        self.sources = SourcesPage(self)
        self.folder_to_trust: Callable[[Path], Path | None] = lambda folder: folder
        """Returns the folder to trust for a folder; None if it cannot be trusted."""
        self.table = ToolTable()
        self.model = self.table.rows
        self.detail = ToolDetail()
        self.empty = EmptyState("wrench", *why_no_tools(()))
        self.banners = SourceBanners(self)
        self.readings = ReadingBars(self)
        self._splitter = QtWidgets.QSplitter(Qt.Orientation.Vertical)
        self._stack = QtWidgets.QStackedWidget()
        self._arrange()
        self._connect()
        self.show_registry(self.registry)

    def _arrange(self) -> None:
        self._splitter.addWidget(self.table)
        self._splitter.addWidget(self.detail)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([180, 450])
        self._splitter.setChildrenCollapsible(False)
        for page in (self.empty, self._splitter, self.sources):
            self._stack.addWidget(page)
        column_of(
            self.bar, self.readings, self.banners, (self._stack, 1), on=self, margins=0, spacing=0
        )

    def _connect(self) -> None:
        self.bar.changed.connect(self._filter_typed)
        self.bar.typed.connect(self._leave)
        self.bar.request_back.connect(self.show_all)
        self.bar.reload.clicked.connect(self.request_reload)
        self.bar.sources.toggled.connect(lambda _: self._show_page())
        self.bar.own_window.clicked.connect(self.request_own_window)
        self.banners.request_trust.connect(self.offer_trust)
        self.banners.request_allow.connect(self.offer_source)
        self.banners.request_open.connect(self.request_open)
        self.banners.request_reload.connect(self.request_reload)
        self.banners.request_sources.connect(self.show_sources)
        self.table.request_enabled.connect(self._enable)
        self.table.request_changes.connect(self.request_changes)
        self.table.chosen.connect(self._choose)
        self.table.entered.connect(self._enter)
        self.detail.request_change.connect(self.request_change)
        self.detail.head.request_definition.connect(self._go)
        self.detail.head.request_declaration.connect(self._go_to_declaration)
        self.detail.request_recordings.connect(self.request_recordings)
        self.sources.requests.allow.connect(self.offer_source)
        self.sources.requests.open.connect(self.request_open)

    def show_registry(self, registry: ToolRegistry) -> None:
        """Show all tools and the states of their sources."""
        self.registry = registry
        self.banners.show_sources(registry.sources)
        self.empty.say(*why_no_tools(registry.sources))
        self.sources.show_sources(registry.sources)
        self._filter()
        entries = registry.entries
        has_routes = any(entry.route for entry in entries)
        self.table.measure({entry.source for entry in entries}, has_routes=has_routes)

    def show_loading(self, loading: bool) -> None:
        """Show whether the tools are loading."""
        self.bar.reload.setEnabled(not loading)
        self.bar.count.setText(tr("Loading…") if loading else self._count_text())
        if loading:
            self.empty.say(tr("Loading…"), "")
        else:
            self.empty.say(*why_no_tools(self.registry.sources))

    def show_recordings(self, tool: ToolId, found: tuple[ToolRecording, ...]) -> None:
        """Offer the answers of a tool in earlier runs."""
        if self.detail.entry is not None and self.detail.entry.id == tool:
            self.detail.mock.show_recordings(found)

    def offer_saved_answers(self, tool: ToolId, answers: tuple[RecordedAnswer, ...]) -> None:
        """Offer the answers of a tool's saved calls, besides those of earlier runs."""
        if self.detail.entry is not None and self.detail.entry.id == tool:
            self.detail.mock.offer_saved(answers)

    def show_question(self, question: Question) -> None:
        """Ask the user for the result of a call."""
        dialog = AnswerDialog(question, self.window())
        dialog.answered.connect(self._on_answered)
        self._questions[question.id] = dialog
        dialog.open()

    def show_input(self, question: InputQuestion) -> None:
        """Ask the user for input that a server requests."""
        dialog = InputDialog(question, self.window())
        dialog.given.connect(self._on_given)
        self._questions[question.id] = dialog
        dialog.open()

    def _on_given(self, number: int, given: InputGiven) -> None:
        self._questions.pop(number, None)
        self.input_given.emit(number, given)

    def _on_answered(self, number: int, text: str, is_error: bool) -> None:
        self._questions.pop(number, None)
        self.answered.emit(number, text, is_error)

    def settle_question(self, number: int) -> None:
        """Close a question whose answer is no longer needed."""
        dialog = self._questions.pop(number, None)
        if dialog is not None:
            dialog.withdraw()

    def choose(self, tool: ToolId) -> None:
        """Show one tool."""
        if self.table.choose(tool):
            self._is_inside = True
            self._show_page()

    def show_all(self) -> None:
        """Show the table, if there is room for only one part."""
        self._leave()
        self.table.setFocus()

    def _leave(self) -> None:
        self._is_inside = False
        self._show_page()

    def show_sources(self) -> None:
        """Show the sources of the tools."""
        self.bar.sources.setChecked(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide minor columns in a narrow dock; show only one part in a low one."""
        super().resizeEvent(event)
        self.table.fit(self.width())
        self._show_page()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return from one tool to all on Esc."""
        if event.key() == Qt.Key.Key_Escape and self.bar.back.isVisibleTo(self):
            self.show_all()
            return
        super().keyPressEvent(event)

    def _filter_typed(self) -> None:
        """Update the list now, and the selected tool in the next iteration of the event loop."""
        self._is_filtering = True
        self._filter()
        self._is_filtering = False
        QTimer.singleShot(0, self, self._show_chosen)

    def _filter(self) -> None:
        found = self.registry.search(self.bar.text, self.bar.only)
        self.model.show_entries(found)
        self.bar.count.setText(self._count_text())
        self._show_page()
        tools = [entry.id for entry in found]
        if not tools:
            return
        self.table.choose(self._chosen if self._chosen in tools else tools[0])
        if not self._is_filtering:
            self._show_chosen()

    def _count_text(self) -> str:
        total, shown = len(self.registry.entries), self.model.rowCount()
        if not total:
            return ""
        if shown < total:
            return tr("{shown} of {total}").format(shown=shown, total=total)
        return by_count(total, tr("1 tool"), tr("{total} tools"), total=total)

    def _choose(self, entry: ToolEntry) -> None:
        self._chosen = entry.id
        if not self._is_filtering:
            self._show_chosen()

    def _show_chosen(self) -> None:
        entry = self.registry.entry(self._chosen)
        if entry is not None and entry is not self.detail.entry:
            self.detail.show_entry(entry)

    def _enter(self, entry: ToolEntry) -> None:
        self._choose(entry)
        self._is_inside = True
        self._show_page()

    def _show_page(self) -> None:
        """Show sources, empty state, or tools: table and detail, one at a time if low."""
        is_sources = self.bar.sources.isChecked()
        has_tools = bool(self.registry.entries)
        tools = self._splitter if has_tools else self.empty
        self._stack.setCurrentWidget(self.sources if is_sources else tools)
        is_low = self.height() < _LOW
        self.table.setVisible(not is_low or not self._is_inside)
        self.detail.setVisible(not is_low or self._is_inside)
        is_alone = is_low and self._is_inside and has_tools and not is_sources
        self.bar.fit(self.width(), alone=is_alone)
        self.banners.setVisible(bool(self.banners.shown) and not is_alone)

    def _go_to_declaration(self, entry: ToolEntry) -> None:
        if entry.spec.span is not None:
            self.request_reveal.emit(entry.spec.span)

    def _enable(self, tool: ToolId, enabled: bool) -> None:
        self.request_change.emit(tool, {"enabled": enabled})

    def _go(self, entry: ToolEntry) -> None:
        if entry.path is not None:
            self.request_open.emit(entry.path, max(1, entry.line))
        elif entry.spec.span is not None:
            self.request_reveal.emit(entry.spec.span)

    def offer_trust(self, folder: Path) -> None:
        """Ask whether to trust a folder, and request it if the user agrees."""
        asked = self.folder_to_trust(folder)
        if asked is not None and self.ask_trust(asked):
            self.request_trust.emit(asked)

    def ask_trust(self, folder: Path) -> bool:
        """Ask the user once; a file can never grant trust to itself."""
        words = tr(
            "Trust {folder} and its subfolders? Its prompts may then run Python tools, start "
            "programs and read environment variables. This prompt names:"
        ).format(folder=folder)
        covered = covered_text(self.registry.wants)
        return self._agreed(tr("Trust this folder?"), words, covered, tr("Trust"))

    def offer_source(self, key: str) -> None:
        """Ask whether to allow a new or changed part of a trusted folder."""
        status = next((each for each in self.registry.sources if each.key == key), None)
        if status is None or status.doubt is None:
            return
        if status.doubt.before is None:
            title = tr("Allow what is new?")
            words = tr("{label} is new in a folder that you trust. It needs:")
        else:
            title = tr("Allow what has changed?")
            words = tr("{label} differs from what you allowed:")
        words = words.format(label=reveal(status.label, lines=False))
        if self._agreed(title, words, doubt_text(status.doubt), tr("Allow")):
            self.request_allow.emit(key)

    def _agreed(self, title: str, words: str, covered: str, yes: str) -> bool:
        dialog = ConsentDialog(title, words, covered, yes, self)
        try:
            return dialog.exec() == ConsentDialog.DialogCode.Accepted
        finally:
            dialog.deleteLater()
