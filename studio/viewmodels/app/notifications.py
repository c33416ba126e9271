"""The one road of errors and notices to the user."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from PySide6.QtCore import QObject, Signal

Weight: TypeAlias = Literal["info", "success", "warning", "error"]


@dataclass(frozen=True, slots=True)
class NotificationAction:
    """Something the user can do about a notice, as a button."""

    title: str
    """Label of the button."""

    act: Callable[[], object]
    """Action of the button; called in the GUI thread."""


@dataclass(frozen=True, slots=True)
class Notification:
    """One notice."""

    weight: Weight
    """Weight of the notice. Errors and warnings stay until closed; the others disappear."""

    what: str
    """Description of the event, in one plain sentence."""

    hint: str = ""
    """Advice to the user."""

    where: str = ""
    """The file or place, where there is one."""

    offers: tuple[NotificationAction, ...] = ()
    """Buttons, the likeliest first."""

    key: str = ""
    """A notice with the key of one that is shown takes its place."""


class Notifications(QObject):
    """Carries notices from anywhere to the window."""

    noticed = Signal(Notification)
    withdrawn = Signal(str)  # key of a notice that no longer holds

    def say(
        self,
        weight: Weight,
        text: str,
        hint: str = "",
        where: str = "",
        offers: tuple[NotificationAction, ...] = (),
        key: str = "",
    ) -> None:
        """Show a notice; the arguments are the fields of `Notification`."""
        self.noticed.emit(Notification(weight, text, hint, where, offers, key))

    def info(self, what: str, hint: str = "") -> None:
        """Notify the user of a success."""
        self.say("info", what, hint)

    def error(self, what: str, hint: str = "", where: str = "") -> None:
        """Notify the user of a failure, with advice."""
        self.say("error", what, hint, where)

    def withdraw(self, key: str) -> None:
        """Take back the notice with that key."""
        self.withdrawn.emit(key)
