"""The look that tables without a frame and a grid have in common."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QTableView


def style_table(table: QTableView, name: str, row_height: int = 0) -> None:
    """Give a table its accessible name, and cells in line with the heads.

    Args:
        table: the table.
        name: its accessible name.
        row_height: height of each row in pixels; 0 for that of the style.
    """
    table.setAccessibleName(name)
    table.setFrameShape(QFrame.Shape.NoFrame)
    table.setShowGrid(False)
    # A sheet of its own would have each head asked four times as often.
    table.setProperty("padded", True)
    table.verticalHeader().hide()
    if row_height:
        table.verticalHeader().setDefaultSectionSize(row_height)
    table.horizontalHeader().setHighlightSections(False)
