"""The run that is shown, live or of the past: what has arrived of it, and how it looks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from studio.application.run.breakpoints import BreakpointSet
from studio.application.run.debugging.console import ConsoleLine, lines_of
from studio.application.run.debugging.live_output import LiveOutput
from studio.application.run.past.again import PastRun
from studio.application.run.past.branches import BranchView, branches_of
from studio.application.run.past.compare import RunSide
from studio.application.run.past.forks import ForkKey, ForkView, forks_of
from studio.application.run.past.record import RunRecord
from studio.application.run.start.arrivals import Arrived, Streamed
from studio.application.run.view import RunView, view_of
from studio.core.agent.loop.steps import steps_of
from studio.core.agent.past.tree import RunTree, state_at
from studio.core.agent.values.events import Event, Logged, ToolCalled, ToolEnded
from studio.core.agent.values.run_setup import RunModel
from studio.core.agent.values.state import PersistentList, RunState
from studio.core.agent.values.user_events import Paused
from studio.core.wire.reply import Reply
from studio.core.wire.wire_call import CallLookup

_MOST_LINES = 2000
"""Lines of the console that are kept; the first ones go."""

_MOST_READ = 2000
"""Events up to which a run of the past is looked through for what its log points wrote."""


@dataclass
class DisplayedRun:
    """Kept by the GUI thread alone; a new one is made for each run that is shown."""

    state: RunState | None = None
    """Where the run stands; None before its first fact."""

    tree: RunTree = field(default_factory=RunTree)
    """The places it reached."""

    events: PersistentList[Event] = field(default_factory=PersistentList)
    """Its journal so far."""

    record: RunRecord | None = None
    """For a run of the past: the place that is looked at."""

    streaming: Reply | None = None
    """What has come of the reply that runs now."""

    names: dict[int, str] = field(default_factory=dict)
    """The user's names of its branches, by number."""

    is_pausing: bool = False
    """Whether it was told to stand still, and what is under way is waited for."""

    console: tuple[ConsoleLine, ...] = ()
    """What its log points, tools, retries and repairs had to say, in order, on all branches."""

    hits: Mapping[str, int] = field(default_factory=dict)
    """How often each breakpoint stopped it or wrote a line, by id."""

    output: LiveOutput = field(default_factory=LiveOutput)
    """What its calls have said while they ran here."""

    _parted: tuple[tuple[int, int | None], Mapping[ForkKey, ForkView]] | None = None

    @classmethod
    def of_record(cls, record: RunRecord) -> DisplayedRun:
        """A run of the past."""
        events = PersistentList.over(record.events)
        made = cls(tree=record.tree, events=events, names=dict(record.names))
        made.look_at(record)
        if len(events) <= _MOST_READ:
            made.console = tuple(_lines_of_record(record))[-_MOST_LINES:]
        return made

    @property
    def run(self) -> str:
        """Its id; empty before it has one."""
        return self.state.setup.run if self.state is not None else ""

    @property
    def cursor(self) -> int | None:
        """Id of the place that is looked at."""
        return self.tree.cursor if self.record is None else self.record.cursor

    def side_of(self, branch: BranchView, call_of: CallLookup) -> RunSide:
        """A way through the run to its very end: how it ended is compared, too."""
        end = self.tree.branch_end(branch.last, len(self.events))
        return RunSide(branch.title, state_at(self.events, end), call_of)

    @property
    def past(self) -> PastRun | None:
        """The run as something to go on from, compare with, or write to a file."""
        if self.state is None or not self.events:
            return None
        cursor = self.cursor
        last = len(self.events)
        if self.record is not None and cursor is not None:
            last = self.tree.branch_end(cursor, last)
        whole = self.record.whole if self.record is not None else None
        return PastRun(self.events, self.state, cursor, last, whole)

    def look_at(self, record: RunRecord) -> None:
        """Show another place of a run of the past."""
        self.record = record
        self.state = record.state

    def take(self, arrival: Arrived | Streamed) -> None:
        """Note what has arrived."""
        if isinstance(arrival, Streamed):
            self.streaming = arrival.reply
            return
        self.state = state = arrival.state
        self.events = self.events.plus((arrival.event,))
        self.tree.add(arrival.event, state)
        if isinstance(arrival.event, ToolCalled):
            self.output = self.output.without((state.step.number, arrival.event.call))
        self._note(arrival.event, state)
        stands = state.is_over or state.pause is not None
        if stands or state.step.reply is not None:
            self.streaming = None
        if stands:
            self.is_pausing = False

    def hear(self, said: Mapping[int, str], now: float) -> None:
        """Take what the calls under way have said by now.

        Args:
            said: the newest part of it, by the calls' rows.
            now: when it was asked for, in seconds since 1970 UTC.
        """
        step = self.state.step if self.state is not None else None
        for row, text in said.items():
            if step is not None and row < len(step.calls) and text:
                began = step.calls[row].began
                spent = max(0.0, now - began) if began else 0.0
                self.output = self.output.heard((step.number, row), text, spent)

    def _forks(self) -> Mapping[ForkKey, ForkView]:
        """Where ways part; found anew only where the tree or the place is another."""
        now = (len(self.tree.checkpoints), self.cursor)
        if self._parted is None or self._parted[0] != now:
            self._parted = (now, forks_of(self.tree, self.cursor))
        return self._parted[1]

    def _note(self, event: Event, state: RunState) -> None:
        calls = state.step.calls
        tool = calls[event.call].tool if isinstance(event, ToolEnded) else ""
        lines = tuple(lines_of(event, state.iteration, tool))
        if lines:
            self.console = (*self.console, *lines)[-_MOST_LINES:]
        met = event.breakpoints if isinstance(event, Paused) else ()
        met = (event.source,) if isinstance(event, Logged) and event.source else met
        if met:
            self.hits = {**self.hits, **{each: self.hits.get(each, 0) + 1 for each in met}}

    def view(
        self,
        before: RunView,
        breakpoints: BreakpointSet,
        *,
        starting: bool,
        model_now: RunModel | None = None,
        can_keep_model: bool = True,
    ) -> RunView:
        """What the pane shows of it.

        Args:
            before: the view of an earlier moment; its cards are taken over.
            breakpoints: what is marked in the diagram.
            starting: whether its tools are being made ready.
            model_now: the model that a run of its prompt would begin with now.
            can_keep_model: whether the model that it has is to be had here.
        """
        return view_of(
            self.state,
            before,
            streaming=self.streaming,
            breakpoints=breakpoints,
            branches=branches_of(self.tree, self.cursor, self.names),
            record=self.record.title if self.record is not None else "",
            starting=starting,
            pausing=self.is_pausing,
            forks=self._forks(),
            console=self.console,
            hits=self.hits,
            model_now=model_now,
            can_keep_model=can_keep_model,
        )


def _lines_of_record(record: RunRecord) -> Iterator[ConsoleLine]:
    """What was said in a run of the past; a tool is named where the way shown has its call."""
    state = record.whole.state
    steps = steps_of(state) if state is not None else ()
    iterations = {each.id: each.iteration for each in record.checkpoints}
    now = 0
    for event in record.events:
        now = iterations.get(event.seq, now)
        tool = ""
        if isinstance(event, ToolEnded) and 0 < now <= len(steps):
            calls = steps[now - 1].calls
            tool = calls[event.call].tool if event.call < len(calls) else ""
        yield from lines_of(event, now, tool)
