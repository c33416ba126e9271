"""From no provider to an answer of one's own: choose one, give its key, choose a model, run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QLabel,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from studio.application.connections.provider_start import (
    LOCAL,
    ProviderStart,
    connection_of,
    missing,
    next_step,
    offered_models,
    price_words,
    provider_starts,
    usual_model,
    with_provider,
)
from studio.application.words import tr
from studio.core.models.connections import Connection
from studio.core.models.secrets import KEYRING
from studio.core.text.reason import named_reason
from studio.ui.connections.kinds import ICONS, name_of
from studio.ui.connections.provider_fields import ProviderFields
from studio.ui.connections.trial_bar import TrialBar
from studio.ui.parts.labels import Drawing
from studio.ui.parts.layouts import ClosingDialog, column_of, row_of
from studio.viewmodels.connections.controller import ConnectionsController
from studio.viewmodels.connections.trials import ConnectionTrial, KeyState


class ProviderDialog(ClosingDialog):
    """The dialog to connect a provider; nothing is saved before a model is chosen."""

    request_run = Signal()
    request_settings = Signal(str)  # name of the connection whose other settings are wanted

    def __init__(
        self, controller: ConnectionsController, environment: Mapping[str, str], parent: QWidget
    ) -> None:
        """Show every provider.

        Args:
            controller: keeps the connections and tries them.
            environment: variables that may hold keys and addresses.
            parent: the window.
        """
        super().__init__(parent, tr("Connect a provider"), (800, 540))
        self._controller = controller
        self.starts = provider_starts(environment, controller.connections)
        self._start: ProviderStart | None = None
        self._tried: Connection | None = None
        self._tried_key = ""
        self._pasted: dict[str, str] = {}
        """Keys that are tried here, by connection; they are kept with it, and not before."""
        self.choices = {start.id: _Choice(start) for start in self.starts}
        self.fields = ProviderFields()
        self.trial = TrialBar()
        self.run = QPushButton(tr("Run it"))
        self.take = QPushButton(tr("Use it"))
        self.settings = QPushButton(tr("More settings…"))
        self.price = QLabel(wordWrap=True)
        self.trial.hide()
        self._lay_out()
        self._connect()
        self._look_for_local()
        self._show_ready()
        controller.prices.load()

    def choose(self, identifier: str) -> None:
        """Show a provider; one that needs nothing more is tried at once."""
        start = next(each for each in self.starts if each.id == identifier)
        self._start, self._tried = start, None
        self.choices[identifier].setChecked(True)
        self.fields.show_start(start)
        self.trial.show_trial(ConnectionTrial())
        self.trial.setVisible(True)
        self._show_ready()
        if start.is_ready:
            self.connect_provider()
        else:
            self.fields.focus_on(start.asks[0])

    def connect_provider(self) -> None:
        """Try what was written; says what is still missing instead."""
        if self._start is None:
            return
        answers = self.fields.answers()
        wanted = missing(self._start, answers)
        self.fields.say(wanted[1] if wanted is not None else "")
        if wanted is not None:
            self.fields.focus_on(wanted[0])
            return
        connection = connection_of(self._start, answers)
        if answers.key:
            self._controller.keys.keep(connection.name, answers.key, only_session=True)
            self._pasted[connection.name] = answers.key
        self._tried, self._tried_key = connection, answers.key
        self._controller.trials.start(connection)

    # -- slots ----------------------------------------------------------------------------------

    def _on_trial(self, name: str, trial: ConnectionTrial) -> None:
        self._show_local(name, trial)
        start = self._start
        if start is None or self._tried is None or name != self._tried.name:
            return
        probe = trial.probe
        if probe is not None and probe.works:
            step = next_step(start, probe)
            trial = replace(trial, probe=replace(probe, hint=step or tr("Choose a model.")))
            models = offered_models(probe)
            self.fields.show_models(models, usual_model(self._tried, models))
        elif probe is not None:
            may_be_typed = start.id == "compatible" or not probe.lists
            self.fields.show_models((), "", may_be_typed=may_be_typed)
        self.trial.show_trial(trial)
        self._show_ready()

    def _on_key(self, name: str, state: KeyState) -> None:
        """Report a key that could not be stored, and is lost when the studio ends."""
        if name in self._pasted and state.place == "session" and state.reason:
            self.fields.say(
                tr("The key is held for this session only: {reason}.").format(reason=state.reason)
            )

    def _on_take(self, *, runs: bool) -> None:
        if self._save():
            self.accept()
            if runs:
                self.request_run.emit()

    def _save(self) -> bool:
        """Keep the connection with its model, as the one that answers from now on."""
        model, tried = self.fields.answers().model, self._tried
        if tried is None or not model or not self._is_as_tried():
            return False
        made = replace(tried, model=model)
        controller = self._controller
        try:
            controller.save(with_provider(controller.connections, made))
            if controller.choice.connection.name != made.name:
                controller.choose(made.name)
            if controller.choice.declaration.id != model:
                controller.choose_model(model)
        except (OSError, ValueError) as error:
            self.fields.say(
                tr("This cannot be saved: {reason}.").format(reason=named_reason(error))
            )
            return False
        key = self._pasted.pop(made.name, "")
        if key:
            controller.keys.keep(made.name, key, only_session=False)
        return True

    def _is_as_tried(self) -> bool:
        """Whether the lines still say what was tried, but for the model."""
        start, tried, answers = self._start, self._tried, self.fields.answers()
        if start is None or tried is None or answers.key != self._tried_key:
            return False
        return replace(connection_of(start, answers), model=tried.model) == tried

    def _on_settings(self) -> None:
        if self._save():
            name = self._tried.name if self._tried is not None else ""
            self.accept()
            self.request_settings.emit(name)

    def done(self, result: int) -> None:
        """Break a try off; keys that were only tried are forgotten, what was kept stays."""
        for start in self.starts:
            self._controller.trials.cancel(start.connection.name)
        for name in self._pasted:
            self._controller.keys.let_go(name)
        super().done(result)

    # -- what is shown --------------------------------------------------------------------------

    def _show_ready(self) -> None:
        tried, model = self._tried, self.fields.answers().model
        trials = self._controller.trials
        works = tried is not None and trials.of(tried).state == "works"
        is_ready = works and bool(model) and self._is_as_tried()
        for button in (self.run, self.take, self.settings):
            button.setEnabled(is_ready)
        price = ""
        if is_ready and tried is not None:
            price = price_words(tried, model, trials.listed(tried, model))
        self.price.setText(price)
        self.trial.test.setEnabled(self._start is not None)
        self.trial.test.setProperty("primary", not works)
        self.trial.test.style().polish(self.trial.test)

    def _look_for_local(self) -> None:
        """Ask this machine's own servers whether they are there; nothing leaves the machine."""
        for start in self.starts:
            if start.id in LOCAL:
                self.choices[start.id].say(tr("looking for it …"))
                self._controller.trials.start(start.connection)

    def _show_local(self, name: str, trial: ConnectionTrial) -> None:
        named = (each.id for each in self.starts if each.connection.name == name)
        found = next(named, "")
        if found not in LOCAL or trial.probe is None:
            return
        count = len(trial.probe.models)
        running = tr("running, {count} models").format(count=count)
        if count == 1:
            running = tr("running, 1 model")
        self.choices[found].say(running if trial.probe.works else tr("not running here"))

    # -- building -------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        left = column_of(margins=(16, 16, 8, 16), spacing=8)
        self._group = QButtonGroup(self)
        for choice in self.choices.values():
            self._group.addButton(choice)
            left.addWidget(choice)
        left.addStretch(1)
        right = column_of(self.fields, margins=(8, 16, 16, 16), spacing=12)
        self.trial.setContentsMargins(-20, -8, -20, -8)  # its own are for the foot of a form
        self.trial.test.setText(tr("Connect"))
        self.trial.test.setToolTip(tr("Ask the provider for its models"))
        right.addWidget(self.trial)
        self.trial.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        right.addWidget(self.fields.place, 1)
        columns = row_of((left, 2), (right, 3), spacing=8)
        close = QPushButton(tr("Cancel"))
        close.clicked.connect(self.reject)
        footer = row_of(
            self.settings,
            (self.price, 1),
            close,
            self.take,
            self.run,
            margins=(16, 0, 16, 16),
            spacing=8,
        )
        for button in (close, self.settings, self.take, self.run, self.trial.test):
            button.setAutoDefault(False)
        self.price.setProperty("tone", "muted")
        self.run.setProperty("primary", True)
        self.run.setToolTip(tr("Use this model and run the prompt with it"))
        column_of((columns, 1), footer, on=self, margins=0, spacing=0)

    def _connect(self) -> None:
        for identifier, choice in self.choices.items():
            choice.clicked.connect(lambda _=False, each=identifier: self.choose(each))
        self.fields.changed.connect(self._show_ready)
        self.fields.entered.connect(self.connect_provider)
        self.fields.model_taken.connect(lambda: self._on_take(runs=True))
        self.trial.request_test.connect(self.connect_provider)
        self.trial.request_cancel.connect(self._on_cancel)
        self.run.clicked.connect(lambda: self._on_take(runs=True))
        self.take.clicked.connect(lambda: self._on_take(runs=False))
        self.settings.clicked.connect(self._on_settings)
        self._controller.trials.changed.connect(self._on_trial)
        self._controller.keys.found.connect(self._on_key)
        self._controller.prices.changed.connect(self._show_ready)

    def _on_cancel(self) -> None:
        if self._tried is not None:
            self._controller.trials.cancel(self._tried.name)


class _Choice(QPushButton):
    """A provider with what is known of it."""

    def __init__(self, start: ProviderStart) -> None:
        super().__init__()
        self.setObjectName("card")
        self.setCheckable(True)
        self.setAutoDefault(False)
        self.setMinimumHeight(56)
        self._name = name_of(start.connection.kind)
        if start.connection.kind == "compatible":
            self._name = "LM Studio" if start.id == "lm-studio" else tr("Other server")
        picture = Drawing(ICONS[start.connection.kind])
        name = QLabel(self._name)
        name.setProperty("title", True)
        self._said = QLabel()
        self._said.setProperty("tone", "muted")
        words = column_of(name, self._said, spacing=0)
        row_of(picture, (words, 1), on=self, margins=(12, 8, 12, 8), spacing=12)
        for label in (picture, name, self._said):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.say(self._known(start))

    def say(self, text: str) -> None:
        """Show a short message."""
        self._said.setText(text)
        self.setAccessibleName(f"{self._name}, {text}" if text else self._name)

    def _known(self, start: ProviderStart) -> str:
        if start.variable:
            return tr("key in {variable}").format(variable=start.variable)
        if start.is_known and start.connection.key == KEYRING:
            return tr("connected before")
        if start.id == "compatible":
            return tr("any that speaks OpenAI's API")
        return tr("needs a key")
