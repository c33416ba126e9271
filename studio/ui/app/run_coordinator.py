"""Everything of runs that the window does: starting them, taking them up, keeping edits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QInputDialog, QLineEdit

from studio.application.connections.model import RequestedModel, asked_by
from studio.application.experiments.stepping import SteppedCell
from studio.application.run.past.again import exactly, is_other_prompt, values_of, with_results_of
from studio.application.run.past.compare import RunComparison
from studio.application.run.past.record import RunRecord
from studio.application.run.start.plan import OpenToolbox, RunPlan
from studio.application.run.start.readiness import Refusal, refusal_of
from studio.application.trust import references_of
from studio.core.agent.loop.setup import run_model_of
from studio.core.agent.values.commands import ChooseModel, Command, Continue
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.run_setup import RunModel
from studio.core.models.base import ChatModel, ModelError, ProtocolName
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.prepare import settled_document
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.runs.summary import RunSummary
from studio.core.text.values import Json
from studio.core.tools.trust.store import TrustStore
from studio.ui.app.connection_coordinator import ConnectionCoordinator
from studio.ui.inputs.pane import InputsPane
from studio.ui.run.breakpoints_dialog import BreakpointsDialog
from studio.ui.window.parts import WindowParts
from studio.viewmodels.app.notifications import Notification, NotificationAction, Notifications
from studio.viewmodels.connections.controller import ConnectionsController
from studio.viewmodels.run.controller import RunController

_SHARE = 0.46
"""How much of the window's height the run has at least, when the first one begins."""

Toolboxes = Callable[[PromptDocument, dict[str, Json], ReferenceContext], OpenToolbox]
"""Gives, for a document, its values and its references, what makes its tools ready."""


class RunCoordinator(QObject):
    """Stands between the run pane's wishes and the run's controller."""

    request_input = Signal(str)  # name of an input that wants a value
    request_record = Signal(str)  # id of a run of the history that is to be shown
    protocol_changed = Signal(object)  # ProtocolName for runs, or None for the prompt's own

    def __init__(
        self,
        window: WindowParts,
        run: RunController,
        connections: ConnectionsController,
        questions: ConnectionCoordinator,
        inputs: InputsPane,
        trust: TrustStore,
        toolboxes: Toolboxes,
    ) -> None:
        """Make it.

        Args:
            window: the window.
            run: what runs.
            connections: where models come from.
            questions: what is asked before a folder's connection is used.
            inputs: the user's values.
            trust: the folders that are trusted.
            toolboxes: what makes a document's tools ready.
        """
        super().__init__(window.widget)
        self._window = window
        self._run = run
        self._connections = connections
        self._questions = questions
        self._inputs = inputs
        self._trust = trust
        self._toolboxes = toolboxes
        self._protocol: ProtocolName | None = None
        self._grown = False
        self._awaited = ""
        """The run that is gone on with once it is shown."""
        run.sessions.started.connect(self._make_room)
        run.sessions.started.connect(self.show_model)
        connections.changed.connect(self.show_model)
        connections.picked.connect(self.take_pick)

    @property
    def _messages(self) -> Notifications:
        return self._window.services.messages

    # -- starting -------------------------------------------------------------------------------

    def start(self, at_entry: bool, to: PausePoint | None = None) -> None:
        """Run the prompt as it stands in the editor.

        Args:
            at_entry: stand still at its first place.
            to: stand still at the first place of this sort.
        """
        document = self._window.tabs.document
        if document is None or not document.is_prompt:
            self._messages.info(
                self.tr("Nothing to run."), self.tr("Open or write a prompt first.")
            )
            return
        if self._questions.asks_first(lambda: self.start(at_entry, to)):
            return
        plan = self._checked_plan(document, self._inputs.values(), lambda: self.start(at_entry, to))
        if plan is not None:
            self._inputs.keep_history()
            self._run.start(plan, at_entry=at_entry, to=to)

    def start_cell(self, cell: SteppedCell) -> None:
        """Step through a cell of an experiment, with its own model, protocol and mocks."""
        if self._questions.asks_first(lambda: self.start_cell(cell), cell.asked):
            return
        document, values = cell.document, dict(cell.values)
        refusal = refusal_of(document, values)
        if refusal is not None:
            self._show_refusal(refusal, lambda: self.start_cell(cell))
            return
        plan = self._plan(document, values, cell.asked)
        if plan is None or plan.open_toolbox is None:
            return
        plan = replace(
            plan,
            open_toolbox=cell.with_mocks(plan.open_toolbox),
            options=RunOptions(protocol=cell.protocol),
        )
        self._window.docks.show("run")
        self._run.start(plan, at_entry=True, follows_prompt=False)

    def ask_about_other(self, at_entry: bool) -> None:
        """A run of another prompt goes on: it is neither gone on with nor ended by a reflex."""
        state, document = self._run.state, self._window.tabs.document
        if state is None or document is None:
            return
        path = Path(state.setup.path) if state.setup.path else None
        name = path.name if path is not None else state.setup.prompt
        offers = [
            NotificationAction(self.tr("Stop it and run this prompt"), lambda: self.start(at_entry))
        ]
        if path is not None:
            show = NotificationAction(
                self.tr("Show {name}").format(name=name), partial(self._show_file, path)
            )
            offers.insert(0, show)
        words = self.tr("A run of {name} is not over.").format(name=name)
        hint = self.tr("F5 and F10 are for the prompt that is open. The run stays as it is.")
        self._messages.say(Notification("warning", words, hint, offers=tuple(offers), key="run"))

    def tell_elsewhere(self, path: str, words: str) -> None:
        """Say that the run of another prompt than the one that is open wants the user, or ended.

        Args:
            path: its file; empty for a prompt that was never saved.
            words: where it stands.
        """
        if not path:
            return
        name = Path(path).name
        show = NotificationAction(
            self.tr("Show {name}").format(name=name), partial(self._show_file, Path(path))
        )
        text = self.tr("{name}: {words}.").format(name=name, words=words)
        self._messages.say(Notification("info", text, offers=(show,), key=f"run {path}"))

    def _show_file(self, path: Path) -> None:
        self._window.tabs.open(path)

    def run_to(self, place: str) -> None:
        """Go on to a place of the loop; without a run that waits, start one."""
        wanted: PausePoint | None = next((each for each in PausePoint if each == place), None)
        if wanted is None:
            return
        if self._run.view.is_waiting:
            self._run.run_to(wanted)
        elif not self._run.view.is_busy:
            self.start(at_entry=False, to=wanted)

    def resume(self) -> None:
        """Go on with the run of the past that is shown, with the prompt as it was then."""
        past = self._run.past
        if past is None or past.checkpoint is None:
            self.refuse(self.tr("This run reached no place to go on from."))
            return
        document, asked = past.document, asked_by(past.document, self._trust)
        if self._questions.asks_first(self.resume, asked):
            return
        own = self._connections.open_same(document.source.path, asked, past.state.answered_by)
        plan = self._plan(document, dict(past.setup.inputs), answers=own)
        if plan is not None:
            self._run.take_up(
                replace(plan, past=past.to_take_up),
                past.checkpoint,
                missing_model=past.state.answered_by if own is None else None,
            )
            self.show_model()

    def show_model(self) -> None:
        """Say which model a run of the open prompt would begin with now."""
        document = self._window.tabs.document
        known = document is not None and document.is_prompt
        path = document.source.path if document is not None else None
        self._run.set_model_now(self._connections.model_now(path) if known else None)

    def take_pick(self) -> None:
        """The user picked another model while the run goes on: it stands still, and asks."""
        self.show_model()
        if self._run.view.asks_model and self._run.view.is_busy:
            self._run.pause()

    def switch_model(self) -> None:
        """Go on with the model that the prompt asks for by now, as the user said."""
        state, document = self._run.state, self._window.tabs.document
        stand_in = self._run.stand_in
        if state is not None and stand_in is not None:
            chosen = run_model_of(stand_in)
            self._run.send(ChooseModel(chosen, state.answered_by, stand_in))
            return
        if state is None or document is None or self._questions.asks_first(self.switch_model):
            return
        try:
            model = self._connections.open(document.source.path, asked_by(document, self._trust))
        except ModelError as error:
            self._messages.error(error.message, error.hint)
            return
        self._run.send(ChooseModel(run_model_of(model), state.answered_by, model))

    def offer_interrupted(self, runs: tuple[RunSummary, ...]) -> None:
        """Say which run ended with its process, and offer to go on with it.

        Args:
            runs: those that were found at this start; the newest one is offered.
        """
        last = max(runs, key=lambda run: run.updated)
        name = last.prompt or self.tr("a prompt")
        rest = len(runs) - 1
        words = self.tr("The run of {name} was interrupted.")
        if rest == 1:
            words = self.tr("The run of {name} was interrupted, and one other run.")
        elif rest:
            words = self.tr("The run of {name} was interrupted, and {count} other runs.")
        words = words.format(name=name, count=rest)
        go_on = NotificationAction(self.tr("Go on with it"), partial(self._go_on_with, last.id))
        show = NotificationAction(self.tr("Show it"), partial(self.request_record.emit, last.id))
        hint = self.tr("It is kept up to its last event. Going on stands still there first.")
        self._messages.say(
            Notification("warning", words, hint, offers=(go_on, show), key="interrupted")
        )

    def _go_on_with(self, run: str) -> None:
        self._awaited = run
        self.request_record.emit(run)

    def take_record(self, record: RunRecord) -> None:
        """A run of the history is shown: one that was waited for is gone on with."""
        awaited, self._awaited = self._awaited, ""
        if awaited and record.state is not None and record.state.setup.run == awaited:
            self._messages.withdraw("interrupted")
            self.resume()

    def rerun(self, chosen: Literal["", "own", "now"] = "") -> None:
        """Run the prompt of the editor with the results of the run that is shown.

        Args:
            chosen: the user's word on the model: the run's own, or the one that the prompt asks
                for; empty where nobody was asked yet.
        """
        past, document = self._run.past, self._window.tabs.document
        if past is None or document is None:
            self.refuse(self.tr("Open the prompt that should be run again."))
            return
        if is_other_prompt(past, document.source.path):
            name = Path(past.setup.path).name
            words = self.tr("This run is of another prompt: open {name}, then run it again.")
            self.refuse(words.format(name=name))
            return
        if self._questions.asks_first(partial(self.rerun, chosen)):
            return
        path, had = document.source.path, past.state.answered_by
        now = self._connections.model_now(path)
        if not chosen and now is not None and not now.is_same(had):
            self._ask_model_of_rerun(had, now)
            return
        references = self._references(document.source.path)
        try:
            values = values_of(past, self._inputs.values(), references)
        except ModelError as error:
            self.refuse(f"{error.message} {error.hint}")
            return
        answers: ChatModel | None = None
        first: tuple[Command, ...] = ()
        if chosen == "own" and now is not None:
            asked = asked_by(past.document, self._trust)
            answers = self._connections.open_same(path, asked, had)
            if answers is None:
                words = self.tr("{model} is not set up here, so nothing was run.")
                self.refuse(words.format(model=had.name))
                return
            first = (ChooseModel(run_model_of(answers), now),)
        elif chosen == "now" and now is not None:
            first = (ChooseModel(now, had),)
        plan = self._checked_plan(document, values, partial(self.rerun, chosen), answers)
        if plan is not None:
            self._run.start(with_results_of(plan, past), against=past, first=first)

    def _ask_model_of_rerun(self, had: RunModel, now: RunModel) -> None:
        """Ask which model a run with the results of another one goes to."""
        run_with = self.tr("Run with {model}")
        offers = (
            NotificationAction(run_with.format(model=had.name), partial(self.rerun, "own")),
            NotificationAction(run_with.format(model=now.name), partial(self.rerun, "now")),
        )
        words = self.tr("Which model should answer?")
        hint = self.tr("The run had {model}; the prompt asks for {other} by now.").format(
            model=had.name, other=now.name
        )
        self._messages.say(Notification("warning", words, hint, offers=offers, key="run"))

    def replay(self) -> None:
        """Go through the run that is shown once more; no model is asked, no tool is called."""
        past = self._run.past
        if past is None:
            self.refuse(self.tr("There is no run to go through again."))
            return
        path = Path(past.setup.path) if past.setup.path else None
        self._messages.withdraw("run")
        plan = exactly(past, self._references(path))
        self._run.start(plan, against=past, follows_prompt=False)

    def ask_for_values(self) -> None:
        """Ask for the secrets that the run sends and that are not set here, and go on with them."""
        state, masker = self._run.state, self._connections.secrets.masker
        if state is None:
            return
        for reference in sorted(state.released):
            if masker.value(reference) is not None:
                continue
            value, agreed = QInputDialog.getText(
                self._window.widget,
                self.tr("A value is not set"),
                self.tr("The value of {name}:").format(name=reference),
                QLineEdit.EchoMode.Password,
            )
            if not agreed or not value:
                return
            masker.note(reference, value)
        self._run.send(Continue())

    def choose_protocol(self, protocol: str) -> None:
        """The protocol for runs from now on; empty for the prompt's own."""
        self._protocol = next((each for each in get_args(ProtocolName) if each == protocol), None)
        self.protocol_changed.emit(self._protocol)

    def send(self, commands: tuple[Command, ...]) -> None:
        """Tell the run something."""
        self._run.send(*commands)

    def _checked_plan(
        self,
        document: PromptDocument,
        values: dict[str, Json],
        again: Callable[[], None],
        answers: ChatModel | None = None,
    ) -> RunPlan | None:
        refusal = refusal_of(document, values)
        if refusal is not None:
            self._show_refusal(refusal, again)
            return None
        return self._plan(document, values, answers=answers)

    def _plan(
        self,
        document: PromptDocument,
        values: dict[str, Json],
        asked: RequestedModel | None = None,
        *,
        answers: ChatModel | None = None,
    ) -> RunPlan | None:
        path = document.source.path
        references = self._references(path)
        document = settled_document(document, values, references)
        try:
            wanted = asked or asked_by(document, self._trust)
            model = answers or self._connections.open(path, wanted)
        except ModelError as error:
            self._messages.error(error.message, error.hint)
            return None
        self._messages.withdraw("run")
        return RunPlan(
            document,
            values,
            model,
            open_toolbox=self._toolboxes(document, values, references),
            options=RunOptions(protocol=self._protocol),
            references=references,
        )

    def _references(self, path: Path | None) -> ReferenceContext:
        return references_of(path, self._trust, masker=self._connections.secrets.masker)

    def _make_room(self) -> None:
        """At the first run of a window, a low dock grows: what was said should be readable."""
        window = self._window
        dock = window.docks["run"]
        wanted = int(window.widget.height() * _SHARE)
        if not self._grown and not dock.isFloating() and dock.height() < wanted:
            window.docks.give_height("run", wanted)
        self._grown = True

    # -- saying how it went ---------------------------------------------------------------------

    def show_repeated(self, comparison: RunComparison) -> None:
        """Say how a replay compares with its run; where they part, both are shown."""
        if comparison.first_difference is None:
            words = self.tr("The replay says the same as the run, from the first message on.")
            self._messages.say(Notification("success", words, key="run"))
        else:
            self._run.compared.emit(comparison)

    def refuse(self, text: str) -> None:
        """Say why something was not done."""
        self._messages.say(Notification("warning", text, key="run"))

    def _show_refusal(self, refusal: Refusal, again: Callable[[], None]) -> None:
        """Say what keeps a prompt from being run, and offer what helps.

        Args:
            refusal: what it is.
            again: what was asked for, to be done once samples are taken as values.
        """
        if refusal.missing:
            self.request_input.emit(refusal.missing[0])
        show = NotificationAction(self.tr("Show"), lambda: self._window.tabs.go_to(refusal.span))
        offers: tuple[NotificationAction, ...] = (show,)
        if refusal.samples:
            one, many = self.tr("Run with the sample"), self.tr("Run with the samples")
            words = one if len(refusal.samples) == 1 else many
            offers = (
                NotificationAction(words, lambda: self._run_with_samples(refusal, again)),
                show,
            )
        self._messages.say(
            Notification("warning", refusal.text, refusal.hint, offers=offers, key="run")
        )

    def _run_with_samples(self, refusal: Refusal, again: Callable[[], None]) -> None:
        """The user took the samples: they are values like any other, and stand in the form."""
        self._messages.withdraw("run")
        self._inputs.set_values({**self._inputs.values(), **refusal.samples})
        again()

    # -- breakpoints ----------------------------------------------------------------------------

    def show_breakpoints(self, tools: list[str]) -> None:
        """Open the list of breakpoints."""
        dialog = BreakpointsDialog(self._run.breakpoints, self._window.widget)
        dialog.set_tools(tools)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
