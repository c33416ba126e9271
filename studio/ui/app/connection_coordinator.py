"""Connection dialogs, questions about endpoints, and the model lists of the toolbar."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from studio.application.connections.editing import stand_ins
from studio.application.connections.model import ProviderStart, RequestedModel, choice_words
from studio.application.connections.model_list import PromptSize, RunMeans, UseModel, price_of
from studio.application.preview.requests import PreviewCount
from studio.application.words import marked, tr
from studio.core.models.base import ModelError
from studio.core.models.choice import ModelChoice
from studio.core.models.connections import Connection
from studio.core.models.embedded.model import Speed
from studio.core.models.embedded.policy import LEVELS
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.loop_format import agent_settings
from studio.core.text.values import named_reason
from studio.ui.connections.connection_list import ICONS
from studio.ui.window.parts import WindowParts
from studio.viewmodels.app.notifications import NotificationAction, Notifications
from studio.viewmodels.connections.controller import ConnectionsController
from studio.viewmodels.connections.trials import ConnectionTrial

if TYPE_CHECKING:
    from studio.ui.connections.dialog import ConnectionsDialog
    from studio.ui.connections.model_popover import ModelPopover

_ORDER = marked("Order: for this file, for this folder, as the file requests, the default.")
_TOY = marked(
    "A very small model for trying things out, which needs guidance; larger models need none."
)


class ConnectionCoordinator(QObject):
    """Connects the controller of connections with the window."""

    protocol_chosen = Signal(str)  # ProtocolName for runs, or empty for the file's protocol

    def __init__(
        self, controller: ConnectionsController, window: WindowParts, messages: Notifications
    ) -> None:
        super().__init__(window.widget)
        self._controller = controller
        self._window = window
        self._messages = messages
        self._dialog: ConnectionsDialog | None = None
        self.starts: tuple[ProviderStart, ...] = ()
        """Providers that can be connected, from the last search."""
        self._is_prompt = True
        self._size = PromptSize()
        self._tip = ""
        self._speed: Speed | None = None
        window.model_button.clicked.connect(self.choose)
        window.actions["run.model"].triggered.connect(self.choose)
        window.actions["run.connections"].triggered.connect(self.manage)
        controller.changed.connect(self.show_choice)
        controller.trials.changed.connect(self._on_trial)
        controller.refused.connect(messages.error)
        if controller.connections.problems:
            messages.error(
                " ".join(controller.connections.problems),
                tr("Correct the file. Saving connections keeps it as connections.broken.toml."),
            )
        self.show_choice(controller.choice)

    def manage(self) -> ConnectionsDialog:
        """Open the dialog of all connections, with the one that the prompt uses selected."""
        from studio.ui.connections.dialog import ConnectionsDialog

        if self._dialog is None:
            dialog = ConnectionsDialog(self._controller, self._window.widget)
            dialog.finished.connect(self._on_dialog_closed)
            self._dialog = dialog
            dialog.show_connection(self._controller.choice.connection.name)
            dialog.open()
        self._dialog.activateWindow()
        return self._dialog

    def choose(self) -> ModelPopover:
        """Open the model popover at the toolbar's button; search for servers on this machine."""
        popover, controller = self.popover, self._controller
        self.starts = controller.list_models(os.environ)
        controller.look_for_weights(self._window.services.settings.value.model_folders)
        controller.prices.load()
        document = self._window.tabs.document
        folder = self._folder_of(controller.file)
        popover.open(
            controller.sources(self.starts),
            self._size,
            folder.name if folder is not None else "",
            is_agent=document is not None and is_agent(document),
            is_toy=controller.choice.connection.kind == "embedded",
        )
        button = self._window.model_button
        corner = button.mapToGlobal(button.rect().bottomRight())
        edge = self._window.widget.mapToGlobal(self._window.widget.rect().topLeft()).x()
        popover.move(max(edge, corner.x() - popover.width()), corner.y() + 4)
        return popover

    @cached_property
    def popover(self) -> ModelPopover:
        """Return the model popover, created on first use."""
        from studio.ui.connections.model_popover import ModelPopover

        popover = ModelPopover(self._controller, self._window.model_button)
        popover.request_use.connect(self._on_use)
        popover.request_file.connect(lambda: self._try(self._controller.use_file))
        popover.request_connections.connect(self.manage)
        popover.request_folder.connect(self._on_folder)
        popover.protocol_chosen.connect(self.protocol_chosen)
        popover.level_chosen.connect(self._on_level)
        self._controller.sources_changed.connect(self._show_sources)
        self._controller.trials.changed.connect(self._show_sources)
        return popover

    def _show_sources(self) -> None:
        if self.popover.isVisible():
            self.popover.show_sources(self._controller.sources(self.starts))

    def show_count(self, count: PreviewCount) -> None:
        """Set the token count of the open prompt, from which its price is computed."""
        sent = count.sent
        self._show_price(replace(self._size, tokens=sent.total, is_exact=sent.total_is_exact))

    def show_means(self, path: str, means: RunMeans) -> None:
        """Set the means of a prompt's last runs, from which its price is computed."""
        if path == str(self._controller.file):
            self._show_price(replace(self._size, means=means))

    def _show_price(self, size: PromptSize) -> None:
        self._size = size
        choice = self._controller.choice
        connection, model = choice.connection, choice.declaration.id
        listed = self._controller.trials.listed(connection, model)
        price, how = price_of(connection, model, size, listed)
        button = self._window.model_button
        button.show_price("" if choice.refusal else price)
        button.setToolTip("\n".join(filter(None, (self._tip, how))))

    def asks_first(self, then: Callable[[], None], asked: RequestedModel | None = None) -> bool:
        """Ask for consent to an endpoint that a prompt sets, if it is needed.

        Args:
            then: called when the user has allowed it.
            asked: the model that a prompt requests; None for the open prompt.

        Returns:
            Whether the user is asked; if so, only `then` may send.
        """
        from studio.ui.connections.dialog import TrustDialog

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
        """Report why no model is available, and offer a replacement for a missing connection.

        Args:
            error: the reason.
            asked: the model that the prompt requests.
            again: repeats the request when a connection is chosen.
        """
        offers: tuple[NotificationAction, ...] = ()
        if error.kind == "missing-connection":
            connect = NotificationAction(
                tr("Connect a model…"), self._window.actions["run.model"].trigger
            )
            offers = (connect, *self._stand_ins(asked.file, again))
        self._messages.say("error", error.message, error.hint, offers=offers, key="run")

    def _stand_ins(
        self, file: Path | None, again: Callable[[], None]
    ) -> Iterator[NotificationAction]:
        folder = self._folder_of(file)
        words = tr("Use {name}") if folder is None else tr("Use {name} in {folder}")

        def use(connection: Connection) -> None:
            if self._try(lambda: self._controller.use(UseModel(connection), folder)):
                again()

        for each in stand_ins(self._controller.connections):
            text = words.format(name=each.name, folder=folder.name if folder else "")
            yield NotificationAction(text, partial(use, each))

    def _folder_of(self, file: Path | None) -> Path | None:
        """Return the folder for which a choice is stored: the opened one, else that of the file."""
        if file is None:
            return None
        root = self._window.files.root_of(file)
        is_wide = root is None or root in (Path.home(), *Path.home().parents)
        return file.parent if root is None or is_wide else root

    def _try(self, act: Callable[[], None]) -> bool:
        """Change the connections; report a failure and return False."""
        try:
            act()
        except (OSError, ValueError) as error:
            words = tr("The connections cannot be saved: {reason}.")
            self._messages.error(words.format(reason=named_reason(error)))
            return False
        return True

    def close(self) -> None:
        """Close the open dialogs."""
        if self._dialog is not None:
            self._dialog.close()

    def show_document(self, document: PromptDocument | None) -> None:
        """Show no model for an experiment, which names its own models."""
        is_prompt = document is None or document.is_prompt
        if is_prompt != self._is_prompt:
            self._is_prompt = is_prompt
            self.show_choice(self._controller.choice)

    def show_choice(self, choice: ModelChoice) -> None:
        """Show the document's model in the toolbar, and its speed in the status bar."""
        self._show_status(choice)
        if not self._is_prompt:
            button = self._window.model_button
            button.show_model(tr("No prompt"), tr("An experiment names its models itself."))
            button.show_price("")

    def show_speed(self) -> None:
        """Show the speed of the embedded model when it is known."""
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
        name = (choice.declaration.id if connection.is_remote else "") or connection.name
        if choice.refusal:
            words = tr("{name} (not allowed)") if choice.denied else tr("{name} (not set up)")
            name = words.format(name=connection.name)
        self._tip = "\n".join((detail, tr(_ORDER)))
        is_replaced = bool(choice.refusal or choice.instead_of)
        drawing = "triangle-alert" if choice.refusal else ICONS[connection.kind]
        button = self._window.model_button
        button.show_model(name, self._tip, drawing, is_replaced=is_replaced)
        self._show_price(self._size)

    # -- slots ----------------------------------------------------------------------------------

    def _on_use(self, use: UseModel, for_folder: bool) -> None:
        folder = self._folder_of(self._controller.file) if for_folder else None
        self._try(lambda: self._controller.use(use, folder))

    def _on_folder(self, folder: Path) -> None:
        """List the model files of a folder, now and in later sessions."""
        settings = self._window.services.settings
        folders = dict.fromkeys((*settings.value.model_folders, str(folder)))
        settings.set(replace(settings.value, model_folders=tuple(folders)))
        self._controller.look_for_weights(settings.value.model_folders)

    def _on_level(self, level: str) -> None:
        self._controller.set_level(next(each for each in LEVELS if each == level))

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
                    tr("The endpoint is allowed only once: {reason}.").format(
                        reason=error.strerror or error
                    )
                )
        then()

    def _on_dialog_closed(self) -> None:
        self._dialog = None


def is_agent(document: PromptDocument) -> bool:
    """Return whether a prompt runs with a protocol: it has tools or loop settings."""
    return bool(document.tools or agent_settings(document))
