"""Starts and controls the run of the open prompt, and highlights its text."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import get_args

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QInputDialog, QLineEdit

from studio.application.connections.model import RequestedModel, asked_by
from studio.application.experiments.stepping import SteppedCell
from studio.application.run.breakpoints import BreakpointSet
from studio.application.run.cards.timeline import step_at
from studio.application.run.cursor import RunCursor, TemplatePlaces, is_text_of
from studio.application.run.displayed_run import RunView
from studio.application.run.edits.in_place import (
    EditResult,
    EditSpec,
    NotInFileError,
    edits_to_keep,
)
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
from studio.core.prompty.document import PromptDocument, ToolId
from studio.core.prompty.prepare import settled_document
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.text.source import Span
from studio.core.text.values import JsonObject
from studio.core.tools.registry import FixedMock
from studio.core.tools.trust.store import TrustStore
from studio.ui.app.connection_coordinator import ConnectionCoordinator
from studio.ui.inputs.pane import InputsPane
from studio.ui.run.breakpoints_dialog import BreakpointsDialog
from studio.ui.window.parts import WindowParts
from studio.viewmodels.app.notifications import NotificationAction
from studio.viewmodels.connections.controller import ConnectionsController
from studio.viewmodels.run.breakpoint_book import FileBreakpoints
from studio.viewmodels.run.controller import RunController
from studio.viewmodels.tools.controller import ToolsController


class RunMarks(QObject):
    """Highlights the text of the run cursor, and marks and lists breakpoints.

    Text is highlighted only while the run is visible, and only where it has not changed since.
    """

    compared = Signal(bool, bool)  # whether its text changed, whether its inputs did

    def __init__(
        self, window: WindowParts, breakpoints: FileBreakpoints, tools: ToolsController
    ) -> None:
        super().__init__(window.widget)
        self._window = window
        self._breakpoints = breakpoints
        self._tools = tools
        self._state: RunState | None = None
        self._cursor: RunCursor | None = None
        self._given: JsonObject = {}
        self._is_record = False
        self._known: tuple[PromptDocument, str, TemplatePlaces | None] | None = None
        """Document, text of the run, and its places, which are None for another prompt."""

    def show_view(self, view: RunView) -> None:
        """Set the shown run."""
        before, self._state = self._state, view.state
        self._is_record = bool(view.record)
        if _run_of(before) != _run_of(view.state):
            self._cursor = None
            self.light()

    def show_cursor(self, cursor: RunCursor) -> None:
        """Set the run cursor."""
        self._cursor = cursor
        self.light()

    def light(self) -> None:
        """Highlight the lines, or clear the highlight."""
        page, cursor = self._window.tabs.current, self._cursor
        self._compare()
        spans = self._spans()
        for each in self._window.tabs.pages():
            is_here = each is page and cursor is not None
            each.show_moment(spans if is_here else (), cursor.words if is_here and cursor else "")

    def show_breakpoints(self, value: BreakpointSet) -> None:
        """Mark the lines of tools and messages with breakpoints."""
        on = [each for each in value.breakpoints if each.enabled]
        tools = frozenset(each.tool for each in on if each.tool)
        messages = frozenset(each.message for each in on if each.message)
        self._window.tabs.sides.show_breakpoints(tools, messages)

    def list_breakpoints(self) -> None:
        """Open the list of breakpoints."""
        dialog = BreakpointsDialog(self._breakpoints, self._window.widget)
        dialog.set_tools([spec.name for spec in self._tools.registry.specs])
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def show_given(self, given: JsonObject) -> None:
        """Set the current values of the inputs."""
        self._given = given
        self._compare()

    def _compare(self) -> None:
        """Report whether the text or the inputs have changed since the run of the open prompt."""
        state, document = self._state, self._window.tabs.document
        is_own = False
        if state is not None and document is not None:
            setup = state.setup
            was_unnamed = not (setup.path or setup.program or self._is_record)
            is_own = was_unnamed or str(document.source.path or "") == state.setup.path
        page = self._window.tabs.current
        if page is not None:
            page.changes.show_run(state.setup.source if state is not None and is_own else None)
        if state is None or document is None or not is_own:
            self.compared.emit(False, False)
            return
        is_older = not is_text_of(document, state.setup.source)
        self.compared.emit(is_older, dict(self._given) != dict(state.setup.inputs))

    def _spans(self) -> tuple[Span, ...]:
        state, cursor = self._state, self._cursor
        document = self._window.tabs.document
        if state is None or cursor is None or document is None:
            return ()
        places = self._places(document, state)
        if places is None or not self._window.docks.is_shown("run"):
            return ()
        calls = step_at(state, cursor.step).calls
        row = cursor.call if cursor.call is not None and cursor.call < len(calls) else None
        return places.behind(cursor, calls[row].tool if row is not None else "")

    def _places(self, document: PromptDocument, state: RunState) -> TemplatePlaces | None:
        source = state.setup.source
        known = self._known
        if known is None or known[0] is not document or known[1] is not source:
            page = self._window.tabs.current
            is_same = is_text_of(document, source) and page is not None
            places = TemplatePlaces.of(document) if is_same else None
            self._known = known = (document, source, places)
        return known[2]


def _run_of(state: RunState | None) -> str:
    return state.setup.run if state is not None else ""


class PersistentEdits(QObject):
    """Applies an edit of a run to the editor or the registry, or reports why that is impossible."""

    request_mock = Signal(ToolId, Mapping)  # {"mock": Mock}
    refused = Signal(str)  # sentence for the user

    def __init__(self, window: WindowParts, run: RunController) -> None:
        super().__init__(window.widget)
        self._window = window
        self._run = run

    def keep(self, spec: EditSpec, result: EditResult) -> None:
        """Apply an edit at a pause beyond the run."""
        state = self._run.state
        if state is None:
            return
        if spec.kind in ("observation", "answer_call"):
            if spec.call < len(state.step.calls):
                mock = FixedMock(result.text, result.is_error)
                changes: Mapping[str, object] = {"mock": mock}
                name = state.step.calls[spec.call].tool
                ids = (tool.id for tool in state.setup.tools if tool.name == name and tool.id.name)
                self.request_mock.emit(next(ids, ToolId("", name)), changes)
            return
        try:
            self._change_file(spec, result, state)
        except NotInFileError as error:
            self.refused.emit(tr("The file was not changed: {error}").format(error=error))

    def _change_file(self, spec: EditSpec, result: EditResult, state: RunState) -> None:
        page, document = self._window.tabs.current, self._window.tabs.document
        if page is None or document is None:
            raise NotInFileError(tr("no prompt is open."))
        page.editor.apply_edits(edits_to_keep(document, page.editor.text(), spec, result, state))


class RunCoordinator(QObject):
    """Connects the run pane with the controller of runs."""

    request_input = Signal(str)  # name of an input without a value
    request_experiment = Signal(bool)  # run the active experiment; True: step through its cell
    protocol_changed = Signal(object)  # ProtocolName for runs, or None for the prompt's protocol

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
        """Create it.

        Args:
            window: the window.
            run: controller of runs.
            connections: the configured connections.
            questions: asks before a connection of a folder is used.
            inputs: the user's values.
            trust: the trusted folders.
            tools: controller of the document's tools.
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

    # -- start ----------------------------------------------------------------------------------

    def start(self, at_entry: bool, to: PausePoint | None = None) -> None:
        """Run the prompt as written in the editor.

        Args:
            at_entry: pause before the first request.
            to: pause at the first point of this kind.
        """
        document, tabs = self.window.tabs.document_now(), self.window.tabs
        if tabs.current is None and tabs.shown_id:
            self.request_experiment.emit(at_entry)
            return
        if document is None and tabs.current is not None:  # it is tried apart first
            tabs.current.with_document(lambda _: self.start(at_entry, to))
            return
        if document is None or not document.is_prompt:
            self.messages.info(tr("There is nothing to run."), tr("Open or write a prompt first."))
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
        """Step through a cell of an experiment with its model, protocol and mocks."""
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
        self.window.actions["run.go"].trigger()  # move the focus from the table to the run

    def ask_about_other(self, at_entry: bool) -> None:
        """Ask before a key continues or ends the run of another prompt."""
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
        words = tr("A run of {name} has not ended.").format(name=name)
        hint = tr("F5 and F10 apply to the open prompt. The run is not affected.")
        self.messages.say("warning", words, hint, offers=tuple(offers), key="run")

    def tell_elsewhere(self, path: str, words: str) -> None:
        """Notify the user that the run of a prompt other than the open one waits or has ended.

        Args:
            path: file of the prompt; empty if it was never saved.
            words: description of the state.
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
        """Continue to a pause point; start a run if none is waiting."""
        wanted: PausePoint | None = next((each for each in PausePoint if each == place), None)
        if wanted is None:
            return
        if self.run.view.is_waiting:
            self.run.run_to(wanted)
        elif not self.run.view.is_busy:
            self.start(at_entry=False, to=wanted)

    def show_model(self) -> None:
        """Update the model with which a run of the open prompt would start."""
        self.run.set_model_now(self._model_now())

    def take_pick(self) -> None:
        """Pause the run after the user has selected another model, and ask."""
        self.run.take_pick(self._model_now())

    def _model_now(self) -> RunModel | None:
        """Return the model with which a run of the open prompt would begin; None if unknown."""
        document = self.window.tabs.document
        if document is None or not document.is_prompt:
            return None
        return self.connections.model_now(document.source.path)

    def switch_model(self) -> None:
        """Continue with the prompt's current model, as the user decided."""
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
        """Switch the run to a model, and retry if the old model failed."""
        again = (Continue(),) if is_of_model(state) else ()
        self.run.send(ChooseModel(run_model_of(model), state.answered_by, model), *again)

    def ask_for_values(self) -> None:
        """Ask for secrets of the run that are not set here, and continue with them."""
        state, masker = self.run.state, self.connections.secrets.masker
        if state is None:
            return
        for reference in sorted(state.released):
            if masker.value(reference) is not None:
                continue
            value, agreed = QInputDialog.getText(
                self.window.widget,
                tr("A value is missing"),
                tr("The value of {name}:").format(name=reference),
                QLineEdit.EchoMode.Password,
            )
            if not agreed or not value:
                return
            masker.note(reference, value)
        self.run.send(Continue())

    def choose_protocol(self, protocol: str) -> None:
        """Set the protocol of later runs; empty for the prompt's protocol."""
        self._protocol = next((each for each in get_args(ProtocolName) if each == protocol), None)
        self.protocol_changed.emit(self._protocol)

    def send(self, commands: tuple[Command, ...]) -> None:
        """Send a command to the run."""
        self.run.send(*commands)

    def checked_plan(
        self,
        document: PromptDocument,
        values: JsonObject,
        again: Callable[[], None],
        answers: ChatModel | None = None,
    ) -> RunPlan | None:
        """Return a plan if the prompt can be run; otherwise report why not.

        Args:
            document: the prompt.
            values: the values of its inputs.
            again: repeats the request when samples or a connection are chosen.
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
        values: JsonObject,
        again: Callable[[], None],
        asked: RequestedModel | None = None,
        *,
        answers: ChatModel | None = None,
    ) -> RunPlan | None:
        """Return the plan of a prompt's run; without a model, report that and return None.

        Args:
            document: the prompt.
            values: the values of its inputs.
            again: repeats the request when a connection is chosen.
            asked: the requested model; None for that of the prompt.
            answers: the open model if it is known.
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
        """Return the resolver for `${env:}` and `${file:}` of a prompt."""
        return references_of(path, self.trust, masker=self.connections.secrets.masker)

    # -- messages -------------------------------------------------------------------------------

    def refuse(self, text: str) -> None:
        """Show why something was not done."""
        self.messages.say("warning", text, key="run")

    def withdraw_refusal(self) -> None:
        """Remove the message: another prompt is open, or the reason no longer applies."""
        self.messages.withdraw("run")

    def _show_refusal(self, refusal: Refusal, with_samples: Callable[[], None]) -> None:
        """Show why a prompt cannot be run, and offer solutions.

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
        """Use the samples that the preview shows as the user's values, and retry."""
        self.messages.withdraw("run")
        self.inputs.library.add(refusal.samples)
        again()
