"""Everything of connections that the window opens: dialogs, questions, and the toolbar's lists."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from studio.application.connections.editing import stand_ins, with_folder
from studio.application.connections.model import RequestedModel, choice_words
from studio.application.words import marked, tr
from studio.core.models.base import ModelError
from studio.core.models.choice import ModelChoice
from studio.core.models.embedded.model import Speed
from studio.core.models.embedded.policy import LEVELS
from studio.core.prompty.loop_format import agent_settings
from studio.ui.connections.kinds import ICONS, help_words
from studio.ui.window.parts import WindowParts
from studio.ui.window.run_choices import RunChoices
from studio.viewmodels.app.notifications import NotificationAction, Notifications
from studio.viewmodels.connections.controller import ConnectionsController
from studio.viewmodels.connections.trials import ConnectionTrial

if TYPE_CHECKING:
    from studio.ui.connections.dialog import ConnectionsDialog
    from studio.ui.connections.provider_dialog import ProviderDialog

_TOY = marked("A very small model for trying things out, which needs help; real models need none.")


class ConnectionCoordinator(QObject):
    """Joins the connections' controller and the window."""

    request_run = Signal()  # the model is chosen: run the open prompt, or an example

    def __init__(
        self, controller: ConnectionsController, window: WindowParts, messages: Notifications
    ) -> None:
        super().__init__(window.widget)
        self._controller = controller
        self._window = window
        self._messages = messages
        self._dialog: ConnectionsDialog | None = None
        self._provider: ProviderDialog | None = None
        self._speed: Speed | None = None
        choices = window.run_choices
        choices.connection_chosen.connect(controller.choose)
        choices.model_chosen.connect(self._on_model)
        choices.request_models.connect(controller.list_models)
        choices.request_folder.connect(self._on_folder)
        choices.request_connect.connect(window.actions["run.provider"].trigger)
        choices.request_manage.connect(self.manage)
        choices.opening.connect(lambda: self.show_choice(controller.choice))
        window.actions["run.connections"].triggered.connect(self.manage)
        window.actions["run.provider"].triggered.connect(self.connect_provider)
        controller.changed.connect(self.show_choice)
        controller.trials.changed.connect(self._on_trial)
        controller.refused.connect(messages.error)
        if controller.connections.problems:
            messages.error(
                " ".join(controller.connections.problems), tr("Open Connections to fix it.")
            )
        self.show_choice(controller.choice)

    def manage(self) -> ConnectionsDialog:
        """Open the dialog of all connections, at the one that the prompt uses."""
        from studio.ui.connections.dialog import ConnectionsDialog

        if self._dialog is None:
            dialog = ConnectionsDialog(self._controller, self._window.widget)
            dialog.finished.connect(self._on_dialog_closed)
            self._dialog = dialog
            dialog.show_connection(self._controller.choice.connection.name)
            dialog.open()
        self._dialog.activateWindow()
        return self._dialog

    def connect_provider(self) -> ProviderDialog:
        """Open the way from no provider to an answer of one's own."""
        from studio.ui.connections.provider_dialog import ProviderDialog

        dialog = ProviderDialog(self._controller, os.environ, self._window.widget)
        dialog.request_run.connect(self.request_run)
        dialog.request_settings.connect(lambda name: self.manage().show_connection(name))
        dialog.finished.connect(self._on_provider_closed)
        self._provider = dialog
        dialog.open()
        return dialog

    def asks_first(self, then: Callable[[], None], asked: RequestedModel | None = None) -> bool:
        """Ask about the endpoint that a prompt chose, where that is needed.

        Args:
            then: called once the user has allowed it.
            asked: what the prompt says of its model; the open one's where None.

        Returns:
            Whether there is something to ask; nothing is to be sent then but by `then`.
        """
        from studio.ui.connections.trust_dialog import TrustDialog

        if not self._controller.needs_trust(asked):
            return False
        choice = self._controller.choice if asked is None else self._controller.choice_of(asked)
        dialog = TrustDialog(choice, self._window.widget)
        dialog.allowed.connect(lambda origin, always: self._on_allowed(origin, then, always=always))
        dialog.rejected.connect(
            lambda: self._messages.info(
                tr("Nothing was sent."), tr("The endpoint was not allowed.")
            )
        )
        dialog.open()
        return True

    def refuse(self, error: ModelError, asked: RequestedModel, again: Callable[[], None]) -> None:
        """Report why no model answers, and offer a replacement of a missing connection.

        Args:
            error: why.
            asked: what the prompt says of its model.
            again: what was asked for, to be done once a connection is chosen.
        """
        offers: tuple[NotificationAction, ...] = ()
        if error.kind == "missing-connection":
            connect = NotificationAction(
                tr("Connect a model…"), self._window.actions["run.provider"].trigger
            )
            offers = (connect, *self._stand_ins(asked.file, again))
        self._messages.say("error", error.message, error.hint, offers=offers, key="run")

    def _stand_ins(
        self, file: Path | None, again: Callable[[], None]
    ) -> Iterator[NotificationAction]:
        folder = self._folder_of(file)
        words = tr("Use {name}") if folder is None else tr("Use {name} in {folder}")

        def use(name: str) -> None:
            if folder is None:
                self._controller.choose(name)
            elif not self._use_in_folder(folder, name):
                return
            again()

        for each in stand_ins(self._controller.connections):
            text = words.format(name=each.name, folder=folder.name if folder else "")
            yield NotificationAction(text, partial(use, each.name))

    def _folder_of(self, file: Path | None) -> Path | None:
        """Return the folder that a choice is kept for: the opened one, else the file's own."""
        if file is None:
            return None
        root = self._window.files.root_of(file)
        is_wide = root is None or root in (Path.home(), *Path.home().parents)
        return file.parent if root is None or is_wide else root

    def _use_in_folder(self, folder: Path, name: str) -> bool:
        try:
            self._controller.save(with_folder(self._controller.connections, folder, name))
        except OSError as error:
            self._say_unsaved(error)
            return False
        return True

    def _say_unsaved(self, error: OSError) -> None:
        words = tr("The connections cannot be saved: {reason}.")
        self._messages.error(words.format(reason=error.strerror or error))

    def close(self) -> None:
        """Close the dialogs that are open."""
        for each in (self._provider, self._dialog):
            if each is not None:
                each.close()

    def show_choice(self, choice: ModelChoice) -> None:
        """Show above what the document is answered by, and in the status bar how fast."""
        choices = self._window.run_choices
        offered = [("", self._unpicked_words(choice))]
        offered += [(each.name, each.name) for each in self._controller.connections.connections]
        choices.set_connections(offered, self._controller.chosen)
        document = self._window.tabs.document
        is_agent = document is not None and bool(document.tools or agent_settings(document))
        choices.explain(choice_words(choice), self._folder_words(choice), is_agent=is_agent)
        self._show_models(choices, choice, is_agent=is_agent)
        self._show_status(choice)

    def _unpicked_words(self, choice: ModelChoice) -> str:
        """Return what decides on the connection where the user picks none for the file."""
        if choice.declaration.connection or choice.declaration.provider:
            return tr("Connection of the file")
        return tr("Connection of the folder") if choice.folder else tr("Default")

    def _folder_words(self, choice: ModelChoice) -> str:
        """Return what the button for the folder does; empty where there is nothing to keep."""
        name = choice.connection.name
        if choice.folder:
            folder = Path(choice.folder).name
            return tr("Stop using {name} in {folder}").format(name=name, folder=folder)
        kept = self._folder_of(self._controller.file) if self._controller.chosen else None
        words = tr("Use {name} in {folder}")
        return words.format(name=name, folder=kept.name) if kept else ""

    def _on_folder(self) -> None:
        choice, chosen = self._controller.choice, self._controller.chosen
        kept = Path(choice.folder) if choice.folder else self._folder_of(self._controller.file)
        if kept is not None and self._use_in_folder(kept, chosen):
            self._controller.choose("")  # the folder says it now

    def show_speed(self) -> None:
        """Show how fast the embedded model wrote, once it has."""
        if self._controller.speed != self._speed:
            self._speed = self._controller.speed
            self._show_status(self._controller.choice)

    def _show_status(self, choice: ModelChoice) -> None:
        connection, speed = choice.connection, self._speed
        detail = choice_words(choice)
        words = text = ""
        if connection.kind == "embedded" and speed is not None:
            words = tr("{rate:.0f} tok/s").format(rate=speed.writing)
            text = tr(
                "Its last reply: {reading:,.0f} tokens a second read, {writing:,.0f} written"
            ).format(reading=speed.reading, writing=speed.writing)
            detail += "\n" + text
        if connection.kind == "embedded":
            detail += "\n" + tr(_TOY)
        self._window.status.set_speed(words, text)
        model = choice.declaration.id if connection.is_remote else ""
        name = connection.name
        drawing = "triangle-alert" if choice.refusal or choice.warning else ICONS[connection.kind]
        if choice.refusal:
            words = tr("{name} (not set up)")
            if choice.denied:
                words = tr("{name} (not allowed)")
            name = words.format(name=name)
        elif choice.instead_of:
            name = tr("{name}, not {model}").format(name=name, model=choice.instead_of)
        self._window.run_choices.name_choice(model or "", name, detail, drawing)

    def _show_models(self, choices: RunChoices, choice: ModelChoice, *, is_agent: bool) -> None:
        connection = choice.connection
        if connection.kind == "embedded" and is_agent:
            now = self._controller.level
            levels = [(level, help_words(level)[0]) for level in LEVELS]
            choices.set_models(levels, now, name=tr("Help"))
            toy = tr(_TOY)
            choices.model.setToolTip(f"{': '.join(help_words(now))}\n{toy}")
        elif connection.is_remote:
            model = choice.declaration.id
            ids = dict.fromkeys((*((model,) if model else ()), *self._controller.models))
            offered = [(each, each) for each in ids]
            choices.set_models(offered, model, name=tr("Model"), is_open=True)
            choices.model.setToolTip(
                tr("Model of {name}: choose or type its id").format(name=connection.name)
            )
        else:
            choices.set_models([])

    # -- slots ----------------------------------------------------------------------------------

    def _on_model(self, model: str) -> None:
        if self._controller.choice.connection.kind == "embedded":
            self._controller.set_level(next(each for each in LEVELS if each == model))
            return
        try:
            self._controller.choose_model(model)
        except OSError as error:
            self._say_unsaved(error)

    def _on_trial(self, name: str, trial: ConnectionTrial) -> None:
        if trial.state != "running" and name == self._controller.choice.connection.name:
            self.show_choice(self._controller.choice)

    def _on_allowed(self, origin: str, then: Callable[[], None], *, always: bool) -> None:
        self._controller.allow_once(origin)
        if always:
            try:
                self._controller.trust(origin)
            except OSError as error:
                self._messages.error(
                    tr("The endpoint is allowed, but only once: {reason}.").format(
                        reason=error.strerror or error
                    )
                )
        then()

    def _on_dialog_closed(self) -> None:
        self._dialog = None

    def _on_provider_closed(self) -> None:
        self._provider = None
