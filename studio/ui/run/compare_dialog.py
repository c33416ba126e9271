"""Two ways through a run, or two runs, side by side; it opens at the first divergence."""

from __future__ import annotations

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, Qt
from PySide6.QtGui import QBrush, QColor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFrame,
    QHeaderView,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.run_cards import StepCard
from studio.bridge.run_compare import CompareRow, Comparison
from studio.ui.parts.colours import blend
from studio.ui.theme import LIGHT, Theme

_MARKS = {"same": "=", "differs": "≠", "left": "←", "right": "→"}
_SAID = {
    "same": QT_TRANSLATE_NOOP("CompareDialog", "the same"),
    "differs": QT_TRANSLATE_NOOP("CompareDialog", "different"),
    "left": QT_TRANSLATE_NOOP("CompareDialog", "only on the left"),
    "right": QT_TRANSLATE_NOOP("CompareDialog", "only on the right"),
}


class CompareDialog(QDialog):
    """Shows a `Comparison`; not modal."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self._comparison: Comparison | None = None
        self.summary = QLabel()
        self.table = QTableWidget(0, 3)
        self.setWindowTitle(self.tr("Compare"))
        self.summary.setProperty("title", "true")
        self.table.setAccessibleName(self.tr("Comparison"))
        self.table.setFrameShape(QFrame.Shape.NoFrame)
        self.table.setShowGrid(False)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.verticalHeader().hide()
        header = self.table.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.table.setStyleSheet("QTableView::item { padding: 0 8px; }")
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.setSizeGripEnabled(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(8)
        layout.addWidget(self.summary)
        layout.addWidget(self.table, 1)
        self.resize(960, 560)

    def set_theme(self, theme: Theme) -> None:
        """Paint in these colours."""
        self._theme = theme
        if self._comparison is not None:
            self.show_comparison(self._comparison)

    def show_comparison(self, comparison: Comparison) -> None:
        """Show two ways through, at the place where they part."""
        self._comparison = comparison
        self.summary.setText(comparison.summary)
        self.table.setHorizontalHeaderLabels([comparison.left, "", comparison.right])
        self.table.setRowCount(len(comparison.rows))
        first = comparison.first_difference
        for at, row in enumerate(comparison.rows):
            self._fill(at, row)
        if first is not None:
            self.table.setCurrentCell(first, 0)
            item = self.table.item(first, 0)
            self.table.scrollToItem(item, QAbstractItemView.ScrollHint.PositionAtCenter)

    def _fill(self, at: int, row: CompareRow) -> None:
        theme = self._theme
        texts = (_text(row.left), _MARKS[row.match], _text(row.right))
        for column, text in enumerate(texts):
            item = QTableWidgetItem(text)
            item.setToolTip(text)
            if column == 1:
                item.setTextAlignment(Qt.AlignmentFlag.AlignCenter)
                item.setData(
                    Qt.ItemDataRole.AccessibleTextRole,
                    QCoreApplication.translate("CompareDialog", _SAID[row.match]),
                )
            if row.match == "same":
                item.setForeground(QBrush(QColor(theme.muted)))
            else:
                tint = blend(theme.warning, theme.surface, 0.12)
                item.setBackground(QBrush(QColor(tint)))
            self.table.setItem(at, column, item)


def _text(card: StepCard | None) -> str:
    return "" if card is None else f"{card.title}: {card.gist}"
