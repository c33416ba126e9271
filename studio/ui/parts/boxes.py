"""Combo and spin boxes that the wheel changes only on purpose: it scrolls what they are in."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QWidget


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
