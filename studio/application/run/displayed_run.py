"""The run that is shown, live or of the past: what has arrived of it, and how it looks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from studio.application.run.past.again import PastRun
from studio.application.run.past.compare import branches_of
from studio.application.run.past.record import RunRecord
from studio.application.run.start.plan import Arrived, Streamed
from studio.application.run.view import RunView, view_of
from studio.core.agent.past.tree import RunTree
from studio.core.agent.values.events import Event, Logged
from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.persistent_list import PersistentList
from studio.core.agent.values.state import RunState
from studio.core.wire.reply import Reply

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

    log: tuple[str, ...] = ()
    """What its log points wrote, in order, on all branches."""

    @classmethod
    def of_record(cls, record: RunRecord) -> DisplayedRun:
        """A run of the past."""
        events = PersistentList.over(record.events)
        made = cls(tree=record.tree, events=events, names=dict(record.names))
        made.look_at(record)
        if len(events) <= _MOST_READ:
            made.log = tuple(each.text for each in events if isinstance(each, Logged))
        return made

    @property
    def run(self) -> str:
        """Its id; empty before it has one."""
        return self.state.setup.run if self.state is not None else ""

    @property
    def cursor(self) -> int | None:
        """Id of the place that is looked at."""
        return self.tree.cursor if self.record is None else self.record.cursor

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
        if isinstance(arrival.event, Logged):
            self.log = (*self.log, arrival.event.text)
        stands = state.is_over or state.pause is not None
        if stands or state.step.reply is not None:
            self.streaming = None
        if stands:
            self.is_pausing = False

    def view(
        self,
        before: RunView,
        places: Iterable[PausePoint],
        logs: Iterable[PausePoint] = (),
        *,
        starting: bool,
    ) -> RunView:
        """What the pane shows of it.

        Args:
            before: the view of an earlier moment; its cards are taken over.
            places: places with a breakpoint.
            logs: places with a log point.
            starting: whether its tools are being made ready.
        """
        return view_of(
            self.state,
            before,
            streaming=self.streaming,
            break_places=places,
            log_places=logs,
            branches=branches_of(self.tree, self.cursor, self.names),
            record=self.record.title if self.record is not None else "",
            starting=starting,
            pausing=self.is_pausing,
        )
