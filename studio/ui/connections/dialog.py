"""The dialog of connections: a list, the form of the selected one, and its test."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, Signal

from studio.application.connections.editing import (
    is_last_embedded,
    keyless_if_local,
    with_added,
    without_trusted,
)
from studio.application.connections.model import choice_words
from studio.application.words import marked, tr
from studio.core.models.choice import ModelChoice
from studio.core.models.connections import EMBEDDED, Connection, Connections
from studio.core.models.secrets import KEYRING, environment_name
from studio.core.text.values import JsonObject
from studio.ui.connections.connection_list import ConnectionList, DeleteQuestion, ListButtons
from studio.ui.connections.form import ConnectionForm
from studio.ui.connections.trial_bar import TrialBar
from studio.ui.parts import kit
from studio.ui.parts.empty_state import Banner
from studio.ui.parts.fields import FileDrop
from studio.ui.style.theme import icon
from studio.viewmodels.connections.controller import ConnectionsController
from studio.viewmodels.connections.trials import ConnectionTrial, KeyState


class AllowedEndpoints(QtWidgets.QPushButton):
    """Button for the menu of allowed endpoints; visible only if there are any."""

    request_ask_again = Signal(str)  # endpoint that is no longer allowed

    def __init__(self) -> None:
        super().__init__()
        self.setText(tr("Allowed endpoints"))
        self.setAutoDefault(False)
        self._origins: Sequence[str] = ()
        self.clicked.connect(self._open)

    def show_origins(self, origins: Sequence[str]) -> None:
        """Set the allowed endpoints."""
        self._origins = origins
        self.setVisible(bool(origins))

    def menu_of_origins(self) -> QtWidgets.QMenu:
        """Return a menu with an item for each endpoint."""
        menu = QtWidgets.QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addSection(tr("Select one to be asked again"))
        for origin in self._origins:
            menu.addAction(
                icon("x"), origin, lambda origin=origin: self.request_ask_again.emit(origin)
            )
        return menu

    def _open(self) -> None:
        self.menu_of_origins().popup(self.mapToGlobal(self.rect().topLeft()))


_NOT_SAVED = marked("Nothing is saved until the marked fields are correct.")


class ConnectionsDialog(kit.ClosingDialog):
    """Dialog without confirmation: valid changes are applied at once."""

    def __init__(self, controller: ConnectionsController, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent, tr("Connections"), (940, 640))
        FileDrop(self, self.add_weights, (".gguf",))
        self._controller = controller
        self.list = ConnectionList()
        self.form = ConnectionForm()
        self.trial = TrialBar()
        self.banner = Banner()
        self.uses = kit.toned_label("muted", wraps=True)
        self.tools = ListButtons()
        self.allowed = AllowedEndpoints()
        self._lay_out()
        self._connect()
        problems = controller.connections.problems
        if problems:
            self.banner.say(" ".join(problems))
        self._show_all(controller.connections.default_connection.name)
        self.form.weights.bundled.show_state(controller.weights.state)
        controller.prices.load()

    def show_connection(self, name: str) -> None:
        """Show the form of a connection."""
        self._show_all(name)

    def add_connection(self, connection: Connection) -> None:
        """Add a connection and show it."""
        connections = with_added(self._controller.connections, connection)
        if self._save(connections):
            self._show_all(connections.connections[-1].name)
            self.form.fields.widget("name", QtWidgets.QLineEdit).setFocus()
            self.form.fields.widget("name", QtWidgets.QLineEdit).selectAll()

    # -- display --------------------------------------------------------------------------------

    @property
    def current(self) -> Connection | None:
        """The connection in the form."""
        return self._controller.connections.named(self.list.name)

    def _show_all(self, name: str) -> None:
        connections = self._controller.connections
        current = connections.named(name) or connections.default_connection
        self.list.show_connections(connections, self._controller.trials.of, current.name)
        self._show_form(current)

    def _show_form(self, connection: Connection) -> None:
        connections = self._controller.connections
        others = [each for each in connections.connections if each.name != connection.name]
        self.form.show_connection(connection, others)
        self._show_trial(connection, self._controller.trials.of(connection))
        if connection.key:
            self._controller.keys.look_up(connection.key, connection.name)
        self._show_marks()

    def _show_marks(self) -> None:
        """Update the buttons for the selected row, and the mark of the open prompt's connection."""
        connections = self._controller.connections
        name = self.list.name
        last = is_last_embedded(connections, name)
        self.tools.show_chosen(is_default=name == connections.default, is_last=last)
        self.allowed.show_origins(connections.trusted)
        words = choice_words(self._controller.choice)
        self.uses.setText(tr("The open prompt: {words}").format(words=words))

    def _show_trial(self, connection: Connection, trial: ConnectionTrial) -> None:
        self.trial.show_trial(trial)
        self.form.show_tried(connection, trial)
        found = trial.probe
        self.form.set_listed(
            found.models if found is not None else (), found.listed if found is not None else ()
        )
        self.form.model.list.setEnabled(trial.state != "running")
        self.list.show_trial(connection, trial)

    # -- slots ----------------------------------------------------------------------------------

    def _on_picked(self, name: str) -> None:
        connection = self._controller.connections.named(name)
        if connection is not None:
            self.banner.hide()
            self._show_form(connection)

    def _on_committed(self, changed: Connection) -> None:
        before = self.form.shown
        if not before.base_url and not self.form.key.is_picked:  # its first address
            changed = keyless_if_local(changed)
        if not self._try(lambda: self._controller.change(before.name, changed)):
            return
        self.banner.hide()
        if changed == self.form.candidate():
            self.form.kept(changed)
        else:
            self._show_form(changed)
        connections, trials = self._controller.connections, self._controller.trials
        self.list.show_connections(connections, trials.of, changed.name)
        self._show_trial(changed, trials.of(changed))
        if changed.key and changed.key != before.key:
            self._controller.keys.look_up(changed.key, changed.name)
        self._show_marks()

    def _on_checked(self, is_right: bool) -> None:
        if is_right:
            self.banner.hide()
        else:
            self.banner.say(tr(_NOT_SAVED), "", "warning")

    def _on_trial(self, name: str, trial: ConnectionTrial) -> None:
        connection = self._controller.connections.named(name)
        if connection is None:
            return
        self.list.show_trial(connection, trial)
        if name == self.list.name:
            self._show_trial(connection, trial)

    def _on_key(self, name: str, state: KeyState) -> None:
        if name == self.list.name:
            self.form.key.set_state(state)

    def _on_test(self) -> None:
        self._start_trial(abilities=True)

    def _on_list(self) -> None:
        self._start_trial(abilities=False)

    def _start_trial(self, *, abilities: bool) -> None:
        self.form.commit()
        if self.current is not None and not self.form.problems:
            self._controller.trials.start(self.current, abilities=abilities)

    def _on_tried(self, name: str, _table: JsonObject) -> None:
        """Save the result of a test with the connection; unsaved fields stay."""
        if name == self.list.name and self.current is not None:
            self.form.kept(self.current)

    def _on_keep(self, key: str, only_session: bool) -> None:
        self.form.commit()
        connection = self.current
        if connection is None or connection.key != KEYRING:
            self.form.key.set_state(KeyState("none", tr("the key was not saved; enter it again")))
            return
        self._controller.keys.keep(connection.name, key, only_session=only_session)
        self._controller.trials.forget(connection.name)
        self._show_trial(connection, ConnectionTrial())

    def _on_duplicate(self) -> None:
        connection = self.current
        if connection is None:
            return
        copy = replace(connection, name=f"{connection.name} copy")
        connections = with_added(self._controller.connections, copy, after=connection.name)
        names = [each.name for each in connections.connections]
        if self._save(connections):
            self._show_all(names[names.index(connection.name) + 1])

    def _on_default(self, name: str) -> None:
        if self._save(replace(self._controller.connections, default=name)):
            self._show_all(self.list.name)

    def _on_delete(self) -> None:
        connection = self.current
        if connection is None or is_last_embedded(self._controller.connections, connection.name):
            return
        box = DeleteQuestion(connection, self)
        name = connection.name
        box.agreed.connect(lambda: self._delete(name))
        box.open()

    def _delete(self, name: str) -> None:
        if self._try(lambda: self._controller.remove(name)):
            self._show_all("")

    def _ask_again(self, origin: str) -> None:
        if self._save(without_trusted(self._controller.connections, origin)):
            self._show_marks()

    # -- saving ---------------------------------------------------------------------------------

    def _save(self, connections: Connections) -> bool:
        return self._try(lambda: self._controller.save(connections))

    def _try(self, work: Callable[[], None]) -> bool:
        """Save a change; show an error above the form."""
        try:
            work()
        except OSError as error:
            self.banner.say(
                tr("The connections cannot be saved: {reason}.").format(
                    reason=error.strerror or error
                )
            )
            return False
        except ValueError as error:
            self.banner.say(tr("This was not saved: {error}.").format(error=error))
            return False
        self.banner.hide()
        return True

    # -- events ---------------------------------------------------------------------------------

    def add_weights(self, path: Path) -> None:
        """Add an embedded model for a GGUF file that the user chose or dropped."""
        self.add_connection(replace(EMBEDDED, name=path.stem, settings={"weights": str(path)}))

    def done(self, result: int) -> None:
        """Save the fields, and cancel a test."""
        self.form.commit()
        self._controller.trials.cancel(self.list.name)
        super().done(result)

    # -- building -------------------------------------------------------------------------------

    def _connect(self) -> None:
        controller = self._controller
        self.list.picked.connect(self._on_picked)
        self.list.request_default.connect(self._on_default)
        self.form.committed.connect(self._on_committed)
        self.form.checked.connect(self._on_checked)
        self.form.request_list.connect(self._on_list)
        self.form.abilities.request_prices.connect(controller.prices.update)
        controller.prices.changed.connect(self.form.show_prices)
        controller.trials.tried.connect(self._on_tried)
        self.form.key.request_keep.connect(self._on_keep)
        self.form.key.request_forget.connect(lambda: controller.keys.forget(self.list.name))
        self.trial.request_test.connect(self._on_test)
        self.trial.request_cancel.connect(lambda: controller.trials.cancel(self.list.name))
        bundled = self.form.weights.bundled
        bundled.request_fetch.connect(controller.weights.start)
        bundled.request_cancel.connect(controller.weights.cancel)
        controller.weights.changed.connect(bundled.show_state)
        self.tools.request_add.connect(self.add_connection)
        self.tools.request_duplicate.connect(self._on_duplicate)
        self.tools.request_default.connect(lambda: self._on_default(self.list.name))
        self.tools.request_delete.connect(self._on_delete)
        self.allowed.request_ask_again.connect(self._ask_again)
        self.banner.activated.connect(self.banner.hide)
        controller.trials.changed.connect(self._on_trial)
        controller.keys.found.connect(self._on_key)
        controller.changed.connect(self._show_marks)

    def _lay_out(self) -> None:
        left, right = QtWidgets.QWidget(), QtWidgets.QWidget()
        kit.column_of((self.list, 1), self.tools, on=left, margins=0)
        side = kit.column_of(on=right, margins=0, spacing=0)
        line = kit.Separator()
        for part in (self.banner, self.form, line, self.trial):
            side.addWidget(part, 1 if part is self.form else 0)
        splitter = kit.split_of(left, right, stretch=(0, 1), sizes=(290, 650))
        buttons = QtWidgets.QDialogButtonBox(QtWidgets.QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        for button in buttons.buttons():
            if isinstance(button, QtWidgets.QPushButton):
                button.setAutoDefault(False)  # Return belongs to the focused field
        footer = kit.row_of(
            (self.uses, 1), self.allowed, buttons, margins=(12, 8, 12, 12), spacing=8
        )
        kit.column_of((splitter, 1), footer, on=self, margins=0, spacing=0)


# Ask once before a prompt's text is sent to an endpoint that the prompt sets.


class TrustDialog(kit.ClosingDialog):
    """Asks whether to allow once, allow always, or not send; closing it does not send."""

    allowed = Signal(str, bool)  # endpoint, whether to remember it

    def __init__(self, choice: ModelChoice, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent, tr("Send to a new endpoint?"))
        self.setMinimumWidth(460)
        origin = choice.untrusted
        picture = kit.Drawing("shield-check", 32, "warning")
        self.title = QtWidgets.QLabel(tr("This prompt wants to send to"))
        self.endpoint = QtWidgets.QLabel(origin, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.endpoint.setStyleSheet("QLabel { font-size: 13pt; font-weight: 600; }")
        self.explanation = kit.toned_label("muted", _explained(choice), wraps=True, is_plain=True)
        self.once = kit.push_button(tr("Allow once"), lambda: self._allow(origin, always=False))
        self.always = kit.push_button(tr("Always allow"), lambda: self._allow(origin, always=True))
        self.refuse = kit.push_button(tr("Do not send"), self.reject, is_default=True)
        words = kit.column_of(self.title, self.endpoint, self.explanation, spacing=8)
        top = QtWidgets.QHBoxLayout()
        top.setSpacing(16)
        top.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        top.addLayout(words, 1)
        buttons = kit.row_of(1, self.always, self.once, self.refuse)
        kit.column_of(top, buttons, on=self, margins=(20, 20, 20, 16), spacing=16)
        self.refuse.setFocus()

    def _allow(self, origin: str, *, always: bool) -> None:
        self.accept()
        self.allowed.emit(origin, always)


def _explained(choice: ModelChoice) -> str:
    """Describe the data that would be sent."""
    sent = tr("The messages, the values of the inputs and the results of tools would be sent there")
    variable = environment_name(choice.connection.key)
    if variable is not None:
        sent += tr(", with the key in the variable {variable}").format(variable=variable)
    return tr("{sent}. The address is set in the file, and you have not allowed it yet.").format(
        sent=sent
    )
