"""How a dialog looks whose words are kept or given up: its fields, and Save and Cancel below."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLayout, QWidget

from studio.ui.parts.layouts import column_of


def lay_out_to_save(dialog: QDialog, *parts: QLayout | QWidget) -> None:
    """Put the parts of a dialog one below the other, and its two buttons at the end."""
    buttons = QDialogButtonBox(
        QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel
    )
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    layout = column_of(on=dialog, margins=16, spacing=16)
    for part in (*parts, buttons):
        if isinstance(part, QWidget):
            layout.addWidget(part)
        else:
            layout.addLayout(part)
