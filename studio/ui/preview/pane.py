"""The preview pane: Messages, Request, Variables of the unsaved text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSizePolicy,
    QStackedWidget,
    QTabBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.application.document.loading import LoadedPart
from studio.application.preview.copy import messages_as_chat, messages_as_json, messages_as_markdown
from studio.application.preview.diff import ConversationComparison, Pair
from studio.application.preview.meter import Meter, meter
from studio.application.preview.probe import ProbeReport
from studio.application.preview.value import Preview
from studio.core.text.problem import Fix
from studio.core.text.span import Span
from studio.core.text.values import JsonObject
from studio.ui.parts.banner import Banner
from studio.ui.parts.empty_state import EmptyState
from studio.ui.parts.icon_button import icon_button
from studio.ui.parts.separator import Separator
from studio.ui.preview.cards.messages_view import MessagesView
from studio.ui.preview.diff_tab import DiffTab
from studio.ui.preview.loaded_view import LoadedView
from studio.ui.preview.probe_panel import ProbePanel
from studio.ui.preview.request_tab import RequestTab
from studio.ui.preview.variables_tab import VariablesTab
from studio.ui.style.colors import paint_text
from studio.ui.style.in_use import FollowsTheme, color_of, theme_in_use


class _Bar(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.meter = Meter("", "")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(40, 6)

    def color(self) -> str:
        """The tone of the filled part."""
        return {"free": "accent", "close": "warning", "over": "error"}[self.meter.fullness]

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme_in_use().border))
        box = QRectF(0, 0, self.width(), self.height())
        painter.drawRoundedRect(box, 3, 3)
        share = min(1.0, self.meter.share or 0.0)
        if share > 0:
            painter.setBrush(QColor(color_of(self.color())))
            painter.drawRoundedRect(QRectF(0, 0, max(6.0, box.width() * share), 6), 3, 3)


class TokenMeter(QWidget):
    """The count of tokens, with the bar where the context window's size is known."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = QLabel(self)
        self.label.setMinimumWidth(1)  # a narrower pane must be possible, to get a shorter text
        self.bar = _Bar(self)
        self.bar.hide()
        self._is_short = False
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 4, 0)
        self._row.setSpacing(8)
        self._row.addWidget(self.bar)
        self._row.addWidget(self.label)
        self._paint()

    @property
    def text(self) -> str:
        """The count as it is written."""
        return self.label.text()

    def show_meter(self, meter: Meter | None) -> None:
        """Show a count; `None` for none."""
        shown = meter or Meter("", "")
        self.bar.meter = shown
        self.bar.update()
        self._write()
        self.setToolTip(shown.detail)
        self.setAccessibleName(self.tr("Tokens: {text}").format(text=shown.text))
        self.setAccessibleDescription(shown.detail)
        self._paint()

    def needs(self) -> tuple[int, int, int]:
        """Widths in pixels: of bar and text, of the text over the bar, of the figure over it."""
        metrics = self.label.fontMetrics()
        bar = self.bar.sizeHint().width() if self.bar.meter.share is not None else 0
        texts = [metrics.horizontalAdvance(text) for text in self._texts()]
        return (texts[0] + bar + 14, max(texts[0], bar) + 5, max(texts[1], bar) + 5)

    def fit(self, width: int) -> None:
        """Show as much as a width has room for."""
        whole, bare, short = self.needs()
        # Without a window to fill it says no more than the status bar.
        self.setHidden(width < short or self.bar.meter.share is None)
        self._is_short = width < bare
        beside, below = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.BottomToTop
        self._row.setDirection(beside if width >= whole else below)
        self._row.setSpacing(6 if width >= whole else 1)
        self._write()

    def _texts(self) -> tuple[str, str]:
        """The count with its unit and share, and the figure alone."""
        shown = self.bar.meter
        share = "" if shown.share is None or shown.fullness == "free" else f" · {shown.share:.0%}"
        return shown.text + share, shown.text.partition(" ")[0]

    def _write(self) -> None:
        self.bar.setHidden(self.bar.meter.share is None)
        self.label.setText(self._texts()[self._is_short])

    def _paint(self) -> None:
        is_free = self.bar.meter.fullness == "free"
        paint_text(self.label, "muted" if is_free else self.bar.color())


class PreviewPane(FollowsTheme, QWidget):
    """Shows a `Preview`; asks for places and inputs, and computes nothing."""

    request_reveal = Signal(Span)  # bring this place of the source into view
    request_fix = Signal(Fix)  # make its edits
    request_input = Signal(str)  # name: bring this input's field into view
    request_compare = Signal(Pair)  # Pair, or None: no longer
    request_probe = Signal()  # try the inputs for holes

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._preview: Preview | None = None
        self._probed = ""
        self.setAccessibleName(self.tr("Preview"))
        self.tabs = QTabBar()
        self.tabs.setAccessibleName(self.tr("Views of the preview"))
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        for title in (
            self.tr("Messages"),
            self.tr("Request"),
            self.tr("Variables"),
            self.tr("Diff"),
        ):
            self.tabs.addTab(title)
        self.total = TokenMeter()
        self.raw_button = _tool_button("type", self.tr("Raw text instead of Markdown"))
        self.raw_button.setCheckable(True)
        self.probe_button = _tool_button(
            "shield-check",
            self.tr("Probe inputs: can a value change the structure of the messages?"),
        )
        self.copy_button = _tool_button("copy", self.tr("Copy the messages"))
        self.copy_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.copy_button.setMenu(self._copy_menu())
        self.banner = Banner()
        self.probe_panel = ProbePanel()
        self.messages = MessagesView()
        self.request = RequestTab()
        self.variables = VariablesTab()
        self.diff = DiffTab()
        self.empty = EmptyState(
            "messages-square",
            self.tr("Nothing to preview"),
            self.tr("Open or write a prompt: the messages that the model would get appear here."),
        )
        self._pages = QStackedWidget()
        for page in (self.messages, self.request, self.variables, self.diff):
            self._pages.addWidget(page)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self._pages)
        self.loaded = LoadedView()
        self._stack.addWidget(self.loaded)
        self._arrange()
        self._connect()
        self.follow_theme()

    def _arrange(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(4, 0, 8, 0)
        bar.setSpacing(4)
        bar.addWidget(self.tabs)
        bar.addStretch(1)
        bar.addWidget(self.total)
        for button in (self.raw_button, self.probe_button, self.copy_button):
            bar.addWidget(button)
        line = Separator()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(line)
        layout.addWidget(self.banner)
        layout.addWidget(self.probe_panel)
        layout.addWidget(self._stack, 1)

    def _connect(self) -> None:
        self.tabs.currentChanged.connect(self._change_tab)
        self.raw_button.toggled.connect(self.messages.set_raw)
        self.probe_button.clicked.connect(self.request_probe)
        self.probe_panel.place_chosen.connect(self.request_reveal)
        self.banner.activated.connect(self._reveal_blocker)
        self.banner.fix_clicked.connect(self._fix_blocker)
        self.messages.place_clicked.connect(self.request_reveal)
        self.messages.input_clicked.connect(self.request_input)
        self.diff.place_chosen.connect(self.request_reveal)
        self.diff.pair_chosen.connect(self.request_compare)
        self.request.place_chosen.connect(self.request_reveal)
        self.request.input_chosen.connect(self.request_input)
        self.variables.place_chosen.connect(self.request_reveal)
        self.variables.input_chosen.connect(self.request_input)

    def minimumSizeHint(self) -> QSize:
        """Room for every tab and button."""
        buttons = (self.raw_button, self.probe_button, self.copy_button)
        taken = sum(button.sizeHint().width() + 4 for button in buttons)
        own = super().minimumSizeHint()
        return QSize(max(own.width(), self.tabs.sizeHint().width() + taken + 12), own.height())

    def recolor(self) -> None:
        """Fit the meter anew: while a style sheet goes and another comes, tabs are wider."""
        self._fit_meter()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Every view's tab keeps its name: the token meter gives way first."""
        super().resizeEvent(event)
        self._fit_meter()

    def show_preview(self, preview: Preview | None) -> None:
        """Show a preview; `None` when no document is open."""
        before = self._preview.document.source.path if self._preview is not None else None
        if preview is not None and preview.document.source.path != before:
            self.probe_panel.hide()  # its report is another file's
        self._preview = preview
        self._show_page()
        if preview is None:
            self.banner.hide()
            self.probe_panel.hide()
            self.total.show_meter(None)
            self._stack.setCurrentWidget(self.empty)
            return
        has_any = bool(preview.messages.messages or preview.tools or preview.is_stale)
        # First, so that the cards are made where they are seen: the rest waits for that.
        self._stack.setCurrentWidget(self._pages if has_any else self.empty)
        path = preview.shown.source.path
        self.messages.show_tools(preview.tools, preview.messages.tools, preview.tool_choice)
        self.messages.show_cards(preview.cards, path.parent if path else None)
        self.messages.set_dimmed(preview.is_stale)
        self._show_banner(preview)
        if preview.document.source.text != self._probed:
            self.probe_panel.mark_outdated()
        self.total.show_meter(meter(preview))
        self._fit_meter()

    def show_loaded(self, parts: Sequence[LoadedPart]) -> None:
        """Show what of a file of coding agents is loaded when, in place of messages."""
        self.show_preview(None)
        self.loaded.show_parts(parts)
        self._stack.setCurrentWidget(self.loaded)

    def show_probe(self, report: ProbeReport) -> None:
        """Show what the injection probe found."""
        self._probed = self._preview.document.source.text if self._preview is not None else ""
        self.probe_panel.show_report(report)

    def show_comparison(self, comparison: ConversationComparison) -> None:
        """Show what differs."""
        self.diff.show_comparison(comparison)

    def set_input_sets(self, sets: Mapping[str, JsonObject]) -> None:
        """The sets of values that can be compared with."""
        self.diff.set_input_sets(sets)

    def show_caret(self, offset: int) -> None:
        """Light the card whose source holds this place (code points)."""
        self.messages.light(offset)

    def _fit_meter(self) -> None:
        buttons = (self.raw_button, self.probe_button, self.copy_button)
        taken = sum(button.sizeHint().width() + 4 for button in buttons if not button.isHidden())
        self.total.fit(self.width() - self.tabs.sizeHint().width() - taken - 20)

    def _show_banner(self, preview: Preview) -> None:
        blocker = preview.blocker
        if blocker is not None:
            line = preview.document.source.position(blocker.span.start).line
            kept = (
                ""
                if preview.shown is preview.document
                else self.tr(" The last good preview is shown.")
            )
            fix = blocker.fixes[0].title if blocker.fixes else ""
            place = self.tr("Line {line}").format(line=line)
            self.banner.say(f"{blocker.message}{kept}", place, fix=fix)
            return
        if not preview.document.template.strict:
            self.banner.say(
                self.tr(
                    "template.format.strict is false: values may bring role markers of their own."
                ),
                self.tr("Show"),
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

    def _show_page(self) -> None:
        """Fill the page that is looked at; the others wait until they are."""
        page = self._pages.currentWidget()
        if page is self.request or self._preview is None:
            self.request.show_preview(self._preview)
        if page is self.variables or self._preview is None:
            self.variables.show_preview(self._preview)

    def _change_tab(self, index: int) -> None:
        self._pages.setCurrentIndex(index)
        self._show_page()
        on_messages = self._pages.currentWidget() is self.messages
        # Comparing costs a second preview: it is made only while it is looked at.
        on_diff = self._pages.currentWidget() is self.diff
        self.request_compare.emit(self.diff.pair if on_diff else None)
        for button in (self.raw_button, self.probe_button, self.copy_button):
            button.setVisible(on_messages)
        self._fit_meter()

    def _copy_menu(self) -> QMenu:
        menu = QMenu(self)
        menu.addAction(self.tr("As JSON"), lambda: self._copy("json"))
        menu.addAction(self.tr("As Markdown"), lambda: self._copy("markdown"))
        menu.addAction(self.tr("As chat text"), lambda: self._copy("chat"))
        return menu

    def _copy(self, form: str) -> None:
        if self._preview is None:
            return
        write = {
            "json": messages_as_json,
            "markdown": messages_as_markdown,
            "chat": messages_as_chat,
        }[form]
        QGuiApplication.clipboard().setText(write(self._preview))


def _tool_button(icon_name: str, tip: str) -> QToolButton:
    button = icon_button(icon_name, tip)
    button.setAutoRaise(True)
    return button
