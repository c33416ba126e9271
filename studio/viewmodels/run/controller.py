"""The shown run: the view of the run pane and the user's commands."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from studio.application.run.cards.card import CardList
from studio.application.run.cards.timeline import StepCard, Timeline, checkpoint_of_card
from studio.application.run.debugging.console import evaluated
from studio.application.run.displayed_run import DisplayedRun, RunView
from studio.application.run.inspector.tabs import Inspection, InspectorView, inspector_view
from studio.application.run.inspector.tool import InspectionSources, reading_for_display
from studio.application.run.past.again import PastRun
from studio.application.run.past.branches import BranchView
from studio.application.run.past.compare import (
    RunComparison,
    RunOverview,
    RunSide,
    compare,
    overview,
)
from studio.application.run.past.record import RunRecord
from studio.application.run.search import SearchHits, SearchOrder, SearchPiece, look_through
from studio.application.run.start.session import Journal, RunSession
from studio.application.words import tr
from studio.core.agent.loop.setup import run_model_of
from studio.core.agent.past.replay import state_at
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.values.breakpoints import HERE, Breakpoint
from studio.core.agent.values.commands import Command, Continue, ForkFrom, PauseRun, StepOn, StopRun
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import PausePoint, RunModel
from studio.core.models.base import ChatModel
from studio.core.wire.wire_call import CallLookup, no_call
from studio.viewmodels.app.background import Background
from studio.viewmodels.app.jobs import LatestJob, repeating_timer
from studio.viewmodels.run.breakpoint_book import FileBreakpoints
from studio.viewmodels.run.sessions import RunSessions, RunSlot, RunSlots, slot_path

_OUTPUT_MS = 150
"""Interval at which the output of running calls is read, in milliseconds."""

_MOST_FOLDED = 2000
"""Maximum number of events that are folded to compute watches at an earlier point."""


class RunController(QObject):
    """The run that a window shows: that of the open prompt, or one opened from the history.

    `sessions` reports every running run, whether it is shown or not.
    """

    state_changed = Signal(RunView)
    inspector_changed = Signal(InspectorView)
    streamed = Signal(str)  # text of the current reply so far
    compared = Signal(RunComparison)
    overviewed = Signal(RunOverview)
    repeated = Signal(RunComparison)  # comparison with the replayed run
    worked_out = Signal(tuple)  # ConsoleLines: an expression and its value
    branch_named = Signal(str, int, str)  # id of the run, number of the branch, its name
    call_outputs_changed = Signal(Mapping)  # output of each running call so far, by row
    refused = Signal(str)  # sentence for the user: a request was impossible or failed

    def __init__(
        self, background: Background, journal: Journal | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._journal = journal
        self.breakpoints = FileBreakpoints(self)
        self.slots = RunSlots()
        self.sessions = RunSessions(self.slots, background, journal, self.breakpoints, self)
        """The sessions that drive the runs."""
        self._model_now: RunModel | None = None
        self._wanted = Inspection()
        self._listening = repeating_timer(self, self._read_live_output, _OUTPUT_MS)
        self._joined: list[RunSlot] = []
        """Conversations of the recorded program, in the order of their start."""
        self.sessions.changed.connect(self._lead)
        self.sessions.changed.connect(self._show)
        self.sessions.streamed.connect(self._on_streamed)
        self.sessions.ended.connect(self._compare_with_past)
        self.sessions.refused.connect(self.refused)
        self.breakpoints.changed.connect(self._on_breakpoints)

    @property
    def _slot(self) -> RunSlot:
        """The shown slot."""
        return self.slots.shown

    @property
    def view(self) -> RunView:
        """Return the view of the run pane."""
        return self._slot.view

    @property
    def state(self) -> RunState | None:
        """State of the shown run."""
        return self._slot.shown.state

    @property
    def is_live(self) -> bool:
        """Whether the shown run is running or waiting."""
        return self._slot.is_live

    @property
    def past(self) -> PastRun | None:
        """The shown run as a past run: to continue, compare or export."""
        return self._slot.shown.past

    # Start and end -------------------------------------------------------------------------------

    def start(
        self,
        plan: RunPlan,
        *,
        at_entry: bool = False,
        to: PausePoint | None = None,
        against: PastRun | None = None,
        first: tuple[Command, ...] = (),
        follows_prompt: bool = True,
    ) -> None:
        """Run a prompt; a running run of the same prompt is stopped first.

        Args:
            plan: what to run.
            at_entry: pause before the first request.
            to: pause at the first point of this kind.
            against: run to compare with at the end.
            first: commands to start with.
            follows_prompt: whether to ask the user when the prompt's model changes later.
        """
        slot = self.slots.show(slot_path(plan.document))
        slot.make_room()
        slot.against = against
        slot.here = Breakpoint(HERE, frozenset({to})) if to is not None else None
        slot.follows_prompt, slot.missing_model = follows_prompt, None
        self.sessions.begin(slot, plan, *first, at_entry=at_entry)

    def join(self, session: RunSession, *, is_first: bool) -> None:
        """Follow a conversation of a recorded program; show it if no run is waiting here."""
        slot = self.slots.of_program(str(id(session)))
        self._joined = [slot] if is_first else [*self._joined, slot]
        self.sessions.join(slot, session)

    def show_joined(self) -> None:
        """Show the waiting conversation of the recorded program, or the newest one."""
        going = [slot for slot in self._joined if slot.is_live or slot.shown.run]
        if going:
            self.slots.shown = next((each for each in going if each.mark == "waiting"), going[-1])
            self._show(self._slot)

    def _lead(self, slot: RunSlot) -> None:
        """Show a waiting conversation, unless the user has selected another one."""
        if slot is self._slot and slot.waits_for_program:
            slot = next((each for each in self._joined if each.mark == "waiting"), slot)
        is_first = slot.session is not None and slot.session.is_program and bool(slot.shown.run)
        waits_here = self._slot.is_live and self._slot.mark == "waiting"
        if not is_first or slot is self._slot or waits_here:
            return
        if slot.mark == "waiting" or (not self._slot.is_live and slot is self._joined[0]):
            self.slots.shown = slot
            self._show(slot)

    def set_model_now(self, model: RunModel | None) -> None:
        """Set the model with which a run of the open prompt would start; None if unknown."""
        if model != self._model_now:
            self._model_now = model
            self._show(self._slot)

    def take_pick(self, model: RunModel | None) -> None:
        """Apply the user's choice of a model for the open prompt; pause a run with another one."""
        self.set_model_now(model)
        begins, asked = self._slot.begins_with, self._model_to_ask(self._slot)
        is_other = begins is not None and asked is not None and not asked.is_same(begins)
        if is_other or (self.view.is_busy and self.view.asks_model):
            self.pause()

    def take_up(
        self, plan: RunPlan, *first: Command, missing_model: RunModel | None = None
    ) -> None:
        """Continue the shown past run from one of its checkpoints.

        Args:
            plan: plan to continue with, which includes the run's journal.
            first: commands to start with, of which the first is `ForkFrom`.
            missing_model: the run's model if it is unavailable here and the plan has another.
        """
        self._slot.drop_run()
        self._slot.follows_prompt, self._slot.missing_model = True, missing_model
        before, self._slot.against, self._slot.here = self._slot.shown, None, None
        events = before.events
        self._slot.shown = DisplayedRun(
            before.state, before.tree.copy(), events, names=dict(before.names)
        )
        self.sessions.begin(self._slot, plan, *first)

    def show_prompt(self, path: str) -> None:
        """Show the run of the selected prompt; runs of other prompts continue.

        Args:
            path: the prompt's file; empty if it was never saved.
        """
        if self.slots.turn_to(path):
            self._show(self._slot)

    def open_record(self, record: RunRecord) -> None:
        """Show a past run; nothing is sent or called, and running runs continue."""
        setup = record.state.setup if record.state is not None else None
        if setup is not None and self.slots.show_live(setup.run):
            self._show(self._slot)
            return
        slot = self.slots.show_beside(setup.path if setup is not None else "")
        slot.session = None
        slot.announced, slot.against, slot.here = "", None, None
        slot.shown = DisplayedRun.of_record(record)
        slot.view = RunView(timeline=record.timeline)
        self._show(slot)

    def follow_record(self, record: RunRecord) -> None:
        """Show new events of the shown past run, which another program added.

        The position stays; if it was the end of the run, it moves to the new end.
        """
        shown = self._slot.shown
        if shown.record is None or record.state is None or self._slot.session is not None:
            return
        if record.state.setup.run != shown.run:
            return
        self._slot.shown = DisplayedRun.of_record(
            replace(record, at=shown.record.at, seen=record.whole)
        )
        self._slot.view = RunView(timeline=record.timeline)
        self._show(self._slot)

    def move_record(self, by: int) -> None:
        """Move a number of events forward or back in a past run."""
        if self._slot.shown.record is not None:
            self._slot.shown.look_at(self._slot.shown.record.moved(by))
            self._show(self._slot)

    def close(self) -> None:
        """Close the running runs; they are recorded as stopped."""
        self._listening.stop()
        self.sessions.close()

    # Commands -------------------------------------------------------------------------------------

    def send(self, *commands: Command) -> None:
        """Send a command to the run; an impossible one is reported, not raised.

        Args:
            commands: commands in order; those after an impossible one are dropped.
        """
        self.sessions.send(self._slot, *commands)

    def step(self) -> None:
        """Step over a model call or a tool call as one unit."""
        self.send(StepOn("over"))

    def pause(self) -> None:
        """Pause at the next point."""
        self.send(PauseRun())

    def stop(self) -> None:
        """End the run now."""
        self.send(StopRun())

    def run_to(self, place: PausePoint) -> None:
        """Continue to the next point of a kind, or to a breakpoint before it."""
        if self._slot.session is not None and self._slot.view.is_waiting:
            self._slot.here = Breakpoint(HERE, frozenset({place}))
            self.sessions.set_breakpoints(self._slot)
            self.send(Continue())

    def fork_from(self, card: StepCard, *then: Command) -> None:
        """Go back to the checkpoint of a card and pause there on a new branch.

        Args:
            card: the card.
            then: further commands; none for a past run.
        """
        checkpoint = checkpoint_of_card(self._slot.shown.tree, self._slot.shown.cursor, card)
        self.go_to(checkpoint.id if checkpoint is not None else -1, *then)

    def go_to(self, checkpoint: int, *then: Command) -> None:
        """Go to a checkpoint of the run; continuing from there starts a new branch."""
        shown = self._slot.shown
        if shown.record is not None:
            shown.look_at(shown.record.at_checkpoint(checkpoint))
            self._show(self._slot)
            return
        if shown.tree.get(checkpoint) is None or self._slot.session is None:
            self.refused.emit(tr("The run cannot go back to this place."))
            return
        if self._slot.driving is not None and self._slot.view.is_busy:
            self.refused.emit(tr("Pause the run before going back."))
            return
        self.send(ForkFrom(checkpoint), *then)

    def name_branch(self, number: int, name: str) -> None:
        """Set the user's name of a branch; an empty name removes it."""
        shown = self._slot.shown
        shown.names[number] = name.strip()
        if shown.record is not None:
            shown.record = replace(shown.record, names=dict(shown.names))
        self.branch_named.emit(shown.run, number, name.strip())
        self._show(self._slot)

    def compare_all(self) -> None:
        """Compare all branches of the run in one table."""
        shown = self._slot.shown
        calls = self._calls_of(shown.run)
        sides = [shown.side_of(branch, calls) for branch in self.view.branches]
        if len(sides) > 1:
            self.overviewed.emit(overview(sides))

    def compare_branches(self, left: BranchView, right: BranchView) -> None:
        """Compare two branches of the run side by side."""
        shown, calls = self._slot.shown, self._calls_of(self._slot.shown.run)
        self.compared.emit(compare(shown.side_of(left, calls), shown.side_of(right, calls)))

    # Display -------------------------------------------------------------------------------------

    def inspect(self, wanted: Inspection) -> None:
        """Show a tab of a step in the inspector."""
        self._wanted = wanted
        shown = self._slot.shown
        model = self._slot.session.plan.model if self._slot.session is not None else None
        reading = None
        if shown.state is not None and wanted.tab == "reply":
            so_far = shown.streaming or shown.state.step.reply
            reading = reading_for_display(shown.state, so_far)
        state = self._state_of(wanted.moment) if wanted.moment is not None else shown.state
        view = inspector_view(
            state,
            wanted,
            InspectionSources(self._calls_of(shown.run), model),
            shown.streaming,
            reading,
            shown.output,
        )
        self.inspector_changed.emit(view)

    def _calls_of(self, run: str) -> CallLookup:
        """Return a function that looks up sent and received data of a run's model calls."""
        return partial(self._journal.call, run) if self._journal is not None else no_call

    def work_out(self, source: str, card: StepCard | None) -> None:
        """Evaluate an expression at the point of a card, or at the current point."""
        state = self._state_of(card) if card is not None else self._slot.shown.state
        self.worked_out.emit(evaluated(source, state, (card.step, card.call) if card else None))

    def _state_of(self, card: StepCard) -> RunState | None:
        """Return the state at a card; for a very long run, only the current state."""
        shown = self._slot.shown
        place = checkpoint_of_card(shown.tree, shown.cursor, card)
        if place is None or len(shown.events) > _MOST_FOLDED:
            return shown.state
        return state_at(shown.events, place.id)

    def _read_live_output(self) -> None:
        """Show the output of the running calls so far."""
        session = self._slot.session
        if session is None or not self._slot.view.running_calls:
            self._listening.stop()
            return

        def done(future: Future[Mapping[int, str]]) -> None:
            if not future.cancelled() and self._slot.session is session:
                self._hear(future.result())

        self._background.start(session.read_live_output(), done)

    def _hear(self, said: Mapping[int, str]) -> None:
        before = self._slot.shown.output
        self._slot.shown.hear(said, time.time())
        self.call_outputs_changed.emit(said)
        if self._slot.shown.output is not before and self._wanted.tab == "tool":
            self.inspect(self._wanted)

    def _on_breakpoints(self) -> None:
        self._show(self._slot)

    def _on_streamed(self, slot: RunSlot) -> None:
        streaming = slot.shown.streaming
        if slot is self._slot and streaming is not None:
            if self._wanted.tab == "reply":  # only this tab changes with it
                self.inspect(self._wanted)
            self.streamed.emit(streaming.text)

    def _show(self, slot: RunSlot) -> None:
        """Update the view if the run is shown; for others, it is made when they are shown."""
        if slot is not self._slot:
            return
        slot.view = slot.shown.view(
            slot.view,
            self.breakpoints.value,
            starting=slot.is_live and slot.shown.state is None,
            model_now=self._model_to_ask(slot),
            can_keep_model=slot.can_keep_model,
        )
        self.state_changed.emit(slot.view)
        if slot.view.running_calls and not self._listening.isActive():
            self._listening.start()

    def _model_to_ask(self, slot: RunSlot) -> RunModel | None:
        """Return the open prompt's model, or the replacement if the run's own is unavailable."""
        now = self._model_now if self.slots.is_of_open_prompt(slot) else None
        if now is not None or slot.other_model is None:
            return now
        return run_model_of(slot.other_model, priced=False)

    @property
    def stand_in(self) -> ChatModel | None:
        """Return the replacement of an unavailable model for a run whose prompt is not open."""
        has_own = self._model_now is not None and self.slots.is_of_open_prompt(self._slot)
        return None if has_own else self._slot.other_model

    def _compare_with_past(self, run: str) -> None:
        """Compare a finished run with the run whose results it reused."""
        slot = next((each for each in self.slots if each.against and each.shown.run == run), None)
        if slot is None or slot.against is None or slot.shown.state is None:
            return
        past, now, slot.against = slot.against, slot.shown.state, None
        comparison = compare(
            RunSide(
                tr("Previous run"),
                state_at(past.events, past.last),
                self._calls_of(past.setup.run),
            ),
            RunSide(tr("This run"), now, self._calls_of(run)),
        )
        is_replay = slot.session is not None and slot.session.plan.reenactment is not None
        (self.repeated if is_replay else self.compared).emit(comparison)


# The item model of the timeline, which emits only real changes; and the search in a run.

CARD_ROLE = int(Qt.ItemDataRole.UserRole)
"""Role for the `StepCard`."""

_PIECE_SECONDS = 0.1
"""Time slice of the search in seconds, so that a new search need not wait for the old one."""


class StepListModel(QAbstractListModel):
    """List model with one row for each card."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.cards = CardList()
        """The cards in order."""

    def show_timeline(self, timeline: Timeline) -> None:
        """Set new cards; rows that are equal stay untouched."""
        new, old = timeline.cards, self.cards
        same = old.shares(new)
        shared = min(len(old), len(new))
        if len(new) < len(old):
            self.beginRemoveRows(QModelIndex(), len(new), len(old) - 1)
            self.cards = old.upto(len(new))
            self.endRemoveRows()
        if len(new) > len(old):
            self.beginInsertRows(QModelIndex(), len(old), len(new) - 1)
            self.cards = new
            self.endInsertRows()
        self.cards = new
        if same < shared:
            self.dataChanged.emit(self.index(same), self.index(shared - 1))

    def row_of(self, key: tuple[int, str, int | None]) -> int:
        """Return the row of the card with a key, searched from the newest; -1 if there is none."""
        first, last = self.cards.before(key[0] - 1), self.cards.before(key[0])
        for row in range(last - 1, first - 1, -1):
            if self.cards[row].key == key:
                return row
        return -1

    def live_row(self) -> int:
        """Return the row of the run's current point: the marked or the last card; -1 if empty."""
        for row in range(len(self.cards) - 1, max(-1, len(self.cards) - 64), -1):
            if self.cards[row].phase in ("live", "paused", "done"):
                return row
        return len(self.cards) - 1

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        """Return the number of cards."""
        return 0 if parent is not None and parent.isValid() else len(self.cards)

    def data(
        self,
        index: QModelIndex | QPersistentModelIndex,
        role: int = int(Qt.ItemDataRole.DisplayRole),
    ) -> object:
        """Return the card, its text, or its description for screen readers."""
        if not index.isValid() or index.row() >= len(self.cards):
            return None
        card = self.cards[index.row()]
        if role == CARD_ROLE:
            return card
        if role == int(Qt.ItemDataRole.DisplayRole):
            return card.title if not card.summary else f"{card.title}: {card.summary}"
        if role == int(Qt.ItemDataRole.AccessibleTextRole):
            return card.spoken
        if role == int(Qt.ItemDataRole.ToolTipRole):
            return "\n".join(filter(None, (card.summary or card.title, card.touched)))
        return None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """Return the item flags: all rows can be selected."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


class RunSearch(QObject):
    """Searches a run in the background; new words cancel the search for the old ones."""

    found_changed = Signal(SearchHits)  # SearchHits: partial or complete
    failed = Signal(str)  # why the run cannot be read

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._question = SearchOrder(None, (), "")
        self.found = SearchHits()
        """Hits so far."""
        self._job = LatestJob(self, self._on_piece, self._on_failed)

    def look(self, state: RunState | None, cards: Sequence[StepCard], words: str) -> None:
        """Search for words; search the same words again only if the run has changed."""
        wanted = " ".join(words.split()).casefold()
        asked = self._question
        if state is asked.state and wanted == asked.words and len(cards) == len(asked.cards):
            return
        self._job.drop()
        self._question = SearchOrder(state, cards, wanted)
        self.found = SearchHits(wanted, is_whole=state is None or not wanted)
        if not self.found.is_whole:
            self._submit(0)
        self.found_changed.emit(self.found)

    def _submit(self, begin: int) -> None:
        self._job.submit(partial(look_through, self._question, begin, _PIECE_SECONDS))

    def _on_piece(self, piece: SearchPiece) -> None:
        is_whole = piece.end >= len(self._question.cards)
        self.found = SearchHits(self._question.words, self.found.rows + piece.rows, is_whole)
        if not is_whole:
            self._submit(piece.end)
        self.found_changed.emit(self.found)

    def _on_failed(self, error: Exception) -> None:
        self._question = SearchOrder(None, (), "")
        self.found = SearchHits()
        self.failed.emit(str(error))
