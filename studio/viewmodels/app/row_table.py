"""Base class of tables whose rows are values."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

Index = QModelIndex | QPersistentModelIndex
Row = TypeVar("Row")

DISPLAY = int(Qt.ItemDataRole.DisplayRole)
TIP = int(Qt.ItemDataRole.ToolTipRole)
ALIGNMENT = int(Qt.ItemDataRole.TextAlignmentRole)


class RowTable(QAbstractTableModel, Generic[Row]):
    """Holds the rows; subclasses define the texts in `head` and `cell`."""

    def __init__(self, columns: int, parent: QObject | None = None) -> None:
        """Create an empty table with a number of columns."""
        super().__init__(parent)
        self._columns = columns
        self._rows: tuple[Row, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows, in order."""
        return self._rows

    def show_rows(
        self, rows: tuple[Row, ...], key: Callable[[Row], Hashable] | None = None
    ) -> None:
        """Replace the rows.

        Args:
            rows: all of them, in order.
            key: identity of a row; if all keys stay the same, only the cells are redrawn (their
                text may depend on the time). A reset would lose the selection and the scroll
                position.
        """
        if key is None and rows == self._rows:
            return
        if key is not None and [*map(key, rows)] == [*map(key, self._rows)]:
            self._rows = rows
            self.draw_again()
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def draw_again(self) -> None:
        """Redraw every cell."""
        if self._rows:
            last = self.index(len(self._rows) - 1, self._columns - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def head(self, column: int, role: int) -> object:
        """Return the data of a column header for a role."""
        raise NotImplementedError

    def cell(self, row: Row, column: int, role: int) -> object:
        """Return the data of a cell for a role."""
        raise NotImplementedError

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns."""
        return 0 if parent.isValid() else self._columns

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Return the data of a column header for a role; rows have no headers."""
        return self.head(section, role) if orientation == Qt.Orientation.Horizontal else None

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Return the data of a cell for a role; None if the row no longer exists."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        return self.cell(self._rows[index.row()], index.column(), role)
