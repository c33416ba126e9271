"""A button that shows a drawing and says its words in the tooltip and to a screen reader."""

from __future__ import annotations

from PySide6.QtWidgets import QToolButton, QWidget

from studio.ui.style.icons import icon


def icon_button(drawing: str, words: str, parent: QWidget | None = None) -> QToolButton:
    """Make one.

    Args:
        drawing: the name of an icon.
        words: what it does.
        parent: the widget that it is in.
    """
    button = QToolButton(parent)
    button.setIcon(icon(drawing))
    button.setToolTip(words)
    button.setAccessibleName(words)
    return button
