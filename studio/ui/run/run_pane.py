"""The run pane: a debugger for agents. It shows `RunView` and `InspectorView`, and asks."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.run_cards import TAB_OF_KIND, StepCard, Tab
from studio.bridge.run_compare import Comparison
from studio.bridge.run_diagram import Node
from studio.bridge.run_edits import EditResult, EditSpec, command_of
from studio.bridge.run_inspector import Inspection, InspectorView
from studio.bridge.run_offers import Offer
from studio.bridge.run_search import rows_with
from studio.bridge.run_view import RunView
from studio.core.agent.commands import Approve, Command, Continue, PauseRun, StepOn, StopRun
from studio.core.agent.state import Place
from studio.ui.parts.colours import paint_text
from studio.ui.run.action_bar import ActionBar
from studio.ui.run.compare_dialog import CompareDialog
from studio.ui.run.diagram import LoopDiagram
from studio.ui.run.edit_in_place import EditInPlace
from studio.ui.run.inspector import Inspector
from studio.ui.run.run_bar import RunBar
from studio.ui.run.search_bar import SearchBar
from studio.ui.run.timeline import TimelineView
from studio.ui.theme import LIGHT, Theme

_LOWEST = 64
_LOW = 320
_EMPTY = QT_TRANSLATE_NOOP(
    "RunPane",
    "Press Run (F5) to run the prompt, or Step (F10) to go through it one step "
    "at a time. Every message, reply and tool call will be listed here.",
)
_TAB_OF_NODE: dict[Node, Tab] = {
    "prompt": "messages", "model": "request", "reply": "reply", "action": "tool", "tool": "tool",
    "observation": "tool", "final": "answer", "done": "answer",
}  # fmt: skip
_STAYS: tuple[Tab, ...] = ("request", "usage", "watch")
"""Tabs that a person looks at across steps; following the run does not leave them."""


class RunPane(QWidget):
    """Bar, loop diagram, timeline, action bar and inspector."""

    request_run = Signal(bool)  # start a run; True: stand still at its first place
    request_commands = Signal(tuple)  # Commands for the run that is there, in order
    request_record_move = Signal(int)  # in a run of the past: places to go on (or back, below 0)
    request_inspection = Signal(object)  # Inspection: what the inspector should show
    request_break_place = Signal(str)  # Place whose breakpoint is switched
    request_fork = Signal(object)  # StepCard to go back to, as a new branch
    request_branch = Signal(int)  # id of the checkpoint to stand at
    request_compare = Signal(object, object)  # BranchView, BranchView
    request_breakpoints = Signal()  # the list of breakpoints should be shown
    request_resume = Signal()  # go on from the place of a run of the past that is shown
    request_rerun = Signal()  # run the prompt again, with the results of the run that is shown
    request_file_edit = Signal(tuple, tuple)  # messages before and after: also in the file
    request_export = Signal(str)  # name of the form in which the run is to be written

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self._view = RunView()
        self._sticky: Tab | None = None
        self._only_changes = False
        self.bar = RunBar()
        self.diagram = LoopDiagram()
        self.timeline = TimelineView()
        self.search = SearchBar()
        self._found: tuple[int, ...] = ()
        self._watches: tuple[str, ...] = ()
        self.actions_bar = ActionBar()
        self.inspector = Inspector()
        self.editor = EditInPlace()
        self.comparing = CompareDialog(self)
        self._empty = QLabel(QCoreApplication.translate("RunPane", _EMPTY))
        self._follow = QPushButton(self.tr("To the newest"), self.timeline)
        self._back = QPushButton(self.tr("Go back to here"), self.timeline)
        self._pages = QStackedWidget()  # empty sentence | splitter
        self._side = QStackedWidget()  # inspector | editor
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._lay_out()
        self._connect()
        self.setAccessibleName(self.tr("Run"))

    @property
    def view(self) -> RunView:
        """What is shown."""
        return self._view

    @property
    def theme(self) -> Theme:
        """The colours it is painted in."""
        return self._theme

    def set_theme(self, theme: Theme) -> None:
        """Paint in these colours."""
        self._theme = theme
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Window, QColor(theme.window))
        self.setPalette(palette)
        for part in (
            self.bar, self.diagram, self.timeline, self.actions_bar, self.inspector, self.editor,
            self.search,
        ):  # fmt: skip
            part.set_theme(theme)
        paint_text(self._empty, theme.muted)

    def show_view(self, view: RunView) -> None:
        """Show a run's state; the inspector is asked for anew where it follows the run."""
        before, self._view = self._view, view
        self.bar.show_view(view)
        self.diagram.show_state(view.diagram)
        self.timeline.show_timeline(view.timeline)
        self._pages.setCurrentIndex(0 if view.state is None else 1)
        if view.offers != before.offers:
            self._close_editor()
            self.actions_bar.show_offers(view.offers)
        if view.state is not before.state:
            if not self._is_same_run(before):
                self._sticky = None
                self.timeline.follow()
            self._ask()

    def show_inspector(self, view: InspectorView) -> None:
        """Show one tab of one step."""
        self.inspector.show_inspector(view)

    def show_comparison(self, comparison: Comparison) -> None:
        """Show two ways through side by side, in a window of their own."""
        self.comparing.set_theme(self._theme)
        self.comparing.show_comparison(comparison)
        self.comparing.show()

    # What the window's actions call ---------------------------------------------------------------

    def run_or_continue(self) -> None:
        """F5: start a run, or let the one that waits go on."""
        if self._view.is_waiting:
            self._tell(Continue())
        elif not self._view.is_busy:
            self.request_run.emit(False)

    def step(self, how: str = "over") -> None:
        """F10, F11, Shift+F11: go on to a nearby place, or start and stand at the first.

        In a run of the past: to the next place, and with "out" to the one before.
        """
        if self._view.record:
            self.timeline.follow()
            self.request_record_move.emit(-1 if how == "out" else 1)
        elif self._view.is_waiting:
            match how:
                case "into":
                    self._tell(StepOn("into"))
                case "out":
                    self._tell(StepOn("out"))
                case _:
                    self._tell(StepOn("over"))
        elif not self._view.is_busy and how != "out":
            self.request_run.emit(True)

    def pause(self) -> None:
        """Stand still at the next place."""
        if self._view.is_busy:
            self._tell(PauseRun())

    def stop(self) -> None:
        """End the run now."""
        if self._view.is_live:
            self._tell(StopRun())

    # Inside ---------------------------------------------------------------------------------------

    def _is_same_run(self, before: RunView) -> bool:
        old, new = before.state, self._view.state
        return old is not None and new is not None and old.setup.run == new.setup.run

    def _ask(self, tab: Tab | None = None) -> None:
        """Ask for what the chosen card leads to."""
        card = self.timeline.current_card
        if card is None:
            return
        wanted = tab or self._sticky or TAB_OF_KIND[card.kind]
        asked = Inspection.of_card(card, wanted, only_changes=self._only_changes)
        self.request_inspection.emit(replace(asked, watches=self._watches))

    def _on_card(self, card: StepCard) -> None:
        self._close_editor()
        if self._sticky not in _STAYS:
            self._sticky = None
        self._ask(self._sticky or TAB_OF_KIND[card.kind])

    def _on_tab(self, tab: Tab) -> None:
        self._sticky = tab if tab in _STAYS else None
        self._ask(tab)

    def _on_node(self, node: Node) -> None:
        self._close_editor()
        self._on_tab(_TAB_OF_NODE[node])

    def _on_watches(self, expressions: tuple[str, ...]) -> None:
        self._watches = expressions
        self._ask("watch")

    def _on_words(self, words: str) -> None:
        self._found = rows_with(self._view.state, self.timeline.cards, words)
        self.search.show_count(-1, len(self._found))
        self.inspector.find_words(words)

    def _on_next_found(self, by: int) -> None:
        """Choose the next card with the words, round and round."""
        self._on_words(self.search.field.text())
        if not self._found:
            return
        now = self.timeline.currentIndex().row()
        if by > 0:
            at = next((i for i, row in enumerate(self._found) if row > now), 0)
        else:
            before = [i for i, row in enumerate(self._found) if row < now]
            at = before[-1] if before else len(self._found) - 1
        self.timeline.choose(self.timeline.cards[self._found[at]].key)
        self.search.show_count(at, len(self._found))

    def _on_only_changes(self, on: bool) -> None:
        self._only_changes = on
        self._ask("messages")

    def _on_following(self, following: bool) -> None:
        self._follow.setVisible(not following)
        self._back.setVisible(not following)
        self._place_follow()

    def _on_offer(self, offer: Offer) -> None:
        if offer.edit is not None:
            # The offers give way to the editor: one question at a time, and docks are low.
            self.actions_bar.hide()
            self._side.setCurrentWidget(self.editor)
            self.editor.open_spec(offer.edit)
            return
        match offer.ask:
            case "resume":
                self.request_resume.emit()
            case "rerun":
                self.request_rerun.emit()
            case _:
                self._tell(*offer.commands)

    def _on_applied(self, spec: EditSpec, result: EditResult, goes_on: bool) -> None:
        self._close_editor()
        first = command_of(spec, result)
        if not goes_on:
            self._tell(first)
        elif spec.kind == "arguments" and self._stands_at("P3"):
            self._tell(first, Approve(spec.call))
        else:
            self._tell(first, StepOn("over"))

    def _stands_at(self, place: Place) -> bool:
        pause = self._view.state.pause if self._view.state is not None else None
        return pause is not None and pause.place == place

    def _tell(self, *commands: Command) -> None:
        self.timeline.follow()
        self.request_commands.emit(commands)

    def _close_editor(self) -> None:
        if self._side.currentWidget() is self.editor:
            self._side.setCurrentWidget(self.inspector)
            self.actions_bar.setVisible(bool(self._view.offers.title))

    def _restart(self) -> None:
        self.request_run.emit(False)

    def _connect(self) -> None:
        self.bar.run_clicked.connect(self.run_or_continue)
        self.bar.step_clicked.connect(self.step)
        self.bar.pause_clicked.connect(self.pause)
        self.bar.stop_clicked.connect(self.stop)
        self.bar.restart_clicked.connect(self._restart)
        self.bar.breakpoints_clicked.connect(self.request_breakpoints)
        self.bar.branch_chosen.connect(self.request_branch)
        self.bar.compare_chosen.connect(self.request_compare)
        self.bar.export_chosen.connect(self.request_export)
        self.diagram.break_toggled.connect(self.request_break_place)
        self.diagram.node_chosen.connect(self._on_node)
        self.timeline.card_chosen.connect(self._on_card)
        self.timeline.following_changed.connect(self._on_following)
        self.timeline.fork_asked.connect(self.request_fork)
        self._back.clicked.connect(self.timeline.ask_fork)
        self._follow.clicked.connect(self.timeline.follow)
        self._follow.clicked.connect(self._ask_clicked)
        self.actions_bar.offer_taken.connect(self._on_offer)
        self.inspector.tab_chosen.connect(self._on_tab)
        self.inspector.watches_changed.connect(self._on_watches)
        self.search.words_changed.connect(self._on_words)
        self.search.next_asked.connect(self._on_next_found)
        self.search.closed.connect(self.timeline.setFocus)
        self.bar.search_clicked.connect(self.search.open_search)
        self.timeline.search_asked.connect(self.search.open_search)
        self.inspector.only_changes_toggled.connect(self._on_only_changes)
        self.editor.applied.connect(self._on_applied)
        self.editor.file_asked.connect(self.request_file_edit)
        self.editor.cancelled.connect(self._close_editor)

    def _ask_clicked(self) -> None:
        self._ask()

    def resizeEvent(self, event: object) -> None:
        """Give the content what a low dock leaves; keep the list's button at its corner."""
        self.diagram.set_compact(self.height() < _LOW)
        self._place_follow()

    def sizeHint(self) -> QSize:
        """Room for the loop, some cards, and the inspector beside them."""
        return QSize(1200, 360)

    def _place_follow(self) -> None:
        size = self._follow.sizeHint()
        view = self.timeline.viewport().size()
        left, top = view.width() - size.width() - 8, view.height() - size.height() - 8
        self._follow.setGeometry(left, top, size.width(), size.height())
        width = self._back.sizeHint().width()
        self._back.setGeometry(left - width - 8, top, width, size.height())

    def _lay_out(self) -> None:
        self.setAutoFillBackground(True)
        self._follow.setToolTip(self.tr("Stay with the run as it goes on"))
        self._back.setToolTip(self.tr("Stand at this place again, as a new branch  (Ctrl+Return)"))
        self._follow.hide()
        self._back.hide()
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setContentsMargins(32, 16, 32, 16)
        self._side.addWidget(self.inspector)
        self._side.addWidget(self.editor)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.actions_bar)
        column.addWidget(self._side, 1)
        left = QWidget()
        list_column = QVBoxLayout(left)
        list_column.setContentsMargins(0, 0, 0, 0)
        list_column.setSpacing(0)
        list_column.addWidget(self.search)
        list_column.addWidget(self.timeline, 1)
        self._splitter.addWidget(left)
        self._splitter.addWidget(right)
        self._splitter.setStretchFactor(0, 0)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([360, 840])
        self._splitter.setChildrenCollapsible(False)
        # Said outright: a stack is as high as its highest page wants to be, and docks are low.
        self._side.setMinimumHeight(_LOWEST)
        self._pages.setMinimumHeight(_LOWEST)
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self._splitter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.bar)
        layout.addWidget(self.diagram)
        layout.addWidget(_line())
        layout.addWidget(self._pages, 1)


def _line() -> QFrame:
    line = QFrame()
    line.setObjectName("separator")
    line.setFrameShape(QFrame.Shape.HLine)
    line.setFixedHeight(1)
    return line
