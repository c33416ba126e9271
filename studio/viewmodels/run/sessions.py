"""The runs of a window that go on: drives them without ever blocking it, and takes what arrives."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import assert_never

from PySide6.QtCore import QObject, QTimer, Signal

from studio.application.run.start.arrivals import Arrival, Arrived, Ended, Journal, Streamed
from studio.application.run.start.session import RunSession
from studio.application.run.words import sentence_of
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.values.breakpoints import HERE
from studio.core.agent.values.commands import Command, PauseRun, StopRun
from studio.viewmodels.app.background import Background
from studio.viewmodels.run.breakpoint_book import FileBreakpoints
from studio.viewmodels.run.slot import RunMark, RunSlot, RunSlots

DRAIN_MS = 33
"""How often what happened is taken: thirty times a second, whatever the model's speed."""

_LATE = 5
"""Looks without a first fact after which the pane says that the tools are made ready."""


class RunSessions(QObject):
    """One run of each prompt may go on, whether it is shown or not."""

    changed = Signal(RunSlot)  # what there is to show of its run
    streamed = Signal(RunSlot)  # more of the reply under way has come, and nothing after it
    refused = Signal(str)  # sentence for the user: what was asked is not possible, or broke
    stood_elsewhere = Signal(str, str)  # prompt whose run is not shown and stands or ended; words
    marks_changed = Signal(dict)  # RunMark of each prompt whose run goes on, by its path
    started = Signal(str)  # id of the run
    ended = Signal(str)  # id of the run: it is over (done, stopped, failed, …)

    def __init__(
        self,
        slots: RunSlots,
        background: Background,
        journal: Journal | None,
        breakpoints: FileBreakpoints,
        parent: QObject | None = None,
    ) -> None:
        """Make it.

        Args:
            slots: the runs of the window's prompts.
            background: where they are driven.
            journal: what keeps their facts; None keeps nothing.
            breakpoints: those of the open file.
            parent: its owner.
        """
        super().__init__(parent)
        self._slots = slots
        self._background = background
        self._journal = journal
        self._breakpoints = breakpoints
        self.marks: dict[str, RunMark] = {}
        """Which prompts have a run that goes on."""
        self._drain = QTimer(self, interval=DRAIN_MS)
        self._drain.timeout.connect(self._take)
        breakpoints.changed.connect(self._on_breakpoints)

    def begin(self, slot: RunSlot, plan: RunPlan, *first: Command, at_entry: bool = False) -> None:
        """Begin a run.

        Args:
            slot: that of its prompt.
            plan: what to run.
            first: what it is told as it begins.
            at_entry: stand still before the first request is sent.
        """
        value = self._breakpoints.value
        here = () if slot.here is None else (slot.here,)
        options = replace(
            plan.options,
            breakpoints=(*value.breakpoints, *here),
            exceptions=value.exceptions,
            stop_at_entry=at_entry or plan.options.stop_at_entry,
        )
        slot.session = RunSession(replace(plan, options=options), self._journal)
        self._drive(slot, slot.session, *first)

    def send(self, slot: RunSlot, *commands: Command) -> None:
        """Tell a run something; what is not possible is said, not raised.

        Args:
            slot: that of its prompt.
            commands: in order; a later one is dropped where an earlier one led to a problem.
        """
        session = slot.session
        if session is None:
            return
        if slot.driving is None:
            self._drive(slot, session, *commands)
            return
        if slot.shown.state is None and any(isinstance(each, StopRun) for each in commands):
            slot.driving.cancel()  # its tools are still being made ready: nothing has begun
            return
        self._background.start(session.send(*commands), self._on_sent)
        if any(isinstance(each, PauseRun) for each in commands) and slot.view.is_busy:
            slot.shown.is_pausing = True
            self.changed.emit(slot)

    def set_breakpoints(self, slot: RunSlot) -> None:
        """Give a run its breakpoints: the file's as they are now, where that file is open."""
        session, value = slot.session, self._breakpoints.value
        if session is None:
            return
        options = session.plan.options
        held = tuple(each for each in options.breakpoints if each.id != HERE)
        if self._breakpoints.belongs_to(session.plan.document):
            held = value.breakpoints
            options = replace(options, exceptions=value.exceptions)
        here = () if slot.here is None else (slot.here,)
        session.plan = replace(session.plan, options=replace(options, breakpoints=(*held, *here)))
        self._background.start(session.set_options(session.plan))

    def follow_prompt(self, old: str, new: str) -> None:
        """A prompt has another file name: its run goes along.

        Args:
            old: the path before; empty for one that was never saved.
            new: the path now.
        """
        if self._slots.rename(old, new):
            self._tell_marks()

    def close(self) -> None:
        """Let go of the runs; those under way are journaled as stopped."""
        self._drain.stop()
        for slot in self._slots:
            slot.drop_run()

    def _drive(self, slot: RunSlot, session: RunSession, *first: Command) -> None:
        slot.driving = self._background.start(session.drive(*first))
        slot.looks = 0
        self._drain.start()
        self._tell_marks()

    def _tell_marks(self) -> None:
        """Say which prompts have a run that goes on, where that changed."""
        marks = self._slots.marks
        if marks != self.marks:
            self.marks = marks
            self.marks_changed.emit(dict(marks))

    def _on_sent(self, future: Future[str]) -> None:
        if not future.cancelled() and (wrong := future.result()):
            self.refused.emit(wrong)
        self._take()

    def _on_breakpoints(self) -> None:
        for slot in self._slots:
            session = slot.session
            if session is not None and self._breakpoints.belongs_to(session.plan.document):
                self.set_breakpoints(slot)

    # What arrives -------------------------------------------------------------------------------

    def _take(self) -> None:
        """Take all that has arrived since the last time."""
        for slot in self._slots:
            if slot.session is not None:
                self._take_of(slot, slot.session)
            session = slot.session  # another one, or none, where who was told of it did something
            if session is not None and slot.driving is None and session.has_waiting_commands:
                self._drive(slot, session)
        if not any(slot.is_live for slot in self._slots):
            self._drain.stop()
        self._tell_marks()

    def _take_of(self, slot: RunSlot, session: RunSession) -> None:
        arrivals = session.take()
        if not arrivals:
            slot.looks += 1
            if slot.looks == _LATE and slot.shown.state is None:
                self.changed.emit(slot)
            return
        over = False
        for arrival in arrivals:
            match arrival:
                case Arrived() | Streamed():
                    slot.shown.take(arrival)
                case Ended(fault=fault):
                    over = True
                    if fault:
                        self.refused.emit(fault)
                case _:
                    assert_never(arrival)
        if over:
            slot.driving = None
            slot.shown.streaming, slot.shown.is_pausing = None, False
        self._leave_here(slot, arrivals)
        if over and slot.bring_back():
            self.changed.emit(slot)
            return
        self.changed.emit(slot)
        self._announce(slot, over=over)
        if slot is not self._slots.shown:
            self._tell_elsewhere(slot, arrivals)
        elif slot.shown.streaming is not None and isinstance(arrivals[-1], Streamed):
            self.streamed.emit(slot)

    def _leave_here(self, slot: RunSlot, arrivals: Sequence[Arrival]) -> None:
        """Once the run stands still, the place that it was to run to is no breakpoint any more."""
        state, here = slot.shown.state, slot.here
        pause = state.pause if state is not None else None
        arrived = any(isinstance(each, Arrived) for each in arrivals)
        if here is not None and arrived and pause is not None and here.id in pause.breakpoints:
            slot.here = None
            self.set_breakpoints(slot)

    def _announce(self, slot: RunSlot, *, over: bool) -> None:
        run = slot.shown.run
        if not run:
            return
        if run != slot.announced:
            slot.announced = run
            self.started.emit(run)
        if over:
            self.ended.emit(run)

    def _tell_elsewhere(self, slot: RunSlot, arrivals: Sequence[Arrival]) -> None:
        """Say that a run which is not shown wants the user, or has ended."""
        state = slot.shown.state
        came = any(isinstance(each, Arrived) for each in arrivals)
        if state is not None and came and (state.is_over or state.pause is not None):
            path = state.setup.path if slot.is_beside else slot.path
            self.stood_elsewhere.emit(path, sentence_of(state))
