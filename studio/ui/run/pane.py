"""The run pane: a debugger for agents. It shows `RunView` and `InspectorView`, and asks."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QHideEvent, QKeyEvent, QPalette, QShowEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from studio.application.run.cards.timeline import Tab
from studio.application.run.diagram import Node
from studio.application.run.displayed_run import RunView
from studio.application.run.past.compare import RunComparison, RunOverview, compare
from studio.application.words import marked, tr
from studio.ui.parts.labels import Separator, toned_label
from studio.ui.parts.layouts import column_of
from studio.ui.run.bar import RunBar, RunHead, open_below
from studio.ui.run.commands import RunCommands
from studio.ui.run.compare_dialog import RunComparisonDialog, RunOverviewDialog
from studio.ui.run.cursor_views import CursorViews
from studio.ui.run.diagram.widget import LoopDiagram
from studio.ui.run.side.panel import SidePanel
from studio.ui.run.steps.column import StepsColumn
from studio.ui.run.time_axis.scrubber import PlayedScrubber, RunScrubber
from studio.ui.run.time_axis.waterfall import WaterfallView
from studio.ui.style.colors import FollowsTheme, theme_in_use

_LOWEST = 64
_LOW = 440
"""Below this height the scrubber gives way."""

_TOO_LOW = 230

_EMPTY = marked(
    "Press Run (F5) to run the prompt, or Step (F10) to go through it one step "
    "at a time. Every message, reply and tool call will be listed here."
)
_STARTING = marked("The tools are being made ready. Stop (Shift+F5) gives up.")
_TAB_OF_NODE: dict[Node, Tab] = {
    "prompt": "messages",
    "model": "request",
    "reply": "reply",
    "action": "tool",
    "tool": "tool",
    "observation": "tool",
    "final": "answer",
    "done": "answer",
}


class RunPane(FollowsTheme, QWidget):
    """Head, loop diagram, timeline, action bar and inspector."""

    request_breakpoints = Signal()  # the list of breakpoints should be shown
    approvable_changed = Signal(bool)  # whether a call that can be approved is shown
    seen_changed = Signal(bool)  # whether the pane is on the screen

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = RunView()
        """View that is shown."""
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
        self._pages = QStackedWidget()  # empty sentence | splitter
        self._lay_out()
        self._connect()
        self.setAccessibleName(tr("Run"))
        self.follow_theme()

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Window, QColor(theme_in_use().window))
        self.setPalette(palette)

    def show_view(self, view: RunView) -> None:
        """Show a run's state; the inspector is asked for anew where it follows the run."""
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
        """Say what the page without a run is for; the card of the answer leads to the last run."""
        self._empty.setText(tr(_STARTING if view.is_starting else _EMPTY))

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

    # Inside ---------------------------------------------------------------------------------------

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
        """Go to a call: to its result where it has one."""
        card = self.timeline.current_card
        if card is not None:
            self.views.go_to_call(card.step, row)
            self.side.close_editor()
            self.views.open_tab("tool")

    def _on_filter(self) -> None:
        open_below(self.timeline.folds.filter_menu(), self.bar.more)

    def _connect(self) -> None:
        bar, commands, views = self.bar, self.commands, self.views
        # Its own buttons are for the run that stands beside them, whatever file is open.
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
        """The numbers on the choices of a pause take them, from wherever nothing is written."""
        digit = event.text()
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if plain and len(digit) == 1 and digit in "123456789":
            if not self.side.take_choice(int(digit)):
                event.ignore()
            return
        super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Emit that the head of the pane shows the run's state."""
        super().showEvent(event)
        self.seen_changed.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Emit that the head of the pane is hidden."""
        super().hideEvent(event)
        self.seen_changed.emit(False)

    def resizeEvent(self, event: object) -> None:
        """Give the content what a low dock leaves."""
        self._fit_diagram()

    def _fit_diagram(self) -> None:
        """Draw the loop as one line, or whole where that is wanted and there is room for it."""
        self.diagram.set_compact(self.height() < _LOW or not self.bar.diagram.isChecked())
        self.diagram.setVisible(self.height() >= _TOO_LOW and self.view.state is not None)
        self.head.setVisible(self.view.state is not None)
        self._fit_times()

    def _fit_times(self) -> None:
        """Show the steps as bars, or the iteration on a time axis where its button is on.

        Nothing else opens the axis: what lies below it would move under the pointer.
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
        """Room for the loop, some cards, and the inspector beside them."""
        return QSize(1200, 360)

    def _lay_out(self) -> None:
        self.setAutoFillBackground(True)
        self._show_start(self.view)
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setContentsMargins(32, 16, 32, 16)
        splitter = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        splitter.addWidget(self.steps)
        splitter.addWidget(self.side)
        splitter.setStretchFactor(0, 0)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([300, 700])
        self._pages.setMinimumHeight(_LOWEST)
        self._pages.addWidget(self._empty)
        self._pages.addWidget(splitter)
        layout = column_of(
            self.head,
            self.diagram,
            self.played,
            self.waterfall,
            on=self,
            margins=0,
            spacing=0,
        )
        self.waterfall.hide()
        layout.addWidget(Separator())
        layout.addWidget(self._pages, 1)
