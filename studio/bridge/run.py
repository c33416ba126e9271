"""Runs a prompt without ever blocking the window, and says what the run pane shows."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from typing import assert_never

from PySide6.QtCore import QObject, QTimer, Signal

from studio.bridge.background import Background
from studio.bridge.run_again import PastRun, branch_end
from studio.bridge.run_breakpoints import BreakpointBook, BreakpointSet
from studio.bridge.run_cards import StepCard, timeline_of
from studio.bridge.run_compare import BranchView, branches_of, compare
from studio.bridge.run_inspector import Inspection, inspector_view
from studio.bridge.run_plan import Arrived, Ended, Journal, RunPlan, Streamed
from studio.bridge.run_record import RunRecord
from studio.bridge.run_session import RunSession
from studio.bridge.run_sources import reading_for_display, sources_for
from studio.bridge.run_tree import checkpoint_of_card
from studio.bridge.run_view import RunView, view_of
from studio.core.agent.commands import Command, Continue, ForkFrom, PauseRun, StepOn, StopRun
from studio.core.agent.events import Event
from studio.core.agent.state import RunState
from studio.core.agent.tree import RunTree, state_at
from studio.core.wire.reply import Reply

DRAIN_MS = 33
"""How often what happened is shown: thirty times a second, whatever the model's speed."""


class RunController(QObject):
    """One run at a time: live, or opened from history."""

    state_changed = Signal(object)  # RunView
    inspector_changed = Signal(object)  # InspectorView
    streamed = Signal(str)  # text of the reply under way, as far as it has come
    started = Signal(str)  # id of the run
    ended = Signal(str)  # id of the run: it is over (done, stopped, failed, …)
    compared = Signal(object)  # Comparison
    refused = Signal(str)  # sentence for the person: what was asked is not possible, or broke

    def __init__(
        self,
        background: Background,
        journal: Journal | None = None,
        breakpoints: BreakpointBook | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._journal = journal
        self.breakpoints = breakpoints if breakpoints is not None else BreakpointBook(self)
        self._session: RunSession | None = None
        self._driving: Future[None] | None = None
        self._state: RunState | None = None
        self._tree = RunTree()
        self._events: list[Event] = []
        self._record: RunRecord | None = None
        self._streaming: Reply | None = None
        self._view = RunView()
        self._wanted = Inspection()
        self._announced = ""
        self._against: PastRun | None = None
        self._drain = QTimer(self)
        self._drain.setInterval(DRAIN_MS)
        self._drain.timeout.connect(self._take)
        self.breakpoints.changed.connect(self._on_breakpoints)

    @property
    def view(self) -> RunView:
        """What the pane shows."""
        return self._view

    @property
    def state(self) -> RunState | None:
        """The run."""
        return self._state

    @property
    def is_live(self) -> bool:
        """Whether a run is under way or waits."""
        return self._driving is not None

    # Starting and ending --------------------------------------------------------------------------

    def start(
        self, plan: RunPlan, *, at_entry: bool = False, against: PastRun | None = None
    ) -> None:
        """Run a prompt; one that is still under way is stopped first.

        Args:
            plan: what to run.
            at_entry: stand still before the first request is sent.
            against: a run that it is compared with when it is over.
        """
        self._prepare(plan, at_entry=at_entry)
        self._against = against
        self._drive()

    def _prepare(self, plan: RunPlan, *, at_entry: bool = False) -> None:
        self._abandon()
        options = replace(
            plan.options,
            breakpoints=self.breakpoints.value.breakpoints,
            exceptions=self.breakpoints.value.exceptions,
            stop_at_entry=at_entry or plan.options.stop_at_entry,
        )
        self._forget()
        self._session = RunSession(replace(plan, options=options), self._journal)

    def take_up(self, plan: RunPlan, checkpoint: int) -> None:
        """Go on with the run of the past that is shown, from one of its places.

        Args:
            plan: what it goes on with; its past is the run's journal.
            checkpoint: id of the place; the run stands still there, on a new branch.
        """
        tree, state = self._tree, self._state
        self._prepare(plan)
        self._tree, self._state, self._events = tree, state, list(plan.past)
        self._drive(ForkFrom(checkpoint))

    @property
    def past(self) -> PastRun | None:
        """The run that is shown, as something to go on from, compare with, or write to a file."""
        if self._state is None or not self._events:
            return None
        cursor = self._tree.cursor if self._record is None else self._record.cursor
        last = len(self._events)
        if self._record is not None and cursor is not None:
            last = branch_end(self._events, cursor)
        return PastRun(tuple(self._events), self._state, cursor, last)

    def open_record(self, record: RunRecord) -> None:
        """Show a run of the past; nothing is asked or called."""
        self._abandon()
        self._forget()
        self._tree = record.tree
        self._events = list(record.events)
        self._view = RunView(timeline=record.timeline)
        self._look_at(record)

    def move_record(self, by: int) -> None:
        """In a run of the past: go some places on or back."""
        if self._record is not None:
            self._look_at(self._record.moved(by))

    def _look_at(self, record: RunRecord) -> None:
        self._record = record
        self._state = record.state
        self._show()

    def close(self) -> None:
        """Let go of a run under way; it is journaled as stopped."""
        self._abandon()

    def _forget(self) -> None:
        self._record = None
        self._state = None
        self._streaming = None
        self._tree = RunTree()
        self._events = []
        self._announced = ""
        self._against = None

    def _abandon(self) -> None:
        self._drain.stop()
        if self._driving is not None:
            self._driving.cancel()
        self._driving = None
        self._session = None

    def _drive(self, *first: Command) -> None:
        if self._session is None:
            return
        self._driving = self._background.start(self._session.drive(*first))
        self._drain.start()

    # Commands -------------------------------------------------------------------------------------

    def send(self, *commands: Command) -> None:
        """Tell the run something; what is not possible is said, not raised.

        Args:
            commands: in order; a later one is dropped where an earlier one led to a problem.
        """
        session = self._session
        if session is None:
            return
        if self._driving is None:
            self._drive(*commands)
            return
        self._background.start(session.send(*commands), self._on_sent)

    def step(self) -> None:
        """Over a model call or a tool as one."""
        self.send(StepOn("over"))

    def step_into(self) -> None:
        """To the next place of any kind."""
        self.send(StepOn("into"))

    def step_out(self) -> None:
        """To the end of this iteration."""
        self.send(StepOn("out"))

    def continue_(self) -> None:
        """To the next breakpoint, problem or end."""
        self.send(Continue())

    def pause(self) -> None:
        """Stand still at the next place."""
        self.send(PauseRun())

    def stop(self) -> None:
        """End the run now."""
        self.send(StopRun())

    def fork_from(self, card: StepCard) -> None:
        """Go back to the place of a card, and stand there as a new branch."""
        checkpoint = checkpoint_of_card(self._tree.checkpoints, card)
        self.go_to(checkpoint.id if checkpoint is not None else -1)

    def go_to(self, checkpoint: int) -> None:
        """Stand at a place that the run has reached; going on from there makes a new branch."""
        if self._record is not None:
            self._look_at(self._record.at_checkpoint(checkpoint))
            return
        if self._tree.get(checkpoint) is None or self._session is None:
            self.refused.emit("The run cannot go back to this place.")
            return
        if self._driving is not None and self._view.is_busy:
            self.refused.emit("Pause the run before going back.")
            return
        self.send(ForkFrom(checkpoint))

    def compare_branches(self, left: BranchView, right: BranchView) -> None:
        """Put two ways through the run side by side."""
        timelines = [timeline_of(state_at(self._events, one.last)) for one in (left, right)]
        self.compared.emit(compare(left.title, timelines[0], right.title, timelines[1]))

    def _on_sent(self, future: Future[str]) -> None:
        if not future.cancelled() and (wrong := future.result()):
            self.refused.emit(wrong)
        self._take()

    def _on_breakpoints(self, value: BreakpointSet) -> None:
        session = self._session
        if session is not None:
            options = replace(
                session.plan.options, breakpoints=value.breakpoints, exceptions=value.exceptions
            )
            session.plan = replace(session.plan, options=options)
            self._background.start(session.set_options(session.plan))
        self._show()

    # Showing --------------------------------------------------------------------------------------

    def inspect(self, wanted: Inspection) -> None:
        """Show a tab of a step in the inspector."""
        self._wanted = wanted
        model = self._session.plan.model if self._session is not None else None
        reading = None
        if self._state is not None and wanted.tab == "reply":
            so_far = self._streaming or self._state.step.reply
            reading = reading_for_display(self._state, so_far)
        self.inspector_changed.emit(
            inspector_view(self._state, wanted, sources_for(model), self._streaming, reading)
        )

    def _take(self) -> None:
        """Show all that has arrived since the last time."""
        if self._session is None:
            return
        arrivals = self._session.take()
        if not arrivals:
            return
        over = False
        for arrival in arrivals:
            match arrival:
                case Arrived(event=event, state=state):
                    self._state = state
                    self._events.append(event)
                    self._tree.add(event, state)
                    if state.step.reply is not None or state.is_over or state.pause is not None:
                        self._streaming = None
                case Streamed(reply=reply):
                    self._streaming = reply
                case Ended(fault=fault):
                    over = True
                    if fault:
                        self.refused.emit(fault)
                case _:
                    assert_never(arrival)
        if over:
            self._drain.stop()
            self._driving = None
            self._streaming = None
        self._show()
        self._announce(over=over)
        if self._streaming is not None and isinstance(arrivals[-1], Streamed):
            self.inspect(self._wanted)
            self.streamed.emit(self._streaming.text)

    def _show(self) -> None:
        record = self._record.title if self._record is not None else ""
        before = self._view
        self._view = view_of(
            self._state,
            before,
            streaming=self._streaming,
            break_places=self.breakpoints.value.places,
            branches=branches_of(
                self._tree.checkpoints,
                self._tree.cursor if self._record is None else self._record.cursor,
            ),
            record=record,
        )
        self.state_changed.emit(self._view)

    def _announce(self, *, over: bool) -> None:
        if self._state is None:
            return
        run = self._state.setup.run
        if run != self._announced:
            self._announced = run
            self.started.emit(run)
        if over:
            self.ended.emit(run)
            self._compare_with_past()

    def _compare_with_past(self) -> None:
        """Once it is over, put a run beside the one whose results it used."""
        past, self._against = self._against, None
        if past is not None and self._state is not None:
            before = timeline_of(state_at(past.events, past.last))
            now = timeline_of(self._state)
            self.compared.emit(compare("The run before", before, "This run", now))
