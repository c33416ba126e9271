"""Notifications: the only way in which errors and notices reach the user."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from PySide6.QtCore import QObject, Signal

Weight: TypeAlias = Literal["info", "success", "warning", "error"]


@dataclass(frozen=True, slots=True)
class NotificationAction:
    """A button of a notification."""

    title: str
    """Label of the button."""

    act: Callable[[], object]
    """Function of the button, called in the GUI thread."""


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification to the user."""

    weight: Weight
    """Severity. Errors and warnings stay until they are closed; others disappear."""

    what: str
    """Description of the event in one sentence."""

    hint: str = ""
    """Advice on what to do."""

    where: str = ""
    """File or place of the event, if there is one."""

    offers: tuple[NotificationAction, ...] = ()
    """Buttons, the most likely first."""

    key: str = ""
    """Key; a shown notification with the same key is replaced."""


class Notifications(QObject):
    """Passes notifications from any part of the program to the window."""

    noticed = Signal(Notification)
    withdrawn = Signal(str)  # key of a notification that is no longer valid

    def say(
        self,
        weight: Weight,
        text: str,
        hint: str = "",
        where: str = "",
        offers: tuple[NotificationAction, ...] = (),
        key: str = "",
    ) -> None:
        """Show a notification; the arguments are the fields of `Notification`."""
        self.noticed.emit(Notification(weight, text, hint, where, offers, key))

    def info(self, what: str, hint: str = "") -> None:
        """Show a success or a fact."""
        self.say("info", what, hint)

    def error(self, what: str, hint: str = "", where: str = "") -> None:
        """Show a failure, with advice."""
        self.say("error", what, hint, where)

    def withdraw(self, key: str) -> None:
        """Remove the notification with a key."""
        self.withdrawn.emit(key)
