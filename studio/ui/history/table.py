"""The table of runs: its columns, groups and context menu."""

from collections.abc import Sequence
from functools import partial

from PySide6 import QtCore, QtWidgets
from PySide6.QtGui import QBrush, QColor, QPalette, QResizeEvent

from studio.application.history.rows import HEADS
from studio.application.words import tr
from studio.core.runs.rows import RunSummary
from studio.ui.base.menus import add_actions, add_own, own_menu
from studio.ui.parts.kit import OwnKeys, style_table
from studio.ui.run.file_choice import fill_form_menu
from studio.ui.style.theme import icon, theme_in_use
from studio.viewmodels.history.controller import GROUP_ROLE, SUMMARY_ROLE, TONE_ROLE, HistoryModel

_END, _STARTED = HEADS.index("End"), HEADS.index("Started")
_SECOND = tuple(map(HEADS.index, ("End", "Duration", "Model")))
"""Columns that a narrow table shows in the second line of a run."""

NARROW = 420
"""Width in pixels below which each run has two lines."""

_LINE, _TWO_LINES = 28, 46
_WIDTHS = (170, 116, 130, 320, 240, 80, 150, 80, 80, 90, 80, 80, 90, 120, 160)


class _EndDelegate(QtWidgets.QStyledItemDelegate):
    """Colors the status of a run, and paints two lines per run in a narrow table."""

    def __init__(self, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent)
        self.is_narrow = False
        """Whether status, time and model of a run are below its prompt."""

    def initStyleOption(
        self,
        option: QtWidgets.QStyleOptionViewItem,
        index: QtCore.QModelIndex | QtCore.QPersistentModelIndex,
    ) -> None:
        """Set the text's color."""
        theme = theme_in_use()
        super().initStyleOption(option, index)
        tones = {"good": theme.success, "warning": theme.warning, "bad": theme.error}
        if self.is_narrow and index.data(GROUP_ROLE) is None:
            cells = (index.sibling(index.row(), each).data() for each in _SECOND)
            started = index.sibling(index.row(), _STARTED).data()
            second = " · ".join(each for each in cells if each and each != "–")
            option.text = f"{index.data()}  {started}\u2028{second}"
        if index.data(GROUP_ROLE) is not None:
            option.backgroundBrush = QBrush(QColor(theme.raised))
        color = tones.get(index.data(TONE_ROLE))
        if index.column() == _END and color is not None:
            for role in (QPalette.ColorRole.Text, QPalette.ColorRole.HighlightedText):
                option.palette.setColor(role, QColor(color))


class RunTable(QtWidgets.QTableView):
    """Table of runs; columns can be moved and sorted, and a click on a group collapses it."""

    request_open = QtCore.Signal(str)  # id of the run
    request_pin = QtCore.Signal(str, bool)  # id, whether it is pinned
    request_notes = QtCore.Signal()  # edit tags and note of the selection
    request_export = QtCore.Signal(str)  # name of the form to export the selected run in
    request_tag = QtCore.Signal(str)  # a tag to rename
    request_delete = QtCore.Signal()  # delete the selected runs

    def __init__(self, model: HistoryModel) -> None:
        super().__init__()
        self._runs = model
        self.setModel(model)
        self._delegate = _EndDelegate(self)
        self.setItemDelegate(self._delegate)
        style_table(self, tr("Runs"), _LINE)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QtWidgets.QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QtWidgets.QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(QtCore.Qt.ContextMenuPolicy.CustomContextMenu)
        self.setWordWrap(False)
        header = self.horizontalHeader()
        header.setStretchLastSection(False)
        for column, width in enumerate(_WIDTHS):
            self.setColumnWidth(column, max(width, header.sectionSizeHint(column)))
        header.setMinimumSectionSize(header.sectionSizeHint(HEADS.index("Question")))
        header.setSectionsMovable(True)
        header.setSortIndicator(-1, QtCore.Qt.SortOrder.DescendingOrder)
        header.setSortIndicatorClearable(True)
        self.setSortingEnabled(True)
        self.doubleClicked.connect(self._on_double_click)
        self.clicked.connect(self._on_click)
        self.customContextMenuRequested.connect(self._on_menu)
        delete = self.request_delete.emit
        OwnKeys(self, {"Return": self.open_chosen, "Enter": self.open_chosen, "Del": delete})

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show status, time and model of a run below its prompt if the table is narrow."""
        super().resizeEvent(event)
        is_narrow = self.width() < NARROW
        if is_narrow == self._delegate.is_narrow:
            return
        self._delegate.is_narrow = is_narrow
        for column in range(1, len(HEADS)):
            self.setColumnHidden(column, is_narrow)
        header, modes = self.horizontalHeader(), QtWidgets.QHeaderView.ResizeMode
        header.setSectionResizeMode(0, modes.Stretch if is_narrow else modes.Interactive)
        header.setVisible(not is_narrow)
        height = _TWO_LINES if is_narrow else _LINE
        self.setWordWrap(is_narrow)
        self.verticalHeader().setDefaultSectionSize(height)

    def show_runs(self, runs: Sequence[RunSummary]) -> None:
        """Show runs and keep the selection."""
        chosen = {run.id for run in self.chosen_runs()}
        self._runs.show_runs(runs)
        again = QtCore.QItemSelection()
        for row, one in enumerate(self._runs.rows):
            if one.group is None and one.run.id in chosen:
                place = self._runs.index(row, 0)
                again.select(place, place)
        how = QtCore.QItemSelectionModel.SelectionFlag.ClearAndSelect
        self.selectionModel().select(again, how | QtCore.QItemSelectionModel.SelectionFlag.Rows)

    def chosen_runs(self) -> tuple[RunSummary, ...]:
        """Return the selected runs from top to bottom."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        chosen = (self._runs.rows[row] for row in rows)
        return tuple(row.run for row in chosen if row.group is None)

    def open_chosen(self) -> None:
        """Open the first selected run; on a group header, collapse or expand the group."""
        chosen = self.chosen_runs()
        if chosen:
            self.request_open.emit(chosen[0].id)
        else:
            self._fold()

    def _fold(self) -> None:
        """Collapse or expand the group of the current header."""
        at = self.currentIndex()
        group = at.data(GROUP_ROLE)
        if group is None:
            return
        self._runs.fold(group)
        head = next(row for row, each in enumerate(self._runs.rows) if each.group == group)
        self.setCurrentIndex(self._runs.index(head, at.column()))

    def _on_click(self, index: QtCore.QModelIndex) -> None:
        if index.data(GROUP_ROLE) is not None:
            self._fold()

    def _on_double_click(self, index: QtCore.QModelIndex) -> None:
        run = index.data(SUMMARY_ROLE)
        if isinstance(run, RunSummary):
            self.request_open.emit(run.id)

    def _on_menu(self, place: QtCore.QPoint) -> None:
        if self.chosen_runs():
            self.menu().popup(self.viewport().mapToGlobal(place))

    def menu(self) -> QtWidgets.QMenu:
        """Build the menu of the selected runs and the window's actions."""
        menu, chosen = own_menu(self), self.chosen_runs()
        if len(chosen) == 1:
            add_own(menu, tr("Open"), self.open_chosen, drawing="eye", keys="Return")
            text = tr("Unpin") if chosen[0].pinned else tr("Pin to the top")
            menu.addAction(icon("flag"), text).triggered.connect(self._toggle_pin)
            menu.addAction(icon("pencil"), tr("Tags and note…")).triggered.connect(
                self.request_notes
            )
            forms = menu.addMenu(icon("file-output"), tr("Export"))
            fill_form_menu(forms, self.request_export.emit)
        else:
            words = tr("Tags of {count} runs…").format(count=len(chosen))
            menu.addAction(icon("pencil"), words).triggered.connect(self.request_notes)
        for tag in dict.fromkeys(tag for run in chosen for tag in run.tags):
            words = tr("Rename the tag “{tag}”…").format(tag=tag)
            menu.addAction(words).triggered.connect(partial(self.request_tag.emit, tag))
        menu.addSeparator()
        add_own(menu, tr("Delete…"), self.request_delete.emit, drawing="trash-2", keys="Del")
        menu.addSeparator()
        add_actions(menu, self.window(), ("view.maximize", "view.commands"))
        return menu

    def _toggle_pin(self) -> None:
        chosen = self.chosen_runs()
        if chosen:
            self.request_pin.emit(chosen[0].id, not chosen[0].pinned)
