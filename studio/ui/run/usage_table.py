"""The Usage tab: tokens, money and time of each step, and their sum."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView, QWidget

from studio.application.run.inspector import UsageRow, usage_heads


class _UsageModel(QAbstractTableModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[UsageRow, ...] = ()

    def show_rows(self, rows: tuple[UsageRow, ...]) -> None:
        if rows != self._rows:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(usage_heads())

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = int(Qt.ItemDataRole.DisplayRole),
    ) -> Any:  # noqa: ANN401 - Qt's signature
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == int(Qt.ItemDataRole.DisplayRole):
            return usage_heads()[section]
        return self._alignment(section) if role == int(Qt.ItemDataRole.TextAlignmentRole) else None

    def data(
        self,
        index: QModelIndex | QPersistentModelIndex,
        role: int = int(Qt.ItemDataRole.DisplayRole),
    ) -> Any:  # noqa: ANN401 - Qt's signature
        row = self._rows[index.row()]
        if role == int(Qt.ItemDataRole.DisplayRole):
            return row.label if index.column() == 0 else row.cells[index.column() - 1]
        if role == int(Qt.ItemDataRole.TextAlignmentRole):
            return self._alignment(index.column())
        if role == int(Qt.ItemDataRole.FontRole) and index.row() == len(self._rows) - 1:
            font = QFont()
            font.setWeight(QFont.Weight.DemiBold)
            return font
        return None

    def _alignment(self, column: int) -> int:
        side = Qt.AlignmentFlag.AlignLeft if column == 0 else Qt.AlignmentFlag.AlignRight
        return int(side | Qt.AlignmentFlag.AlignVCenter)


class UsageTable(QTableView):
    """Shows `UsageRow` values."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = _UsageModel(self)
        self.setModel(self._model)
        self.setAccessibleName(self.tr("Usage"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        # In line with the heads. A sheet of its own would have each head asked four times as often.
        self.setProperty("padded", True)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(26)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)

    def show_rows(self, rows: tuple[UsageRow, ...]) -> None:
        """Show figures, the total last."""
        self._model.show_rows(rows)
        if rows:
            self.scrollToBottom()
