"""A line over a place that asks for a name."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget


class NameField(QLineEdit):
    """Enter takes the name; Esc and a click elsewhere leave everything as it is."""

    def __init__(self, parent: QWidget, name: str, take: Callable[[str], object]) -> None:
        """Make it.

        Args:
            parent: what it lies over; gets the keyboard back.
            name: what is written in it first.
            take: takes the name, which is not empty.
        """
        super().__init__(name, parent)
        self._parent = parent
        self._take = take

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and Esc end it."""
        is_taken = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not is_taken and event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
            return
        name = self.text().strip()
        self._end()
        self._parent.setFocus(Qt.FocusReason.OtherFocusReason)
        if is_taken and name:
            self._take(name)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The user turned to something else."""
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._end()

    def _end(self) -> None:
        if not self.isHidden():
            self.hide()
            self.deleteLater()
