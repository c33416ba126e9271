"""The registry's entries as a table."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from studio.application.tools.rows import COLUMNS, cell_text, cell_tip, column_head, column_tip
from studio.core.text.invisible import reveal
from studio.core.text.plain_tip import plain_tip
from studio.core.tools.registry import ToolEntry

_ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.CheckStateRole,
    Qt.ItemDataRole.ToolTipRole,
)

_PLAIN = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
_TICKED = _PLAIN | Qt.ItemFlag.ItemIsUserCheckable
"""Made once: views ask for the flags of every row at every key of a search."""

_Index = QModelIndex | QPersistentModelIndex


class ToolsModel(QAbstractTableModel):
    """One row for each tool; the box of the first column says whether the model is offered it."""

    request_enabled = Signal(str, bool)  # name, whether the model is to be offered the tool

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[ToolEntry, ...] = ()

    def show_entries(self, entries: Sequence[ToolEntry]) -> None:
        """Show entries; rows that stay keep their selection."""
        entries = tuple(entries)
        same_rows = [entry.name for entry in entries] == [entry.name for entry in self._entries]
        if same_rows:
            self._entries = entries
            if entries:
                last = self.index(len(entries) - 1, len(COLUMNS) - 1)
                self.dataChanged.emit(self.index(0, 0), last)
            return
        self.beginResetModel()
        self._entries = entries
        self.endResetModel()

    def entry(self, row: int) -> ToolEntry | None:
        """The tool of a row."""
        return self._entries[row] if 0 <= row < len(self._entries) else None

    def row_of(self, name: str) -> int:
        """The row of a tool, -1 without one."""
        return next((row for row, item in enumerate(self._entries) if item.name == name), -1)

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """How many tools there are."""
        return 0 if parent.isValid() else len(self._entries)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """How many columns there are."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """The columns' titles."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return column_head(section)
        return column_tip(section) if role == Qt.ItemDataRole.ToolTipRole else None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """The first column has a box to tick."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return _TICKED if index.column() == 0 else _PLAIN

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """What a cell shows."""
        if role not in _ROLES:  # most questions are about looks, and there are thousands of them
            return None
        entry = self.entry(index.row())
        if entry is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return cell_text(entry, index.column())
        if role == Qt.ItemDataRole.CheckStateRole and index.column() == 0:
            return Qt.CheckState.Checked if entry.enabled else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(reveal(cell_tip(entry)))
        return None

    def setData(self, index: _Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Ask for a tool to be offered or not; the answer comes with the next registry."""
        entry = self.entry(index.row())
        if entry is None or role != Qt.ItemDataRole.CheckStateRole:
            return False
        checked = Qt.CheckState(value) == Qt.CheckState.Checked
        self.request_enabled.emit(entry.name, checked)
        return True
