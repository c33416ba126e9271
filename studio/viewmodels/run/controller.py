"""Runs a prompt without ever blocking the window, and says what the run pane shows."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import assert_never

from PySide6.QtCore import QObject, QTimer, Signal

from studio.application.run.cards.timeline import StepCard, checkpoint_of_card
from studio.application.run.debugging.breakpoints import BreakpointSet
from studio.application.run.debugging.console import evaluated
from studio.application.run.displayed_run import DisplayedRun
from studio.application.run.inspector.sources import reading_for_display, sources_for
from studio.application.run.inspector.tabs import Inspection, InspectorView, inspector_view
from studio.application.run.past.again import PastRun
from studio.application.run.past.compare import BranchView, RunComparison, RunSide, compare
from studio.application.run.past.record import RunRecord
from studio.application.run.start.plan import Arrived, Ended, Journal, RunPlan, Streamed
from studio.application.run.start.session import RunSession
from studio.application.run.view import RunView
from studio.core.agent.past.tree import state_at
from studio.core.agent.values.breakpoints import HERE, Breakpoint
from studio.core.agent.values.commands import Command, Continue, ForkFrom, PauseRun, StepOn, StopRun
from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.state import RunState
from studio.viewmodels.app.background import Background
from studio.viewmodels.run.breakpoint_book import FileBreakpoints

DRAIN_MS = 33
"""How often what happened is shown: thirty times a second, whatever the model's speed."""

_SAID_MS = 150
"""Between two looks at what the calls under way say."""

_MOST_FOLDED = 2000
"""Events up to which an earlier moment is folded for the watches."""

_LATE = 5
"""Looks without a first fact after which the pane says that the tools are made ready."""


class RunController(QObject):
    """One run at a time: live, or opened from history."""

    state_changed = Signal(RunView)
    inspector_changed = Signal(InspectorView)
    streamed = Signal(str)  # text of the reply under way, as far as it has come
    started = Signal(str)  # id of the run
    ended = Signal(str)  # id of the run: it is over (done, stopped, failed, …)
    compared = Signal(RunComparison)
    repeated = Signal(RunComparison)  # Comparison with the run that was gone through again
    worked_out = Signal(tuple)  # ConsoleLines: an expression and its value
    branch_named = Signal(str, int, str)  # id of the run, number of the branch, its name
    calls_said = Signal(Mapping)  # what each call under way has said so far, by its row
    refused = Signal(str)  # sentence for the user: what was asked is not possible, or broke

    def __init__(
        self,
        background: Background,
        journal: Journal | None = None,
        breakpoints: FileBreakpoints | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._journal = journal
        self.breakpoints = breakpoints if breakpoints is not None else FileBreakpoints(self)
        self._session: RunSession | None = None
        self._driving: Future[None] | None = None
        self._shown = DisplayedRun()
        self._view = RunView()
        self._wanted = Inspection()
        self._announced = ""
        self._against: PastRun | None = None
        self._here: Breakpoint | None = None
        self._looks = 0
        self._drain = QTimer(self)
        self._drain.setInterval(DRAIN_MS)
        self._drain.timeout.connect(self._take)
        self._listening = QTimer(self)
        self._listening.setInterval(_SAID_MS)
        self._listening.timeout.connect(self._read_said)
        self.breakpoints.changed.connect(self._on_breakpoints)

    @property
    def view(self) -> RunView:
        """What the pane shows."""
        return self._view

    @property
    def state(self) -> RunState | None:
        """The run."""
        return self._shown.state

    @property
    def is_live(self) -> bool:
        """Whether a run is under way or waits."""
        return self._driving is not None

    @property
    def past(self) -> PastRun | None:
        """The run that is shown, as something to go on from, compare with, or write to a file."""
        return self._shown.past

    # Starting and ending --------------------------------------------------------------------------

    def start(
        self,
        plan: RunPlan,
        *,
        at_entry: bool = False,
        to: PausePoint | None = None,
        against: PastRun | None = None,
    ) -> None:
        """Run a prompt; one that is still under way is stopped first.

        Args:
            plan: what to run.
            at_entry: stand still before the first request is sent.
            to: stand still at the first place of this sort.
            against: a run that it is compared with when it is over.
        """
        self._abandon()
        self._shown, self._announced, self._against = DisplayedRun(), "", against
        self._here = Breakpoint(HERE, frozenset({to})) if to is not None else None
        self._session = self._session_of(plan, at_entry=at_entry)
        self._drive()

    def take_up(self, plan: RunPlan, checkpoint: int) -> None:
        """Go on with the run of the past that is shown, from one of its places.

        Args:
            plan: what it goes on with; its past is the run's journal.
            checkpoint: id of the place; the run stands still there, on a new branch.
        """
        self._abandon()
        before, self._against, self._here = self._shown, None, None
        events = before.events
        self._shown = DisplayedRun(
            before.state, before.tree.copy(), events, names=dict(before.names)
        )
        self._session = self._session_of(plan)
        self._drive(ForkFrom(checkpoint))

    def open_record(self, record: RunRecord) -> None:
        """Show a run of the past; nothing is asked or called."""
        self._abandon()
        self._announced, self._against, self._here = "", None, None
        self._shown = DisplayedRun.of_record(record)
        self._view = RunView(timeline=record.timeline)
        self._show()

    def follow_record(self, record: RunRecord) -> None:
        """Show what another program has added to the run of the past that is shown.

        The place that is looked at stays; at the end of the run it goes on with it.
        """
        shown = self._shown
        if shown.record is None or record.state is None or self._session is not None:
            return
        if record.state.setup.run != shown.run:
            return
        self._shown = DisplayedRun.of_record(replace(record, at=shown.record.at, seen=record.whole))
        self._view = RunView(timeline=record.timeline)
        self._show()

    def move_record(self, by: int) -> None:
        """In a run of the past: go some places on or back."""
        if self._shown.record is not None:
            self._shown.look_at(self._shown.record.moved(by))
            self._show()

    def close(self) -> None:
        """Let go of a run under way; it is journaled as stopped."""
        self._abandon()

    def _session_of(self, plan: RunPlan, *, at_entry: bool = False) -> RunSession:
        options = replace(
            plan.options,
            breakpoints=self._breakpoints(self.breakpoints.value),
            exceptions=self.breakpoints.value.exceptions,
            stop_at_entry=at_entry or plan.options.stop_at_entry,
        )
        return RunSession(replace(plan, options=options), self._journal)

    def _abandon(self) -> None:
        self._drain.stop()
        self._listening.stop()
        if self._driving is not None:
            self._driving.cancel()
        self._driving = None
        self._session = None

    def _drive(self, *first: Command) -> None:
        if self._session is None:
            return
        self._driving = self._background.start(self._session.drive(*first))
        self._looks = 0
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
        if self._shown.state is None and any(isinstance(each, StopRun) for each in commands):
            self._driving.cancel()  # its tools are still being made ready: nothing has begun
            return
        self._background.start(session.send(*commands), self._on_sent)
        if any(isinstance(each, PauseRun) for each in commands) and self._view.is_busy:
            self._shown.is_pausing = True
            self._show()

    def step(self) -> None:
        """Over a model call or a tool as one."""
        self.send(StepOn("over"))

    def pause(self) -> None:
        """Stand still at the next place."""
        self.send(PauseRun())

    def stop(self) -> None:
        """End the run now."""
        self.send(StopRun())

    def run_to(self, place: PausePoint) -> None:
        """Go on, and stand still at the next place of a sort, or at a breakpoint before it."""
        if self._session is not None and self._view.is_waiting:
            self._here = Breakpoint(HERE, frozenset({place}))
            self._tell_breakpoints()
            self.send(Continue())

    def fork_from(self, card: StepCard, *then: Command) -> None:
        """Go back to the place of a card, and stand there as a new branch.

        Args:
            card: which.
            then: what the run is told there; nothing for a run of the past.
        """
        checkpoint = checkpoint_of_card(self._shown.tree, self._shown.cursor, card)
        self.go_to(checkpoint.id if checkpoint is not None else -1, *then)

    def go_to(self, checkpoint: int, *then: Command) -> None:
        """Stand at a place that the run has reached; going on from there makes a new branch."""
        shown = self._shown
        if shown.record is not None:
            shown.look_at(shown.record.at_checkpoint(checkpoint))
            self._show()
            return
        if shown.tree.get(checkpoint) is None or self._session is None:
            self.refused.emit(self.tr("The run cannot go back to this place."))
            return
        if self._driving is not None and self._view.is_busy:
            self.refused.emit(self.tr("Pause the run before going back."))
            return
        self.send(ForkFrom(checkpoint), *then)

    def name_branch(self, number: int, name: str) -> None:
        """Give a branch a name of the user's own; an empty one takes it back."""
        shown = self._shown
        shown.names[number] = name.strip()
        if shown.record is not None:
            shown.record = replace(shown.record, names=dict(shown.names))
        self.branch_named.emit(shown.run, number, name.strip())
        self._show()

    def compare_branches(self, left: BranchView, right: BranchView) -> None:
        """Put two ways through the run side by side."""
        shown = self._shown
        count = len(shown.events)
        sides = [
            # To its very end: how it ended is compared, too.
            RunSide(one.title, state_at(shown.events, shown.tree.branch_end(one.last, count)))
            for one in (left, right)
        ]
        self.compared.emit(compare(*sides))

    def _on_sent(self, future: Future[str]) -> None:
        if not future.cancelled() and (wrong := future.result()):
            self.refused.emit(wrong)
        self._take()

    # Breakpoints ----------------------------------------------------------------------------------

    def _breakpoints(self, value: BreakpointSet) -> tuple[Breakpoint, ...]:
        return value.breakpoints if self._here is None else (*value.breakpoints, self._here)

    def _on_breakpoints(self, value: BreakpointSet) -> None:
        session = self._session
        if session is not None and self.breakpoints.belongs_to(session.plan.document):
            self._tell_breakpoints()
        self._show()

    def _tell_breakpoints(self) -> None:
        session, value = self._session, self.breakpoints.value
        if session is None:
            return
        options = replace(
            session.plan.options,
            breakpoints=self._breakpoints(value),
            exceptions=value.exceptions,
        )
        session.plan = replace(session.plan, options=options)
        self._background.start(session.set_options(session.plan))

    # Showing --------------------------------------------------------------------------------------

    def inspect(self, wanted: Inspection) -> None:
        """Show a tab of a step in the inspector."""
        self._wanted = wanted
        shown = self._shown
        model = self._session.plan.model if self._session is not None else None
        reading = None
        if shown.state is not None and wanted.tab == "reply":
            so_far = shown.streaming or shown.state.step.reply
            reading = reading_for_display(shown.state, so_far)
        state = self._state_of(wanted.moment) if wanted.moment is not None else shown.state
        view = inspector_view(
            state, wanted, sources_for(model), shown.streaming, reading, shown.output
        )
        self.inspector_changed.emit(view)

    def work_out(self, source: str, card: StepCard | None) -> None:
        """Work an expression out, at the moment of a card or where the run stands."""
        state = self._state_of(card) if card is not None else self._shown.state
        self.worked_out.emit(evaluated(source, state))

    def _state_of(self, card: StepCard) -> RunState | None:
        """The run as it was at a card; a very long run only as it is, for it would be folded."""
        shown = self._shown
        place = checkpoint_of_card(shown.tree, shown.cursor, card)
        if place is None or len(shown.events) > _MOST_FOLDED:
            return shown.state
        return state_at(shown.events, place.id)

    def _take(self) -> None:
        """Show all that has arrived since the last time."""
        if self._session is None:
            return
        arrivals = self._session.take()
        if not arrivals:
            self._looks += 1
            if self._looks == _LATE and self._shown.state is None:
                self._show()
            return
        over = False
        for arrival in arrivals:
            match arrival:
                case Arrived() | Streamed():
                    self._shown.take(arrival)
                case Ended(fault=fault):
                    over = True
                    if fault:
                        self.refused.emit(fault)
                case _:
                    assert_never(arrival)
        if over:
            self._drain.stop()
            self._driving = None
            self._shown.streaming, self._shown.is_pausing = None, False
        self._leave_here(arrivals)
        self._show()
        self._announce(over=over)
        if self._shown.streaming is not None and isinstance(arrivals[-1], Streamed):
            self.inspect(self._wanted)
            self.streamed.emit(self._shown.streaming.text)

    def _read_said(self) -> None:
        """Show what the calls under way have said by now."""
        session = self._session
        if session is None or not self._view.running_calls:
            self._listening.stop()
            return

        def done(future: Future[Mapping[int, str]]) -> None:
            if not future.cancelled() and self._session is session:
                self._hear(future.result())

        self._background.start(session.read_said(), done)

    def _hear(self, said: Mapping[int, str]) -> None:
        before = self._shown.output
        self._shown.hear(said, time.time())
        self.calls_said.emit(said)
        if self._shown.output is not before and self._wanted.tab == "tool":
            self.inspect(self._wanted)

    def _leave_here(self, arrivals: Iterable[object]) -> None:
        """Once the run stands still, the place that it was to run to is no breakpoint any more."""
        state, here = self._shown.state, self._here
        pause = state.pause if state is not None else None
        arrived = any(isinstance(each, Arrived) for each in arrivals)
        if here is not None and arrived and pause is not None and here.id in pause.breakpoints:
            self._here = None
            self._tell_breakpoints()

    def _show(self) -> None:
        self._view = self._shown.view(
            self._view,
            self.breakpoints.value.places,
            self.breakpoints.value.log_places,
            starting=self._driving is not None and self._shown.state is None,
        )
        self.state_changed.emit(self._view)
        if self._view.running_calls and not self._listening.isActive():
            self._listening.start()

    def _announce(self, *, over: bool) -> None:
        run = self._shown.run
        if not run:
            return
        if run != self._announced:
            self._announced = run
            self.started.emit(run)
        if over:
            self.ended.emit(run)
            self._compare_with_past()

    def _compare_with_past(self) -> None:
        """Once it is over, put a run beside the one whose results it used."""
        past, self._against = self._against, None
        if past is None or self._shown.state is None:
            return
        comparison = self._beside(past, self.tr("The run before"))
        is_replay = self._session is not None and self._session.plan.reenactment is not None
        (self.repeated if is_replay else self.compared).emit(comparison)

    def _beside(self, past: PastRun, title: str) -> RunComparison:
        now = self._shown.state
        if now is None:
            raise ValueError("nothing is shown")
        return compare(
            RunSide(title, state_at(past.events, past.last)), RunSide(self.tr("This run"), now)
        )
