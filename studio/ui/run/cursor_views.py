"""The views that show one moment together: timeline, diagram, scrubber, waterfall, variables."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from studio.application.run.cards.card import StepCard
from studio.application.run.cards.card_text import step_at
from studio.application.run.cursor import RunCursor, diagram_at
from studio.application.run.view import RunView
from studio.application.run.waterfall import Waterfall, waterfall_of
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Step
from studio.ui.run.diagram.widget import LoopDiagram
from studio.ui.run.state.panel import StatePanel
from studio.ui.run.steps.timeline import TimelineView
from studio.ui.run.time_axis.scrubber import RunScrubber
from studio.ui.run.time_axis.waterfall import WaterfallView


class CursorViews(QObject):
    """The timeline has the cursor; the others are told, and ask it to go elsewhere."""

    moved = Signal(RunCursor)  # the moment that all show

    def __init__(
        self,
        timeline: TimelineView,
        diagram: LoopDiagram,
        scrubber: RunScrubber,
        waterfall: WaterfallView,
        state: StatePanel,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._timeline, self._diagram = timeline, diagram
        self._scrubber, self._waterfall, self._state = scrubber, waterfall, state
        self._view = RunView()
        self._cursor: RunCursor | None = None
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
        """Show the turn of the moment on its time axis, where it is wanted or has several calls."""
        if not self.wants_waterfall and len(step.calls) < 2:
            self._waterfall.show_waterfall(Waterfall(), None)
            return
        call = card.call if card.kind in ("action", "observation") else None
        self._waterfall.show_waterfall(waterfall_of(state, step), call)

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
