"""The views that show one moment together: timeline, diagram, time axis, variables, inspector."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from studio.application.run.cards.card import StepCard
from studio.application.run.cards.timeline import TAB_OF_KIND, Tab, step_at
from studio.application.run.cursor import RunCursor, cursor_at_node, diagram_at
from studio.application.run.diagram import Node
from studio.application.run.displayed_run import RunView
from studio.application.run.inspector.tabs import Inspection
from studio.application.run.waterfall import Waterfall, waterfall_of
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Step
from studio.ui.run.diagram.widget import LoopDiagram
from studio.ui.run.inspector.tabs import Inspector
from studio.ui.run.state.panel import StatePanel
from studio.ui.run.steps.timeline import TimelineView
from studio.ui.run.time_axis.scrubber import RunScrubber
from studio.ui.run.time_axis.waterfall import WaterfallView

_STAYS: tuple[Tab, ...] = ("request", "usage", "watch")
"""Tabs that a user looks at across steps; following the run does not leave them."""


class CursorViews(QObject):
    """Updates the views from the timeline, which has the cursor, and forwards their requests."""

    moved = Signal(RunCursor)  # the moment that all show
    request_inspection = Signal(Inspection)  # what the inspector should show
    request_value = Signal(str, object)  # an expression; StepCard of its moment, None: the run's
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
        """Whether the user wants each turn on a time axis."""
        scrubber.row_chosen.connect(self.go_to_row)
        waterfall.row_chosen.connect(self.go_to_call)
        state.console.line_chosen.connect(self.go_to_call)

    def show_view(self, view: RunView, *, is_same_run: bool) -> None:
        """Take a run's state, after the timeline took it."""
        self._view = view
        if not is_same_run:
            self._cursor = None
        total = view.state.seconds if view.state is not None else 0.0
        self._scrubber.show_cards(view.timeline.cards, total)
        self._state.show_view(view)
        self.follow()

    def follow(self) -> None:
        """Show the moment of the chosen card in all views; while it is the run's own, the run's."""
        view, card = self._view, self._timeline.current_card
        self._scrubber.show_cursor(self._timeline.currentIndex().row())
        cursor = RunCursor.of_card(card) if card is not None else None
        if card is None or view.state is None:
            self._diagram.show_state(view.diagram)
            self._state.show_moment(None)
            self._waterfall.show_waterfall(Waterfall(), None)
        else:
            step = step_at(view.state, card.step)  # once: of a run of the past it is read for this
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
        """Show the iteration of the moment on its time axis, where that is open."""
        if not self.wants_waterfall:
            self._waterfall.show_waterfall(Waterfall(), None)
            return
        call = card.call if card.kind in ("action", "observation") else None
        self._waterfall.show_waterfall(waterfall_of(state, step), call)

    # Where the cursor goes --------------------------------------------------------------------

    def go_to_step(self, step: int) -> None:
        """Go to the first card of a step."""
        self._timeline.choose((step, "prompt", None))

    def go_to_row(self, row: int) -> None:
        """Go to a card by its row."""
        self._timeline.choose(self._timeline.cards[row].key)

    def go_to_call(self, step: int, call: object) -> None:
        """Go to a call: to its result where it has one; without a call, to the step."""
        is_found = isinstance(call, int) and (
            self._timeline.choose((step, "observation", call))
            or self._timeline.choose((step, "action", call))
        )
        if not is_found:
            self.go_to_step(step)

    def go_to_node(self, node: Node) -> None:
        """Go to the card of a diagram's node that is nearest to the shown one."""
        cursor = cursor_at_node(self._timeline.cards, self._timeline.current_card, node)
        if cursor is not None:
            self._timeline.choose(cursor.key)

    # What the inspector shows of the moment ---------------------------------------------------

    def inspect(self, *, is_same_run: bool) -> None:
        """The run has another state: ask for what the inspector shows of it."""
        if not is_same_run:
            self._lasting_tab = None
            self._timeline.follow()
        self.ask()

    def ask(self, tab: Tab | None = None) -> None:
        """Ask for what the chosen card leads to."""
        card = self._timeline.current_card
        if card is None:
            return
        wanted = tab or self._lasting_tab or TAB_OF_KIND[card.kind]
        asked = Inspection.of_card(card, wanted, only_changes=self._only_changes)
        moment = card if wanted == "watch" and not self._timeline.is_following else None
        self.request_inspection.emit(replace(asked, watches=self._watches, moment=moment))

    def ask_again(self) -> None:
        """Show the chosen moment anew everywhere."""
        self.follow()
        self.ask()

    def open_tab(self, tab: Tab) -> None:
        """Show a tab, and keep it where it is one to look at across steps."""
        self._lasting_tab = tab if tab in _STAYS else None
        self.ask(tab)

    def show_only_changes(self, on: bool) -> None:
        """Show of the messages only what a step changed."""
        self._only_changes = on
        self.ask("messages")

    def show_watches(self, expressions: tuple[str, ...]) -> None:
        """Take the expressions of another file."""
        if expressions != self._watches:
            self._watches = expressions
            if self._inspector.tab == "watch":
                self.ask("watch")

    def change_watches(self, expressions: tuple[str, ...]) -> None:
        """Take the expressions that the user wrote."""
        self._watches = expressions
        self.watches_changed.emit(expressions)
        self.ask("watch")

    def ask_value(self, source: str) -> None:
        """Ask what an expression comes to at the chosen moment."""
        card = None if self._timeline.is_following else self._timeline.current_card
        self.request_value.emit(source, card)
