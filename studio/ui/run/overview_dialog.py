"""The table of several ways or runs, from which two are put side by side."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from studio.application.run.past.overview import OverviewRow, RunOverview
from studio.ui.style.in_use import theme_in_use
from studio.viewmodels.app.row_table import DISPLAY, TIP, RowTable


class _OverviewModel(RowTable[OverviewRow]):
    def __init__(self, shown: RunOverview, parent: QObject) -> None:
        super().__init__(1 + len(shown.sides), parent)
        self._shown = shown
        self.show_rows(shown.rows)

    def head(self, column: int, role: int) -> object:
        if role not in (DISPLAY, TIP) or not column:
            return None
        return self._shown.sides[column - 1].title

    def cell(self, row: OverviewRow, column: int, role: int) -> object:
        theme = theme_in_use()
        if role in (DISPLAY, TIP):
            return row.cells[column - 1] if column else row.name
        if role == int(Qt.ItemDataRole.ForegroundRole):
            if not column:
                return QColor(theme.muted)
            return QColor(theme.accent) if row.differs[column - 1] else None
        return None


class RunOverviewDialog(QDialog):
    """A column for each side; two chosen columns are compared step by step."""

    request_compare = Signal(int, int)  # places of two sides, from 0

    def __init__(self, shown: RunOverview, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Compare {count} runs").format(count=len(shown.sides)))
        self.table = QTableView()
        self.table.setModel(_OverviewModel(shown, self))
        self.table.setAccessibleName(self.tr("Figures of the runs"))
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectColumns)
        self.table.setWordWrap(True)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.setColumnWidth(0, 130)
        for column in range(1, len(shown.sides) + 1):
            self.table.setColumnWidth(column, 220)
        hint = QLabel(self.tr("Choose two columns (Ctrl+click) to see them step by step."))
        hint.setWordWrap(True)
        self.compare_button = QPushButton(self.tr("Compare these two"))
        self.compare_button.setEnabled(False)
        below = QHBoxLayout()
        below.addWidget(hint, 1)
        below.addWidget(self.compare_button)
        layout = QVBoxLayout(self)
        layout.addWidget(self.table, 1)
        layout.addLayout(below)
        self.resize(min(1200, 180 + 220 * len(shown.sides)), 420)
        self.table.selectionModel().selectionChanged.connect(self._on_chosen)
        self.compare_button.clicked.connect(self._on_compare)

    def chosen(self) -> tuple[int, ...]:
        """Places of the sides whose columns are chosen."""
        columns = {index.column() for index in self.table.selectionModel().selectedIndexes()}
        return tuple(sorted(column - 1 for column in columns if column))

    def _on_chosen(self) -> None:
        self.compare_button.setEnabled(len(self.chosen()) == 2)

    def _on_compare(self) -> None:
        chosen = self.chosen()
        if len(chosen) == 2:
            self.request_compare.emit(*chosen)
