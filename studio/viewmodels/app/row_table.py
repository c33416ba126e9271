"""The base of the tables whose rows are values."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

Index = QModelIndex | QPersistentModelIndex
Row = TypeVar("Row")

DISPLAY = int(Qt.ItemDataRole.DisplayRole)
TIP = int(Qt.ItemDataRole.ToolTipRole)
ALIGNMENT = int(Qt.ItemDataRole.TextAlignmentRole)


class RowTable(QAbstractTableModel, Generic[Row]):
    """Holds the rows; a table says in `head` and `cell` what it shows of them."""

    def __init__(self, columns: int, parent: QObject | None = None) -> None:
        """Make an empty table of so many columns."""
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
        """Show other rows.

        Args:
            rows: all of them, in order.
            key: what a row is of; where all keys stay, only the cells are drawn again (what
                they say can depend on the time). A reset would lose what is chosen and the place
                that is looked at.
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
        """Have every cell asked for anew."""
        if self._rows:
            last = self.index(len(self._rows) - 1, self._columns - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def head(self, column: int, role: int) -> object:
        """Return the data of a column's head for a role."""
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
        """Return the data of a column's head for a role; rows have none."""
        return self.head(section, role) if orientation == Qt.Orientation.Horizontal else None

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Return the data of a cell for a role; nothing if the row is gone."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        return self.cell(self._rows[index.row()], index.column(), role)
