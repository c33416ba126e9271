"""The running runs of a window: drives them in the background and handles their events."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, assert_never

from PySide6.QtCore import QObject, Signal

from studio.application.run.displayed_run import DisplayedRun, RunView
from studio.application.run.past.again import PastRun
from studio.application.run.start.session import (
    Arrival,
    Arrived,
    Ended,
    Journal,
    RunSession,
    Streamed,
)
from studio.application.run.words import sentence_of
from studio.core.agent.loop.setup import run_model_of
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.values.breakpoints import HERE, Breakpoint
from studio.core.agent.values.commands import Command, PauseRun, StopRun
from studio.core.agent.values.step import RunModel
from studio.core.models.base import ChatModel
from studio.core.prompty.document import PromptDocument
from studio.viewmodels.app.background import Background
from studio.viewmodels.app.jobs import repeating_timer
from studio.viewmodels.run.breakpoint_book import FileBreakpoints

# The runs of a window by prompt: session and shown state of each.

_MOST_RESTING = 8
"""Maximum number of finished runs that stay in memory while they are not shown."""

_BESIDE = "\0"
"""Prefix of the slot of a past run whose prompt also has a running one."""

RunMark: TypeAlias = Literal["running", "waiting"]
"""Mark on a prompt's tab: the run is running or waiting."""


@dataclass(eq=False)
class RunSlot:
    """The place of a prompt's run; several prompts can run at once. Used by the GUI thread only."""

    path: str
    """File of the prompt; empty if it was never saved."""

    session: RunSession | None = None
    """Session in the loop; None before the first run, and for a past run."""

    driving: Future[None] | None = None
    """Future of the driving task; None if it is not running."""

    shown: DisplayedRun = field(default_factory=DisplayedRun)
    """State of the run from the events that have arrived."""

    view: RunView = field(default_factory=RunView)
    """View that the pane showed last."""

    announced: str = ""
    """Id of the run whose start was reported."""

    against: PastRun | None = None
    """Run to compare with at the end."""

    before: tuple[DisplayedRun, RunSession | None] | None = None
    """The previously shown run, which returns if this one cannot start."""

    here: Breakpoint | None = None
    """Breakpoint of "run to"."""

    looks: int = 0
    """Number of polls that returned nothing."""

    follows_prompt: bool = True
    """Whether a change of the prompt's model affects it: not a replay or an experiment's cell."""

    missing_model: RunModel | None = None
    """The model of a past run if it is unavailable here."""

    @property
    def is_live(self) -> bool:
        """Whether the run is running or waiting."""
        return self.driving is not None

    @property
    def can_keep_model(self) -> bool:
        """Whether the current model of the run is available here."""
        state, missing = self.shown.state, self.missing_model
        return missing is None or (state is not None and not missing.is_same(state.answered_by))

    @property
    def other_model(self) -> ChatModel | None:
        """Return the replacement of the run's model if that is unavailable here."""
        if self.can_keep_model or self.session is None:
            return None
        return self.session.plan.model

    @property
    def begins_with(self) -> RunModel | None:
        """The model of a started run before its first event; otherwise None."""
        if self.driving is None or self.session is None or self.shown.state is not None:
            return None
        return run_model_of(self.session.plan.model, priced=False)

    @property
    def is_beside(self) -> bool:
        """Whether the slot holds a past run of a prompt that also has a running one."""
        return self.path.startswith(_BESIDE)

    @property
    def mark(self) -> RunMark | None:
        """Return the mark on the prompt's tab."""
        if self.driving is None:
            return None
        state = self.shown.state
        return "waiting" if state is not None and state.pause is not None else "running"

    @property
    def waits_for_program(self) -> bool:
        """Whether the run only continues with the program's next request or tool result."""
        state = self.shown.state
        if self.session is None or not self.session.is_program or state is None or state.pause:
            return False
        is_called = any(call.status == "running" for call in state.step.calls)
        return state.is_over or is_called or not state.step.messages

    def make_room(self) -> None:
        """Remove the run for another one; a finished run returns if that cannot start."""
        self.before = None if self.is_live else (self.shown, self.session)
        self.drop_run()
        self.shown, self.announced = DisplayedRun(), ""

    def bring_back(self) -> bool:
        """Show the previous run again if this one failed before its first event."""
        if self.before is None or self.shown.state is not None:
            return False
        (self.shown, self.session), self.before = self.before, None
        self.announced = self.shown.run
        return True

    def drop_run(self) -> None:
        """Remove the run; a running one is recorded as stopped."""
        if self.driving is not None:
            self.driving.cancel()
        self.driving = None
        self.session = None


class RunSlots:
    """The slots of a window, of which one is shown. Used by the GUI thread only."""

    def __init__(self) -> None:
        self.shown = RunSlot("")
        """The shown slot."""
        self._by_path = {"": self.shown}
        self.prompt = ""
        """File of the selected prompt."""
        self.unsaved: tuple[str, ...] = ()
        """Ids of the runs of prompts that were never saved: the history has no file for them."""
        self.let_go: dict[str, str] = {}
        """Id of the finished run that is no longer in memory, by prompt."""

    def __iter__(self) -> Iterator[RunSlot]:
        return iter([*self._by_path.values()])

    @property
    def marks(self) -> dict[str, RunMark]:
        """Marks of the prompts whose runs are running."""
        return {path: mark for path, slot in self._by_path.items() if (mark := slot.mark)}

    def show(self, path: str) -> RunSlot:
        """Show the slot of a prompt as the newest; the oldest finished ones are removed."""
        self.shown = self._of(path)
        return self.shown

    def show_live(self, run: str) -> bool:
        """Show a running run; return False if it is not running."""
        going = (each for each in self if each.is_live and each.shown.run == run)
        found = next(going, None) if run else None
        if found is not None:
            self.shown = found
        return found is not None

    def show_beside(self, path: str) -> RunSlot:
        """Show a slot for a past run: the prompt's, or an extra one if that is in use."""
        slot, beside = self._of(path), ""
        while slot.is_live:  # in use by the prompt's run or by a continued past run
            beside += _BESIDE
            slot = self._of(beside)
        self.shown = slot
        return slot

    def of_program(self, run: str) -> RunSlot:
        """Create a slot for a conversation of a recorded program; it is not shown."""
        slot = RunSlot(f"{_BESIDE}program {run}")
        self._by_path[slot.path] = slot
        return slot

    def turn_to(self, path: str) -> bool:
        """Set the selected prompt; return whether another slot is shown for it."""
        if path == self.prompt:
            return False
        self.prompt = path
        if self.shown.path == path:
            return False
        self.show(path)
        return True

    def rename(self, old: str, new: str) -> bool:
        """Move the slot of a renamed prompt file; return whether this was possible."""
        there = self._by_path.get(new)
        is_shown = self.prompt == old
        if old not in self._by_path or (there is not None and there.is_live):
            return False
        if not (old or is_shown):
            return False
        slot = self._by_path.pop(old)
        slot.path, self._by_path[new] = new, slot
        self.unsaved = self.unsaved if old else ()
        if self.shown is there:
            self.shown = slot
        if is_shown:
            self.prompt = new
        return True

    def is_of_open_prompt(self, slot: RunSlot) -> bool:
        """Return whether the model settings of the open prompt apply to a run."""
        state = slot.shown.state
        paths = (slot.path, state.setup.path if state is not None else slot.path)
        return slot.follows_prompt and self.prompt in paths

    def _of(self, path: str) -> RunSlot:
        slot = self._by_path.pop(path, None) or RunSlot(path)
        self._by_path[path] = slot
        resting = [each for each in self if not each.is_live]
        for old in resting[:-_MOST_RESTING]:
            if old not in (slot, self.shown):
                self.let_go[old.path] = old.shown.run
                del self._by_path[old.path]
        return slot


def slot_path(document: PromptDocument) -> str:
    """Return the path of the slot for runs of a prompt."""
    path = document.source.path
    return "" if path is None else str(path)


DRAIN_MS = 33
"""Interval at which events are handled, in milliseconds: thirty per second at most."""

_LATE = 5
"""Number of polls without a first event after which the pane shows that tools are starting."""


class RunSessions(QObject):
    """Drives the runs; each prompt can have one running run, shown or not."""

    changed = Signal(RunSlot)  # its run has changed
    streamed = Signal(RunSlot)  # only the current reply has grown
    refused = Signal(str)  # sentence for the user: a request was impossible or failed
    stood_elsewhere = Signal(str, str)  # prompt whose hidden run paused or ended; words
    marks_changed = Signal(dict)  # RunMark of each prompt with a running run, by path
    started = Signal(str)  # id of the run
    ended = Signal(str)  # id of an ended run (done, stopped, failed, …)

    def __init__(
        self,
        slots: RunSlots,
        background: Background,
        journal: Journal | None,
        breakpoints: FileBreakpoints,
        parent: QObject | None = None,
    ) -> None:
        """Create it.

        Args:
            slots: the runs of the window's prompts.
            background: loop that drives them.
            journal: journal for their events; None stores nothing.
            breakpoints: breakpoints of the open file.
            parent: owner.
        """
        super().__init__(parent)
        self._slots = slots
        self._background = background
        self._journal = journal
        self._breakpoints = breakpoints
        self.marks: dict[str, RunMark] = {}
        """Marks of the prompts whose runs are running."""
        self._drain = repeating_timer(self, self._take, DRAIN_MS)
        breakpoints.changed.connect(self._on_breakpoints)

    def begin(self, slot: RunSlot, plan: RunPlan, *first: Command, at_entry: bool = False) -> None:
        """Start a run.

        Args:
            slot: slot of the prompt.
            plan: plan of the run.
            first: commands to start with.
            at_entry: pause before the first request.
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

    def join(self, slot: RunSlot, session: RunSession) -> None:
        """Follow a conversation of a recorded program that has already started."""
        slot.session, slot.follows_prompt = session, False
        self._drive(slot, session)
        self.set_breakpoints(slot)

    def send(self, slot: RunSlot, *commands: Command) -> None:
        """Send a command to a run; an impossible one is reported, not raised.

        Args:
            slot: slot of the prompt.
            commands: commands in order; those after an impossible one are dropped.
        """
        session = slot.session
        if session is None:
            return
        if slot.driving is None:
            self._drive(slot, session, *commands)
            return
        if slot.shown.state is None and any(isinstance(each, StopRun) for each in commands):
            slot.driving.cancel()  # its tools are still starting: the run has not begun
            return
        self._background.start(session.send(*commands), self._on_sent)
        if any(isinstance(each, PauseRun) for each in commands) and slot.view.is_busy:
            slot.shown.is_pausing = True
            self.changed.emit(slot)

    def set_breakpoints(self, slot: RunSlot) -> None:
        """Update the breakpoints of a run if their file is open."""
        session, value = slot.session, self._breakpoints.value
        if session is None:
            return
        options = session.plan.options
        held = tuple(each for each in options.breakpoints if each.id != HERE)
        if self._counts_for(session):
            held = value.breakpoints
            options = replace(options, exceptions=value.exceptions)
        here = () if slot.here is None else (slot.here,)
        session.plan = replace(session.plan, options=replace(options, breakpoints=(*held, *here)))
        self._background.start(session.set_options(session.plan))

    def follow_prompt(self, old: str, new: str) -> None:
        """Move a run to the new file name of its prompt.

        Args:
            old: previous path; empty if it was never saved.
            new: new path.
        """
        if self._slots.rename(old, new):
            self._tell_marks()

    def close(self) -> None:
        """Close the runs; running ones are recorded as stopped."""
        self._drain.stop()
        for slot in self._slots:
            slot.drop_run()

    def _drive(self, slot: RunSlot, session: RunSession, *first: Command) -> None:
        slot.driving = self._background.start(session.drive(*first))
        slot.looks = 0
        self._drain.start()
        self._tell_marks()

    def _tell_marks(self) -> None:
        """Report the prompts whose running state changed."""
        marks = self._slots.marks
        if marks != self.marks:
            self.marks = marks
            self.marks_changed.emit(dict(marks))

    def _on_sent(self, future: Future[str]) -> None:
        if not future.cancelled() and (wrong := future.result()):
            self.refused.emit(wrong)
        self._take()

    def _counts_for(self, session: RunSession) -> bool:
        """Return whether the breakpoints of the open file apply to a run."""
        return session.is_program or self._breakpoints.belongs_to(session.plan.document)

    def _on_breakpoints(self) -> None:
        for slot in self._slots:
            session = slot.session
            if session is not None and self._counts_for(session):
                self.set_breakpoints(slot)

    # Events -------------------------------------------------------------------------------------

    def _take(self) -> None:
        """Handle all events since the last call."""
        for slot in self._slots:
            if slot.session is not None:
                self._take_of(slot, slot.session)
            session = slot.session  # a receiver of a signal may have replaced it
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
        """Remove the breakpoint of "run to" once the run is paused."""
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
            if not slot.path:
                self._slots.unsaved += (run,)
            self.started.emit(run)
        if over:
            self.ended.emit(run)

    def _tell_elsewhere(self, slot: RunSlot, arrivals: Sequence[Arrival]) -> None:
        """Report that a hidden run waits for the user or has ended."""
        state = slot.shown.state
        came = any(isinstance(each, Arrived) for each in arrivals)
        if state is not None and came and (state.is_over or state.pause is not None):
            path = state.setup.path if slot.is_beside else slot.path
            self.stood_elsewhere.emit(path, sentence_of(state))
