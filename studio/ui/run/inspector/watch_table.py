"""The Watch tab: expressions of the user, with their values at the current place."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from studio.application.run.debugging.console import names_for
from studio.application.run.debugging.memory import HINT, WatchRow
from studio.application.words import marked, tr
from studio.ui.parts.kit import style_table
from studio.ui.run.state.variables import ExpressionField
from studio.ui.style.theme import FollowsTheme, theme_in_use
from studio.viewmodels.app.jobs import single_shot

_NEW = marked("Add an expression: args.city, tokens.total > 1000 …")


class _ExpressionDelegate(QStyledItemDelegate):
    """Completes names while an expression is written."""

    names: tuple[str, ...] = ()

    def createEditor(
        self,
        parent: QWidget,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> QWidget:
        """Return a field for the first column; the second one is never written."""
        field = ExpressionField(parent)
        field.setFrame(False)
        field.set_names(self.names)
        return field

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ask the field first: a table takes Tab for the next cell."""
        if isinstance(watched, ExpressionField) and watched.eventFilter(watched, event):
            return True
        return super().eventFilter(watched, event)


class WatchTable(FollowsTheme, QTableWidget):
    """Written in place; the last row takes a new one, an empty one goes."""

    expressions_changed = Signal(tuple)  # expressions, in order

    def __init__(self) -> None:
        super().__init__(0, 2)
        self._rows: tuple[WatchRow, ...] = ()
        self._filling = False
        self._is_stale = False
        self._refill = single_shot(self, self._on_refill)
        self._delegate = _ExpressionDelegate(self)
        self.setItemDelegate(self._delegate)
        self.set_names(names_for(None))
        self.setHorizontalHeaderLabels([tr("Expression"), tr("Value")])
        style_table(self, tr("Watch"), 28)
        self.setToolTip(HINT)
        self.setTabKeyNavigation(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        remove = QShortcut(QKeySequence("Del"), self)
        remove.setContext(Qt.ShortcutContext.WidgetShortcut)
        remove.activated.connect(self._remove)
        self.itemChanged.connect(self._on_changed)
        self._fill()
        self.follow_theme()

    @property
    def expressions(self) -> tuple[str, ...]:
        """The expressions, in order."""
        return tuple(row.expression for row in self._rows)

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        self._fill()

    def set_names(self, names: tuple[str, ...]) -> None:
        """Set the names that are completed."""
        self._delegate.names = names

    def show_rows(self, rows: Sequence[WatchRow]) -> None:
        """Show values; one that is being written is not disturbed."""
        if tuple(rows) == self._rows and self.rowCount():
            return
        self._rows = tuple(rows)
        if self.state() == QAbstractItemView.State.EditingState:
            self._is_stale = True  # told again once the editor is closed
        else:
            self._fill()

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """Show the values that came while an expression was written."""
        super().closeEditor(editor, hint)
        if self._is_stale:
            self._refill.start()  # not here: Qt still works with the editor and its item

    def _on_refill(self) -> None:
        if self._is_stale and self.state() != QAbstractItemView.State.EditingState:
            self._fill()

    def _fill(self) -> None:
        theme = theme_in_use()
        self._filling, self._is_stale = True, False
        row = self.currentRow()
        self.setRowCount(len(self._rows) + 1)
        for index, one in enumerate(self._rows):
            value = QTableWidgetItem(one.value)
            value.setFlags(value.flags() & ~Qt.ItemFlag.ItemIsEditable)
            value.setToolTip(one.value)
            ink = theme.error if one.is_wrong else theme.text
            value.setForeground(QColor(ink))
            self.setItem(index, 0, QTableWidgetItem(one.expression))
            self.setItem(index, 1, value)
        new, rest = (QTableWidgetItem(""), QTableWidgetItem(tr(_NEW)))
        rest.setFlags(Qt.ItemFlag.ItemIsEnabled)
        rest.setForeground(QColor(theme.muted))
        self.setItem(len(self._rows), 0, new)
        self.setItem(len(self._rows), 1, rest)
        if row >= 0:
            self.setCurrentCell(min(row, len(self._rows)), 0)
        self._filling = False

    def _on_changed(self, item: QTableWidgetItem) -> None:
        if self._filling or item.column() != 0:
            return
        items = [self.item(row, 0) for row in range(self.rowCount())]
        texts = [item.text().strip() for item in items if item is not None]
        self.expressions_changed.emit(tuple(dict.fromkeys(text for text in texts if text)))

    def _remove(self) -> None:
        row = self.currentRow()
        if 0 <= row < len(self._rows):
            left = self.expressions[:row] + self.expressions[row + 1 :]
            self.expressions_changed.emit(left)
