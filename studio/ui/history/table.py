"""The list of runs as a table: its columns, and the end of a run in color."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QBrush, QColor, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from studio.application.history.rows import HEADS
from studio.ui.style.in_use import theme_in_use
from studio.viewmodels.history.model import GROUP_ROLE, TONE_ROLE, HistoryModel

_END = HEADS.index("End")
_WIDTHS = (170, 320, 130, 150, 90, 90, 80, 80, 80, 116, 120, 240, 80, 80, 160)
_ORDER = (
    "Prompt", "Question", "Answer", "End", "Started", "Duration", "Model", "Tokens", "Cost",
    "Model calls", "Tool calls", "Branches", "Protocol", "Tags", "Note",
)  # fmt: skip
"""The columns as they stand at first; they are dragged, and sorted by a click."""


class _EndDelegate(QStyledItemDelegate):
    """Colors the end of a run; its words say the same."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Set the text's color."""
        theme = theme_in_use()
        super().initStyleOption(option, index)
        tones = {
            "good": theme.success, "warning": theme.warning, "bad": theme.error,
        }  # fmt: skip
        if index.data(GROUP_ROLE) is not None:
            option.backgroundBrush = QBrush(QColor(theme.raised))
        color = tones.get(index.data(TONE_ROLE))
        if index.column() == _END and color is not None:
            for role in (QPalette.ColorRole.Text, QPalette.ColorRole.HighlightedText):
                option.palette.setColor(role, QColor(color))


class RunTable(QTableView):
    """Columns can be dragged, and sorted by a click."""

    def __init__(self, model: HistoryModel) -> None:
        super().__init__()
        self.setModel(model)
        self.setItemDelegate(_EndDelegate(self))
        self.setAccessibleName(self.tr("Runs"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setWordWrap(False)
        # In line with the heads. A sheet of its own would have each head asked four times as often.
        self.setProperty("padded", True)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(28)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setStretchLastSection(False)
        for column, width in enumerate(_WIDTHS):
            self.setColumnWidth(column, max(width, header.sectionSizeHint(column)))
        header.setMinimumSectionSize(header.sectionSizeHint(1))
        header.setSectionsMovable(True)
        for place, name in enumerate(_ORDER):
            header.moveSection(header.visualIndex(HEADS.index(name)), place)
        header.setSortIndicator(-1, Qt.SortOrder.DescendingOrder)
        header.setSortIndicatorClearable(True)
        self.setSortingEnabled(True)
