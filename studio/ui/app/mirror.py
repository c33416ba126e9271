"""Keeps actions as available as the button that does the same."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget


class EnabledMirror(QObject):
    """Menu, toolbar and palette show what can be done now, as a pane's own buttons do."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._pairs: dict[QWidget, list[QAction]] = {}

    def follow(self, button: QWidget, action: QAction) -> None:
        """Switch the action on and off with the button."""
        self._pairs.setdefault(button, []).append(action)
        button.installEventFilter(self)
        action.setEnabled(button.isEnabled())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow a change."""
        if event.type() == QEvent.Type.EnabledChange and isinstance(watched, QWidget):
            for action in self._pairs.get(watched, ()):
                action.setEnabled(watched.isEnabled())
        return False
