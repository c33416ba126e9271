"""What the menu of a button offers, and choosing from it."""

from __future__ import annotations

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QToolButton


def _actions(button: QToolButton) -> list[QAction]:
    button.menu().aboutToShow.emit()
    return [action for action in button.menu().actions() if not action.isSeparator()]


def menu_texts(button: QToolButton) -> list[str]:
    """What the menu offers now."""
    return [action.text() for action in _actions(button)]


def choose(button: QToolButton, text: str) -> None:
    """Do what the menu's entry of this text does."""
    next(action for action in _actions(button) if action.text() == text).trigger()
