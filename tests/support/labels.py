"""Looks for labels that would read a foreign text as HTML."""

from __future__ import annotations

from PySide6.QtGui import Qt
from PySide6.QtWidgets import QLabel, QWidget

PLANTED = "<b>PLANTED</b>"
"""What tests write into names, values and descriptions."""


def labels_read_as_rich(widget: QWidget) -> list[str]:
    """Texts of others that a label would take for HTML, and so for pictures to load."""
    return [
        label.text()
        for label in widget.findChildren(QLabel)
        if "PLANTED" in label.text()
        and label.textFormat() != Qt.TextFormat.PlainText
        and Qt.mightBeRichText(label.text())
    ]
