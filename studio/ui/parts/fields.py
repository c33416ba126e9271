"""Combo and spin boxes that the wheel changes only on purpose: it scrolls what they are in."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QLineEdit, QWidget


class ComboBox(QComboBox):
    """A list of choices that opens to be changed; the wheel never picks another one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the scroll area around the box."""
        event.ignore()


class DoubleSpinBox(QDoubleSpinBox):
    """A number that the wheel changes only while it has the keyboard."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Change the number, or leave the wheel to the scroll area around it."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class SpinBox(DoubleSpinBox):
    """A whole number that the wheel changes only while it has the keyboard."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDecimals(0)

    def value(self) -> int:
        """Return the number."""
        return int(super().value())


# A line over a place that asks for a name.


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
