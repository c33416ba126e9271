"""The rows of a comparison for a table: a card of each side, and what is to be said of them."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QT_TRANSLATE_NOOP,
    QAbstractTableModel,
    QCoreApplication,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)
from PySide6.QtGui import QBrush, QColor

from studio.application.run.cards import StepCard
from studio.application.run.compare import CompareRow, Comparison
from studio.ui.style.colours import blend
from studio.ui.style.theme import LIGHT, Theme

_MARKS = {"same": "=", "differs": "≠", "left": "←", "right": "→"}
_SAID = {
    "same": QT_TRANSLATE_NOOP("CompareDialog", "the same"),
    "differs": QT_TRANSLATE_NOOP("CompareDialog", "different"),
    "left": QT_TRANSLATE_NOOP("CompareDialog", "only on the left"),
    "right": QT_TRANSLATE_NOOP("CompareDialog", "only on the right"),
}


class CompareModel(QAbstractTableModel):
    """Asked only for what is in sight, however long the runs are."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self._comparison: Comparison | None = None
        self._rows: tuple[int, ...] = ()

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows of the comparison that are listed."""
        return self._rows

    def set_theme(self, theme: Theme) -> None:
        """Paint in these colours."""
        self._theme = theme
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, 2))

    def show_comparison(self, comparison: Comparison, *, only_differences: bool) -> None:
        """List the rows of a comparison."""
        self.beginResetModel()
        self._comparison = comparison
        everything = tuple(range(len(comparison.rows)))
        self._rows = comparison.differences if only_differences else everything
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        """How many rows are listed."""
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        """Left, mark, right."""
        return 0 if parent is not None and parent.isValid() else 3

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = int(Qt.ItemDataRole.DisplayRole),
    ) -> Any:  # noqa: ANN401 - Qt's signature
        """The names of the two ways."""
        held = self._comparison
        if orientation != Qt.Orientation.Horizontal or held is None:
            return None
        if role == int(Qt.ItemDataRole.DisplayRole):
            return (held.left.title, "", held.right.title)[section]
        if role == int(Qt.ItemDataRole.TextAlignmentRole):
            return int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(
        self,
        index: QModelIndex | QPersistentModelIndex,
        role: int = int(Qt.ItemDataRole.DisplayRole),
    ) -> Any:  # noqa: ANN401 - Qt's signature
        """A card's words, their colour, or what a screen reader says of the mark."""
        held = self._comparison
        if not index.isValid() or held is None or index.row() >= len(self._rows):
            return None
        row = held.rows[self._rows[index.row()]]
        if role in (int(Qt.ItemDataRole.DisplayRole), int(Qt.ItemDataRole.ToolTipRole)):
            return self._text(row, index.column())
        if role == int(Qt.ItemDataRole.AccessibleTextRole) and index.column() == 1:
            return QCoreApplication.translate("CompareDialog", _SAID[row.match])
        if role == int(Qt.ItemDataRole.TextAlignmentRole) and index.column() == 1:
            return int(Qt.AlignmentFlag.AlignCenter)
        return self._brush(row, role)

    def _text(self, row: CompareRow, column: int) -> str:
        return (_words(row.left), _MARKS[row.match], _words(row.right))[column]

    def _brush(self, row: CompareRow, role: int) -> QBrush | None:
        theme = self._theme
        if role == int(Qt.ItemDataRole.ForegroundRole) and row.match == "same":
            return QBrush(QColor(theme.muted))
        if role == int(Qt.ItemDataRole.BackgroundRole) and row.match != "same":
            return QBrush(QColor(blend(theme.warning, theme.surface, 0.12)))
        return None


def _words(card: StepCard | None) -> str:
    return "" if card is None else f"{card.title}: {card.gist}"
