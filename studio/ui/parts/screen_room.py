"""The size of a dialog, on screens that are smaller than it would like."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

_TITLE_BAR = 40
"""Room for the window's own frame and title, in pixels."""


def resize_within_screen(dialog: QWidget, width: int, height: int) -> None:
    """Give a dialog its size, or what the screen has, so that its buttons can be reached."""
    room = dialog.screen().availableGeometry()
    dialog.resize(min(width, room.width() - 8), min(height, room.height() - _TITLE_BAR))
