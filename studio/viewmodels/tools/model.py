"""The registry's entries as a table."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, Signal

from studio.application.tools.rows import (
    COLUMNS,
    cell_text,
    cell_tip,
    column_head,
    column_tip,
    sort_key,
)
from studio.core.prompty.tool_spec import ToolId
from studio.core.text.invisible import reveal
from studio.core.text.plain_tip import plain_tip
from studio.core.tools.registry import ToolEntry
from studio.viewmodels.app.row_table import DISPLAY, TIP, Index, RowTable

MARK = int(Qt.ItemDataRole.UserRole)
"""Whether the user should look at the tool's texts."""

_EDIT = int(Qt.ItemDataRole.EditRole)
_ROLES = (DISPLAY, int(Qt.ItemDataRole.CheckStateRole), TIP, MARK)

_PLAIN = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
_TICKED = _PLAIN | Qt.ItemFlag.ItemIsUserCheckable
"""Made once: views ask for the flags of every row at every key of a search."""


class ToolsModel(RowTable[ToolEntry]):
    """One row for each tool; the box of the first column says whether the model is offered it."""

    request_enabled = Signal(ToolId, bool)  # tool, whether the model is to be offered the tool

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(len(COLUMNS), parent)
        self._entries: tuple[ToolEntry, ...] = ()
        self._sorted_by = -1
        self._order = Qt.SortOrder.AscendingOrder

    def show_entries(self, entries: Sequence[ToolEntry]) -> None:
        """Show entries; rows that stay keep their selection."""
        self._entries = tuple(entries)
        self.show_rows(self._in_order(), lambda entry: entry.id)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; by none (-1) they stand as the registry has them."""
        if (column, order) == (self._sorted_by, self._order):
            return
        self._sorted_by, self._order = column, order
        self.layoutAboutToBeChanged.emit()
        kept = self.persistentIndexList()
        tools = [self._rows[index.row()].id for index in kept]
        self._rows = self._in_order()
        places = {entry.id: row for row, entry in enumerate(self._rows)}
        moved = [
            self.index(places[tool], index.column())
            for tool, index in zip(tools, kept, strict=True)
        ]
        self.changePersistentIndexList(kept, moved)
        self.layoutChanged.emit()

    def _in_order(self) -> tuple[ToolEntry, ...]:
        if self._sorted_by < 0:
            return self._entries
        return tuple(
            sorted(
                self._entries,
                key=lambda entry: sort_key(entry, self._sorted_by),
                reverse=self._order == Qt.SortOrder.DescendingOrder,
            )
        )

    def entry(self, row: int) -> ToolEntry | None:
        """The tool of a row."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def row_of(self, tool: ToolId) -> int:
        """The row of a tool, -1 without one."""
        return next((row for row, item in enumerate(self._rows) if item.id == tool), -1)

    def head(self, column: int, role: int) -> object:
        """A column's title and what it tells."""
        if role == DISPLAY:
            return column_head(column)
        return column_tip(column) if role == TIP else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """The first column has a box to tick."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return _TICKED if index.column() == 0 else _PLAIN

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """What a cell shows."""
        # Most questions are about looks, and there are thousands of them.
        return super().data(index, role) if role in _ROLES else None

    def cell(self, row: ToolEntry, column: int, role: int) -> object:
        """A cell's text, its box, or the whole of what is said of the tool."""
        if role == DISPLAY:
            return cell_text(row, column)
        if role == TIP:
            return plain_tip(reveal(cell_tip(row)))
        if role == MARK:
            return bool(row.marks) and column == 0
        if column == 0:
            return Qt.CheckState.Checked if row.enabled else Qt.CheckState.Unchecked
        return None

    def setData(self, index: Index, value: object, role: int = _EDIT) -> bool:
        """Ask for a tool to be offered or not; the answer comes with the next registry."""
        entry = self.entry(index.row())
        if entry is None or role != Qt.ItemDataRole.CheckStateRole:
            return False
        checked = Qt.CheckState(value) == Qt.CheckState.Checked
        self.request_enabled.emit(entry.id, checked)
        return True
