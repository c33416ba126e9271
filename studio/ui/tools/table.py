"""The table of tools, with as many columns as fit in the pane."""

from collections.abc import Iterable, Mapping
from functools import partial

from PySide6 import QtCore, QtWidgets
from PySide6.QtGui import QContextMenuEvent, QKeyEvent

from studio.application.tools.rows import APPROVAL_WORDS, column_head
from studio.application.words import tr
from studio.core.prompty.document import ToolId
from studio.core.tools.registry import ToolEntry
from studio.ui.base.menus import ON_TOOL, add_actions, add_own, keys_of, own_menu
from studio.ui.style.theme import icon
from studio.viewmodels.tools.controller import MARK, ToolsModel

_BY_WORTH = (1, 2, 6, 8, 3, 4, 5, 7)
"""Columns besides the name, in the order in which a wider table shows them."""

_SOURCE, _METHOD, _PATH = 2, 3, 4
_CELL_MARGIN = 16
_MARK_SIZE = 16
_WIDEST_SOURCE = 180
_WIDEST_PATH = 260
_WIDEST_NAME = 260


class _MarkDelegate(QtWidgets.QStyledItemDelegate):
    """Paints an icon beside the name of a tool whose texts the user should review."""

    def initStyleOption(
        self,
        option: QtWidgets.QStyleOptionViewItem,
        index: QtCore.QModelIndex | QtCore.QPersistentModelIndex,
    ) -> None:
        """Add the icon."""
        super().initStyleOption(option, index)
        if index.data(MARK):
            option.features |= QtWidgets.QStyleOptionViewItem.ViewItemFeature.HasDecoration
            option.icon = icon("triangle-alert", "warning")
            option.decorationSize = QtCore.QSize(_MARK_SIZE, _MARK_SIZE)


class ToolTable(QtWidgets.QTreeView):
    """Table of tools; emits the selected tool and the one to open."""

    chosen = QtCore.Signal(ToolEntry)  # ToolEntry of the current row
    entered = QtCore.Signal(ToolEntry)  # ToolEntry that was clicked, or opened with Enter
    request_enabled = QtCore.Signal(ToolId, bool)  # tool, whether the model gets it
    request_changes = QtCore.Signal(
        tuple, Mapping
    )  # tuple[ToolId, ...], new values of their entries' fields

    def __init__(self) -> None:
        super().__init__()
        self.rows = ToolsModel(self)
        self._ticked = False
        self._source_width = 0
        self._width = 0
        self._has_routes = False
        self.setModel(self.rows)
        self.setItemDelegateForColumn(0, _MarkDelegate(self))
        self.setAccessibleName(tr("Tools"))
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setMinimumHeight(84)
        header = self.header()
        header.setDefaultAlignment(QtCore.Qt.AlignmentFlag.AlignLeft)
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(48)
        header.setResizeContentsPrecision(30)  # number of measured rows; all 1,000 took 2 s
        header.setSectionResizeMode(0, QtWidgets.QHeaderView.ResizeMode.Stretch)
        for column in range(1, self.rows.columnCount()):
            header.setSectionResizeMode(column, QtWidgets.QHeaderView.ResizeMode.Interactive)
        header.setSortIndicatorClearable(True)  # a third click restores the order of the registry
        header.setSortIndicator(-1, QtCore.Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        self.rows.request_enabled.connect(self._on_ticked)
        self.selectionModel().currentChanged.connect(self._on_current)
        self.clicked.connect(self._on_clicked)

    def choose(self, tool: ToolId) -> bool:
        """Make a tool the current one; return whether it is listed."""
        row = self.rows.row_of(tool)
        if row >= 0 and row != self.currentIndex().row():  # other selected rows stay
            # `setCurrentIndex` would extend the selection while Ctrl is held, such as for pasting.
            self.selectionModel().setCurrentIndex(
                self.rows.index(row, 0),
                QtCore.QItemSelectionModel.SelectionFlag.ClearAndSelect
                | QtCore.QItemSelectionModel.SelectionFlag.Rows,
            )
        return row >= 0

    def fit(self, width: int) -> None:
        """Show the columns that fit; in a narrow dock, names have priority."""
        self._width = width
        hidden = [self.isColumnHidden(column) for column in _BY_WORTH]
        left = width - min(self._needed(0), _WIDEST_NAME)
        for column in _BY_WORTH:
            is_empty = column in (_METHOD, _PATH) and not self._has_routes
            left -= 0 if is_empty else self._needed(column)
            self.setColumnHidden(column, is_empty or left < 0)
        if hidden != [self.isColumnHidden(column) for column in _BY_WORTH]:
            self._measure()  # a hidden column has no width

    def _needed(self, column: int) -> int:
        """Return the width in pixels of a column's header and visible rows."""
        head = self.fontMetrics().horizontalAdvance(column_head(column)) + 2 * _CELL_MARGIN
        wanted = max(head, self.sizeHintForColumn(column))
        return min(wanted, {_SOURCE: _WIDEST_SOURCE, _PATH: _WIDEST_PATH}.get(column, wanted))

    @property
    def selected(self) -> tuple[ToolEntry, ...]:
        """The tools of the selected rows from top to bottom."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return tuple(entry for row in rows if (entry := self.rows.entry(row)) is not None)

    def measure(self, sources: Iterable[str], *, has_routes: bool = False) -> None:
        """Make each column as wide as its texts, which is too slow for each key of a search.

        Args:
            sources: Names of all sources, since a search may show others.
            has_routes: whether some tools have a method and a path to show.
        """
        self._has_routes = has_routes
        self.fit(self._width)
        metrics = self.fontMetrics()
        widest = max((metrics.horizontalAdvance(each) for each in sources), default=0)
        self._source_width = min(widest + _CELL_MARGIN, _WIDEST_SOURCE)
        self._measure()

    def _measure(self) -> None:
        for column in range(1, self.rows.columnCount()):
            self.resizeColumnToContents(column)
        if not self.isColumnHidden(_SOURCE):
            self.setColumnWidth(_SOURCE, max(self.columnWidth(_SOURCE), self._source_width))
        if not self.isColumnHidden(_PATH):
            self.setColumnWidth(_PATH, min(self.columnWidth(_PATH), _WIDEST_PATH))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open the tool on Enter; on Space, toggle all selected tools."""
        selected = self.selected
        if event.key() == QtCore.Qt.Key.Key_Space and len(selected) > 1:
            self._change_selected({"enabled": not selected[0].enabled})
            return
        if event.key() in (QtCore.Qt.Key.Key_Return, QtCore.Qt.Key.Key_Enter):
            self._enter(self.currentIndex())
            return
        super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the menu of the selected tools, with all settings of a single tool."""
        if self.selected:
            self.menu().popup(event.globalPos())

    def menu(self) -> QtWidgets.QMenu:
        """Build the menu of the selected tools, with the window's actions and their keys."""
        menu, chosen = own_menu(self), self.selected
        enter = partial(self._enter, self.currentIndex())
        add_own(menu, tr("Show details"), enter, drawing="wrench", keys="Return")
        menu.addSeparator()
        is_offered = bool(chosen) and chosen[0].enabled  # what Space toggles
        for words, offers in (
            (tr("Offer to the model"), True),
            (tr("Do not offer to the model"), False),
        ):
            change = partial(self._change_selected, {"enabled": offers})
            add_own(menu, words, change, keys="" if offers is is_offered else "Space")
        menu.addSeparator()
        for approval, word in APPROVAL_WORDS.items():
            text = tr(word)
            change = partial(self._change_selected, {"approval": approval})
            add_own(menu, tr("Calls: {approval}").format(approval=text), change)
        menu.addSeparator()
        add_own(menu, tr("Select all"), self.selectAll, keys=keys_of(self.window(), "edit.all"))
        menu.addSeparator()
        add_actions(menu, self.window(), ON_TOOL)
        return menu

    def _change_selected(self, changes: Mapping[str, object]) -> None:
        tools = tuple(entry.id for entry in self.selected)
        if tools:
            self.request_changes.emit(tools, changes)

    def _on_ticked(self, tool: ToolId, enabled: bool) -> None:
        self._ticked = True
        self.request_enabled.emit(tool, enabled)

    def _on_current(self, current: QtCore.QModelIndex, _: QtCore.QModelIndex) -> None:
        entry = self.rows.entry(current.row()) if current.isValid() else None
        if entry is not None:
            self.chosen.emit(entry)

    def _on_clicked(self, index: QtCore.QModelIndex) -> None:
        ticked, self._ticked = self._ticked, False
        if not ticked:  # a click on a checkbox only toggles it
            self._enter(index)

    def _enter(self, index: QtCore.QModelIndex) -> None:
        entry = self.rows.entry(index.row()) if index.isValid() else None
        if entry is not None:
            self.entered.emit(entry)
