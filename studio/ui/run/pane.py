"""The run pane: a debugger for agents. It shows `RunView` and `InspectorView`, and asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import cast

from PySide6.QtCore import QCoreApplication, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHideEvent, QKeyEvent, QPalette, QShowEvent
from PySide6.QtWidgets import QLabel, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from studio.application.run.cards.timeline import TAB_OF_KIND, CardKind, StepCard, Tab
from studio.application.run.cursor import RunCursor, cursor_at_node
from studio.application.run.debugging.console import ConsoleLine
from studio.application.run.edits.in_place import EditKind, EditResult, EditSpec
from studio.application.run.inspector.tabs import Inspection, InspectorView
from studio.application.run.nodes import Node
from studio.application.run.offers.offer import Offer
from studio.application.run.past.branches import BranchView
from studio.application.run.past.compare import RunComparison, compare
from studio.application.run.past.overview import RunOverview
from studio.application.run.view import RunView
from studio.core.agent.values.commands import Approve, Command, Continue, PauseRun, StepOn, StopRun
from studio.ui.base.marked_text import QT_TRANSLATE_NOOP
from studio.ui.parts.separator import Separator
from studio.ui.run.bar import RunBar, open_below
from studio.ui.run.compare_dialog import RunComparisonDialog, RunOverviewDialog
from studio.ui.run.cursor_views import CursorViews
from studio.ui.run.diagram.widget import LoopDiagram
from studio.ui.run.head import RunHead
from studio.ui.run.side.panel import SidePanel
from studio.ui.run.steps.column import StepsColumn
from studio.ui.run.time_axis.playback import PlayedScrubber
from studio.ui.run.time_axis.scrubber import RunScrubber
from studio.ui.run.time_axis.waterfall import WaterfallView
from studio.ui.style.colors import paint_text
from studio.ui.style.in_use import FollowsTheme, theme_in_use
from studio.ui.style.theme import Theme

_LOWEST = 64
_LOW = 440
"""Below this height the diagram is one line of nodes, and the scrubber gives way."""

_TOO_LOW = 230
_ROOMY = 640
"""Height from which the calls of a turn have a time axis by themselves."""

_EMPTY = QT_TRANSLATE_NOOP(
    "RunPane",
    "Press Run (F5) to run the prompt, or Step (F10) to go through it one step "
    "at a time. Every message, reply and tool call will be listed here.",
)
_STARTING = QT_TRANSLATE_NOOP(
    "RunPane", "The tools are being made ready. Stop (Shift+F5) gives up."
)
_TAB_OF_NODE: dict[Node, Tab] = {
    "prompt": "messages", "model": "request", "reply": "reply", "action": "tool", "tool": "tool",
    "observation": "tool", "final": "answer", "done": "answer",
}  # fmt: skip
_STAYS: tuple[Tab, ...] = ("request", "usage", "watch")
"""Tabs that a user looks at across steps; following the run does not leave them."""


class RunPane(FollowsTheme, QWidget):
    """Bar, loop diagram, timeline, action bar and inspector."""

    request_run = Signal(bool)  # start a run; True: stand still at its first place
    request_other_run = Signal(
        bool
    )  # a run of the open file, while that of another goes on; as above
    request_run_to = Signal(str)  # Place to go on to, or to start a run up to
    request_commands = Signal(tuple)  # Commands for the run that is there, in order
    request_record_move = Signal(int)  # in a run of the past: places to go on (or back, below 0)
    request_inspection = Signal(Inspection)  # what the inspector should show
    request_break_place = Signal(str)  # Place whose breakpoint is switched
    request_fork = Signal(StepCard)  # StepCard to go back to, as a new branch
    request_branch = Signal(int)  # id of the checkpoint to stand at
    request_branch_name = Signal(int, str)  # number of a branch, its new name
    request_compare = Signal(BranchView, BranchView)  # BranchView, BranchView
    request_compare_all = Signal()  # all ways through the run, in one table
    request_breakpoints = Signal()  # the list of breakpoints should be shown
    request_resume = Signal()  # go on from the place of a run of the past that is shown
    request_switch = Signal()  # go on with the model that the prompt asks for by now
    request_rerun = Signal()  # run the prompt again, with the results of the run that is shown
    request_connections = Signal()  # a fault is fixed in the connection
    request_replay = Signal()  # go through the run that is shown once more
    request_values = Signal()  # ask for the secrets that the run sends and that are not set
    request_file_edit = Signal(EditSpec, EditResult)  # EditSpec, EditResult: also in the file
    request_export = Signal(str)  # name of the form in which the run is to be written
    request_value = Signal(str, object)  # an expression; StepCard of its moment, None: the run's
    breakpoint_switched = Signal(str, bool)  # id of a breakpoint, whether it is on
    approvable_changed = Signal(bool)  # whether a call that can be approved is shown
    watches_changed = Signal(tuple)  # expressions of the Watch tab
    cursor_moved = Signal(RunCursor)  # the moment that all views show
    seen_changed = Signal(bool)  # whether the pane is on the screen

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = RunView()
        self._sticky: Tab | None = None
        self._only_changes = False
        self._watches: tuple[str, ...] = ()
        self._prompt: str | None = None
        self._begun_in: str | None = None
        self._then: Callable[[], object] | None = None
        self.head = RunHead()
        self.bar = RunBar()
        self.diagram = LoopDiagram()
        self.scrubber = RunScrubber()
        self.played = PlayedScrubber(self.scrubber)
        self.waterfall = WaterfallView()
        self._wants_waterfall: bool | None = None
        """The user's choice; None shows it where several calls are made at once."""
        self.steps = StepsColumn()
        self.timeline = self.steps.timeline
        self.search = self.steps.search
        self.side = SidePanel()
        self.actions_bar = self.side.actions_bar
        self.inspector = self.side.inspector
        self.editor = self.side.editor
        self.state_panel = self.side.state_panel
        self.views = CursorViews(
            self.timeline, self.diagram, self.scrubber, self.waterfall, self.state_panel, self
        )
        self.comparing = RunComparisonDialog(self)
        self._empty = QLabel()
        self._pages = QStackedWidget()  # empty sentence | splitter
        self._lay_out()
        self._connect()
        self.setAccessibleName(self.tr("Run"))
        paint_text(self._empty, "muted")
        self.follow_theme()

    @property
    def view(self) -> RunView:
        """What is shown."""
        return self._view

    @property
    def theme(self) -> Theme:
        """The colors it is painted in."""
        return theme_in_use()

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        theme = theme_in_use()
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Window, QColor(theme.window))
        self.setPalette(palette)

    def show_view(self, view: RunView) -> None:
        """Show a run's state; the inspector is asked for anew where it follows the run."""
        before, self._view = self._view, view
        if view.is_live and not before.is_live:
            self._begun_in = self._prompt
        self.bar.show_view(view)
        self.steps.show_view(view)
        self.head.show_view(view)
        self.views.show_view(view, is_same_run=self._is_same_run(before))
        self.played.allow(view.state is not None and not view.is_busy and not view.is_waiting)
        self._fit_diagram()
        self._pages.setCurrentIndex(0 if view.state is None else 1)
        words = _STARTING if view.is_starting else _EMPTY
        self._empty.setText(QCoreApplication.translate("RunPane", words))
        self.side.show_view(view)
        self.approvable_changed.emit(view.approvable is not None)
        if view.state is not before.state:
            if not self._is_same_run(before):
                self._sticky = None
                self.timeline.follow()
            self._ask()
        if self._then is not None and view.is_waiting and view.state is not before.state:
            then, self._then = self._then, None
            then()

    def show_inspector(self, view: InspectorView) -> None:
        """Show one tab of one step."""
        self.inspector.show_inspector(view)

    def show_request(self, text: str) -> None:
        """Show the request that the call that waits will send; none where it is empty."""
        self.side.request.show_request(text)

    def show_comparison(self, comparison: RunComparison) -> None:
        """Show two ways through side by side, in a window of their own."""
        self.comparing.show_comparison(comparison)
        self.comparing.show()
        self.comparing.activateWindow()

    def show_overview(self, shown: RunOverview) -> None:
        """Show several ways or runs in one table; two of them are compared from there."""
        dialog = RunOverviewDialog(shown, self)

        def compare_two(left: int, right: int) -> None:
            self.show_comparison(compare(shown.sides[left], shown.sides[right]))

        dialog.request_compare.connect(compare_two)
        dialog.finished.connect(dialog.deleteLater)
        dialog.show()

    def show_value(self, lines: tuple[ConsoleLine, ...]) -> None:
        """Show what an expression was worked out to."""
        self.state_panel.console.add(lines)

    def open_console(self) -> None:
        """Put the caret into the line that works expressions out."""
        self.state_panel.open_console()

    def show_watches(self, expressions: tuple[str, ...]) -> None:
        """Take the expressions of another file."""
        if expressions != self._watches:
            self._watches = expressions
            if self.inspector.tab == "watch":
                self._ask("watch")

    # What the window's actions call ---------------------------------------------------------------

    def show_prompt(self, path: str) -> None:
        """Say which prompt is open: F5 and F10 are for its run, never for that of another one."""
        self._prompt = path

    def run_or_continue(self) -> None:
        """F5: start a run, or let the one that waits go on."""
        if self._is_of_other_prompt():
            self.request_other_run.emit(False)
            return
        self._run_or_continue()

    def _is_of_other_prompt(self) -> bool:
        """Whether the run that goes on here is of another prompt than the one that is open.

        One of the past that was taken up belongs to the prompt that was open then, too.
        """
        view, state = self._view, self._view.state
        if not view.is_live or state is None or self._prompt is None:
            return False
        return self._prompt not in (state.setup.path, self._begun_in)

    def _run_or_continue(self) -> None:
        if self._view.is_waiting:
            self._go_on(Continue())
        elif not self._view.is_busy:
            self.request_run.emit(False)

    def step(self, how: str = "over") -> None:
        """F10, F11, Shift+F11: go on to a nearby place, or start and stand at the first.

        In a run of the past: to the next place, and with "out" to the one before.
        """
        if self._is_of_other_prompt():
            self.request_other_run.emit(True)
            return
        self._step(how)

    def _step(self, how: str) -> None:
        if self._view.record:
            self.timeline.follow()
            self.request_record_move.emit(-1 if how == "out" else 1)
        elif self._view.is_waiting:
            match how:
                case "into":
                    self._go_on(StepOn("into"))
                case "out":
                    self._go_on(StepOn("out"))
                case _:
                    self._go_on(StepOn("over"))
        elif not self._view.is_busy and how != "out":
            self.request_run.emit(True)

    def approve(self) -> None:
        """Run the call at which the run stands: the user's word, by a key of its own."""
        call = self._view.approvable
        if call is not None:
            self._tell(Approve(call))

    def pause(self) -> None:
        """Stand still at the next place."""
        if self._view.is_busy:
            self._tell(PauseRun())

    def stop(self) -> None:
        """End the run now; also one whose tools are still being made ready."""
        if not self._view.record:
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
        moment = card if wanted == "watch" and not self.timeline.is_following else None
        self.request_inspection.emit(replace(asked, watches=self._watches, moment=moment))

    def _on_card(self, card: StepCard) -> None:
        self.views.follow()
        self._fit_times()
        self.side.close_editor()
        if self._sticky not in _STAYS:
            self._sticky = None
        self._ask(self._sticky or TAB_OF_KIND[card.kind])

    def _on_tab(self, tab: Tab) -> None:
        self._sticky = tab if tab in _STAYS else None
        self._ask(tab)

    def _on_node(self, node: Node) -> None:
        cursor = cursor_at_node(self.timeline.cards, self.timeline.current_card, node)
        if cursor is not None:
            self.timeline.choose(cursor.key)
        self.side.close_editor()
        self._on_tab(_TAB_OF_NODE[node])

    def _on_lane(self, row: int) -> None:
        """Go to a call: to its result where it has one."""
        card = self.timeline.current_card
        if card is not None:
            self.views.go_to_call(card.step, row)
            self.side.close_editor()
            self._on_tab("tool")

    def _on_run_to(self, place: str) -> None:
        if self._view.choice:
            self.side.point_out_choice()
        else:
            self.request_run_to.emit(place)

    def _on_watches(self, expressions: tuple[str, ...]) -> None:
        self._watches = expressions
        self.watches_changed.emit(expressions)
        self._ask("watch")

    def _on_filter(self) -> None:
        open_below(self.timeline.filter_menu(), self.bar.filter)

    def _on_expression(self, source: str) -> None:
        card = None if self.timeline.is_following else self.timeline.current_card
        self.request_value.emit(source, card)

    def _on_only_changes(self, on: bool) -> None:
        self._only_changes = on
        self._ask("messages")

    def _on_wish(self, offer: Offer) -> None:
        match offer.ask:
            case "resume":
                self.request_resume.emit()
            case "rerun":
                self.request_rerun.emit()
            case "replay":
                self.request_replay.emit()
            case "values":
                self.request_values.emit()
            case "again":
                self._again(*(offer.commands or (StepOn("over"),)))
            case "rewrite":
                self._do_again(partial(self.side.open_edit, "messages"))
            case "connections":
                self.request_connections.emit()
            case "switch":
                self.request_switch.emit()

    def _again(self, *commands: Command) -> None:
        """Do the request or the call that led to this place once more, as a new branch."""

        def then() -> None:
            if self._view.choice:
                self.side.point_out_choice()
            else:
                self._tell(*commands)

        self._do_again(then)

    def _do_again(self, then: Callable[[], object]) -> None:
        """Go back to the request or the call that led to this place, and do something there."""
        state = self._view.state
        if state is None:
            return
        kind: CardKind = "action" if state.call is not None else "prompt"
        key = (state.step.number, kind, state.call)
        card = next((each for each in reversed(self.timeline.cards) if each.key == key), None)
        if card is not None:
            self._go_back(card, then)

    def _on_rerun_from(self, card: StepCard) -> None:
        self._go_back(card, partial(self._go_on, Continue()))

    def _on_edit_at(self, card: StepCard, kind: str) -> None:
        """Write something else at the place of a card: here, or after going back to it."""
        wanted = cast("EditKind", kind)
        if self._view.choice == "model":
            self.side.point_out_choice()
            return
        if card.phase == "paused" and self.side.open_edit(wanted):
            return
        self._go_back(card, partial(self.side.open_edit, wanted))

    def _go_back(self, card: StepCard, then: Callable[[], object]) -> None:
        """Stand at the place of a card as a new branch, and do something there."""
        self.request_fork.emit(card)
        if self._view.record:
            self.request_resume.emit()
        self._then = then

    def _go_on(self, command: Command) -> None:
        """Go on, unless only the user can decide here: then lead to the choice."""
        if self._view.choice:
            self.side.point_out_choice()
        else:
            self._tell(command)

    def _tell(self, *commands: Command) -> None:
        self._then = None
        self.timeline.follow()
        self.request_commands.emit(commands)

    def _on_commands(self, commands: tuple[Command, ...]) -> None:
        self._tell(*commands)

    def _restart(self) -> None:
        self.request_run.emit(False)

    def _ask_again(self) -> None:
        self.views.follow()
        self._ask()

    def _connect(self) -> None:
        # Its own buttons are for the run that stands beside them, whatever file is open.
        self.bar.run_clicked.connect(self._run_or_continue)
        self.bar.step_clicked.connect(self._step)
        self.bar.pause_clicked.connect(self.pause)
        self.bar.stop_clicked.connect(self.stop)
        self.bar.restart_clicked.connect(self._restart)
        self.bar.breakpoints_clicked.connect(self.request_breakpoints)
        self.bar.branch_chosen.connect(self.request_branch)
        self.head.branch_chosen.connect(self.request_branch)
        self.timeline.request_branch.connect(self.request_branch)
        self.bar.filter_clicked.connect(self._on_filter)
        self.bar.times_toggled.connect(self._on_times)
        self.head.command_given.connect(self._on_commands)
        self.state_panel.console.request_value.connect(self._on_expression)
        self.state_panel.breakpoints.breakpoint_switched.connect(self.breakpoint_switched)
        self.state_panel.breakpoints.request_breakpoints.connect(self.request_breakpoints)
        self.bar.branch_named.connect(self.request_branch_name)
        self.bar.compare_chosen.connect(self.request_compare)
        self.bar.compare_all_chosen.connect(self.request_compare_all)
        self.bar.export_chosen.connect(self.request_export)
        self.bar.search_clicked.connect(self.search.open_search)
        self.diagram.break_toggled.connect(self.request_break_place)
        self.diagram.request_run_to.connect(self._on_run_to)
        self.diagram.node_chosen.connect(self._on_node)
        self.diagram.lane_chosen.connect(self._on_lane)
        self.timeline.card_chosen.connect(self._on_card)
        self.views.moved.connect(self.cursor_moved)
        self.timeline.request_fork.connect(self.request_fork)
        self.timeline.request_rerun.connect(self._on_rerun_from)
        self.timeline.request_edit.connect(self._on_edit_at)
        self.steps.words_changed.connect(self.inspector.find_words)
        self.steps.request_newest.connect(self._ask_again)
        self.side.command_given.connect(self._on_commands)
        self.side.wish_given.connect(self._on_wish)
        self.inspector.tab_chosen.connect(self._on_tab)
        self.inspector.watches_changed.connect(self._on_watches)
        self.inspector.step_chosen.connect(self.views.go_to_step)
        self.inspector.only_changes_toggled.connect(self._on_only_changes)
        self.editor.request_file.connect(self.request_file_edit)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The numbers on the choices of a pause take them, from wherever nothing is written."""
        digit = event.text()
        plain = event.modifiers() in (
            Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier,
        )  # fmt: skip
        if plain and len(digit) == 1 and digit in "123456789":
            if not self.side.take_choice(int(digit)):
                event.ignore()
            return
        super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """What its head says needs not be said elsewhere."""
        super().showEvent(event)
        self.seen_changed.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """What the run does is said elsewhere."""
        super().hideEvent(event)
        self.seen_changed.emit(False)

    def resizeEvent(self, event: object) -> None:
        """Give the content what a low dock leaves."""
        self.diagram.set_compact(self.height() < _LOW)
        self._fit_diagram()

    def _fit_diagram(self) -> None:
        """In a very low dock a run's buttons and texts come first; its sentence says the place."""
        self.diagram.setVisible(self.height() >= _TOO_LOW or self._view.state is None)
        self.head.setVisible(self.height() >= _TOO_LOW and self._view.state is not None)
        self._fit_times()

    def _fit_times(self) -> None:
        """The steps as bars, or this turn on a time axis: of several calls, where there is room."""
        rows = len(self.waterfall.shown.rows)
        wanted = self._wants_waterfall
        if wanted is None:
            wanted = rows > 2 and self.height() >= _ROOMY
        has_waterfall = wanted and rows > 0 and self._view.state is not None
        self.waterfall.setVisible(has_waterfall)
        self.bar.times.setChecked(has_waterfall)
        shown = self.height() >= _LOW and self._view.state is not None
        self.played.setVisible(shown and not has_waterfall)

    def _on_times(self, on: bool) -> None:
        self._wants_waterfall = self.views.wants_waterfall = on
        self.views.follow()
        self._fit_times()

    def sizeHint(self) -> QSize:
        """Room for the loop, some cards, and the inspector beside them."""
        return QSize(1200, 360)

    def _lay_out(self) -> None:
        self.setAutoFillBackground(True)
        self._empty.setText(QCoreApplication.translate("RunPane", _EMPTY))
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setContentsMargins(32, 16, 32, 16)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.addWidget(self.steps)
        splitter.addWidget(self.side)
        splitter.setStretchFactor(0, 0)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([300, 700])
        splitter.setChildrenCollapsible(False)
        self._pages.setMinimumHeight(_LOWEST)
        self._pages.addWidget(self._empty)
        self._pages.addWidget(splitter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.head)
        layout.addWidget(self.bar)
        layout.addWidget(self.diagram)
        layout.addWidget(self.played)
        layout.addWidget(self.waterfall)
        self.waterfall.hide()
        layout.addWidget(Separator())
        layout.addWidget(self._pages, 1)
