"""The shown run, live or past: the events that have arrived, and its view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from studio.application.run.breakpoints import NO_BREAKPOINTS, BreakpointSet
from studio.application.run.cards.timeline import Timeline, timeline_of
from studio.application.run.debugging.console import ConsoleLine, LiveOutput, event_lines, lines_of
from studio.application.run.diagram import DiagramState, diagram_of
from studio.application.run.inspector.reply import turns_of
from studio.application.run.offers.of_run import model_to_ask_about, offers_for
from studio.application.run.offers.offer import Offers
from studio.application.run.past.again import PastRun
from studio.application.run.past.branches import (
    BranchView,
    ForkKey,
    ForkView,
    branches_of,
    forks_of,
)
from studio.application.run.past.compare import RunSide
from studio.application.run.past.record import RunRecord
from studio.application.run.start.session import Arrived, Streamed
from studio.application.run.words import bare, sentence_of, tokens, work_time
from studio.application.words import tr
from studio.core.agent.past.replay import RunTree, state_at
from studio.core.agent.run.requests import Choice, allowed, choice_at
from studio.core.agent.values.commands import Approve, Continue, StepOn
from studio.core.agent.values.events import Event, Logged, Paused, ToolCalled, ToolEnded
from studio.core.agent.values.state import PersistentList, RunState, steps_of
from studio.core.agent.values.step import PausePoint, RunModel
from studio.core.models.base import PROTOCOLS
from studio.core.text.amounts import money
from studio.core.wire.reply import Reply
from studio.core.wire.wire_call import CallLookup

_IN_CARD = ("model", "output")
"""Problems that the answer card reports, with the possible actions."""

# Everything the run pane shows at one moment, as one value.


@dataclass(frozen=True)
class RunView:
    """The contents of the run pane, except the inspector (which depends on the selection)."""

    state: RunState | None = None
    """The run; None before the first."""

    sentence: str = field(default_factory=lambda: sentence_of(None))
    """State and reason of the run, in one sentence."""

    timeline: Timeline = field(default_factory=Timeline)
    """The cards of the run."""

    diagram: DiagramState = field(default_factory=DiagramState)
    """The loop diagram."""

    offers: Offers = field(default_factory=Offers)
    """Actions that are possible."""

    protocol: str = ""
    """Name of the protocol."""

    protocol_reason: str = ""
    """Reason for the choice of the protocol."""

    facts: str = ""
    """Usage so far, on one line."""

    branches: tuple[BranchView, ...] = ()
    """The branches of the run; more than one after going back."""

    record: str = ""
    """For a run opened from history: its description; empty for a live one."""

    is_starting: bool = False
    """Whether a run is being prepared: its tools start before its first event."""

    forks: Mapping[ForkKey, ForkView] = field(default_factory=dict)
    """Forks from the shown branch."""

    console: tuple[ConsoleLine, ...] = ()
    """Output of log points, tools, retries and repairs."""

    hits: Mapping[str, int] = field(default_factory=dict)
    """Number of hits of each breakpoint, by id."""

    asks_model: bool = False
    """Whether the prompt now requests another model than the run has."""

    @property
    def is_live(self) -> bool:
        """Whether there is a run that is active or waits."""
        if self.is_starting:
            return True
        return self.state is not None and not self.state.is_over and not self.record

    @property
    def place(self) -> PausePoint | None:
        """The pause point; None while the run is active."""
        pause = self.state.pause if self.state is not None else None
        return pause.place if pause is not None else None

    @property
    def choice(self) -> Choice | Literal["model"]:
        """The decision that the run needs before it can continue; empty if none."""
        if not self.is_waiting or self.state is None:
            return ""
        return "model" if self.asks_model else choice_at(self.state)

    @property
    def approvable(self) -> int | None:
        """The row of the call to approve; None if there is none."""
        if not self.is_waiting or self.state is None or Approve not in allowed(self.state):
            return None
        if self.asks_model:
            return None
        return self.state.call

    @property
    def is_waiting(self) -> bool:
        """Whether the run is paused and can be stepped."""
        return (
            self.is_live
            and not self.is_starting
            and self.state is not None
            and self.state.pause is not None
        )

    @property
    def needs_stage(self) -> bool:
        """Whether it has more than a question and its answer: tools, further steps, a choice."""
        state = self.state
        if state is None:
            return False
        is_flaw = state.error is not None and state.error.kind in _IN_CARD and not self.asks_model
        if (state.pause is not None and not is_flaw) or state.setup.tools or state.step.calls:
            return True
        return state.iteration > 1 and state.iteration > len(turns_of(state))

    @property
    def running_calls(self) -> tuple[int, ...]:
        """Rows of the running calls, each of which can be stopped separately."""
        if not self.is_busy or self.state is None:
            return ()
        calls = enumerate(self.state.step.calls)
        return tuple(row for row, call in calls if call.status == "running")

    @property
    def is_busy(self) -> bool:
        """Whether something is running that can be paused."""
        return self.is_live and not self.is_waiting


def view_of(
    state: RunState | None,
    before: RunView | None = None,
    *,
    streaming: Reply | None = None,
    breakpoints: BreakpointSet = NO_BREAKPOINTS,
    branches: tuple[BranchView, ...] = (),
    record: str = "",
    starting: bool = False,
    pausing: bool = False,
    forks: Mapping[ForkKey, ForkView] | None = None,
    console: tuple[ConsoleLine, ...] = (),
    hits: Mapping[str, int] | None = None,
    model_now: RunModel | None = None,
    can_keep_model: bool = True,
) -> RunView:
    """Build the view of a state.

    Args:
        state: the run.
        before: an earlier view; cards of finished steps are reused.
        streaming: the part of the current reply that has arrived.
        breakpoints: the breakpoints to mark in the diagram.
        branches: the branches of the run.
        record: for a run opened from history, its description.
        starting: whether a run is being prepared.
        pausing: whether a pause was requested and running work is awaited.
        forks: the forks from the shown branch.
        console: lines of its console.
        hits: number of hits of each breakpoint, by id.
        model_now: the model that a new run of its prompt would use.
        can_keep_model: whether the run's model is available here.
    """
    if starting:
        sentence = tr("Starting the tools")
    elif streaming is not None and streaming.notices and not streaming.says_something:
        sentence = bare(streaming.notices[-1])  # such as how long it waits before the next attempt
    else:
        sentence = sentence_of(state)
    if state is None:
        diagram = diagram_of(None, sentence, breakpoints)
        return RunView(sentence=sentence, diagram=diagram, record=record, is_starting=starting)
    earlier = before.timeline if before is not None else None
    other = (
        None if record or pausing else model_to_ask_about(state, model_now, can_keep=can_keep_model)
    )
    offers = offers_for(
        state, is_record=bool(record), is_pausing=pausing, asked=other, can_keep=can_keep_model
    )
    return RunView(
        state=state,
        sentence=sentence,
        timeline=timeline_of(state, earlier, streaming),
        diagram=diagram_of(state, sentence, breakpoints),
        offers=offers,
        protocol=PROTOCOLS[state.setup.protocol].name,
        protocol_reason=state.setup.protocol_reason,
        facts=facts_of(state),
        branches=branches,
        record=record,
        is_starting=starting,
        forks=forks or {},
        console=console,
        hits=hits or {},
        asks_model=other is not None,
    )


def step_verb(view: RunView) -> str:
    """Return the label of the step button at the pause point; empty if a decision is needed.

    The key for "next" makes no decision: where the user must choose, it only steps to the choice.
    """
    if not view.is_waiting or view.choice:
        return ""
    first = next((each for each in view.offers.offers if each.is_primary), None)
    if first is None or first.ask or len(first.commands) != 1:
        return ""
    return first.label if isinstance(first.commands[0], StepOn | Approve | Continue) else ""


def facts_of(state: RunState) -> str:
    """Return repairs, tokens, cost and time: `1,204 tok · $0.0012 · 3.2 s`."""
    parts: list[str] = []
    if state.repaired:
        parts.append(tr("{count} repaired").format(count=state.repaired))
    if state.usage.total_tokens:
        parts.append(tokens(state.usage.total_tokens))
    if state.usage.cost is not None:
        parts.append(money(state.usage.cost))
    if state.seconds:
        parts.append(work_time(state))
    return " · ".join(parts)


_MOST_LINES = 2000
"""Maximum console lines stored; the oldest are dropped."""

_MOST_READ = 2000
"""Maximum events of a past run that are searched for output of its log points."""


@dataclass
class DisplayedRun:
    """The data of the shown run, owned by the GUI thread; each shown run gets a new one."""

    state: RunState | None = None
    """Current state of the run; None before its first event."""

    tree: RunTree = field(default_factory=RunTree)
    """The places that the run reached."""

    events: PersistentList[Event] = field(default_factory=PersistentList)
    """The events of its journal so far."""

    record: RunRecord | None = None
    """For a past run: the place that is shown."""

    streaming: Reply | None = None
    """Part of the current reply that has arrived."""

    names: dict[int, str] = field(default_factory=dict)
    """The user's names of its branches, by number."""

    is_pausing: bool = False
    """Whether a pause was requested and running work is awaited."""

    console: tuple[ConsoleLine, ...] = ()
    """Output of log points, tools, retries and repairs, in order, on all branches."""

    hits: Mapping[str, int] = field(default_factory=dict)
    """Number of stops and log lines of each breakpoint, by id."""

    output: LiveOutput = field(default_factory=LiveOutput)
    """Live output of the calls."""

    _parted: tuple[tuple[int, int | None], Mapping[ForkKey, ForkView]] | None = None

    @classmethod
    def of_record(cls, record: RunRecord) -> DisplayedRun:
        """Return a past run."""
        events = PersistentList.over(record.events)
        made = cls(tree=record.tree, events=events, names=dict(record.names))
        made.look_at(record)
        if len(events) <= _MOST_READ:
            made.console = tuple(_lines_of_record(record))[-_MOST_LINES:]
        return made

    @property
    def run(self) -> str:
        """Id of the run; empty before it has one."""
        return self.state.setup.run if self.state is not None else ""

    @property
    def cursor(self) -> int | None:
        """Id of the shown place."""
        return self.tree.cursor if self.record is None else self.record.cursor

    def side_of(self, branch: BranchView, call_of: CallLookup) -> RunSide:
        """Return a branch of the run to its end, since its outcome is compared, too."""
        end = self.tree.branch_end(branch.last, len(self.events))
        return RunSide(branch.title, state_at(self.events, end), call_of)

    @property
    def past(self) -> PastRun | None:
        """The past run to continue, compare or export; None without events."""
        if self.state is None or not self.events:
            return None
        cursor = self.cursor
        last = len(self.events)
        if self.record is not None and cursor is not None:
            last = self.tree.branch_end(cursor, last)
        whole = self.record.whole if self.record is not None else None
        return PastRun(self.events, self.state, cursor, last, whole)

    def look_at(self, record: RunRecord) -> None:
        """Show another place of a past run."""
        self.record = record
        self.state = record.state

    def take(self, arrival: Arrived | Streamed) -> None:
        """Record an event or a part of a reply."""
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
        """Record the new output of the running calls.

        Args:
            said: the newest part of the output, by the calls' rows.
            now: time of reading it, in seconds since 1970 UTC.
        """
        step = self.state.step if self.state is not None else None
        for row, text in said.items():
            if step is not None and row < len(step.calls) and text:
                began = step.calls[row].began
                spent = max(0.0, now - began) if began else 0.0
                self.output = self.output.heard((step.number, row), text, spent)

    def _forks(self) -> Mapping[ForkKey, ForkView]:
        """Return the forks; computed again only if the tree or the place changed."""
        now = (len(self.tree.checkpoints), self.cursor)
        if self._parted is None or self._parted[0] != now:
            self._parted = (now, forks_of(self.tree, self.cursor))
        return self._parted[1]

    def _note(self, event: Event, state: RunState) -> None:
        if lines := event_lines(event, state):
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
        """Return the view of the run.

        Args:
            before: an earlier view; its cards are reused.
            breakpoints: the breakpoints to mark in the diagram.
            starting: whether its tools are being prepared.
            model_now: the model that a new run of its prompt would use.
            can_keep_model: whether the run's model is available here.
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
    """Return the console lines of a past run; a tool is named if the shown branch has its call."""
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
