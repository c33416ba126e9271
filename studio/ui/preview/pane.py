"""The preview pane: Messages, Request and Diff of the unsaved text."""

from collections.abc import Sequence
from functools import partial
from html import escape

from PySide6 import QtWidgets
from PySide6.QtCore import QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent

from studio.application.document.checked_file import LoadedPart
from studio.application.preview import diff
from studio.application.preview.build import tool_choice
from studio.application.preview.probe import ProbeReport
from studio.application.preview.variables import Preview
from studio.application.words import marked, tr
from studio.core.text.source import Fix, Span
from studio.core.tokens.conversation import ConversationTokens
from studio.ui.parts.empty_state import Banner, EmptyState
from studio.ui.parts.kit import Chip, Drawing, Separator, column_of, icon_button, named, row_of
from studio.ui.parts.text_views import ClosedText
from studio.ui.preview.answer_card import AnswerCard
from studio.ui.preview.cards.messages_view import MessagesView
from studio.ui.preview.diff_tab import DiffTab
from studio.ui.preview.request_tab import RequestTab
from studio.ui.style.theme import icon

# The line above the preview: its tabs, and a menu for the messages.


class PreviewBar(QtWidgets.QWidget):
    """Tab bar of the views; tokens are in the status bar and the price in the toolbar."""

    request_copy = Signal(str)  # form: json, markdown or chat

    def __init__(self) -> None:
        super().__init__()
        self.tabs = QtWidgets.QTabBar(expanding=False, drawBase=False)
        self.tabs.setAccessibleName(tr("Views of the preview"))
        for title in (tr("Messages"), tr("Request"), tr("Diff")):
            self.tabs.addTab(title)
        self.changed = Chip("")
        self.changed.set_color("accent")
        self.changed.setToolTip(
            tr("Compare with the run whose answer is shown: messages have changed since")
        )
        self.changed.hide()
        menu = QtWidgets.QMenu(self)
        for words, form in (
            (tr("Copy as JSON"), "json"),
            (tr("Copy as Markdown"), "markdown"),
            (tr("Copy as chat text"), "chat"),
        ):
            menu.addAction(icon("copy"), words, partial(self.request_copy.emit, form))
        menu.addSeparator()
        self.raw = menu.addAction(icon("type"), tr("Raw text instead of Markdown"))
        self.raw.setCheckable(True)
        self.probe = menu.addAction(
            icon("shield-check"),
            tr("Probe inputs: can a value change the structure of the messages?"),
        )
        self.more = icon_button("ellipsis", tr("Copy, raw text, probe"))
        self.more.setAutoRaise(True)
        self.more.setPopupMode(QtWidgets.QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setMenu(menu)
        self.more.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        row_of(self.tabs, 1, self.changed, self.more, on=self, margins=(4, 0, 8, 0), spacing=4)


_MOST_ANSWER = 0.45
"""Maximum share of the pane's height for the answer, unless the user changes it."""

_MOST_HOLES = 6
"""Maximum number of probe results that are visible at once."""

_LOADED_WORDS = (
    marked("always"),
    marked("when the skill is used"),
    marked("in the list of commands"),
    marked("when it is called"),
    marked("in the list of agents"),
    marked("with each request to this agent"),
    marked("always, for files in its folder"),
    marked("when it is run"),
    marked("when it is read"),
    marked("name and description"),
    marked("body"),
)
"""Texts of `loaded_parts`, marked for translation."""


class LoadedView(ClosedText):
    """Lists the parts of an agent file with their tokens; linked files are only named."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("What is loaded when"))
        self.document().setDocumentMargin(12)

    def show_parts(self, parts: Sequence[LoadedPart]) -> None:
        """Show parts and keep the scroll position."""
        at = self.verticalScrollBar().value()
        self.setHtml("".join(self._section(part) for part in parts))
        self.verticalScrollBar().setValue(at)

    def _section(self, part: LoadedPart) -> str:
        words = tr("{when}: {what}, about {tokens} tokens")
        if part.tokens == 1:
            words = tr("{when}: {what}, about 1 token")
        head = words.format(when=_word(part.when), what=_word(part.what), tokens=f"{part.tokens:,}")
        text = f'<p style="white-space: pre-wrap">{escape(part.text)}</p>' if part.text else ""
        return f"<h4>{escape(head[:1].upper() + head[1:])}</h4>{text}"


def _word(text: str) -> str:
    return tr(text) if text in _LOADED_WORDS else text


class ProbePanel(QtWidgets.QFrame):
    """One line if no injection is possible; otherwise the findings with links."""

    place_chosen = Signal(Span)

    def __init__(self) -> None:
        super().__init__()
        self._report: ProbeReport | None = None
        self._is_outdated = False
        self._picture = Drawing("shield-check", 16)
        self.summary = QtWidgets.QLabel(wordWrap=True)
        close = icon_button("x", tr("Close"), self.hide)
        close.setAccessibleName(tr("Close the report of the probe"))
        close.setIconSize(QSize(14, 14))
        self.list = named(QtWidgets.QListWidget(), tr("Injections found by the probe"))
        self.list.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.list.setWordWrap(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemActivated.connect(self._activate)
        self.list.itemClicked.connect(self._activate)
        row = row_of(self._picture, (self.summary, 1), close, margins=(12, 4, 8, 4), spacing=8)
        column_of(row, self.list, on=self, margins=0, spacing=0)
        self.hide()

    def show_report(self, report: ProbeReport) -> None:
        """Show a report."""
        self._report = report
        self._is_outdated = False
        self._draw()
        self.show()

    def mark_outdated(self) -> None:
        """Show that the prompt has changed since."""
        if self._report is not None and not self._is_outdated:
            self._is_outdated = True
            self._draw()

    def _draw(self) -> None:
        report = self._report
        if report is None:
            return
        good = not report.holes
        tone = "muted" if self._is_outdated else "success" if good else "error"
        self._picture.draw("shield-check" if good else "triangle-alert", tone)
        words = tr("{summary} The prompt has changed since: probe again.")
        self.summary.setText(
            words.format(summary=report.summary) if self._is_outdated else report.summary
        )
        self.list.clear()
        for hole in report.holes:
            item = QtWidgets.QListWidgetItem(f"{hole.input}: {hole.attack.name}. {hole.change}")
            item.setData(Qt.ItemDataRole.UserRole, hole.span)
            item.setToolTip(tr("Tried with:\n{text}").format(text=hole.attack.text))
            self.list.addItem(item)
        self.list.setVisible(not good)
        if not good:
            rows = min(_MOST_HOLES, self.list.count())
            self.list.setFixedHeight(rows * max(24, self.list.sizeHintForRow(0)) + 4)

    def _activate(self, item: QtWidgets.QListWidgetItem) -> None:
        span = item.data(Qt.ItemDataRole.UserRole)
        if span is not None:
            self.place_chosen.emit(span)


class PreviewPane(QtWidgets.QWidget):
    """Shows a `Preview`; it requests places and inputs, and computes nothing."""

    request_reveal = Signal(Span)  # show this span of the source
    request_fix = Signal(Fix)  # apply its edits
    request_input = Signal(str, QRect)  # name, rectangle to edit its value in; null: its field
    request_compare = Signal(diff.Pair)  # Pair to compare, or None to stop
    request_probe = Signal()  # probe the inputs for injection
    request_bodies = Signal(tuple)  # of Provider: the visible bodies, from now on
    request_figures = Signal(bool)  # whether the tokens of each message are visible

    def __init__(self) -> None:
        super().__init__()
        self._preview: Preview | None = None
        self._probed = ""
        self.setAccessibleName(tr("Preview"))
        self.bar = PreviewBar()
        self.tabs = self.bar.tabs
        self.banner = Banner()
        self.probe_panel = ProbePanel()
        self.messages = MessagesView()
        self.request = RequestTab()
        self.diff = DiffTab()
        self.empty = EmptyState(
            "messages-square",
            tr("Nothing to preview"),
            tr("Open or write a prompt: the messages for the model appear here."),
        )
        self._pages = QtWidgets.QStackedWidget()
        for page in (self.messages, self.request, self.diff):
            self._pages.addWidget(page)
        self._stack = QtWidgets.QStackedWidget()
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self._pages)
        self.loaded = LoadedView()
        self._stack.addWidget(self.loaded)
        self.answer = AnswerCard()
        self.split = QtWidgets.QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        self._answer_height = 0
        """Height in pixels that the user gave the answer; 0 if none."""
        self._share_soon = QTimer(self, singleShot=True, interval=0)
        """Timer until the layouts have settled, which would otherwise change the new height."""
        self._arrange()
        self._connect()

    def _arrange(self) -> None:
        line = Separator()
        column_of(
            self.bar,
            line,
            self.banner,
            self.probe_panel,
            (self.split, 1),
            on=self,
            margins=0,
            spacing=0,
        )
        self.split.addWidget(self._stack)
        self.split.addWidget(self.answer)
        self.split.setStretchFactor(0, 1)
        self.answer.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adjust the height of the answer to that of the pane."""
        super().resizeEvent(event)
        self._share_soon.start()

    def _share(self) -> None:
        """Set the answer's height to that of its content, at most its share of the pane."""
        most = self._answer_height or int(self.height() * _MOST_ANSWER)
        wanted = self.answer.height_within(most)
        if self._answer_height and self.answer.answer.phase != "none":
            wanted = most
        if self.split.sizes()[1] != wanted:
            self.split.setSizes([self.split.height() - wanted, wanted])

    def _on_split(self) -> None:
        self._answer_height = self.split.sizes()[1]

    def _connect(self) -> None:
        self._share_soon.timeout.connect(self._share)
        self.answer.height_changed.connect(self._share_soon.start)
        self.split.splitterMoved.connect(self._on_split)
        self.tabs.currentChanged.connect(self._change_tab)
        self.bar.raw.toggled.connect(self.messages.set_raw)
        self.bar.probe.triggered.connect(self.request_probe)
        self.bar.changed.clicked.connect(self._compare_with_run)
        self.bar.request_copy.connect(self._copy)
        self.probe_panel.place_chosen.connect(self.request_reveal)
        self.banner.activated.connect(self._reveal_blocker)
        self.banner.fix_clicked.connect(self._fix_blocker)
        self.messages.place_clicked.connect(self.request_reveal)
        self.messages.input_clicked.connect(self.request_input)
        self.diff.place_chosen.connect(self.request_reveal)
        self.diff.pair_chosen.connect(self.request_compare)
        self.request.request_bodies.connect(self.request_bodies)
        self.request.place_chosen.connect(self.request_reveal)
        self.request.input_chosen.connect(lambda name: self.request_input.emit(name, QRect()))

    def show_preview(self, preview: Preview | None) -> None:
        """Show a preview; None if no document is open."""
        before = self._preview.document.source.path if self._preview is not None else None
        if preview is not None and preview.document.source.path != before:
            self.probe_panel.hide()  # its report belongs to another file
            self.diff.set_earlier(())
        self._preview = preview
        self.answer.setVisible(preview is not None)
        self.request.show_preview(preview)
        if preview is None:
            self.banner.hide()
            self.probe_panel.hide()
            self._stack.setCurrentWidget(self.empty)
            return
        has_any = bool(preview.messages.messages or preview.tools or preview.is_stale)
        # First, so that the visible cards are created: the rest waits for them.
        self._stack.setCurrentWidget(self._pages if has_any else self.empty)
        self.messages.show_tools(preview.tools, preview.messages.tools, tool_choice(preview))
        self.messages.show_cards(preview.cards, preview.media_folder)
        self.messages.set_dimmed(preview.is_stale)
        self._show_banner(preview)
        if preview.document.source.text != self._probed:
            self.probe_panel.mark_outdated()

    def show_tokens(self, tokens: ConversationTokens | None) -> None:
        """Show the cost of each message of the newest preview, if it was counted."""
        if tokens is not None:
            self.messages.show_tokens(tokens)

    def show_change(self, words: str) -> None:
        """Show how the request differs from that of the shown run; empty if it is the same."""
        count = sum(bool(card.new) for card in self._preview.cards) if self._preview else 0
        self.bar.changed.setText(tr("{count} changed").format(count=count))
        self.bar.changed.setVisible(bool(count and words))
        self.tabs.setTabText(1, f"{tr('Request')} •" if count and words else tr("Request"))
        self.request.show_change(words)

    def _compare_with_run(self) -> None:
        self.tabs.setCurrentIndex(self._pages.indexOf(self.diff))
        self.diff.choose_last_run()

    def show_loaded(self, parts: Sequence[LoadedPart]) -> None:
        """Show the parts of an agent file and when they are loaded, instead of messages."""
        self.show_preview(None)
        self.loaded.show_parts(parts)
        self._stack.setCurrentWidget(self.loaded)

    def show_probe(self, report: ProbeReport) -> None:
        """Show the report of the injection probe."""
        self._probed = self._preview.document.source.text if self._preview is not None else ""
        self.probe_panel.show_report(report)

    def _show_banner(self, preview: Preview) -> None:
        blocker = preview.blocker
        if blocker is not None:
            line = preview.document.source.position(blocker.span.start).line
            is_kept = preview.shown is not preview.document and bool(preview.cards)
            kept = tr(" The last good preview is shown.") if is_kept else ""
            fix = blocker.fixes[0].title if blocker.fixes else ""
            place = tr("Line {line}").format(line=line)
            self.banner.say(f"{blocker.message}{kept}", place, fix=fix)
            return
        if preview.document.entry("template", "format", "strict") is not None and (
            not preview.document.template.strict
        ):
            self.banner.say(
                tr("template.format.strict is false: values may contain role markers."),
                tr("Show"),
                "warning",
            )
            return
        self.banner.hide()

    def _fix_blocker(self) -> None:
        preview = self._preview
        blocker = preview.blocker if preview is not None else None
        if blocker is not None and blocker.fixes:
            self.request_fix.emit(blocker.fixes[0])

    def _reveal_blocker(self) -> None:
        preview = self._preview
        if preview is None:
            return
        blocker = preview.blocker
        span = blocker.span if blocker is not None else preview.document.template.span
        if span is not None:
            self.request_reveal.emit(span)

    def _change_tab(self, index: int) -> None:
        self._pages.setCurrentIndex(index)
        page = self._pages.currentWidget()
        self.request.set_seen(page is self.request)
        self.request_figures.emit(page is self.messages)
        # Comparing needs a second preview, which is computed only while it is visible.
        on_diff = page is self.diff
        self.request_compare.emit(self.diff.pair if on_diff else None)

    def _copy(self, form: str) -> None:
        if self._preview is None:
            return
        messages = self._preview.messages.messages
        match form:
            case "json":
                text = diff.messages_as_json(self._preview)
            case "markdown":
                text = diff.messages_as_markdown(messages)
            case _:
                text = diff.messages_as_chat(messages)
        QGuiApplication.clipboard().setText(text)
