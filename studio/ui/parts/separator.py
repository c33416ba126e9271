"""A line between the parts of a pane."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame


class Separator(QFrame):
    """One pixel from left to right, in the color of borders."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("separator")
        self.setFrameShape(QFrame.Shape.HLine)
        self.setFixedHeight(1)
