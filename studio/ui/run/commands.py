"""The user's commands for a run: start, continue, step, go back to a card and act there."""

from collections.abc import Callable
from functools import partial
from typing import cast

from PySide6.QtCore import QObject, Signal

from studio.application.run.cards.timeline import CardKind, StepCard
from studio.application.run.displayed_run import RunView
from studio.application.run.edits.in_place import EditKind
from studio.application.run.offers.offer import Offer
from studio.core.agent.values.commands import Approve, Command, Continue, PauseRun, StepOn, StopRun
from studio.ui.run.side.panel import SidePanel
from studio.ui.run.steps.timeline import TimelineView


class RunCommands(QObject):
    """Asks for it; where only the user can decide how the run goes on, leads to the choice."""

    request_run = Signal(bool)  # start a run; True: stand still at its first place
    request_other_run = Signal(
        bool
    )  # a run of the open file, while that of another goes on; as above
    request_run_to = Signal(str)  # Place to go on to, or to start a run up to
    request_commands = Signal(tuple)  # Commands for the run that is there, in order
    request_record_move = Signal(int)  # in a run of the past: places to go on (or back, below 0)
    request_fork = Signal(StepCard)  # StepCard to go back to, as a new branch
    request_offer = Signal(str)  # what an offer asks of the window: "resume", "rerun", …

    def __init__(self, timeline: TimelineView, side: SidePanel, parent: QObject) -> None:
        super().__init__(parent)
        self._timeline, self._side = timeline, side
        self._view = RunView()
        self._prompt: str | None = None
        self._begun_in: str | None = None
        self._then: Callable[[], object] | None = None

    def show_view(self, view: RunView) -> None:
        """Take a run's state, after all views took it; what waits for a place is done there."""
        before, self._view = self._view, view
        if view.is_live and not before.is_live:
            self._begun_in = self._prompt
        if self._then is not None and view.is_waiting and view.state is not before.state:
            then, self._then = self._then, None
            then()

    # What the window's actions call ---------------------------------------------------------------

    def show_prompt(self, path: str) -> None:
        """Say which prompt is open: F5 and F10 are for its run, never for that of another one."""
        self._prompt = path

    def run_or_continue(self) -> None:
        """Start a run, or continue the waiting one (F5)."""
        if self._is_of_other_prompt():
            self.request_other_run.emit(False)
            return
        self.run_or_continue_shown()

    def step(self, how: str = "over") -> None:
        """Step with F10, F11, Shift+F11 to a nearby place, or start and pause at the first.

        In a run of the past: to the next place, and with "out" to the one before; at its end a
        new run starts.
        """
        if self._is_of_other_prompt():
            self.request_other_run.emit(True)
            return
        self.step_shown(how)

    def approve(self) -> None:
        """Approve the current call of the run."""
        call = self._view.approvable
        if call is not None:
            self._tell(Approve(call))

    def pause(self) -> None:
        """Pause at the next place."""
        if self._view.is_busy:
            self._tell(PauseRun())

    def stop(self) -> None:
        """End the run now; also one whose tools are still being made ready."""
        if not self._view.record:
            self._tell(StopRun())

    # What the pane's buttons and cards call -------------------------------------------------------

    def run_or_continue_shown(self) -> None:
        """Start or continue the run that is shown, whatever file is open."""
        if self._side.points_out_draft():
            return
        if self._view.is_waiting:
            self._go_on(Continue())
        elif not self._view.is_busy:
            self.request_run.emit(False)

    def step_shown(self, how: str) -> None:
        """Step the run that is shown, whatever file is open."""
        if self._side.points_out_draft():
            return
        state = self._view.state
        at_end = state is not None and state.is_over
        if self._view.record and (how == "out" or not at_end):
            self._timeline.follow()
            self.request_record_move.emit(-1 if how == "out" else 1)
        elif self._view.is_waiting:
            match how:
                case "into":
                    self._go_on(StepOn("into"))
                case "out":
                    self._go_on(StepOn("out"))
                case _:
                    self._go_on(StepOn("over"))
        elif not self._view.is_busy and how != "out":
            self.request_run.emit(True)

    def restart(self) -> None:
        """Start a run from the beginning."""
        if not self._side.points_out_draft():
            self.request_run.emit(False)

    def run_to(self, place: str) -> None:
        """Go on to a place, or start a run up to it."""
        if self._view.choice:
            self._side.point_out_choice()
        else:
            self.request_run_to.emit(place)

    def give(self, commands: tuple[Command, ...]) -> None:
        """Give the run commands that the user chose, in order."""
        self._tell(*commands)

    def take_any(self, offer: Offer) -> None:
        """Perform an offer that the user takes elsewhere than in the pane."""
        if offer.ask:
            self.take_offer(offer)
        else:
            self.give(offer.commands)

    def take_offer(self, offer: Offer) -> None:
        """Perform the action that is offered at the current place of the run."""
        match offer.ask:
            case "again":
                self._again(*(offer.commands or (StepOn("over"),)))
            case "rewrite":
                self._do_again(partial(self._side.open_edit, "messages"))
            case _:
                self.request_offer.emit(offer.ask)

    def rerun_from(self, card: StepCard) -> None:
        """Run on from a card once more, as a new branch."""
        self._go_back(card, partial(self._go_on, Continue()))

    def edit_at(self, card: StepCard, kind: str) -> None:
        """Write something else at the place of a card: here, or after going back to it."""
        wanted = cast("EditKind", kind)
        if self._view.choice == "model":
            self._side.point_out_choice()
            return
        if card.phase == "paused" and self._side.open_edit(wanted):
            return
        self._go_back(card, partial(self._side.open_edit, wanted))

    # Inside ---------------------------------------------------------------------------------------

    def _is_of_other_prompt(self) -> bool:
        """Return whether the live run is of another prompt than the open one.

        One of the past that was taken up belongs to the prompt that was open then, too.
        """
        view, state = self._view, self._view.state
        if not view.is_live or state is None or self._prompt is None:
            return False
        return self._prompt not in (state.setup.path, self._begun_in)

    def _again(self, *commands: Command) -> None:
        """Do the request or the call that led to this place once more, as a new branch."""

        def then() -> None:
            if self._view.choice:
                self._side.point_out_choice()
            else:
                self._tell(*commands)

        self._do_again(then)

    def _do_again(self, then: Callable[[], object]) -> None:
        """Go back to the request or the call that led to this place, and do something there."""
        state = self._view.state
        if state is None:
            return
        kind: CardKind = "action" if state.call is not None else "prompt"
        key = (state.step.number, kind, state.call)
        card = next((each for each in reversed(self._timeline.cards) if each.key == key), None)
        if card is not None:
            self._go_back(card, then)

    def _go_back(self, card: StepCard, then: Callable[[], object]) -> None:
        """Go back to a card on a new branch, and act there."""
        self.request_fork.emit(card)
        if self._view.record:
            self.request_offer.emit("resume")
        self._then = then

    def _go_on(self, command: Command) -> None:
        """Go on, unless only the user can decide here: then lead to the choice."""
        if self._view.choice:
            self._side.point_out_choice()
        else:
            self._tell(command)

    def _tell(self, *commands: Command) -> None:
        self._then = None
        self._timeline.follow()
        self.request_commands.emit(commands)
