"""Keys that mean something else in one pane than in the window around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget


class OwnKeys(QObject):
    """Takes keys before the window's shortcuts do, while the widget (or a child) has the keyboard.

    A second shortcut with the same key would be ambiguous, and Qt would follow neither.
    """

    def __init__(self, widget: QWidget, keys: Mapping[str, Callable[[], object]]) -> None:
        """Watch a widget.

        Args:
            widget: whose keys they are.
            keys: what each does, by its name ("Ctrl+F").
        """
        super().__init__(widget)
        self._keys = {QKeySequence(name).toString(): act for name, act in keys.items()}
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Claim a key of ours, then act on it."""
        if not isinstance(event, QKeyEvent):
            return False
        act = self._keys.get(QKeySequence(event.keyCombination()).toString())
        if act is None:
            return False
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress:
            act()
            return True
        return False
