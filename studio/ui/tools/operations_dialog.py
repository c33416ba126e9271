"""Choosing among the operations of an API: by group, by search, one by one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from studio.application.words import tr
from studio.core.text.invisible import plain_tip, reveal
from studio.core.tools.openapi.loading import OperationRow
from studio.core.tools.sources.listing import MOST_TOOLS
from studio.ui.parts.layouts import ClosingDialog, column_of, row_of
from studio.ui.style.colors import paint_text, theme_in_use
from studio.ui.style.icons import icon
from studio.viewmodels.app.jobs import single_shot

_NAME = int(Qt.ItemDataRole.UserRole)
_NEARLY = 100
"""Number of tools from which providers' limits are mentioned."""

_WIDTH, _HEIGHT = 760, 560
_NAME_WIDTH = 300


class OperationTree(QTreeWidget):
    """Groups with their operations; Space ticks all that are selected."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tick every selected operation as the first of them is not."""
        items = [each for each in self.selectedItems() if each.data(0, _NAME) or each.childCount()]
        if event.key() != Qt.Key.Key_Space or len(items) < 2:
            super().keyPressEvent(event)
            return
        is_on = items[0].checkState(0) == Qt.CheckState.Checked
        for item in items:
            item.setCheckState(0, Qt.CheckState.Unchecked if is_on else Qt.CheckState.Checked)


class OperationsDialog(ClosingDialog):
    """Says which operations are wanted; the prompt is written by whoever asked."""

    chosen = Signal(frozenset)  # names of the tools that are wanted

    def __init__(self, label: str, rows: Sequence[OperationRow], parent: QWidget) -> None:
        super().__init__(parent, tr("Operations of {label}").format(label=label), (_WIDTH, _HEIGHT))
        self._rows = {row.name: row for row in rows}
        self._searched = {row.name: _searched(row) for row in rows}
        self._items: dict[str, QTreeWidgetItem] = {}
        self.search = QLineEdit(
            self, placeholderText=tr("Search operations"), clearButtonEnabled=True
        )
        self.tree = OperationTree(self)
        self.tree.setAccessibleName(tr("Operations by group"))
        self.tree.setHeaderLabels([tr("Operation"), tr("Method"), tr("Path"), tr("Tokens")])
        self.tree.setSelectionMode(QTreeWidget.SelectionMode.ExtendedSelection)
        self.tree.headerItem().setToolTip(
            3,
            tr("A fourth of the characters. The status bar counts as the chosen model does."),
        )
        self.tree.setUniformRowHeights(True)
        self.tree.ensurePolished()  # a height that is asked for before is kept, without padding
        self._fill(rows)
        self.meter = QLabel(self, wordWrap=True)
        self.all_button = QPushButton(tr("Select all listed"), self, autoDefault=False)
        self.none_button = QPushButton(tr("Clear all listed"), self, autoDefault=False)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.write_button = self.buttons.addButton(
            tr("Write into the prompt"), QDialogButtonBox.ButtonRole.AcceptRole
        )
        self._arrange()
        self.search.textChanged.connect(self._filter)
        # A group ticks each of its operations: they are measured once.
        self._measuring = single_shot(self, self._measure)
        self.tree.itemChanged.connect(lambda *_: self._measuring.start())
        self.all_button.clicked.connect(lambda: self._tick_listed(Qt.CheckState.Checked))
        self.none_button.clicked.connect(lambda: self._tick_listed(Qt.CheckState.Unchecked))
        self.buttons.accepted.connect(self._write)
        self.buttons.rejected.connect(self.reject)
        self._measure()

    def wanted(self) -> frozenset[str]:
        """Names of the operations that are ticked, listed or not."""
        return frozenset(
            name
            for name, item in self._items.items()
            if item.checkState(0) == Qt.CheckState.Checked
        )

    def _fill(self, rows: Sequence[OperationRow]) -> None:
        groups: dict[str, list[QTreeWidgetItem]] = {}
        for row in rows:
            cells = [row.name, row.method, row.path]
            item = _Item([*(reveal(text, lines=False) for text in cells), f"{row.tokens:,}"])
            item.setData(0, _NAME, row.name)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            state = Qt.CheckState.Checked if row.is_chosen else Qt.CheckState.Unchecked
            item.setCheckState(0, state)
            item.setToolTip(0, plain_tip(reveal(row.summary)))
            if row.is_large:
                item.setIcon(3, icon("triangle-alert", "warning"))
                item.setToolTip(3, tr("It takes over 20 KB of each request."))
            self._items[row.name] = item
            groups.setdefault(row.tag, []).append(item)
        for tag, items in groups.items():
            words = reveal(tag, lines=False) if tag else tr("(no tag)")
            group = _Item([f"{words} ({len(items)})"])
            group.setFlags(
                group.flags() | Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsAutoTristate
            )
            group.addChildren(items)
            self.tree.addTopLevelItem(group)
        self.tree.setSortingEnabled(True)
        self.tree.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        self.tree.setColumnWidth(0, _NAME_WIDTH)
        if len(groups) == 1:
            self.tree.expandAll()

    def _arrange(self) -> None:
        ticks = row_of(self.all_button, self.none_button, 1)
        column_of(self.search, (self.tree, 1), ticks, self.meter, self.buttons, on=self, margins=12)

    def _filter(self, text: str) -> None:
        words = text.lower().split()
        for place in range(self.tree.topLevelItemCount()):
            group = self.tree.topLevelItem(place)
            assert group is not None
            shown = 0
            for number in range(group.childCount()):
                item = group.child(number)
                assert item is not None
                whole = self._searched[item.data(0, _NAME)]
                is_found = all(word in whole for word in words)
                if item.isHidden() is is_found:
                    item.setHidden(not is_found)
                shown += is_found
            group.setHidden(not shown)
            group.setExpanded(bool(words) and bool(shown))

    def _tick_listed(self, state: Qt.CheckState) -> None:
        self.tree.blockSignals(True)
        for item in self._items.values():
            if not item.isHidden():
                item.setCheckState(0, state)
        self.tree.blockSignals(False)
        self.tree.viewport().update()
        self._measure()

    def _measure(self) -> None:
        """Say what the choice costs in each request, and what providers take."""
        theme = theme_in_use()
        wanted = self.wanted()
        tokens = sum(self._rows[name].tokens for name in wanted)
        words = tr("{count} of {all} chosen, about {tokens} tokens with each request.").format(
            count=f"{len(wanted):,}", all=f"{len(self._rows):,}", tokens=f"{tokens:,}"
        )
        color = theme.muted
        if len(wanted) >= _NEARLY:
            color = theme.error if len(wanted) > MOST_TOOLS else theme.warning
            words += " " + tr("Most providers take {most} tools.").format(most=MOST_TOOLS)
        paint_text(self.meter, color)
        self.meter.setText(words)
        self.write_button.setEnabled(bool(wanted))

    def _write(self) -> None:
        self.chosen.emit(self.wanted())
        self.accept()


def _searched(row: OperationRow) -> str:
    tags = " ".join(row.tags)
    return f"{row.name} {row.identifier} {row.method} {row.path} {tags} {row.summary}".lower()


class _Item(QTreeWidgetItem):
    """Sorted by the number where a column has numbers."""

    def __lt__(self, other: QTreeWidgetItem) -> bool:
        column = self.treeWidget().sortColumn()
        own, others = self.text(column), other.text(column)
        if column == 3 and own and others:
            return int(own.replace(",", "")) < int(others.replace(",", ""))
        return own.casefold() < others.casefold()
