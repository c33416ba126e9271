"""Starts and controls the run of the open prompt."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import get_args

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QInputDialog, QLineEdit

from studio.application.connections.model import RequestedModel, asked_by
from studio.application.experiments.stepping import SteppedCell
from studio.application.run.offers.offer import is_of_model
from studio.application.run.start.session import Refusal, open_tools, refusal_of
from studio.application.trust import references_of
from studio.application.words import tr
from studio.core.agent.loop.setup import run_model_of
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.values.commands import ChooseModel, Command, Continue
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import PausePoint, RunModel
from studio.core.models.base import ChatModel, ModelError, ProtocolName
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.prepare import settled_document
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.text.values import Json
from studio.core.tools.trust.store import TrustStore
from studio.ui.app.connection_coordinator import ConnectionCoordinator
from studio.ui.inputs.pane import InputsPane
from studio.ui.window.parts import WindowParts
from studio.viewmodels.app.notifications import NotificationAction
from studio.viewmodels.connections.controller import ConnectionsController
from studio.viewmodels.run.controller import RunController
from studio.viewmodels.tools.controller import ToolsController


class RunCoordinator(QObject):
    """Connects the run pane with the run's controller."""

    request_input = Signal(str)  # name of an input that wants a value
    request_experiment = Signal(bool)  # run the experiment in front; True: step through its cell
    protocol_changed = Signal(object)  # ProtocolName for runs, or None for the prompt's own

    def __init__(
        self,
        window: WindowParts,
        run: RunController,
        connections: ConnectionsController,
        questions: ConnectionCoordinator,
        inputs: InputsPane,
        trust: TrustStore,
        tools: ToolsController,
    ) -> None:
        """Make it.

        Args:
            window: the window.
            run: what runs.
            connections: where models come from.
            questions: what is asked before a folder's connection is used.
            inputs: the user's values.
            trust: the folders that are trusted.
            tools: what makes the tools of a document ready.
        """
        super().__init__(window.widget)
        self.window = window
        self.messages = window.messages
        self.run = run
        self.connections = connections
        self.questions = questions
        self.inputs = inputs
        self.trust = trust
        self._tools = tools
        self._protocol: ProtocolName | None = None
        run.sessions.started.connect(self.show_model)
        connections.changed.connect(self.show_model)
        connections.saved.connect(self.withdraw_refusal)
        window.tabs.current_changed.connect(self.withdraw_refusal)
        connections.picked.connect(self.take_pick)

    # -- starting -------------------------------------------------------------------------------

    def start(self, at_entry: bool, to: PausePoint | None = None) -> None:
        """Run the prompt as written in the editor.

        Args:
            at_entry: stand still at its first place.
            to: stand still at the first place of this sort.
        """
        document, tabs = self.window.tabs.document_now(), self.window.tabs
        if tabs.current is None and tabs.shown_id:
            self.request_experiment.emit(at_entry)
            return
        if document is None or not document.is_prompt:
            self.messages.info(tr("Nothing to run."), tr("Open or write a prompt first."))
            return
        if self.questions.asks_first(lambda: self.start(at_entry, to)):
            return
        plan = self.checked_plan(document, self.inputs.values(), lambda: self.start(at_entry, to))
        if plan is not None:
            self.inputs.form.keep_history()
            if at_entry or to is not None:
                self.window.docks.show("run")
            self.run.start(plan, at_entry=at_entry, to=to)

    def start_cell(self, cell: SteppedCell) -> None:
        """Step through a cell of an experiment, with its own model, protocol and mocks."""
        if self.questions.asks_first(lambda: self.start_cell(cell), cell.asked):
            return
        document, values = cell.document, cell.values
        refusal = refusal_of(document, values, self.references(document.source.path))
        if refusal is not None:
            filled = {**values, **refusal.samples}
            self._show_refusal(refusal, lambda: self.start_cell(replace(cell, values=filled)))
            return
        plan = self.plan(document, values, lambda: self.start_cell(cell), cell.asked)
        if plan is None or plan.open_toolbox is None:
            return
        plan = replace(
            plan,
            open_toolbox=cell.with_mocks(plan.open_toolbox),
            options=RunOptions(protocol=cell.protocol),
        )
        self.run.start(plan, at_entry=True, follows_prompt=False)
        self.window.actions["run.go"].trigger()  # keys are for the run now, not for the table

    def ask_about_other(self, at_entry: bool) -> None:
        """Ask what to do with another prompt's run, lest a reflex continues or ends it."""
        state, document = self.run.state, self.window.tabs.document
        if state is None or document is None:
            return
        path = Path(state.setup.path) if state.setup.path else None
        name = path.name if path is not None else state.setup.prompt
        offers = [
            NotificationAction(tr("Stop it and run this prompt"), lambda: self.start(at_entry))
        ]
        if path is not None:
            show = NotificationAction(
                tr("Show {name}").format(name=name), partial(self.window.tabs.open, path)
            )
            offers.insert(0, show)
        words = tr("A run of {name} is not over.").format(name=name)
        hint = tr("F5 and F10 are for the prompt that is open. The run stays as it is.")
        self.messages.say("warning", words, hint, offers=tuple(offers), key="run")

    def tell_elsewhere(self, path: str, words: str) -> None:
        """Notify the user that the run of a prompt other than the open one waits or has ended.

        Args:
            path: its file; empty for a prompt that was never saved.
            words: where it stands.
        """
        if not path:
            return
        name = Path(path).name
        show = NotificationAction(
            tr("Show {name}").format(name=name), partial(self.window.tabs.open, Path(path))
        )
        text = tr("{name}: {words}.").format(name=name, words=words)
        self.messages.say("info", text, offers=(show,), key=f"run {path}")

    def run_to(self, place: str) -> None:
        """Go on to a place of the loop; without a run that waits, start one."""
        wanted: PausePoint | None = next((each for each in PausePoint if each == place), None)
        if wanted is None:
            return
        if self.run.view.is_waiting:
            self.run.run_to(wanted)
        elif not self.run.view.is_busy:
            self.start(at_entry=False, to=wanted)

    def show_model(self) -> None:
        """Say which model a run of the open prompt would begin with now."""
        self.run.set_model_now(self._model_now())

    def take_pick(self) -> None:
        """Pause the run after the user has chosen another model, and ask."""
        self.run.take_pick(self._model_now())

    def _model_now(self) -> RunModel | None:
        """Return the model with which a run of the open prompt would begin; None if unknown."""
        document = self.window.tabs.document
        if document is None or not document.is_prompt:
            return None
        return self.connections.model_now(document.source.path)

    def switch_model(self) -> None:
        """Continue with the model that the prompt asks for now, as the user decided."""
        state, document = self.run.state, self.window.tabs.document
        stand_in = self.run.stand_in
        if state is not None and stand_in is not None:
            self._take_model(state, stand_in)
            return
        if state is None or document is None or self.questions.asks_first(self.switch_model):
            return
        asked = asked_by(document, self.trust)
        try:
            model = self.connections.open(document.source.path, asked)
        except ModelError as error:
            self.questions.refuse(error, asked, self.switch_model)
            return
        self._take_model(state, model)

    def _take_model(self, state: RunState, model: ChatModel) -> None:
        """Change the run to a model, and try again if the old one was the problem."""
        again = (Continue(),) if is_of_model(state) else ()
        self.run.send(ChooseModel(run_model_of(model), state.answered_by, model), *again)

    def ask_for_values(self) -> None:
        """Ask for the secrets that the run sends and that are not set here, and go on with them."""
        state, masker = self.run.state, self.connections.secrets.masker
        if state is None:
            return
        for reference in sorted(state.released):
            if masker.value(reference) is not None:
                continue
            value, agreed = QInputDialog.getText(
                self.window.widget,
                tr("A value is not set"),
                tr("The value of {name}:").format(name=reference),
                QLineEdit.EchoMode.Password,
            )
            if not agreed or not value:
                return
            masker.note(reference, value)
        self.run.send(Continue())

    def choose_protocol(self, protocol: str) -> None:
        """Set the protocol of later runs; empty for the prompt's own."""
        self._protocol = next((each for each in get_args(ProtocolName) if each == protocol), None)
        self.protocol_changed.emit(self._protocol)

    def send(self, commands: tuple[Command, ...]) -> None:
        """Send a command to the run."""
        self.run.send(*commands)

    def checked_plan(
        self,
        document: PromptDocument,
        values: Mapping[str, Json],
        again: Callable[[], None],
        answers: ChatModel | None = None,
    ) -> RunPlan | None:
        """Return a plan if the prompt can be run; otherwise report why not.

        Args:
            document: the prompt.
            values: the values of its inputs.
            again: repeats the request once samples or a connection are chosen.
            answers: the open model; None for that of the prompt.
        """
        refusal = refusal_of(document, values, self.references(document.source.path))
        if refusal is not None:
            self._show_refusal(refusal, partial(self._with_samples, refusal, again))
            return None
        return self.plan(document, values, again, answers=answers)

    def plan(
        self,
        document: PromptDocument,
        values: Mapping[str, Json],
        again: Callable[[], None],
        asked: RequestedModel | None = None,
        *,
        answers: ChatModel | None = None,
    ) -> RunPlan | None:
        """Return the plan of a prompt's run; None without a model, which is reported.

        Args:
            document: the prompt.
            values: the values of its inputs.
            again: repeats the request once a connection is chosen.
            asked: the requested model; None for that of the prompt.
            answers: the open model, where it is known already.
        """
        path = document.source.path
        references = self.references(path)
        document = settled_document(document, values, references)
        wanted = asked or asked_by(document, self.trust)
        try:
            model = answers or self.connections.open(path, wanted)
        except ModelError as error:
            self.questions.refuse(error, wanted, again)
            return None
        self.messages.withdraw("run")
        return RunPlan(
            document,
            values,
            model,
            open_toolbox=partial(
                open_tools,
                self._tools.session,
                document,
                values,
                references,
                self._tools.questions.ask,
                is_safe=self.window.services.is_safe,
            ),
            options=RunOptions(protocol=self._protocol),
            references=references,
        )

    def references(self, path: Path | None) -> ReferenceContext:
        """Return the resolver of a prompt's `${env:}` and `${file:}`."""
        return references_of(path, self.trust, masker=self.connections.secrets.masker)

    # -- saying how it went ---------------------------------------------------------------------

    def refuse(self, text: str) -> None:
        """Say why something was not done."""
        self.messages.say("warning", text, key="run")

    def withdraw_refusal(self) -> None:
        """Take back why something was not done: another prompt is open, or the reason is gone."""
        self.messages.withdraw("run")

    def _show_refusal(self, refusal: Refusal, with_samples: Callable[[], None]) -> None:
        """Say what keeps a prompt from being run, and offer what helps.

        Args:
            refusal: the reason.
            with_samples: repeats the request with the samples as values.
        """
        if refusal.missing:
            self.request_input.emit(refusal.missing[0])
        show = NotificationAction(tr("Show"), lambda: self.window.tabs.go_to(refusal.span))
        offers: tuple[NotificationAction, ...] = (show,)
        if refusal.wants_trust:
            trust = self.window.actions["tools.trust"]
            offers = (NotificationAction(trust.text(), trust.trigger), show)
        if refusal.samples:
            one, many = tr("Run with the sample"), tr("Run with the samples")
            words = one if len(refusal.samples) == 1 else many
            offers = (NotificationAction(words, with_samples), show)
        self.messages.say("warning", refusal.text, refusal.hint, offers=offers, key="run")

    def _with_samples(self, refusal: Refusal, again: Callable[[], None]) -> None:
        """Take the samples that the preview shows as the user's values, and try again."""
        self.messages.withdraw("run")
        self.inputs.library.add(refusal.samples)
        again()
