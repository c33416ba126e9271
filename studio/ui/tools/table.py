"""The table of tools: one row each, as many columns as the pane has room for."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeView, QWidget

from studio.core.tools.registry import ToolEntry
from studio.viewmodels.tools.model import ToolsModel

_COLUMN_WIDTHS = {2: 320, 3: 640, 4: 440, 5: 720, 6: 540}
"""Width of the table, in pixels, from which a column is shown."""

_SOURCE = 2
_CELL_MARGIN = 16
_WIDEST_SOURCE = 180


class ToolTable(QTreeView):
    """Reports which tool is chosen, and which is to be shown whole."""

    chosen = Signal(ToolEntry)  # ToolEntry of the current row
    entered = Signal(ToolEntry)  # ToolEntry that was clicked, or opened with Enter
    request_enabled = Signal(str, bool)  # tool name, whether the model is to be offered it

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = ToolsModel(self)
        self._ticked = False
        self._source_width = 0
        self.setModel(self.rows)
        self.setAccessibleName(self.tr("Tools"))
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setMinimumHeight(84)
        header = self.header()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft)
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(48)
        header.setResizeContentsPrecision(30)  # rows looked at; all 1,000 of them took 2 s
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column in range(1, self.rows.columnCount()):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
        self.rows.request_enabled.connect(self._on_ticked)
        self.selectionModel().currentChanged.connect(self._on_current)
        self.clicked.connect(self._on_clicked)

    def choose(self, name: str) -> bool:
        """Make a tool the current one; whether it is listed."""
        row = self.rows.row_of(name)
        if row >= 0:
            self.setCurrentIndex(self.rows.index(row, 0))
        return row >= 0

    def fit(self, width: int) -> None:
        """Show the columns that a width has room for: in a narrow dock names come first."""
        hidden = [self.isColumnHidden(column) for column in _COLUMN_WIDTHS]
        for column, least in _COLUMN_WIDTHS.items():
            self.setColumnHidden(column, width < least)
        if hidden != [self.isColumnHidden(column) for column in _COLUMN_WIDTHS]:
            self._measure()  # a hidden column has no width of its own

    def measure(self, sources: Iterable[str]) -> None:
        """Make each column as wide as its texts; not at every key of a search, it takes long.

        Args:
            sources: All sources there are: a search that shows others must find room for them.
        """
        metrics = self.fontMetrics()
        widest = max((metrics.horizontalAdvance(each) for each in sources), default=0)
        self._source_width = min(widest + _CELL_MARGIN, _WIDEST_SOURCE)
        self._measure()

    def _measure(self) -> None:
        for column in range(1, self.rows.columnCount()):
            self.resizeColumnToContents(column)
        if not self.isColumnHidden(_SOURCE):
            self.setColumnWidth(_SOURCE, max(self.columnWidth(_SOURCE), self._source_width))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter shows the tool whole."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._enter(self.currentIndex())
            return
        super().keyPressEvent(event)

    def _on_ticked(self, name: str, enabled: bool) -> None:
        self._ticked = True
        self.request_enabled.emit(name, enabled)

    def _on_current(self, current: QModelIndex, _: QModelIndex) -> None:
        entry = self.rows.entry(current.row()) if current.isValid() else None
        if entry is not None:
            self.chosen.emit(entry)

    def _on_clicked(self, index: QModelIndex) -> None:
        ticked, self._ticked = self._ticked, False
        if not ticked:  # the click on a box is meant for the box
            self._enter(index)

    def _enter(self, index: QModelIndex) -> None:
        entry = self.rows.entry(index.row()) if index.isValid() else None
        if entry is not None:
            self.entered.emit(entry)
