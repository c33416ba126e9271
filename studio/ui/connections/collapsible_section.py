"""A heading that shows and hides what stands below it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QWidget


class CollapsibleSection(QToolButton):
    """Checked while its body is open; closed at first."""

    def __init__(self, title: str, body: QWidget) -> None:
        """Make a heading.

        Args:
            title: what is said.
            body: what is shown while it is checked; laid out by the caller.
        """
        super().__init__()
        self.body = body
        self.setText(title)
        self.setCheckable(True)
        self.setArrowType(Qt.ArrowType.RightArrow)
        self.setStyleSheet("QToolButton:checked { background: transparent; }")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.toggled.connect(self._on_toggled)
        body.hide()

    def set_available(self, available: bool) -> None:
        """Show heading and, where it is open, body; or neither."""
        self.setVisible(available)
        self.body.setVisible(available and self.isChecked())

    def _on_toggled(self, on: bool) -> None:
        self.setArrowType(Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow)
        self.body.setVisible(on)
