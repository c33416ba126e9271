"""The run pane: a debugger for agents.

It shows `RunView` and `InspectorView` and emits requests.
"""

from dataclasses import replace

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHideEvent, QKeyEvent, QPalette, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from studio.application.run.cards.card import StepCard
from studio.application.run.cards.timeline import TAB_OF_KIND, Tab, step_at
from studio.application.run.cursor import RunCursor, cursor_at_node, diagram_at
from studio.application.run.diagram import Node
from studio.application.run.displayed_run import RunView
from studio.application.run.inspector.tabs import Inspection
from studio.application.run.past.compare import RunComparison, RunOverview, compare
from studio.application.run.waterfall import Waterfall, waterfall_of
from studio.application.words import marked, tr
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Step
from studio.ui.parts.kit import Separator, column_of, split_of, toned_label
from studio.ui.run.bar import RunBar, RunHead, open_below
from studio.ui.run.commands import RunCommands
from studio.ui.run.compare_dialog import RunComparisonDialog, RunOverviewDialog
from studio.ui.run.diagram.widget import LoopDiagram
from studio.ui.run.inspector.tabs import Inspector
from studio.ui.run.side.panel import SidePanel
from studio.ui.run.state.panel import StatePanel
from studio.ui.run.steps.column import StepsColumn
from studio.ui.run.steps.timeline import TimelineView
from studio.ui.run.time_axis.scrubber import PlayedScrubber, RunScrubber
from studio.ui.run.time_axis.waterfall import WaterfallView
from studio.ui.style.theme import FollowsTheme, theme_in_use

# Views of the run cursor: timeline, diagram, time axis, variables, inspector.

_STAYS: tuple[Tab, ...] = ("request", "usage", "watch")
"""Tabs that stay selected while the run continues, since users watch them across steps."""


class CursorViews(QObject):
    """Updates the views from the timeline, which holds the cursor, and forwards their requests."""

    moved = Signal(RunCursor)  # the new run cursor
    request_inspection = Signal(Inspection)  # what the inspector should show
    request_value = Signal(str, object)  # an expression; StepCard, or None: current
    watches_changed = Signal(tuple)  # expressions of the Watch tab

    def __init__(
        self,
        timeline: TimelineView,
        diagram: LoopDiagram,
        scrubber: RunScrubber,
        waterfall: WaterfallView,
        inspector: Inspector,
        state: StatePanel,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._timeline, self._diagram = timeline, diagram
        self._scrubber, self._waterfall = scrubber, waterfall
        self._inspector, self._state = inspector, state
        self._view = RunView()
        self._cursor: RunCursor | None = None
        self._lasting_tab: Tab | None = None
        self._only_changes = False
        self._watches: tuple[str, ...] = ()
        self.wants_waterfall = False
        """Whether the user wants each iteration on a time axis."""
        scrubber.row_chosen.connect(self.go_to_row)
        waterfall.row_chosen.connect(self.go_to_call)
        state.console.line_chosen.connect(self.go_to_call)

    def show_view(self, view: RunView, *, is_same_run: bool) -> None:
        """Set a run's state after the timeline."""
        self._view = view
        if not is_same_run:
            self._cursor = None
        total = view.state.seconds if view.state is not None else 0.0
        self._scrubber.show_cards(view.timeline.cards, total)
        self._state.show_view(view)
        self.follow()

    def follow(self) -> None:
        """Show the point of the selected card in all views, or the run's current point."""
        view, card = self._view, self._timeline.current_card
        self._scrubber.show_cursor(self._timeline.currentIndex().row())
        cursor = RunCursor.of_card(card) if card is not None else None
        if card is None or view.state is None:
            self._diagram.show_state(view.diagram)
            self._state.show_moment(None)
            self._waterfall.show_waterfall(Waterfall(), None)
        else:
            step = step_at(view.state, card.step)  # once: for a past run, this reads the journal
            is_now = self._timeline.is_following
            self._diagram.show_state(
                view.diagram if is_now else diagram_at(view.diagram, view.state, step, card)
            )
            self._state.show_moment(None if is_now else cursor)
            self._show_waterfall(view.state, step, card)
        before, self._cursor = self._cursor, cursor
        if cursor is not None and cursor != before:
            self.moved.emit(cursor)

    def _show_waterfall(self, state: RunState, step: Step, card: StepCard) -> None:
        """Show the current iteration on its time axis if that is open."""
        if not self.wants_waterfall:
            self._waterfall.show_waterfall(Waterfall(), None)
            return
        call = card.call if card.kind in ("action", "observation") else None
        self._waterfall.show_waterfall(waterfall_of(state, step), call)

    # Moving the cursor ------------------------------------------------------------------------

    def go_to_step(self, step: int) -> None:
        """Go to the first card of a step."""
        self._timeline.choose((step, "prompt", None))

    def go_to_row(self, row: int) -> None:
        """Go to a card by its row."""
        self._timeline.choose(self._timeline.cards[row].key)

    def go_to_call(self, step: int, call: object) -> None:
        """Go to the result of a call or to the call; without a call, to the step."""
        is_found = isinstance(call, int) and (
            self._timeline.choose((step, "observation", call))
            or self._timeline.choose((step, "action", call))
        )
        if not is_found:
            self.go_to_step(step)

    def go_to_node(self, node: Node) -> None:
        """Go to the nearest card of a diagram's node."""
        cursor = cursor_at_node(self._timeline.cards, self._timeline.current_card, node)
        if cursor is not None:
            self._timeline.choose(cursor.key)

    # Content of the inspector -----------------------------------------------------------------

    def inspect(self, *, is_same_run: bool) -> None:
        """Request the inspector's view for the run's new state."""
        if not is_same_run:
            self._lasting_tab = None
            self._timeline.follow()
        self.ask()

    def ask(self, tab: Tab | None = None) -> None:
        """Request the inspector's view for the selected card."""
        card = self._timeline.current_card
        if card is None:
            return
        wanted = tab or self._lasting_tab or TAB_OF_KIND[card.kind]
        asked = Inspection.of_card(card, wanted, only_changes=self._only_changes)
        moment = card if wanted == "watch" and not self._timeline.is_following else None
        self.request_inspection.emit(replace(asked, watches=self._watches, moment=moment))

    def ask_again(self) -> None:
        """Update all views for the selected point."""
        self.follow()
        self.ask()

    def open_tab(self, tab: Tab) -> None:
        """Show a tab, and keep it selected if users watch it across steps."""
        self._lasting_tab = tab if tab in _STAYS else None
        self.ask(tab)

    def show_only_changes(self, on: bool) -> None:
        """Show only the messages that a step changed, or all."""
        self._only_changes = on
        self.ask("messages")

    def show_watches(self, expressions: tuple[str, ...]) -> None:
        """Set the expressions of another file."""
        if expressions != self._watches:
            self._watches = expressions
            if self._inspector.tab == "watch":
                self.ask("watch")

    def change_watches(self, expressions: tuple[str, ...]) -> None:
        """Set the expressions that the user edited."""
        self._watches = expressions
        self.watches_changed.emit(expressions)
        self.ask("watch")

    def ask_value(self, source: str) -> None:
        """Request the value of an expression at the selected point."""
        card = None if self._timeline.is_following else self._timeline.current_card
        self.request_value.emit(source, card)


_LOWEST = 64
_LOW = 440
"""Height in pixels below which the scrubber is hidden."""

_TOO_LOW = 230

_EMPTY = marked(
    "Press Run (F5) to run the prompt, or Step (F10) to run it step by step. Every message, reply "
    "and tool call will be listed here."
)
_STARTING = marked("The tools are starting. Stop (Shift+F5) cancels.")
_TAB_OF_NODE: dict[Node, Tab] = {
    "prompt": "messages",
    "model": "request",
    "reply": "reply",
    "action": "tool",
    "tool": "tool",
    "observation": "tool",
    "final": "reply",
    "done": "reply",
}


class RunPane(FollowsTheme, QWidget):
    """Header, loop diagram, timeline, action bar and inspector."""

    request_breakpoints = Signal()  # show the list of breakpoints
    approvable_changed = Signal(bool)  # whether a call is shown that can be approved
    seen_changed = Signal(bool)  # whether the pane is visible

    def __init__(self) -> None:
        super().__init__()
        self.view = RunView()
        """The shown view."""
        self.bar = RunBar()
        self.head = RunHead(self.bar)
        self.diagram = LoopDiagram()
        self.scrubber = RunScrubber()
        self.played = PlayedScrubber(self.scrubber)
        self.waterfall = WaterfallView()
        self.steps = StepsColumn()
        self.timeline = self.steps.timeline
        self.search = self.steps.search
        self.side = SidePanel()
        self.actions_bar = self.side.actions_bar
        self.inspector = self.side.inspector
        self.editor = self.side.editor
        self.state_panel = self.side.state_panel
        self.views = CursorViews(
            self.timeline,
            self.diagram,
            self.scrubber,
            self.waterfall,
            self.inspector,
            self.state_panel,
            self,
        )
        self.commands = RunCommands(self.timeline, self.side, self)
        self.comparing = RunComparisonDialog(self)
        self._empty = toned_label("muted")
        self._pages = QStackedWidget()  # empty state | splitter
        self._lay_out()
        self._connect()
        self.setAccessibleName(tr("Run"))
        self.follow_theme()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Window, QColor(theme_in_use().window))
        self.setPalette(palette)

    def show_view(self, view: RunView) -> None:
        """Show a run's state; update the inspector if it follows the run."""
        before, self.view = self.view, view
        self.bar.show_view(view)
        self.steps.show_view(view)
        self.head.show_view(view)
        is_same_run = self._is_same_run(before)
        self.views.show_view(view, is_same_run=is_same_run)
        self.played.allow(view.state is not None and not view.is_busy and not view.is_waiting)
        self._fit_diagram()
        self._pages.setCurrentIndex(0 if view.state is None else 1)
        self._show_start(view)
        self.side.show_view(view)
        self.approvable_changed.emit(view.approvable is not None)
        if view.state is not before.state:
            self.views.inspect(is_same_run=is_same_run)
        self.commands.show_view(view)

    def _show_start(self, view: RunView) -> None:
        """Show the empty state; the answer's card links to the last run."""
        self._empty.setText(tr(_STARTING if view.is_starting else _EMPTY))

    def show_comparison(self, comparison: RunComparison) -> None:
        """Show two branches side by side in a separate window."""
        self.comparing.show_comparison(comparison)
        self.comparing.show()
        self.comparing.activateWindow()

    def show_overview(self, shown: RunOverview) -> None:
        """Show several branches or runs in a table, from which two can be compared."""
        dialog = RunOverviewDialog(shown, self)

        def compare_two(left: int, right: int) -> None:
            self.show_comparison(compare(shown.sides[left], shown.sides[right]))

        dialog.request_compare.connect(compare_two)
        dialog.finished.connect(dialog.deleteLater)
        dialog.show()

    # Internals ------------------------------------------------------------------------------------

    def _is_same_run(self, before: RunView) -> bool:
        old, new = before.state, self.view.state
        return old is not None and new is not None and old.setup.run == new.setup.run

    def _on_card(self) -> None:
        self.views.follow()
        self._fit_times()
        self.side.close_editor()
        self.views.ask()

    def _on_node(self, node: Node) -> None:
        self.views.go_to_node(node)
        self.side.close_editor()
        self.views.open_tab(_TAB_OF_NODE[node])

    def _on_lane(self, row: int) -> None:
        """Go to the result of a call if there is one, or else to the call."""
        card = self.timeline.current_card
        if card is not None:
            self.views.go_to_call(card.step, row)
            self.side.close_editor()
            self.views.open_tab("tool")

    def _on_filter(self) -> None:
        open_below(self.timeline.folds.filter_menu(), self.bar.more)

    def _connect(self) -> None:
        bar, commands, views = self.bar, self.commands, self.views
        # The pane's own buttons apply to the shown run, whatever file is open.
        bar.run.triggered.connect(commands.run_or_continue_shown)
        bar.over.triggered.connect(lambda: commands.step_shown("over"))
        bar.into.triggered.connect(lambda: commands.step_shown("into"))
        bar.out.triggered.connect(lambda: commands.step_shown("out"))
        bar.pause.triggered.connect(commands.pause)
        bar.stop.triggered.connect(commands.stop)
        bar.restart.triggered.connect(commands.restart)
        bar.breakpoints.triggered.connect(self.request_breakpoints)
        bar.filter.triggered.connect(self._on_filter)
        bar.times.triggered.connect(self._on_times)
        bar.diagram.triggered.connect(self._fit_diagram)
        bar.search.triggered.connect(self.search.open_search)
        self.head.command_given.connect(commands.give)
        self.head.present.clicked.connect(commands.restart)
        self.state_panel.console.field.entered.connect(views.ask_value)
        self.state_panel.breakpoints.itemActivated.connect(self.request_breakpoints)
        self.diagram.request_run_to.connect(commands.run_to)
        self.diagram.node_chosen.connect(self._on_node)
        self.diagram.lane_chosen.connect(self._on_lane)
        self.timeline.card_chosen.connect(self._on_card)
        self.timeline.request_fork.connect(commands.request_fork)
        self.timeline.request_rerun.connect(commands.rerun_from)
        self.timeline.request_edit.connect(commands.edit_at)
        self.search.words_changed.connect(self.inspector.search.setText)
        self.steps.follow.clicked.connect(views.ask_again)
        self.side.command_given.connect(commands.give)
        self.side.wish_given.connect(commands.take_offer)
        self.inspector.tab_chosen.connect(views.open_tab)
        self.inspector.watch.expressions_changed.connect(views.change_watches)
        self.inspector.usage.step_chosen.connect(views.go_to_step)
        self.inspector.only_changes.toggled.connect(views.show_only_changes)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Select a choice of a pause by its number, unless a text has the focus."""
        digit = event.text()
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if plain and len(digit) == 1 and digit in "123456789":
            if not self.side.take_choice(int(digit)):
                event.ignore()
            return
        super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Emit that the pane is visible, with the state in its header."""
        super().showEvent(event)
        self.seen_changed.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Emit that the pane's header is hidden."""
        super().hideEvent(event)
        self.seen_changed.emit(False)

    def resizeEvent(self, event: object) -> None:
        """Adapt the content to the height."""
        self._fit_diagram()

    def _fit_diagram(self) -> None:
        """Draw the loop as one line, or completely if it is wanted and there is room."""
        self.diagram.set_compact(self.height() < _LOW or not self.bar.diagram.isChecked())
        self.diagram.setVisible(self.height() >= _TOO_LOW and self.view.state is not None)
        self.head.setVisible(self.view.state is not None)
        self._fit_times()

    def _fit_times(self) -> None:
        """Show the steps as bars, or the iteration on a time axis if its button is on.

        Only the button opens the axis, since it moves the parts below under the pointer.
        """
        has_rows = bool(self.waterfall.shown.rows)
        has_waterfall = self.views.wants_waterfall and has_rows and self.view.state is not None
        self.waterfall.setVisible(has_waterfall)
        self.bar.times.setChecked(has_waterfall)
        shown = self.height() >= _LOW and self.view.state is not None
        self.played.setVisible(shown and not has_waterfall)

    def _on_times(self, on: bool) -> None:
        self.views.wants_waterfall = on
        self.views.follow()
        self._fit_times()

    def sizeHint(self) -> QSize:
        """Return a size for the loop and some cards, with the inspector beside them."""
        return QSize(1200, 360)

    def _lay_out(self) -> None:
        self.setAutoFillBackground(True)
        self._show_start(self.view)
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setContentsMargins(32, 16, 32, 16)
        splitter = split_of(self.steps, self.side, stretch=(0, 1), sizes=(300, 700))
        self._pages.setMinimumHeight(_LOWEST)
        self._pages.addWidget(self._empty)
        self._pages.addWidget(splitter)
        layout = column_of(
            self.head, self.diagram, self.played, self.waterfall, on=self, margins=0, spacing=0
        )
        self.waterfall.hide()
        layout.addWidget(Separator())
        layout.addWidget(self._pages, 1)
