"""The Variables table: the values of a run at a point, editable where the run allows it."""

import re
from collections.abc import Sequence

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QObject, QStringListModel, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QResizeEvent

from studio.application.run.debugging.variables import RunVariable, with_changes
from studio.application.words import tr
from studio.ui.parts.kit import style_table
from studio.ui.style.theme import FollowsTheme, fixed_font, theme_in_use

_ROW = 24
_MOST_NAME = 0.38
"""Maximum share of the width for names, whose tooltips have the full text."""


class VariablesTable(FollowsTheme, QtWidgets.QTableWidget):
    """Two columns, name and value; a changed value has a dot and is bold."""

    value_written = Signal(RunVariable, str)  # the variable, its new text

    def __init__(self) -> None:
        super().__init__(0, 2)
        self.rows: tuple[RunVariable, ...] = ()
        """The shown rows."""
        self._before: tuple[RunVariable, ...] = ()
        self._moment: object = None
        self._filling = False
        style_table(self, tr("Variables"), _ROW)
        self.setWordWrap(False)  # of "• name" the first line would be the dot alone
        self.setTabKeyNavigation(False)
        self.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(
            QtWidgets.QAbstractItemView.EditTrigger.DoubleClicked
            | QtWidgets.QAbstractItemView.EditTrigger.EditKeyPressed
        )
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.horizontalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(QtWidgets.QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setStretchLastSection(True)
        self.itemChanged.connect(self._on_changed)
        self.follow_theme()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        self._fill()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the values most of the new width."""
        super().resizeEvent(event)
        self._fit_names()

    def _fit_names(self) -> None:
        most = int(self.viewport().width() * _MOST_NAME)
        self.setColumnWidth(0, min(self.sizeHintForColumn(0), most))

    def show_rows(self, rows: Sequence[RunVariable], moment: object) -> None:
        """Show the values at a point; mark those that differ from the previous point.

        Args:
            rows: names and values.
            moment: identity of the point, for comparison.
        """
        if moment != self._moment:
            self._moment, self._before = moment, self.rows
        shown = with_changes(tuple(rows), self._before)
        if shown != self.rows:
            self.rows = shown
            if self.state() != QtWidgets.QAbstractItemView.State.EditingState:
                self._fill()

    def _fill(self) -> None:
        theme = theme_in_use()
        self._filling = True
        row = self.currentRow()
        self.setRowCount(len(self.rows))
        strong, code = QFont(self.font()), fixed_font(self.font())
        strong.setWeight(QFont.Weight.DemiBold)
        for index, one in enumerate(self.rows):
            name = QtWidgets.QTableWidgetItem(f"• {one.name}" if one.is_changed else one.name)
            name.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
            name.setForeground(QColor(theme.text if one.is_changed else theme.muted))
            name.setToolTip(one.name)
            if one.is_changed:
                name.setFont(strong)
                changed = tr("Changed since the previous point")
                name.setToolTip(f"{one.name}\n{changed}")
            value = QtWidgets.QTableWidgetItem(one.value)
            value.setFont(code)
            value.setForeground(QColor(self._ink(one)))
            value.setToolTip(one.value)
            if not one.edit:
                value.setFlags(value.flags() & ~Qt.ItemFlag.ItemIsEditable)
            else:
                value.setToolTip(tr("{value}\nF2 changes the value").format(value=one.value))
            self.setItem(index, 0, name)
            self.setItem(index, 1, value)
        if 0 <= row < len(self.rows):
            self.setCurrentCell(row, 1)
        self._fit_names()
        self._filling = False

    def _ink(self, row: RunVariable) -> str:
        theme = theme_in_use()
        if isinstance(row.whole, str):
            return theme.success
        if isinstance(row.whole, bool | int | float):
            return theme.warning
        return theme.text

    def _on_changed(self, item: QtWidgets.QTableWidgetItem) -> None:
        if self._filling or item.column() != 1 or item.row() >= len(self.rows):
            return
        row = self.rows[item.row()]
        if item.text() != row.value:
            self.value_written.emit(row, item.text())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Edit on F2 and Return; leave digits to the choices of a pause."""
        editing = self.state() == QtWidgets.QAbstractItemView.State.EditingState
        if not editing and event.text().isdigit():
            event.ignore()
            return
        if not editing and event.key() in (Qt.Key.Key_F2, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            item = self.item(self.currentRow(), 1)
            if item is not None and item.flags() & Qt.ItemFlag.ItemIsEditable:
                self.editItem(item)
            return
        super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Handle F2, which otherwise focuses the editor, to edit a value."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_F2
        ):
            event.accept()
            return True
        return super().event(event)


# A line for an expression, with completion of names.

_NAME = re.compile(r"[A-Za-z_][\w.]*$")


class ExpressionField(QtWidgets.QLineEdit):
    """Completes the name at the caret; Tab and Return insert the selected completion."""

    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self._names = QStringListModel(self)
        self._list = QtWidgets.QCompleter(self._names, self)
        self._list.setWidget(self)
        self._list.setCompletionMode(QtWidgets.QCompleter.CompletionMode.PopupCompletion)
        self._list.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._popup = QtWidgets.QListView()
        self._list.setPopup(self._popup)
        for widget in (self, self._popup):
            widget.installEventFilter(self)
        self._list.activated.connect(self._take)
        self.textEdited.connect(self._complete)

    def set_names(self, names: Sequence[str]) -> None:
        """Set the names for completion."""
        if list(names) != self._names.stringList():
            self._names.setStringList(list(names))

    @property
    def offered(self) -> list[str]:
        """Return the items of the open list; empty while it is closed."""
        if not self._popup.isVisible():
            return []
        rows = self._list.completionModel()
        return [str(rows.index(row, 0).data()) for row in range(rows.rowCount())]

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Keep the focus at Tab while the list is open."""
        return False if self._popup.isVisible() else super().focusNextPrevChild(forward)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Insert the selected item of an open list on Tab, or its first."""
        if (
            self._popup.isVisible()
            and isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() == Qt.Key.Key_Tab
        ):
            self._take_chosen()
            return True
        return super().eventFilter(watched, event)

    def _take_chosen(self) -> None:
        chosen = self._popup.currentIndex().data() or self._list.currentCompletion()
        self._popup.hide()
        self._take(str(chosen))

    def _start(self) -> int:
        found = _NAME.search(self.text()[: self.cursorPosition()])
        return found.start() if found is not None else -1

    def _complete(self) -> None:
        start = self._start()
        written = self.text()[start : self.cursorPosition()] if start >= 0 else ""
        self._list.setCompletionPrefix(written)
        count = self._list.completionCount()
        is_whole = count == 1 and self._list.currentCompletion() == written
        if written and count and not is_whole:
            self._list.complete()
        else:
            self._popup.hide()

    def _take(self, name: str) -> None:
        start, caret = self._start(), self.cursorPosition()
        start = caret if start < 0 else start
        self.setText(self.text()[:start] + name + self.text()[caret:])
        self.setCursorPosition(start + len(name))
