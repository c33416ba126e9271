"""Past runs: continue, rerun, replay, export and import them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, QStandardPaths, Signal
from PySide6.QtWidgets import QWidget

from studio.application.connections.model import asked_by
from studio.application.exchange.runs import file_name
from studio.application.history.open_calls import known_values
from studio.application.run.past.again import (
    PastRun,
    at_request,
    exactly,
    from_here,
    is_other_prompt,
    values_of,
    with_results_of,
)
from studio.application.run.past.compare import RunComparison
from studio.application.run.past.record import RunRecord
from studio.application.words import tr
from studio.core.agent.loop.setup import run_model_of
from studio.core.agent.values.commands import ChooseModel, Command, Continue, ForkFrom
from studio.core.agent.values.step import RunModel
from studio.core.imports.imported import Imported
from studio.core.imports.recorded_calls import OpenedCalls
from studio.core.models.base import ChatModel, ModelError
from studio.core.prompty.inputs import GivenInputs
from studio.core.runs.exchange import RunForm, form_of
from studio.core.runs.rows import RunSummary
from studio.core.text.amounts import by_count
from studio.core.text.values import JsonObject
from studio.ui.app.run_coordinator import RunCoordinator
from studio.ui.history.pane import HistoryPane
from studio.ui.run.file_choice import ask_journals, ask_target
from studio.ui.run.pane import RunPane
from studio.viewmodels.app.notifications import NotificationAction, Notifications
from studio.viewmodels.exchange import RunExchange
from studio.viewmodels.history.controller import HistoryController
from studio.viewmodels.run.controller import RunController


class PastRuns(QObject):
    """Executes commands on past runs."""

    def __init__(
        self,
        coordinator: RunCoordinator,
        history: HistoryController,
        pane: HistoryPane,
        files: RunFiles,
    ) -> None:
        """Connect the history with its pane.

        Args:
            coordinator: coordinator of runs, whose window, run, connections and inputs are used.
            history: the stored runs.
            pane: lists them.
            files: exports and imports runs.
        """
        super().__init__(coordinator)
        self._coordinator = coordinator
        self._run = coordinator.run
        self._connections = coordinator.connections
        self._messages = coordinator.messages
        self._awaited = ""
        """Id of the run that will continue when it is shown."""
        self._answer_of = ""
        """Id of the run whose answer alone will be shown."""
        self._history, self._pane, self._files = history, pane, files
        self._connect(files)

    def _connect(self, files: RunFiles) -> None:
        history, pane = self._history, self._pane
        self._run.state_changed.connect(self._bring_back)
        history.listed.connect(pane.show_runs)
        history.opening.busy_changed.connect(pane.show_opening)
        history.size_changed.connect(pane.footer.show_size)
        history.problem_found.connect(pane.show_problem)
        history.opened.connect(self._show_record)
        history.followed.connect(self._run.follow_record)
        history.listed.connect(lambda: self._messages.withdraw("history"))
        history.failed.connect(partial(self._messages.say, "warning", key="history"))
        history.interrupted_found.connect(self.offer_interrupted)
        history.watch()
        self._run.sessions.started.connect(history.refresh)
        self._run.sessions.ended.connect(history.refresh)
        pane.request_compare_all.connect(history.compare_all)
        pane.request_refresh.connect(history.refresh)
        pane.request_filter.connect(history.set_filter)
        pane.request_open.connect(history.open)
        pane.request_compare.connect(history.compare)
        pane.request_delete.connect(history.delete)
        pane.request_pin.connect(history.set_pinned)
        pane.request_describe.connect(history.describe)
        pane.request_retention.connect(self.set_retention)
        pane.request_export.connect(files.export_kept)
        pane.request_import.connect(files.take)
        files.request_now.connect(self.run_now)

    def set_retention(self, keep: int, days: int) -> None:
        """Save and apply the retention of runs, and show it."""
        settings = self._coordinator.window.services.settings
        settings.set(replace(settings.value, history_keep=keep, history_days=days))
        self._pane.footer.show_retention(keep, days)
        self._history.prune(keep, days)

    def show_answer(self, run: str) -> None:
        """Show the answer of another run of the prompt without its steps."""
        self._answer_of = run
        self._history.open(run)

    def _bring_back(self) -> None:
        """Show the answer of a prompt whose run is no longer in memory."""
        slots = self._run.slots
        if run := slots.let_go.pop(slots.prompt, ""):
            self.show_answer(run)

    def resume(self) -> None:
        """Continue the shown past run with its original prompt."""
        past = self._run.past
        if past is None or past.checkpoint is None:
            self._coordinator.refuse(tr("This run has no point to continue from."))
            return
        document, asked = past.document, asked_by(past.document, self._coordinator.trust)
        if self._coordinator.questions.asks_first(self.resume, asked):
            return
        own = self._connections.open_same(document.source.path, asked, past.state.answered_by)
        values = dict(past.setup.inputs)
        plan = self._coordinator.plan(document, values, self.resume, answers=own)
        if plan is not None:
            self._run.take_up(
                replace(plan, past=past.to_take_up),
                ForkFrom(past.checkpoint),
                missing_model=past.state.answered_by if own is None else None,
            )
            self._coordinator.show_model()

    def offer_interrupted(self, runs: tuple[RunSummary, ...]) -> None:
        """Report an interrupted run and offer to continue it.

        Args:
            runs: interrupted runs found at this start; the newest is offered.
        """
        last = max(runs, key=lambda run: run.updated)
        name = last.prompt or tr("a prompt")
        rest = len(runs) - 1
        words = tr("The run of {name} was interrupted.")
        if rest == 1:
            words = tr("The run of {name} and one other run were interrupted.")
        elif rest:
            words = tr("The run of {name} and {count} other runs were interrupted.")
        words = words.format(name=name, count=rest)
        go_on = NotificationAction(tr("Continue the run"), partial(self._go_on_with, last.id))
        show = NotificationAction(tr("Show it"), partial(self._history.open, last.id))
        hint = tr("It is saved up to its last event. If you continue, it first pauses there.")
        self._messages.say("warning", words, hint, offers=(go_on, show), key="interrupted")

    def _go_on_with(self, run: str) -> None:
        self._awaited = run
        self._history.open(run)

    def _show_record(self, record: RunRecord) -> None:
        """Show a run of the history; continue it if that was requested."""
        run = record.state.setup.run if record.state is not None else ""
        is_answer, self._answer_of = bool(run) and run == self._answer_of, ""
        path = record.state.setup.path if record.state is not None else ""
        if is_answer and path != self._run.slots.prompt:
            return  # the user has selected another prompt meanwhile
        if not is_answer:
            self._coordinator.window.docks.show("run")
        self._run.open_record(record)
        awaited, self._awaited = self._awaited, ""
        if awaited and run == awaited:
            self._messages.withdraw("interrupted")
            self.resume()

    def run_now(self, step: int) -> None:
        """Repeat a run from a request on with the current prompt, and compare both.

        For a recorded program, the prompt runs with the inputs of the call.
        """
        past = self._run.past
        if past is not None and past.setup.program:
            self._files.read_call(step, lambda row: self.rerun("now", row=row))
        elif past is not None and (here := at_request(past, step)) is not None:
            self.rerun(here=here)
        else:
            self._coordinator.refuse(tr("The run cannot go back to this place."))

    def rerun(
        self,
        chosen: Literal["", "own", "now"] = "",
        here: PastRun | None = None,
        row: JsonObject | None = None,
    ) -> None:
        """Run the current prompt with the tool results of the shown run.

        Args:
            chosen: the user's choice of the model: the run's (`own`) or the prompt's (`now`); empty
                if the user was not asked yet.
            here: the run before the first request to repeat; None for all requests.
            row: values of the inputs; None for those of the run.
        """
        past, document = self._run.past, self._coordinator.window.tabs.document_now()
        if past is None or document is None:
            self._coordinator.refuse(tr("Open the prompt to run again."))
            return
        if is_other_prompt(past, document.source.path):
            name = Path(past.setup.path).name
            words = tr("This run belongs to another prompt: open {name}, then run it again.")
            self._coordinator.refuse(words.format(name=name))
            return
        if self._coordinator.questions.asks_first(partial(self.rerun, chosen, here, row)):
            return
        path, had = document.source.path, past.state.answered_by
        now = self._connections.model_now(path)
        if not chosen and now is not None and not now.is_same(had):
            self._ask_model_of_rerun(had, now, here, row)
            return
        references = self._coordinator.references(document.source.path)
        try:
            values = values_of(past, self._coordinator.inputs.values(), references)
            values = GivenInputs({**values, **known_values(row or {}, document)})
        except ModelError as error:
            self._coordinator.refuse(f"{error.message} {error.hint}")
            return
        answers: ChatModel | None = None
        first: tuple[Command, ...] = ()
        if chosen == "own" and now is not None:
            asked = asked_by(past.document, self._coordinator.trust)
            answers = self._connections.open_same(path, asked, had)
            if answers is None:
                words = tr("{model} is not configured here, so nothing was run.")
                self._coordinator.refuse(words.format(model=had.name))
                return
            first = (ChooseModel(run_model_of(answers), now),)
        elif chosen == "now" and now is not None:
            first = (ChooseModel(now, had),)
        again = partial(self.rerun, chosen, here, row)
        plan = self._coordinator.checked_plan(document, values, again, answers)
        if plan is None:
            return
        plan = with_results_of(plan, past)
        if here is None:
            self._run.start(plan, against=past, first=first)
            return
        try:
            fork, *edits = from_here(here, plan)
        except ModelError as error:
            self._coordinator.refuse(f"{error.message} {error.hint}")
            return
        plan = replace(plan, past=here.to_take_up)
        self._run.take_up(plan, fork, *first, *edits, Continue())
        self._run.slots.shown.against = past

    def _ask_model_of_rerun(
        self, had: RunModel, now: RunModel, here: PastRun | None, row: JsonObject | None
    ) -> None:
        """Ask which model to use for a rerun with earlier results."""
        run_with = tr("Run with {model}")
        own = partial(self.rerun, "own", here, row)
        other = partial(self.rerun, "now", here, row)
        offers = (
            NotificationAction(run_with.format(model=had.name), own),
            NotificationAction(run_with.format(model=now.name), other),
        )
        words = tr("Which model should be used?")
        hint = tr("The run used {model}; the prompt now requests {other}.").format(
            model=had.name, other=now.name
        )
        self._messages.say("warning", words, hint, offers=offers, key="run")

    def replay(self) -> None:
        """Replay the shown run; no model or tool is called."""
        past = self._run.past
        if past is None:
            self._coordinator.refuse(tr("There is no run to replay."))
            return
        path = Path(past.setup.path) if past.setup.path else None
        self._messages.withdraw("run")
        plan = exactly(past, self._coordinator.references(path))
        self._run.start(plan, against=past, follows_prompt=False)

    def show_repeated(self, comparison: RunComparison) -> None:
        """Report how a replay compares with its run; show both if they differ."""
        if comparison.first_difference is None:
            words = tr("The replay is identical to the run.")
            self._messages.say("success", words, key="run")
        else:
            self._run.compared.emit(comparison)


class RunFiles(QObject):
    """Asks for a file name before a run is exported, and imports runs."""

    request_import = Signal(Path, Imported)  # suggested path, prompt file
    request_now = Signal(int)  # iteration to repeat with the current prompt
    request_case = Signal(dict)  # a recorded call, as a case of the open prompt

    def __init__(
        self,
        window: QWidget,
        messages: Notifications,
        run: RunController,
        exchange: RunExchange,
        pane: RunPane,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._messages = messages
        self._run = run
        self._exchange = exchange
        self._folder = Path(
            QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        )
        exchange.exported.connect(self._on_exported)
        exchange.imported.connect(self._on_imported)
        exchange.call_opened.connect(self._on_call_opened)
        pane.timeline.request_prompt.connect(self.open_call)
        pane.timeline.request_now.connect(self.request_now)
        pane.timeline.request_case.connect(partial(self.read_call, then=self.request_case.emit))
        exchange.failed.connect(self._on_failed)

    def export_shown(self, name: str) -> None:
        """Export the branch that the run pane shows."""
        past = self._run.past
        if past is None:
            self._messages.info(tr("There is no run to export."), tr("Run the prompt first (F5)."))
            return
        form = form_of(name)
        setup = past.setup
        target = self._folder / file_name(setup.prompt, past.events[0].at, setup.run, form)

        def write(path: Path) -> None:
            self._folder = path.parent
            self._exchange.export_run(setup.run, form, path, past.events, past.last)

        ask_target(self._window, form, target, write, self._kept(setup.run, form))

    def open_call(self, step: int, alike: bool) -> None:
        """Create a prompt file from a model call of the shown run."""
        past = self._run.past
        if past is not None:
            self._exchange.open_call(past.setup.run, step, alike=alike, upto=past.last)

    def read_call(self, step: int, then: Callable[[JsonObject], None]) -> None:
        """Convert a call of the shown run to a case of its prompt, and call `then` with it."""
        past = self._run.past
        if past is not None:
            self._exchange.read_call(past.setup.run, step, then)

    def _on_call_opened(self, opened: OpenedCalls) -> None:
        past = self._run.past
        name = past.setup.prompt if past is not None else ""
        self.request_import.emit(self._folder / f"{name or tr('call')}.prompty", opened.made)

    def export_kept(self, run: RunSummary, name: str) -> None:
        """Export a run of the history."""
        form = form_of(name)
        target = self._folder / file_name(run.prompt, run.started, run.id, form)
        write = partial(self._exchange.export_run, run.id, form)
        ask_target(self._window, form, target, write, self._kept(run.id, form))

    def _kept(self, run: str, form: RunForm) -> str:
        """Describe what the file will contain besides the events."""
        return self._exchange.kept_words(run) if form.whole else ""

    def take(self) -> None:
        """Ask for journals and import them into the history."""
        ask_journals(self._window, self._folder, self._exchange.import_files)

    def _on_exported(self, path: Path) -> None:
        self._messages.say(
            "info", tr("The run was written to {name}.").format(name=path.name), str(path)
        )

    def _on_imported(self, runs: tuple[str, ...]) -> None:
        words = by_count(len(runs), tr("1 run was imported"), tr("{count} runs were imported"))
        self._messages.say("info", tr("{words}.").format(words=words))

    def _on_failed(self, what: str, hint: str) -> None:
        self._messages.error(what, hint)
