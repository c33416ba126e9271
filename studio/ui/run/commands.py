"""The user's commands for a run: start, continue, step, go back to a card."""

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
    """Requests commands, or shows the choices if the user must first decide."""

    request_run = Signal(bool)  # start a run; True: pause at the first point
    request_other_run = Signal(bool)  # a run of the open file while another file's is running
    request_run_to = Signal(str)  # pause point to continue to, or to start a run up to
    request_commands = Signal(tuple)  # commands for the existing run, in order
    request_record_move = Signal(int)  # in a past run: number of events to move, negative for back
    request_fork = Signal(StepCard)  # StepCard to go back to, on a new branch
    request_offer = Signal(str)  # action of the window for an offer: "resume", "rerun", …

    def __init__(self, timeline: TimelineView, side: SidePanel, parent: QObject) -> None:
        super().__init__(parent)
        self._timeline, self._side = timeline, side
        self._view = RunView()
        self._prompt: str | None = None
        self._begun_in: str | None = None
        self._then: Callable[[], object] | None = None

    def show_view(self, view: RunView) -> None:
        """Set a run's state after all views; execute a command that waits for a checkpoint."""
        before, self._view = self._view, view
        if view.is_live and not before.is_live:
            self._begun_in = self._prompt
        if self._then is not None and view.is_waiting and view.state is not before.state:
            then, self._then = self._then, None
            then()

    # Called by the window's actions ---------------------------------------------------------------

    def show_prompt(self, path: str) -> None:
        """Set the open prompt: F5 and F10 apply to its run only."""
        self._prompt = path

    def run_or_continue(self) -> None:
        """Start a run, or continue the waiting one (F5)."""
        if self._is_of_other_prompt():
            self.request_other_run.emit(False)
            return
        self.run_or_continue_shown()

    def step(self, how: str = "over") -> None:
        """Step (F10, F11, Shift+F11), or start a run and pause at its first point.

        In a past run, go to the next event, or with "out" to the previous one; at its end, a new
        run starts.
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
        """Pause at the next point."""
        if self._view.is_busy:
            self._tell(PauseRun())

    def stop(self) -> None:
        """End the run now, also while its tools are starting."""
        if not self._view.record:
            self._tell(StopRun())

    # Called by buttons and cards of the pane -----------------------------------------------------

    def run_or_continue_shown(self) -> None:
        """Start or continue the shown run, whatever file is open."""
        if self._side.points_out_draft():
            return
        if self._view.is_waiting:
            self._go_on(Continue())
        elif not self._view.is_busy:
            self.request_run.emit(False)

    def step_shown(self, how: str) -> None:
        """Step the shown run, whatever file is open."""
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
        """Continue to a pause point, or start a run up to it."""
        if self._view.choice:
            self._side.point_out_choice()
        else:
            self.request_run_to.emit(place)

    def give(self, commands: tuple[Command, ...]) -> None:
        """Send commands that the user chose."""
        self._tell(*commands)

    def take_any(self, offer: Offer) -> None:
        """Execute an offer that the user selected outside the pane."""
        if offer.ask:
            self.take_offer(offer)
        else:
            self.give(offer.commands)

    def take_offer(self, offer: Offer) -> None:
        """Execute an offer at the current pause of the run."""
        match offer.ask:
            case "again":
                self._again(*(offer.commands or (StepOn("over"),)))
            case "rewrite":
                self._do_again(partial(self._side.open_edit, "messages"))
            case _:
                self.request_offer.emit(offer.ask)

    def rerun_from(self, card: StepCard) -> None:
        """Run again from a card, on a new branch."""
        self._go_back(card, partial(self._go_on, Continue()))

    def edit_at(self, card: StepCard, kind: str) -> None:
        """Open the editor for the content of a card: here, or after going back to it."""
        wanted = cast("EditKind", kind)
        if self._view.choice == "model":
            self._side.point_out_choice()
            return
        if card.phase == "paused" and self._side.open_edit(wanted):
            return
        self._go_back(card, partial(self._side.open_edit, wanted))

    # Internals ------------------------------------------------------------------------------------

    def _is_of_other_prompt(self) -> bool:
        """Return whether the live run belongs to another prompt than the open one.

        A continued past run belongs to the prompt that was open when it was continued.
        """
        view, state = self._view, self._view.state
        if not view.is_live or state is None or self._prompt is None:
            return False
        return self._prompt not in (state.setup.path, self._begun_in)

    def _again(self, *commands: Command) -> None:
        """Repeat the last request or call before the current point, on a new branch."""

        def then() -> None:
            if self._view.choice:
                self._side.point_out_choice()
            else:
                self._tell(*commands)

        self._do_again(then)

    def _do_again(self, then: Callable[[], object]) -> None:
        """Go back to the last request or call before the current point, and act there."""
        state = self._view.state
        if state is None:
            return
        kind: CardKind = "action" if state.call is not None else "prompt"
        key = (state.step.number, kind, state.call)
        card = next((each for each in reversed(self._timeline.cards) if each.key == key), None)
        if card is not None:
            self._go_back(card, then)

    def _go_back(self, card: StepCard, then: Callable[[], object]) -> None:
        """Go back to a card on a new branch, and execute a function there."""
        self.request_fork.emit(card)
        if self._view.record:
            self.request_offer.emit("resume")
        self._then = then

    def _go_on(self, command: Command) -> None:
        """Continue, or show the choices if the user must decide."""
        if self._view.choice:
            self._side.point_out_choice()
        else:
            self._tell(command)

    def _tell(self, *commands: Command) -> None:
        self._then = None
        self._timeline.follow()
        self.request_commands.emit(commands)
